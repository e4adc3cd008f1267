"""The only place that caches. Everything is keyed by the content of the data, the method, its options and the version.

Data are passed with a leading underscore: Streamlit would hash only a sample of a large array, and a change would go
unseen.
"""

import atexit
import gc
import hashlib
import inspect
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core import belongings, library, read_anew
from core.annotations.dataset import Dataset
from core.annotations.named_selection import Selection
from core.annotations.rater_codes import with_names
from core.errors import NotFoundError, PluralityError
from core.ingest import samples, uploads
from core.ingest.case_facts import joined
from core.ingest.companion_files import SideFiles
from core.ingest.formats.detect import open_source
from core.ingest.formats.side_tables import SideKind, read_pictures, read_side_file
from core.ingest.formats.source import Source
from core.ingest.read_files import Reading
from core.raters.groups import RaterFacts, facts_of_file, facts_of_upload
from core.runtime.encoding import NotStorableError
from core.runtime.files import running_folder
from core.runtime.first_start import EARLY, PARTS, Preparation, begin, compiled
from core.runtime.jobs import Job, JobBoard
from core.runtime.locks import end_running
from core.runtime.result_cache import Remembered, size_of
from core.runtime.supervisor import trim
from core.runtime.work import WorkService, job_name
from core.runtime.workers import WorkerPool
from core.settings import MEGABYTE, current_settings
from core.version import __version__
from pages.shared.cache import access, streamlit_private
from pages.shared.cache.remembered import owner, remembered, results

if TYPE_CHECKING:
    from core.evaluation.sweep_table import SweepPart
    from core.runtime.cluster import Cluster

MOST_WIDE_CELLS = 2_000_000
LANES = {"pages": 1, "opening": 2, "samplers": 3}  # how heavy the work of each is
# Seconds of work from which it goes to a process, and where none runs yet.
WORTH_A_PROCESS, WORTH_A_START = 1.0, 3.0
_READER_IDLE = 1_800.0  # seconds for which a process waits for the next upload
_WARM_UP_DELAY = 1.0
_pools: list[WorkerPool] = []
_loaded = threading.Event()  # the kernels, before the first session
_clusters: dict[str, "Cluster"] = {}
_cluster_lock = threading.Lock()
_LOOK = 2.0  # seconds between looks at what other processes have erased
_complete_pages: set[str] = set()


class Registry:
    """Datasets that are open in this server, by digest; beyond a size those used longest ago wait on disk.

    Where several processes serve, each finds there what another one opened, renamed, kept or erased.

    Parameters
    ----------
    most_bytes : int
        Largest size of all open datasets together.
    let_go : callable, optional
        Function of the digest of a dataset that another process of the server erased.
    """

    def __init__(self, most_bytes: int, let_go: Callable[[str], None] | None = None) -> None:
        self._most, self._let_go = most_bytes, let_go
        self._lock = threading.Lock()
        self._readings: OrderedDict[str, tuple[Reading, int]] = OrderedDict()
        self._stamps: dict[str, tuple[bool, int] | None] = {}

    def add(self, reading: Reading) -> str:
        """Open a dataset; returns its digest. What an earlier file told of its cases stays known."""
        digest = reading.dataset.digest
        known = self.get(digest)
        reading = replace(reading, facts=joined(known.facts if known else None, reading.facts))
        if self._let_go is not None:
            self._set_aside(digest, reading)
        with self._lock:
            self._take(digest, reading)
            while sum(size for _, size in self._readings.values()) > self._most and len(self._readings) > 1:
                aside, (oldest, _) = self._readings.popitem(last=False)
                if self._let_go is None:
                    self._set_aside(aside, oldest)
        return digest

    def get(self, digest: str) -> Reading | None:
        """Return the dataset of a digest, if it is open."""
        self._look(digest)
        with self._lock:
            if digest in self._readings:
                self._readings.move_to_end(digest)
                return self._readings[digest][0]
        aside = library.fetch_aside(digest)
        if aside is None:
            return None
        dataset, facts, report = aside
        with self._lock:
            return self._take(digest, Reading(dataset, report, facts))

    def look_at_all(self) -> None:
        """Discard what other processes have changed or erased."""
        with self._lock:
            digests = list(self._readings)
        for digest in digests:
            self._look(digest)

    def _look(self, digest: str) -> None:
        if self._let_go is None:
            return
        with self._lock:
            if digest not in self._readings or self._stamps.get(digest) == (now := library.stamp(digest)):
                return
            del self._readings[digest]
        if now is None:
            self._let_go(digest)

    def _take(self, digest: str, reading: Reading) -> Reading:
        self._readings[digest] = reading, size_of(reading.dataset)
        self._readings.move_to_end(digest)
        if self._let_go is not None:
            self._stamps[digest] = library.stamp(digest)
        return reading

    @staticmethod
    def _set_aside(digest: str, reading: Reading) -> None:
        if not library.is_kept(digest):
            library.set_aside(reading.dataset, reading.facts, reading.report)

    def restamp(self, digest: str) -> None:
        """Record that this process changed the dataset on disk, so that the open one remains valid."""
        with self._lock:
            self._stamps[digest] = library.stamp(digest)

    def remove(self, digest: str) -> None:
        """Let a dataset go."""
        with self._lock:
            self._readings.pop(digest, None)


@st.cache_resource(show_spinner=False)
def registry() -> Registry:
    """Return the open datasets of this server."""
    settings = current_settings()
    if not settings.several_processes:
        return Registry(settings.memory_mb * MEGABYTE)
    results()  # says that this process serves, before anything is shared
    found = Registry(settings.memory_mb * MEGABYTE, _let_go)

    def look() -> None:
        while True:
            time.sleep(_LOOK)
            found.look_at_all()

    threading.Thread(target=look, name="changes-elsewhere", daemon=True).start()
    return found


@st.cache_resource(show_spinner=False)
def jobs() -> JobBoard:
    """Return the board of long jobs of this server."""
    return JobBoard(is_connected=_is_connected)


def _serves() -> bool:
    """Return True on a server: a test has no runtime, or one of another kind."""
    return runtime.exists() and type(runtime.get_instance()) is runtime.Runtime


@st.cache_resource(show_spinner=False)
def workers() -> WorkerPool | None:
    """Return the processes for heavy work; None without a server, as in a test, or if the settings disable them."""
    most = current_settings().workers
    if not most or not _serves():
        return None
    pool = WorkerPool(most, lambda: running_folder() / "work", wanted=lambda: streamlit_private.count_connected() > 0)
    atexit.register(pool.close)  # before the folder goes
    _pools.append(pool)
    return pool


def _uploads_folder() -> Path:
    """Where uploaded files wait to be read: a temporary folder where the home folder cannot be written."""
    folder = running_folder() / "uploads"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(_temporary_folder().name)
    return folder


@cache
def _temporary_folder() -> tempfile.TemporaryDirectory:
    """Return a folder for this user only, which is removed when the server ends."""
    return tempfile.TemporaryDirectory(prefix="plurality-uploads-")


@st.cache_resource(show_spinner=False)
def readers() -> WorkerPool | None:
    """Return the processes that read uploads, each for one reading; None without a server, as in a test."""
    if not _serves():
        return None
    pool = WorkerPool(1, _uploads_folder, idle=_READER_IDLE, preparing=uploads.prepare)
    atexit.register(pool.close)  # before the folder goes
    _pools.append(pool)
    return pool


def prepare_reading() -> None:
    """Have a process started that reads the next upload, so that a small file need not wait for it."""
    if (pool := readers()) is not None:
        pool.prepare()


def open_upload(
    job: Job, files: Sequence[Any], has_header: bool | None, format: str | None, most_columns: int
) -> Source:
    """Read uploaded files in a separate process; see `core.ingest.formats.detect.open_source`.

    Parameters
    ----------
    job : Job
        Job whose token and progress the reading uses.
    files : sequence of UploadedFile
    has_header, format, most_columns
        Arguments of `open_source`.
    """
    named = [(file.name, file.getvalue()) for file in files]
    asked = {"has_header": has_header, "format": format, "most_columns": most_columns}
    if (pool := readers()) is None:
        return open_source(named, **asked, progress=job.report)
    return pool.read(uploads.open_files, named, **asked, token=job.token, progress=job.report)


def open_side_upload(job: Job, file: Any, kind: SideKind | None) -> SideFiles:
    """Read a companion file of the annotations in a separate process; without a ``kind``, a file of images."""
    name, content = file.name, file.getvalue()
    if (pool := readers()) is not None:
        return pool.read(uploads.open_side_file, [(name, content)], kind, token=job.token, progress=job.report)
    return read_pictures(name, content) if kind is None else read_side_file(name, content, kind)


def try_predictions(job: Job, file: Any) -> bool:
    """Raise where reading an uploaded file of predictions takes more than it may, tried by a process of its own."""
    if (pool := readers()) is None:
        return True
    return pool.read(uploads.try_predictions, [(file.name, file.getvalue())], token=job.token, progress=job.report)


def read_facts(job: Job, file: Any, names: Sequence[str], noun: str) -> RaterFacts:
    """Read an uploaded file of facts in a separate process; see `core.raters.groups.facts_of_file`."""
    if (pool := readers()) is None:
        return facts_of_file(file.name, file.getvalue(), names, noun)
    named = [(file.name, file.getvalue())]
    return pool.read(facts_of_upload, named, names, noun, token=job.token, progress=job.report)


def prepare() -> None:
    """Start a process for heavy work, if there is none, before anything needs it."""
    if (pool := workers()) is not None:
        pool.prepare()


def cluster() -> "Cluster | None":
    """Return the cluster in the settings, joined at first need and again after a loss; None if none is set.

    Raises
    ------
    InputError
        It does not answer.
    """
    address = current_settings().cluster
    if not address:
        return None
    with _cluster_lock:
        found = _clusters.get(address)
        if found is None or not found.alive:
            from core.runtime.cluster import Cluster

            if found is not None:
                found.close()
            found = _clusters[address] = Cluster(address)
            atexit.register(found.close)
        return found


def give_back_memory() -> None:
    """Give back the memory of results that are on disk, and of files that were read, once nobody is there."""
    jobs().discard(_of_upload)
    results().discard()
    gc.unfreeze()  # sessions that have ended are among what was kept for good
    _complete_pages.clear()
    _keep_for_good()
    trim()


def _of_upload(job: Job) -> bool:
    """Return True if the job reads files that a session uploaded, whose names are unique to that session."""
    return isinstance(job.key, tuple) and job.key[0] in ("open", "build", "side")


def end() -> None:
    """End what this server has in hand, and remove what it needs only while it runs."""
    for job in jobs().unfinished():
        job.cancel()
    while _pools:
        _pools.pop().close()
    with _cluster_lock:
        while _clusters:
            _clusters.popitem()[1].close()
    end_running()


def run(job: Job, function: Callable[..., Any], dataset: Dataset, *arguments: Any, seconds: float, **options: Any):
    """Run a function of `core` for a job, in a separate process if it is heavy, so that pages stay quick.

    If a cluster is set, it makes the draws for functions that take a runner.

    Parameters
    ----------
    job : Job
        Job whose token and progress the function uses.
    function : callable
    dataset : Dataset
        Its data, by coded raters; it stands among the arguments as well.
    *arguments, **options
        Arguments of the function; ``progress`` replaces the job's own.
    seconds : float
        Expected duration.
    """
    told = {"token": job.token, "progress": job.report} | options
    heavy = seconds >= WORTH_A_PROCESS
    if heavy and "runner" in inspect.signature(function).parameters and (others := cluster()) is not None:
        return function(*arguments, **told, runner=others)
    pool = workers() if heavy else None
    if pool is not None and (seconds >= WORTH_A_START or pool.workers()):
        with suppress(NotStorableError):  # a method of another package: here then
            return pool.call(function, dataset, *arguments, **told)
    return function(*arguments, **told)


def _is_connected(session: str) -> bool:
    """Return True if a browser is connected to a session; always True without a server, as in a test."""
    return not runtime.exists() or runtime.get_instance().is_active_session(session)


def session() -> str:
    """Return the id by which the server lists the session."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def _keep_for_good() -> None:
    """Take what is loaded by now out of the search for garbage.

    Streamlit searches all objects after every run of a page; most of them are modules and kernels, which stay.
    """
    gc.collect()
    gc.freeze()


def page_is_complete(name: str) -> None:
    """Take what a page has loaded out of the search for garbage, when it is complete for the first time.

    Parameters
    ----------
    name : str
        Name of its file in ``pages/``.
    """
    if name not in _complete_pages and _serves():
        _complete_pages.add(name)
        _keep_for_good()


@st.cache_resource(show_spinner=False)
def preparation() -> Preparation:
    """Return the kernels of this server: compiled by child processes on the first start, loaded in the background."""
    found = begin()

    def load() -> None:
        time.sleep(_WARM_UP_DELAY)  # let the first page come first
        if found.missing():
            _keep_for_good()  # a page that waits asks every second, and each time the search took half of one
            found.wait()
        _load_kernels()

    if not _loaded.is_set():
        threading.Thread(target=load, name="warm-up", daemon=True).start()
    return found


def load_early() -> None:
    """Load the kernels, if they are compiled, before the first page needs them."""
    if compiled() and not _loaded.is_set():
        _load_kernels()
        _loaded.set()


def _load_kernels() -> None:
    from core.warmup import warm_up

    warm_up(EARLY if compiled() else PARTS)  # what a child has failed at is compiled here, and then counts as compiled
    _keep_for_good()


@cache  # asked for some thirty times in a run of a page, which Streamlit's cache makes felt
def sample(name: str) -> Reading:
    """Return a sample by name."""
    found = samples.read_sample(name)
    access.add_sample(found.dataset.digest, name)
    return found


@st.cache_data(max_entries=8, show_spinner=False)
def _sample_predictions(name: str, digest: str, version: str, _dataset: Dataset):
    content = samples.sample_predictions(name)
    return () if content is None else _matched(name, content, _dataset)


def _matched(name: str, content: bytes, dataset: Dataset, whole: Dataset | None = None):
    if dataset.kind == "score":
        from core.evaluation.score_predictions import open_score_predictions

        return open_score_predictions(name, content, dataset)
    if dataset.kind == "set":
        from core.evaluation.set_predictions import open_set_predictions

        return open_set_predictions(name, content, dataset)
    if whole is not None and whole.kind == "set":
        from core.evaluation.set_predictions import is_of_label, open_label_predictions

        if is_of_label(dataset, whole):
            return open_label_predictions(name, content, dataset, whole)
    from core.evaluation.predictions import open_predictions

    return open_predictions(name, content, dataset, whole)


@st.cache_data(max_entries=16, show_spinner=False)
def _own_predictions(
    name: str, key: str, digest: str, whole: str, version: str, _content: bytes, _dataset: Dataset, _whole: Dataset
):
    return _matched(name, _content, _dataset, _whole)


@st.cache_data(max_entries=16, show_spinner=False)
def _machine_answers(name: str, key: str, version: str, _content: bytes) -> Dataset:
    from core.ingest.machine_answers import read_answers
    from core.machines.joined import called

    found = read_answers(_content, name).dataset
    return found if found.raters_identified else called(found, name)


def machine_answers(name: str, content: bytes) -> Dataset:
    """Annotations of machines in a file that the user added; one without a rater is called as the file is."""
    return _machine_answers(name, hashlib.blake2b(content).hexdigest(), __version__, content)


def sample_predictions(name: str, dataset: Dataset):
    """Predictions that come with a sample, matched to it."""
    return _sample_predictions(name, dataset.content_digest, __version__, dataset)


def own_predictions(name: str, content: bytes, dataset: Dataset, whole: Dataset | None = None):
    """Predictions of a file that the user added, matched to the dataset, which may be a selection of ``whole``."""
    whole = dataset if whole is None else whole
    key = hashlib.blake2b(content).hexdigest()
    return _own_predictions(
        name, key, dataset.content_digest, whole.content_digest, __version__, content, dataset, whole
    )


def open_dataset(address: str) -> Reading:
    """Return the dataset of an address: the name of a sample, or the digest of an open or kept dataset.

    Raises
    ------
    NotFoundError
        It is neither; says what to do.
    """
    if any(entry.name == address for entry in samples.SAMPLES):
        return sample(address)
    access.ask(address)
    access.opened(address)
    reading = registry().get(address)
    if reading is None:
        try:
            reading = Reading(library.reopen(address), None, library.facts_of(address))
        except NotFoundError:
            raise access.not_here(address) from None
        registry().add(reading)
    return reading


def bring(reading: Reading) -> str:
    """Open data that somebody brings, which are theirs from now on; returns their digest.

    Raises
    ------
    NotYoursError
        They may not, or the data are somebody else's.
    """
    digest = reading.dataset.digest
    if access.claim(digest):
        return registry().add(reading)
    open_dataset(digest)  # somebody else's that are shared: what the file tells of its cases changes nothing of theirs
    return digest


def bring_questions(readings: Mapping[str, Reading]) -> None:
    """Open all questions of an upload, so that each knows the others.

    Parameters
    ----------
    readings : mapping of str to Reading
        Readings by the name of the question.

    Raises
    ------
    NotYoursError
        Same as for `bring`.
    """
    digests = {name: bring(reading) for name, reading in readings.items()}
    for digest in digests.values():
        if access.may_change(digest):
            access.WriteRight(digest).set_questions(digests)


def questions(address: str) -> dict[str, str]:
    """Digests of the questions of an upload that can still be opened, by name; empty if there is only one.

    Parameters
    ----------
    address : str
        Address of the dataset in use.
    """
    told = access.ReadRight(address).questions()
    found = {name: digest for name, digest in told.items() if library.is_kept(digest) or registry().get(digest)}
    return found if len(found) > 1 else {}


def kept() -> list[library.Kept]:
    """List the kept datasets that the user may open, the latest first."""
    return [entry for entry in library.kept() if access.may(entry.digest)]


def rename(digest: str, name: str) -> None:
    """Rename a kept dataset."""
    access.WriteRight(digest).record("rename", name)
    library.rename(digest, name)
    registry().remove(digest)


def is_lasting(address: str) -> bool:
    """Return True if the data of an address outlive the server: a sample, or kept on this computer."""
    return any(entry.name == address for entry in samples.SAMPLES) or library.is_kept(address)


def keep(reading: Reading) -> None:
    """Keep a dataset on this computer with the other questions of its upload, and what belongs to them.

    Raises
    ------
    InputError
        The home folder cannot be written.
    """
    others = [digest for digest in questions(reading.dataset.digest).values() if digest != reading.dataset.digest]
    _keep(reading)
    for digest in others:
        if access.may_change(digest) and not library.is_kept(digest) and (other := registry().get(digest)) is not None:
            _keep(other)


def _keep(reading: Reading) -> None:
    """Keep one dataset, with what was computed from it."""
    digest = reading.dataset.digest
    access.WriteRight(digest).record("keep")
    library.keep(reading.dataset, reading.facts)
    library.erase_aside(digest)
    belongings.move_belongings(digest)
    results().keep(digest)
    if current_settings().several_processes:
        registry().restamp(digest)


def keep_no_more(digest: str) -> None:
    """Take back that a dataset is kept; it stays open, and its reviews stay."""
    access.WriteRight(digest).record("keep no more")
    reading = open_dataset(digest)
    if current_settings().several_processes:  # or another one would find it nowhere for a moment
        library.set_aside(reading.dataset, reading.facts, reading.report)
    library.keep_no_more(digest)
    belongings.move_belongings(digest)
    registry().add(reading)


def forget(digest: str) -> None:
    """Erase a kept dataset, and everything that was computed from it."""
    access.let_go(digest)
    library.forget(digest)
    belongings.forget_belongings(digest)
    registry().remove(digest)
    _let_go(digest)


def kept_before(reading: Reading) -> list[read_anew.Earlier]:
    """List what earlier digests of a dataset have that the user may bring over; not what they left apart."""
    if not reading.earlier:
        return []
    found = read_anew.found_before(reading.dataset, reading.earlier)
    return [one for one in found if access.may(one.digest, change=True)]


def read_now(reading: Reading) -> Reading | None:
    """Read the file of a kept dataset again; None if the result is the same, or if it is to stay unchanged."""
    digest = reading.dataset.digest
    if not library.is_kept(digest) or not access.may(digest, change=True):
        return None
    dataset = _as_read_now(digest, reading.dataset.names_digest, __version__, reading.dataset)
    if dataset is None or library.is_left_apart(digest, dataset.digest):
        return None
    return replace(reading, dataset=dataset, report=None, earlier=())


@st.cache_resource(max_entries=16, show_spinner=False)
def _as_read_now(digest: str, names: str, version: str, _dataset: Dataset) -> Dataset | None:
    return read_anew.as_read_now(_dataset)


def leave_apart(earlier: str, present: str) -> None:
    """Save that what is kept under an earlier digest of a dataset stays there."""
    access.ask_to_bring_over(earlier, present)
    library.leave_apart(earlier, present)


def bring_over(earlier: str, reading: Reading) -> tuple[int, int]:
    """Bring what is kept under an earlier digest to a dataset as it is now, and open it.

    Returns how many steps of review were brought over, and how many were left in the earlier record.
    """
    digest = reading.dataset.digest
    access.ask_to_bring_over(earlier, digest)
    steps = read_anew.bring_over(earlier, reading.dataset, reading.facts, access.name_for_record(), reading.rater_names)
    registry().remove(earlier)
    _let_go(earlier)
    if library.is_kept(digest):  # under the name that it has there
        reading = replace(reading, dataset=reading.dataset.renamed(library.name_of(digest)))
    registry().add(reading)
    if current_settings().several_processes:
        registry().restamp(digest)
    return steps


def _let_go(digest: str) -> None:
    """Erase what this process has computed of a dataset that is erased."""
    gone = results().forget(digest)
    for name in [name for name in jobs().all_keys() if isinstance(name, tuple)]:
        if name[0] in gone or digest in name[1]:  # a report has names, and is of the dataset
            jobs().remove(name)
    uploads = [job for job in map(jobs().get, jobs().all_keys()) if job is not None and _of_upload(job)]
    theirs = {who for job in uploads if job.key[0] == "build" and digest in _built(job) for who in job.sessions}
    for job in uploads:
        if job.finished and job.sessions & theirs:
            jobs().remove(job.key)
    if (pool := workers()) is not None:
        pool.forget(gone)


def _built(job: Job) -> set[str]:
    """Digests of what a job has read: one question, or several of one upload."""
    found = (job.result,) if isinstance(job.result, Reading) else [one.reading for one in job.result or ()]
    return {reading.dataset.digest for reading in found if reading is not None}


@st.cache_resource(max_entries=16, show_spinner=False)
def _selected(digest: str, names: str, chosen: str, version: str, _dataset: Dataset) -> Dataset:
    return Selection.from_text(chosen).apply(_dataset)


def selected(dataset: Dataset, chosen: Selection) -> Dataset:
    """Return the dataset of the selected annotations."""
    return _selected(dataset.digest, dataset.names_digest, chosen.to_text(), __version__, dataset)


@st.cache_resource(max_entries=16, show_spinner=False)
def _decided_gold(digest: str, names: str, events: tuple, version: str, _dataset: Dataset, _reviews):
    from core.review.decided_gold import decided_gold

    return decided_gold(_dataset, _reviews)


def decided_gold(dataset: Dataset, reviews):
    """Return the dataset with arbitrated decisions as gold, cached until another event is recorded."""
    events = tuple((case_id, review.version) for case_id, review in reviews.items() if review.adjudication is not None)
    return _decided_gold(dataset.digest, dataset.names_digest, events, __version__, dataset, reviews)


@remembered
def class_view(dataset: Dataset, threshold: float | str | None) -> tuple[Dataset, int]:
    """Return the dataset as single classes (scores split at the median at first), and how many are left out."""
    if dataset.kind == "score" and threshold is None:
        threshold = float(np.median(dataset.score))
    return dataset.as_classes(threshold)


@remembered
def learned_counts(dataset: Dataset):
    """Return counts with the prior learned from all cases."""
    from core.plausibility.learned_counts import learned_counts

    return learned_counts(dataset)


@remembered
def can_be_wide(dataset: Dataset) -> bool:
    """Return True if the annotations fit into a table with a column for each rater."""
    from core.annotations.write import wide_table

    if not dataset.raters_identified or dataset.n_cases * dataset.n_raters > MOST_WIDE_CELLS:
        return False
    try:
        wide_table(dataset)
    except PluralityError:  # a rater annotated a case twice, say: a cell holds only one annotation
        return False
    return True


@remembered
def majority(dataset: Dataset):
    """Majority vote of every case."""
    from core.models.majority import MajorityVote

    return MajorityVote().fit(dataset)


def job(
    key: tuple,
    title: str,
    work: Callable[[Job], object],
    lane: str = "pages",
    of: Dataset | None = None,
    *,
    background: bool = False,
) -> Job:
    """Return the job of a key, started if there is none; a job that failed or was cancelled here is not restarted.

    Parameters
    ----------
    key : tuple
        Digest of the content, method, parameters and seed; the version is added here.
    lane : str
        Weight of the work, see `LANES`.
    of : Dataset, optional
        Dataset on whose content it depends; its result is then found again after a restart.
    background : bool
        True if it may begin after the jobs that the page waits for.
    """
    who = {"session": session(), "cost": LANES[lane], "background": background}
    if of is None:
        return jobs().join(job_name(key), title, work, **who)
    return _work().submit(key, title, work, of, **who)


def _work() -> WorkService:
    return WorkService(jobs(), results(), owner())


def parts(
    dataset: Dataset, model, seconds: float, **asked
) -> Callable[[float, Job, Callable[[float], None]], "SweepPart"]:
    """Return the function that computes a sweep at one reliability: found if it was drawn before, or drawn and kept.

    It takes the reliability, the job that needs the part, and a callable for its progress. ``seconds`` is the expected
    duration of the whole sweep.
    """
    from core.evaluation.sweep_table import sweep_part

    door, settings = _work(), (model.name, tuple(sorted(model.settings().items())), tuple(sorted(asked.items())))

    def part(reliability: float, job: Job, progress: Callable[[float], None]) -> "SweepPart":
        def draw(told: Callable[..., None]) -> "SweepPart":
            coded = dataset.coded
            return run(job, sweep_part, coded, model, coded, reliability, **asked, seconds=seconds, progress=told)

        return door.part(job, dataset, ("part of a sweep", *settings, reliability), draw, progress)

    return part


def known(key: tuple) -> Job | None:
    """Return the job of a key; None if there is none."""
    return jobs().get(job_name(key))


def known_result(key: tuple, title: str, of: Dataset):
    """Return the result of a key from memory or disk; None if it is not known. Nothing is started."""
    job = _work().find(key, title, of)
    return result(job, of) if job is not None and job.state == "done" else None


def result(job: Job, dataset: Dataset | None):
    """Return the result of a job that is done, with the names of the dataset that has its content."""
    if dataset is None:
        return job.result
    if job.remembered is None:
        job.remembered = Remembered(job.result)
    return job.remembered.named(dataset)


def partial(job: Job, dataset: Dataset):
    """Return the partial result of a job with the names of the dataset that has its content, or None."""
    found = job.partial
    return None if found is None else with_names(found, dataset)


def drawing(still: bool) -> None:
    """Record that this session draws a page, or has requested all that is on it."""
    jobs().drawing(session(), still)


def watch(key: tuple, part: str = "") -> None:
    """Record that this session, or a part of it, watches the job of a key."""
    jobs().watch(job_name(key), f"{session()}{part}")


def leave(key: tuple, part: str = "") -> None:
    """Record that this session does not need a job any more; a job that nobody needs is cancelled."""
    jobs().leave(job_name(key), f"{session()}{part}")


def unfinished() -> tuple[list[Job], int]:
    """Return the computations of this session that run or wait, and the number of those of other sessions."""
    known = jobs().unfinished()
    mine = [job for job in known if session() in job.sessions]
    return mine, len(known) - len(mine)


def cancel(job: Job) -> None:
    """Cancel a job on behalf of this session; others who need the same have it started again."""
    jobs().cancel(job.key, session())


def restart(name: tuple) -> None:
    """Restart, at the next request, a job that failed or that this session cancelled; ``name`` is `Job.key`."""
    jobs().again(name, session())
