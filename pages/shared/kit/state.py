"""Which dataset and which case this session looks at, and the address that says so.

The address is ``?data=<digest or sample>&select=…&case=…&model=…&prior=…&reliability=…``, in the guided story with
``&story=<step>``, in a presentation with ``&presenting=1``, with two selections side by side in ``&compare=…``, with
one rater in ``&rater=…``. It is
adopted when somebody opens or edits it, and written after each run; moving between pages clears it, and it is written
again. The prior of counts is "learned" or their α; γ without a prior is from before it was learned, and goes with the
published one.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from streamlit.runtime.scriptrunner import RerunException, StopException

from core import library
from core.annotations.dataset import Dataset
from core.annotations.named_selection import Selection
from core.errors import PluralityError
from core.ingest.read_files import Reading
from core.machines.marks import Machine
from core.models.vote_prior import PUBLISHED_ALPHA
from core.plausibility.dirichlet import LARGEST, SMALLEST, DirichletCounts
from core.text import exact, typed
from pages.shared.cache import access, streamlit_private, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import presentation

CHOSEN = ("model", "prior", "reliability")
LEARNED_PRIOR = "learned"
_PARTS = ("data", "select", "case", "model", "prior", "reliability", "story", "presenting", "compare", "rater")
ONE_RATER = "One rater"
_OPENED = {"compare": {"agreement_tabs": "Compare"}, "rater": {"rater_tabs": ONE_RATER}}  # the tabs that parts open


def adopt_address() -> None:
    """Adopt the state in the address unless this session wrote it itself.

    A press that comes before the browser has the last address brings the one before: that undoes nothing.
    """
    written = visit.address_written or {}
    said = _said()
    if "data" in said:
        said["data"] = library.present_digest(said["data"])
    if said == written:
        visit.addresses_left = []
    elif said in visit.addresses_left and not streamlit_private.is_history_navigation():
        return
    if "data" in said and said["data"] != written.get("data"):
        visit.data = said["data"]
        visit.drop(*(part for part in ("select", "case") if part not in said))
        _take_chosen(said["data"], said)
    if "reliability" in said and said["reliability"] != written.get("reliability"):
        visit.reliability = _number(said["reliability"])
        _take_published_prior(said)
    for part in ("select", "case", "model", "prior", "story", "presenting", *_OPENED):
        if part in said and said[part] != written.get(part):
            setattr(visit, part, said[part])
            for tabs, name in _OPENED.get(part, {}).items():
                visit.choice[tabs] = name
            if part == "prior":
                del visit.prior_from_before


def write_address() -> None:
    """Make the address say what is on screen, so that it can be sent to somebody or opened again."""
    now = {part: _as_text(value) for part in _PARTS if (value := getattr(visit, part)) not in (None, "")}
    if visit.choice["rater_tabs"] != ONE_RATER or presentation.on():  # an audience sees no names
        now.pop("rater", None)
    if now != _said():
        st.query_params.from_dict(now)
    written = visit.address_written
    if written is not None and now != written:
        visit.addresses_left = [*visit.addresses_left, written]
    visit.address_written = now


def _said() -> dict[str, str]:
    return {part: st.query_params[part] for part in _PARTS if part in st.query_params}


def split(dataset: Dataset) -> float | str | None:
    """Return what converts annotations to single classes: the threshold of scores, the label of sets."""
    if dataset.kind != "set":
        return visit.threshold
    return visit.label if visit.label in dataset.classes else most_named(dataset)


def most_named(dataset: Dataset) -> str:
    """Return the label that most annotations of sets name."""
    return dataset.classes[int(np.bincount(dataset.entry_class, minlength=dataset.n_classes).argmax())]


def use(address: str) -> None:
    """Change to another dataset, by its digest or the name of a sample."""
    left = ("select", "case", "rater", "threshold", "label", *CHOSEN, "compare", "compared_last")
    visit.drop(*left, "machines_count", "prior_from_before")
    del visit.text["find"]
    visit.data = address
    _take_chosen(address, {})


def _take_chosen(address: str, said: dict[str, str]) -> None:
    """Restore the model, its prior and γ chosen last for these data, unless the address has them."""
    if not address or any(part in said for part in CHOSEN):
        return
    try:
        chosen = access.ReadRight(address).chosen()
    except PluralityError:  # said where the data are opened
        return
    visit.set(**{part: chosen[part] for part in CHOSEN if part in chosen})
    _take_published_prior(chosen)


def _take_published_prior(chosen: Mapping[str, Any]) -> None:
    """Give counts the published prior if γ was chosen before they learned theirs."""
    of_counts = chosen.get("model", DirichletCounts.name) == DirichletCounts.name
    if of_counts and "reliability" in chosen and "prior" not in chosen:
        visit.prior, visit.prior_from_before = typed(PUBLISHED_ALPHA), True


def prior_alpha(prior: str) -> float:
    """Return α of a prior in the address; the published one if it cannot be read.

    Parameters
    ----------
    prior : str
    """
    with suppress(ValueError):
        if SMALLEST <= float(prior) <= LARGEST:
            return float(prior)
    return PUBLISHED_ALPHA


def leave() -> None:
    """Use no dataset."""
    use("")
    del visit.data


def selection() -> Selection:
    """Return the selection of the dataset in use; everything if the address cannot be read."""
    with visit.error_in("data_error"):
        return Selection.from_text(visit.select or "")
    del visit.select
    return Selection()


def choose(chosen: Selection) -> None:
    """Let only the selected annotations count, on all pages."""
    visit.select = chosen.to_text() or None


def marked_machines() -> tuple[Machine, ...]:
    """Return the AI raters of the dataset in use: as marked by a user, otherwise as in its file."""
    reading = _opened()
    told = () if reading is None else tuple(Machine(*one) for one in reading.machines)
    return () if reading is None else access.ReadRight(visit.data).machines(told)


def machines_left_out() -> tuple[str, ...]:
    """Raters who are marked as machines and count for nothing; none where the user counts them, too."""
    reading = _opened()
    if reading is None or visit.machines_count:
        return ()
    marked = {machine.name for machine in marked_machines()}
    found = tuple(name for name in reading.dataset.raters if name in marked)
    return found if len(found) < reading.dataset.n_raters else ()


def counted(chosen: Selection | None = None) -> Selection:
    """Return what counts on all pages: a selection, by default the current one, without AI raters that are left out."""
    chosen, out = selection() if chosen is None else chosen, set(machines_left_out())
    if not out:
        return chosen
    of = chosen.raters if chosen.raters is not None else _opened().dataset.raters
    left = tuple(name for name in of if name not in out)
    return replace(chosen, raters=left) if left else chosen


def people_of(dataset: Dataset) -> Dataset:
    """Return a dataset by the names in its file without AI raters that are left out and the cases of only them.

    Parameters
    ----------
    dataset : Dataset
        As `whole` has it.
    """
    out = set(machines_left_out())
    if not out:
        return dataset
    return cached.selected(dataset, Selection(raters=tuple(name for name in dataset.raters if name not in out)))


def selected_with_machines() -> Selection:
    """Return the selection with all AI raters, whatever raters are selected."""
    chosen = selection()
    if chosen.raters is None:
        return chosen
    marked = [machine.name for machine in marked_machines()]
    return replace(chosen, raters=tuple(dict.fromkeys((*chosen.raters, *marked))))


def with_machines() -> tuple[Reading, tuple[Machine, ...]] | None:
    """Return the selected annotations with those of AI raters, and the AI raters by the names on screen."""
    reading = _opened()
    if reading is None:
        return None
    marked = {machine.name: machine for machine in marked_machines()}
    chosen = selected_with_machines()
    try:
        dataset = reading.dataset if chosen.everything else cached.selected(reading.dataset, chosen)
    except PluralityError:
        dataset = reading.dataset
    shown = presentation.veiled(replace(reading, dataset=dataset), tuple(sorted(marked)))
    pairs = zip(dataset.raters, shown.dataset.raters, strict=True)
    found = tuple(replace(marked[name], name=veil) for name, veil in pairs if name in marked)
    return shown, presentation.veiled_families(found)


def current() -> Reading | None:
    """Return the dataset in use with only the annotations that count; None if there is none."""
    reading, chosen = _opened(), counted()
    if reading is None or chosen.everything:
        return presentation.veiled(reading)
    try:
        return presentation.veiled(replace(reading, dataset=cached.selected(reading.dataset, chosen)))
    except PluralityError as error:
        visit.data_error = f"{error} All annotations are shown."
        del visit.select
        return presentation.veiled(reading)


def whole() -> Reading | None:
    """Return the dataset in use; None if there is none, with an error on screen if its address does not exist."""
    return presentation.veiled(_opened())


@contextmanager
def looking_at(address: str) -> Iterator[None]:
    """Use another dataset, all of it, within the context."""
    before = {part: value for part in ("data", "select") if (value := getattr(visit, part))}
    visit.data = address
    del visit.select
    try:
        yield
    finally:
        try:
            _look_back(before)
        except (RerunException, StopException):  # asked for meanwhile, and told once where the state is touched next
            _look_back(before)
            raise


def _look_back(before: dict[str, object]) -> None:
    visit.drop("data", "select")
    visit.set(**before)


def _opened() -> Reading | None:
    if not (address := visit.data):  # read once, because a page asks some seventy times
        return None
    try:
        return cached.open_dataset(address)
    except PluralityError as error:
        visit.data_error = str(error)
        del visit.data
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _as_text(value: object) -> str:
    return exact(value) if isinstance(value, float) else str(value)
