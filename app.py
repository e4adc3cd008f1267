"""The dashboard: page config, navigation, warm-up. Start it with ``streamlit run app.py``."""

import streamlit as st

from pages.shared import cached, look, state

st.set_page_config(layout="wide", page_icon=":material/stacks:", menu_items={"About": "Plurality"})
cached.start_warm_up()
look.apply()

PAGES = {
    "": [st.Page("pages/home.py", title="Home", icon=":material/home:", default=True)],
    "Data": [st.Page("pages/upload.py", title="Upload", icon=":material/upload_file:")],
    "Raters": [
        st.Page("pages/agreement.py", title="Agreement", icon=":material/handshake:"),
        st.Page("pages/models.py", title="Models", icon=":material/network_node:"),
    ],
    "Cases": [st.Page("pages/cases.py", title="Cases", icon=":material/view_list:")],
    "Classifiers": [st.Page("pages/reliability.py", title="Reliability", icon=":material/trending_up:")],
    "Plurality": [st.Page("pages/settings.py", title="Settings", icon=":material/settings:")],
}

page = st.navigation(PAGES)
state.adopt_address()
look.sidebar()
look.guarded(page.run)
state.write_address()
