"""While a page waits: one part of it looks at all of its jobs, what is done is drawn, and Home has one Cancel."""

import json
import re
import threading
import time
from functools import partial
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest, local_script_runner

from core import library
from core.evaluation.predictions import open_predictions
from core.evaluation.sweep_table import reliability_sweep, sweep_part
from core.plausibility.dirichlet import DirichletCounts
from core.runtime.encoding import NotStorableError
from core.runtime.jobs import Job, JobBoard
from core.story import STEPS
from pages.shared.cache import datasets as cached
from pages.shared.cache import streamlit_private
from pages.shared.cache.datasets import jobs
from pages.shared.kit import expected, job_progress, opening, plausibility_models, redraw
from pages.shared.kit import sweep as sweeps
from pages.shared.shell import story as shell_story
from tests.pages.opened import APP, at, kept, settle, words
from tests.speed import scaled

PAGES = Path(__file__).resolve().parents[2] / "pages"
CLOCK = re.compile(r"@part\(\s*[^)\s]")
HOME = ("Certainty of all cases", "Evaluating the raters")
ROWS = "case,rater,class\n" + "".join(
    f"{case},{rater},{'xyz'[(case * 7 + rater * case) % 3]}\n" for case in range(40) for rater in range(5)
)


@pytest.fixture
def nothing_starts(monkeypatch):
    """Every job waits; in the end they are cancelled, and the board goes on."""
    with monkeypatch.context() as patched:
        patched.setattr(JobBoard, "_next", lambda self: None)
        patched.setattr(Job, "wait", lambda self, timeout=None: self.finished)
        yield
        for job in jobs().unfinished():
            jobs().remove(job.key)


@pytest.fixture
def looked(monkeypatch):
    """The jobs of each look."""
    seen = []
    monkeypatch.setattr(job_progress, "_look", lambda shown: seen.append([job.title for job, *_ in shown]))
    return seen


def cancels(app: AppTest) -> list[str]:
    return [button.key for button in app.button if button.key and button.key.startswith("cancel-")]


def looks_at_once(app: AppTest, looked: list, least: int) -> None:
    looked.clear()
    app.run()
    assert not app.exception, [entry.value for entry in app.exception]
    (seen,) = looked
    assert len(seen) == len(set(seen)) and len(seen) >= least


@pytest.mark.usefixtures("nothing_starts")
def test_home_looks_at_all_that_it_waits_for_with_one_part(looked):
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = kept(ROWS, "waits")
    looks_at_once(app, looked, 2)  # what rests on the settings is asked for once these are chosen


def framed(page: str, rows: str = ROWS) -> AppTest:
    """A page within what the frame does around every page."""
    app = AppTest.from_string(
        "import runpy\nfrom pages.shared.kit import job_progress\njob_progress.begin()\n"
        f"runpy.run_path({str(PAGES / page)!r} + '.py')\njob_progress.poll({page!r})",
        default_timeout=300,
    )
    app.session_state["data"], app.session_state["_entered_by_app"] = kept(rows, "waits"), True
    return app


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize(("page", "least"), [("cases", 1), ("models", 2), ("raters", 1), ("reliability", 1)])
def test_a_page_notes_each_job_that_it_waits_for_once(looked, page, least, monkeypatch):
    complete = []
    monkeypatch.setattr(cached, "page_is_complete", complete.append)
    app = framed(page)
    looks_at_once(app, looked, least)
    looks_at_once(app, looked, least)
    assert not complete
    at("settings").run()
    assert complete == ["settings"], "which waits for nothing"


@pytest.mark.usefixtures("nothing_starts", "looked")
def test_reliability_draws_what_is_done_and_says_nothing_of_the_whole():
    app = framed("reliability", f"{ROWS}41,0,x\n").run()
    (job,) = [job for job in jobs().unfinished() if job.title == "Sweep over reliabilities"]
    assert not app.get("plotly_chart") and "so far" not in words(app)
    dataset = library.reopen(app.session_state["data"])
    rows = "case,class,score\n" + "".join(f"{case},x,1\n" for case in range(40))
    for classifiers, figures in (((), 2), (open_predictions("net", rows.encode(), dataset), 1)):
        told = {"classifiers": classifiers, "n_draws": 100}
        job.state, job.partial = "running", reliability_sweep(DirichletCounts(), dataset.coded, (1.0,), **told)
        app.run()
        assert not app.exception and len(app.get("plotly_chart")) == figures
        assert re.search(r"\n1 of \d+ values of γ computed\.", words(app))
    assert "net" in str(app.get("plotly_chart")[0].proto)
    scores = {"net": {metric: value.point for metric, value in job.partial.evaluation[0].values["net"].items()}}
    job.partial = scores
    app.run()
    (figure,) = [json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart")]
    line, cross, _ = figure
    assert line["name"] == "net" and cross["y"] == [scores["net"]["top1_accuracy"]]
    assert re.search(r"\n0 of \d+ values of γ computed\. ×: score against a single label per case", words(app))
    assert app.title[0].value == "How does certainty change with γ?"


def test_a_sweep_has_the_scores_against_one_label_before_its_first_reliability(monkeypatch):
    dataset = library.reopen(kept(ROWS, "waits"))
    rows = "case,class,score\n" + "".join(f"{case},x,1\n" for case in range(40))
    (net,) = open_predictions("net", rows.encode(), dataset)
    model, job, before = DirichletCounts(), Job("sweep"), []

    def part(reliability, job, told):
        until = time.monotonic() + 60
        while job.partial is None and time.monotonic() < until:
            time.sleep(0.01)
        before.append(job.partial)
        return sweep_part(model, dataset.coded, reliability, **sweeps.ASKED)

    monkeypatch.setattr(cached, "parts", lambda *_, **__: part)
    _, work = sweeps._key_and_work(dataset, model, (1.0, 4.0), (net,))
    found = work(job)
    scores, table = before
    assert scores == {"net": {name: value.point for name, value in found.evaluation[0].values["net"].items()}}
    assert table.reliabilities == (1.0,) and found.reliabilities == (1.0, 4.0)


def test_a_page_is_drawn_anew_when_a_job_has_ended_or_has_more_of_its_result():
    job, other = Job("under way"), Job("other")
    shown = [(other, None, None), (job, None, job.partial)]
    assert not job_progress._has_news(shown)
    job.partial = "half"
    assert job_progress._has_news(shown)
    assert not job_progress._has_news([(job, None, "half")])
    job._ended.set()
    assert job_progress._has_news([(other, None, None), (job, None, "half")])


@pytest.mark.parametrize(("age", "waits"), [(None, True), (0.0, True), (1.0, False)])
def test_what_takes_a_moment_is_waited_for_but_not_what_has_been_at_work_for_longer(monkeypatch, age, waits):
    """A page that is drawn anew to show the first half of a result would else stand still before it shows it."""
    job, waited, run = Job("under way"), [], job_progress._Run()
    job.started = None if age is None else time.monotonic() - age
    monkeypatch.setattr(job_progress, "_run", lambda: run)
    monkeypatch.setattr(job, "wait", waited.append, raising=False)
    job_progress._wait_a_moment(job)
    assert waited == ([0.3] if waits else [])


def test_a_look_waits_for_news_that_are_about_to_come_and_for_no_others(monkeypatch):
    job = Job("under way")
    shown = [(job, None, job.partial)]
    began = time.monotonic()
    redraw.await_news(partial(job_progress._has_news, shown))
    assert redraw.NEWS_SECONDS <= time.monotonic() - began < scaled(10)
    monkeypatch.setattr(redraw, "NEWS_SECONDS", 60)
    soon = threading.Timer(0.03, lambda: setattr(job, "partial", "half"))
    soon.start()
    began = time.monotonic()
    redraw.await_news(partial(job_progress._has_news, shown))
    assert job.partial == "half" and time.monotonic() - began < scaled(30)
    soon.join()


@pytest.mark.parametrize("part", ((), ("another part",)))
def test_a_look_that_waits_ends_where_a_person_asks_for_another_run(monkeypatch, part):
    """Of the page or of a part of it: what is pressed would wait with it."""
    monkeypatch.setattr(redraw, "NEWS_SECONDS", 60)

    def looks(part):
        import threading

        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx
        from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

        from pages.shared.kit import redraw

        if "asked" not in st.session_state:
            st.session_state["asked"] = True
            asked = (RerunData(fragment_id_queue=list(part)),)
            threading.Timer(0.1, get_script_run_ctx().script_requests.request_rerun, asked).start()
            redraw.await_news(lambda: False)
        st.session_state["looked"] = True

    began = time.monotonic()
    app = AppTest.from_function(looks, default_timeout=120, args=(part,)).run()
    assert time.monotonic() - began < scaled(30) and app.session_state["looked"]


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize(
    ("ages", "seconds"), [((), 0.2), ((3.5,), 0.2), ((5.0,), 0.5), ((30.0,), 1.0), ((30.0, 1.0), 0.2)]
)
def test_what_has_been_at_work_for_long_is_looked_at_less_often(monkeypatch, ages, seconds):
    """The browser is told so of the part that looks; a job that has just begun is looked at often all the same."""
    told, enqueue = [], ScriptRunContext.enqueue

    def noted(context, message):
        if message.HasField("auto_rerun"):
            told.append((message.auto_rerun.fragment_id, round(message.auto_rerun.interval, 2)))
        enqueue(context, message)

    app = framed("models").run()
    waiting = jobs().unfinished()
    assert len(waiting) >= 2
    for job, age in zip(waiting, ages, strict=False):
        monkeypatch.setattr(job, "started", time.monotonic() - age)
    monkeypatch.setattr(ScriptRunContext, "enqueue", noted)
    app.run()
    assert not app.exception
    (first, _), (then, last) = told
    assert first == then and last == seconds
    looks = partial(RerunData, fragment_id_queue=[first])
    monkeypatch.setattr(local_script_runner, "RerunData", looks)
    app.run()
    assert not app.exception and told[2:] == [(first, max(seconds, 0.5))]  # soon for once


@pytest.mark.usefixtures("nothing_starts")
def test_a_look_after_a_run_that_was_broken_off_is_no_error(monkeypatch):
    """The browser still asks for the part of the run before, whose places are gone until the next run draws them."""
    app = framed("models").run()
    (part,) = app._fragment_storage._fragments
    told, enqueue = [], ScriptRunContext.enqueue
    monkeypatch.setattr(local_script_runner, "RerunData", partial(RerunData, fragment_id_queue=[part]))
    monkeypatch.setattr(
        ScriptRunContext, "enqueue", lambda self, message: [told.append(message), enqueue(self, message)]
    )
    for broken_off in (False, True):
        told.clear()
        if broken_off:
            app._fragment_storage.clear_outside_wrappers()
        app.run()
        assert not app.exception
        assert any("progress" in str(message) for message in told) is not broken_off
        assert any(message.HasField("auto_rerun") for message in told)


def test_a_page_that_waits_for_nothing_looks_at_nothing(looked):
    AppTest.from_file(APP, default_timeout=300).run()
    assert looked == []


def test_no_other_part_of_a_page_asks_by_the_clock():
    """But the notes of a first start, and of a database that is away, which stand alone."""
    asking = {path.name for path in PAGES.rglob("*.py") if CLOCK.search(path.read_text(encoding="utf-8"))}
    assert asking == {"job_progress.py", "first_start.py", "first_visit.py", "store_away.py"}
    by_hand = re.compile(r"st\.fragment|run_every=")
    assert [path.name for path in PAGES.rglob("*.py") if by_hand.search(path.read_text(encoding="utf-8"))] == [
        "redraw.py"
    ]


def unplaced(messages) -> list:
    """Which of them a browser cannot place: a child behind one that is not there."""
    children: dict[tuple, int] = {}
    out = []
    for message in messages:
        *block, child = message.metadata.delta_path
        n = children.setdefault(tuple(block), 0)
        if child > n:
            out.append((block, child, n))
        children[tuple(block)] = max(n, child + 1)
    return out


def database_away():
    import time

    import streamlit as st

    from pages.shared.kit import store_away

    store_away._look(time.monotonic())
    st.text("behind it")


@pytest.mark.parametrize("waits", ["a job", "a first start", "a first visit", "a database", "a live case"])
def test_a_part_that_is_drawn_again_before_the_page_is_sent_leaves_no_gap_in_it(waits, monkeypatch, request):
    """Of what has not been sent Streamlit discards what the part has drawn; a gap would end the page in a browser."""
    if waits in ("a first start", "a first visit"):
        monkeypatch.setattr(cached, "preparation", lambda: SimpleNamespace(missing=lambda parts=(): ["draws"]))
    if waits == "a job":
        request.getfixturevalue("nothing_starts")
        app = framed("models")
    elif waits == "a database":
        app = AppTest.from_function(database_away, default_timeout=120)
    else:
        app = at("models", "caries") if waits == "a first start" else at("home")
    sent = []
    messages = local_script_runner.LocalScriptRunner.forward_msgs
    monkeypatch.setattr(
        local_script_runner.LocalScriptRunner,
        "forward_msgs",
        lambda self: sent.append(self.forward_msg_queue) or messages(self),
    )
    app.run()
    assert not app.exception
    queue = sent[-1]
    all_of_it = [message for message in queue._queue if message.metadata.delta_path]
    parts = {message.delta.fragment_id for message in all_of_it} - {""}
    assert parts and not unplaced(all_of_it)
    for name in parts:
        left = ForwardMsgQueue()
        left._queue = list(all_of_it)
        left.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[name])
        assert len(left) < len(all_of_it) and not unplaced(left._queue)


def test_a_part_that_asks_by_the_clock_has_the_whole_page_sent(monkeypatch):
    """A browser that asked before the last run ended no longer has what it said: a reference would be its end."""
    context = SimpleNamespace(cached_message_hashes=frozenset({"a figure"}))
    monkeypatch.setattr(streamlit_private, "get_script_run_ctx", lambda: context)
    monkeypatch.setattr(st, "rerun", lambda: context.__setattr__("known", context.cached_message_hashes))
    redraw.draw_anew()
    assert context.known == frozenset()
    asking = [path.read_text(encoding="utf-8") for path in PAGES.rglob("*.py")]
    asking = [text for text in asking if CLOCK.search(text)]
    assert all("draw_anew()" in text and "st.rerun(" not in text for text in asking)


def test_a_browser_keeps_what_it_may_be_referred_to_for_many_runs():
    """Streamlit's own two are over while one click is still on its way."""
    assert config.get_option("global.maxCachedMessageAge") >= 20


@pytest.mark.usefixtures("nothing_starts")
def test_home_has_one_cancel_for_all_that_it_computes():
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = kept(ROWS, "waits")
    app.session_state["reliability"] = 2.0  # chosen, so that nothing waits for the settings
    app.run()
    assert cancels(app) == ["cancel-home"]
    assert [job.title for job in jobs().unfinished() if job.title in HOME] == ["Certainty of all cases"]
    app.button(key="cancel-home").click().run()
    assert cancels(app) == [] and "Certainty of all cases: cancelled." in words(app)
    assert not [job for job in jobs().unfinished() if job.title in HOME]


@pytest.mark.usefixtures("nothing_starts")
def test_home_cancels_the_comparison_of_rater_models_too():
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = kept(f"{ROWS}42,0,x\n42,1,x\n", "compared")
    app.run()
    assert plausibility_models.CHOICE in [job.title for job in jobs().unfinished()]
    assert opening.CHOOSING in words(app) or opening.CHOOSING_RATERS in words(app)
    app.button(key="cancel-home").click().run()
    assert not [job for job in jobs().unfinished() if job.title in (*HOME, plausibility_models.CHOICE)]
    assert f"{plausibility_models.CHOICE}: cancelled." in words(app)
    assert opening.CHOOSING not in words(app) and opening.CHOOSING_RATERS not in words(app)
    assert cancels(app) == []


@pytest.mark.usefixtures("nothing_starts")
def test_elsewhere_each_job_has_its_own_cancel():
    app = framed("cases", f"{ROWS}40,0,x\n").run()  # others than those that were cancelled
    assert len(cancels(app)) == 1 and cancels(app) != ["cancel-home"]


@pytest.mark.usefixtures("nothing_starts")
def test_settings_list_all_computations_of_a_session_each_with_its_cancel():
    other = jobs().join(("of another session",), "Another computation", lambda job: None, session="another")
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = kept(f"{ROWS}41,0,x\n", "all")
    app.run().switch_page("pages/settings.py").run()
    said = " ".join(one.value for one in app.caption)
    assert cancels(app) and "Another computation" not in said and "1 computation of other sessions." in said
    for key in cancels(app):
        app.button(key=key).click().run()
    assert "No computation is running." in [one.value for one in app.caption]
    assert [job.title for job in jobs().unfinished()] == ["Another computation"]
    other.cancel()


class Pool:
    """Stands in for workers: notes what it is asked for."""

    def __init__(self, error=None, running=()):
        self.asked, self.error, self.running = [], error, running

    def prepare(self):
        """There is one."""

    def workers(self):
        return self.running

    def call(self, function, dataset, *arguments, **options):
        self.asked.append((function, sorted(options)))
        if self.error:
            raise self.error
        return "by a worker"


@pytest.mark.parametrize(
    ("seconds", "running", "error", "found", "n_asked"),
    [
        (0.9, [7], None, 3, 0),
        (1.0, [7], None, "by a worker", 1),
        (2.9, [], None, 3, 0),
        (3.0, [], None, "by a worker", 1),
        (9.0, [], NotStorableError("a plug-in"), 3, 1),
    ],
)
def test_heavy_work_is_done_by_workers_and_here_what_is_light_or_cannot_be_sent(
    monkeypatch, seconds, running, error, found, n_asked
):
    """A process is not started for what it would take about as long to start."""
    pool, told = Pool(error, running), []
    monkeypatch.setattr(cached, "workers", lambda: pool)

    def work(*arguments, token, progress):
        progress(0.5)
        return sum(arguments)

    assert cached.run(Job("sum"), work, None, 1, 2, seconds=seconds, progress=told.append) == found
    assert pool.asked == [(work, ["progress", "token"])] * n_asked
    assert told == ([0.5] if found == 3 else [])


def test_pages_send_what_takes_long_to_workers_and_nothing_else(monkeypatch):
    """The curve of held-out readers of rankings, which is drawn; what 12 cases need is computed here."""
    sent = []

    class Here(Pool):
        def call(self, function, dataset, *arguments, **options):
            sent.append(function.__name__)
            return function(*arguments, **options)

    monkeypatch.setattr(cached, "workers", Here)
    monkeypatch.setattr(expected, "_HELD_OUT", 1.0)
    rows = "case,rater,rank,class\n" + "".join(f"{n // 2},{'ab'[n % 2]},1,{'xyz'[n % 3]}\n" for n in range(24))
    at("cases", kept(rows, "workers")).run()
    for job in jobs().unfinished():
        assert job.wait(60)
    assert sent == ["held_out_curve"]


def test_without_a_server_there_are_no_workers():
    app = AppTest.from_string(
        "from pages.shared.cache import datasets\nassert datasets.workers() is None", default_timeout=120
    ).run()
    assert not app.exception


def test_while_a_step_of_the_story_is_read_the_next_ones_are_computed(monkeypatch):
    asked = []

    def noted(key, title, work, *rest, background=False, **more):
        asked.append((title, background))
        return job(key, title, work, *rest, background=background, **more)

    job = cached.job
    monkeypatch.setattr(cached, "job", noted)
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = "skin"
    app.run()
    asked.clear()  # Home asks for them by itself
    next(button for button in app.button if button.label == "Tour").click().run()
    assert not app.exception and "Step 1 of 7" in " ".join(text.value for text in app.markdown)
    later = ("Sweep over reliabilities", "Certainty of all cases", "Held-out scores of rater models")
    assert {(title, True) for title in later} <= {*asked}
    for one in jobs().unfinished():
        jobs().remove(one.key)


def test_at_step_five_what_the_last_step_asks_of_its_own_data_is_begun():
    """The very job; what this session looks at stays."""
    script = """
import streamlit as st
from pages.shared.cache.datasets import jobs
from pages.shared.shell import story
st.session_state["data"], st.session_state["select"], st.session_state["story"] = "skin", "kept", "5"
story.ahead("reliability")
st.session_state["after"] = st.session_state["data"], st.session_state["select"]
board = jobs()
st.session_state["begun"] = {key for key in board.all_keys() if board.get(key).title == story.computed.TITLE}
st.session_state["data"] = "replies"
del st.session_state["select"]
st.session_state["asked"] = story.computed.job_of(*story._machines())
"""
    app = AppTest.from_string(script, default_timeout=300).run()
    assert not app.exception
    state = app.session_state
    assert state["after"] == ("skin", "kept")
    assert state["asked"].background is False and {state["asked"].key} == state["begun"]
    jobs().remove(state["asked"].key)


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("number", range(1, 8))
def test_a_presented_step_is_a_slide_for_which_nothing_is_computed(number):
    """One claim and one figure in the place of the page; its foot names what they rest on."""
    step = STEPS[number - 1]
    app = at(step.page, step.data, story=str(number), presenting="1").run()
    assert not app.exception and not app.title
    (drawn,) = [chart.proto for chart in app.get("plotly_chart") if json.loads(chart.proto.spec)["data"]]
    (headline,) = [one.proto.body for one in app.get("html") if "<h1>" in one.proto.body]
    assert drawn.alt and drawn.alt in unescape(headline)
    assert not re.search("lyra|steady|brash|R0[1-9]", headline + drawn.spec)  # no rater's name, of a person or an AI
    assert f"{number} of 7 · {step.title}" in app.caption[0].value and " · " in app.caption[1].value


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("number", [number for number, step in enumerate(STEPS, 1) if "“" in step.attempt])
def test_what_a_step_says_to_try_is_on_its_page(number, monkeypatch):
    """Each name in quotes is a tab, which is opened, or a heading or a choice."""
    monkeypatch.setattr(shell_story, "ahead", lambda page: None)
    step = STEPS[number - 1]
    app = settle(at(step.page, step.data, story=str(number)).run())
    for name in re.findall("“(.+?)”", step.attempt):
        if name in [tab.label for tab in app.tabs]:
            app.session_state["ai_tabs"] = name
            app = settle(app.run())
            continue
        groups = [option for group in app.get("button_group") for option in group.options]
        assert name in [*(one.value for one in app.subheader), *groups], name


def test_the_last_step_opens_upload_and_an_audience_stays_on_its_slide():
    step = STEPS[-1]
    app = at(step.page, step.data, story="7").run()
    app.button(key="story_end").click().run()
    assert app.session_state["go_to"] == "upload"
    app = at(step.page, step.data, story="7", presenting="1").run()
    keys = {button.key for button in app.button}
    assert {"story_back", "stop_presenting"} <= keys and "story_end" not in keys


def test_a_step_of_data_that_have_changed_has_its_page_and_no_claim(monkeypatch):
    monkeypatch.setattr(shell_story.story, "slide", lambda *_: None)
    app = at("agreement", "skin", story="1").run()
    assert app.get("plotly_chart") and "**Step 1 of 7 · Raters disagree**" in [line.value for line in app.markdown]


def test_a_press_while_a_step_is_drawn_is_another_run_and_no_error(monkeypatch):
    moves, drawn = shell_story.moves, []

    def pressed():
        drawn.append(True)
        if len(drawn) == 1:
            here = get_script_run_ctx()
            again = RerunData(query_string=here.query_string, page_script_hash=here.page_script_hash)
            here.script_requests.request_rerun(again)
        moves()

    monkeypatch.setattr(shell_story, "moves", pressed)
    app = at("agreement", "skin", story="1").run()
    assert not app.exception and len(drawn) == 2
    assert sum(line.value.startswith("**Step 1 of 7") for line in app.markdown) == 1


def test_data_that_are_looked_at_for_a_moment_are_left_where_another_run_is_asked_for():
    def looks():
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx
        from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

        from pages.shared.kit import state

        if "data" not in st.session_state:
            st.session_state["data"] = "skin"
            with state.looking_at("replies"):
                get_script_run_ctx().script_requests.request_rerun(RerunData())
            st.write("went on")

    app = AppTest.from_function(looks, default_timeout=60).run()
    assert not app.exception and app.session_state["data"] == "skin" and not app.markdown


def test_with_data_open_a_process_for_heavy_work_is_there_before_it_is_asked_for(monkeypatch):
    prepared = []
    monkeypatch.setattr(cached, "prepare", lambda: prepared.append(True))
    at("settings").run()
    assert not prepared
    at("settings", "anaesthesia").run()
    assert prepared


@pytest.mark.parametrize(("page", "first"), [("settings", 1), ("upload", 0)])
def test_what_draws_figures_is_loaded_with_the_first_page_and_once(page, first):
    """Without data on it; a file is taken in the first second of Upload."""
    app = at(page).run()
    for n in (first, 0):
        charts = app.get("plotly_chart")
        assert not app.exception and [json.loads(chart.proto.spec)["data"] for chart in charts] == [[]] * n
        app.run()


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("page", ["agreement", "settings", "upload"])
def test_settings_are_chosen_whichever_page_is_open(page):
    """Each session that has the data open asks for the scores of rater models, so that the work is not held."""
    address = kept(f"{ROWS}42,0,x\n", f"open on {page}")
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = address
    app.switch_page(f"pages/{page}.py").run()
    assert "Held-out scores of rater models" in {job.title for job in jobs().unfinished()}
