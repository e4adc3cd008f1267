"""The dashboard: page config, navigation, warm-up. Start it with ``streamlit run app.py``.

The server imports this file once for its application, the doors around every request; each session then runs it as its
script.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def _page() -> None:
    from pages.shared.cache import datasets as cached
    from pages.shared.cache import sign_in
    from pages.shared.kit import navigation, state
    from pages.shared.kit import style as look
    from pages.shared.shell import frame

    st.set_page_config(layout="wide", page_icon=look.ICON, menu_items={"About": "Plurality"})
    if not sign_in.gate():
        navigation.hidden()
        return
    state.adopt_address()
    page = navigation.navigate()
    cached.preparation()
    look.apply()
    frame.title(page)
    frame.sidebar(navigation.name_of(page))
    frame.data_bar()
    try:
        frame.run(page, navigation.name_of(page))
    finally:  # a page may stop early, and its address holds all the same
        state.write_address()


if get_script_run_ctx(suppress_warning=True) is not None:
    _page()
else:
    from core.runtime.supervisor import limit_arenas
    from core.settings import one_thread_a_library

    one_thread_a_library()
    limit_arenas()
    from core.runtime import first_start

    first_start.begin()  # in processes of its own, beside all that is loaded here
    from pages.shared.shell import doors

    doors.check_address()
    app = st.App(__file__, middleware=doors.middleware(), routes=doors.routes(), lifespan=doors.lifespan)
