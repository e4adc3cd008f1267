"""The dashboard: page config, navigation, warm-up. Start it with ``streamlit run app.py``."""

import streamlit as st

from pages.shared import cached, look, menu, state

st.set_page_config(layout="wide", page_icon=":material/stacks:", menu_items={"About": "Plurality"})
page = menu.navigate()
cached.start_warm_up()
look.apply()
state.adopt_address()
look.sidebar()
try:
    look.guarded(page.run)
finally:  # a page may stop early, and its address holds all the same
    state.write_address()
