"""The dashboard: page config, navigation, warm-up. Start it with ``streamlit run app.py``."""

import streamlit as st

from pages.shared.cache import datasets as cached
from pages.shared.kit import navigation, state
from pages.shared.kit import style as look
from pages.shared.shell import frame

st.set_page_config(layout="wide", page_icon=look.ICON, menu_items={"About": "Plurality"})
state.adopt_address()
page = navigation.navigate()
cached.preparation()
look.apply()
frame.sidebar()
try:
    frame.run(page, navigation.name_of(page))
finally:  # a page may stop early, and its address holds all the same
    state.write_address()
