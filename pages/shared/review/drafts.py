"""Drafts: what a reviewer has chosen and typed on a case and not recorded, saved for when their session ends.

They are saved as a field is left and whenever the case is drawn, per reviewer and case, and forgotten once recorded.
"""

import json
from typing import Any

from pages.shared.cache import access, visit

_FORM = ("chosen", "score", "confidence", "reason", "note", "whom", "doing")
_TYPED = ("score", "reason", "note")  # without one of these or a chosen class nothing is saved


def take_up(case: str) -> None:
    """Put what was typed on a case in an earlier session back into its forms.

    Parameters
    ----------
    case : str
        The case in its review session (`CaseOnScreen.place`).
    """
    if case not in visit.review_drafts:
        typed = access.drafts(visit.data).get(case, {})
        visit.review_drafts[case] = json.dumps(typed)
        for key, value in typed.items():
            visit.other.begin(key, value)


def keep(case: str) -> None:
    """Save what is typed on a case now, if it differs from what is saved."""
    typed = _typed(case)
    if (text := json.dumps(typed)) != visit.review_drafts.get(case, "{}"):
        access.keep_draft(visit.data, case, typed)
        visit.review_drafts[case] = text


def kept(case: str) -> dict[str, Any]:
    """Return options by which a field is saved as soon as it is left, also if the session is over by then."""
    return {"on_change": keep, "args": (case,)}


def entries(case: str) -> str:
    """Return what is chosen and typed on a case now, as text."""
    return json.dumps(_entries(case), sort_keys=True)


def _entries(case: str) -> dict[str, Any]:
    of_case = visit.ending(f"-{case}").items()
    return {key: value for key, value in of_case if key.partition("-")[0] in _FORM and value not in (None, "")}


def _typed(case: str) -> dict[str, Any]:
    form = _entries(case)
    chosen = form.get(f"chosen-own-{case}") or {}  # other forms begin with an opinion
    is_chosen = bool(chosen.get("blocks") or chosen.get("cannot"))
    return form if is_chosen or any(key.partition("-")[0] in _TYPED for key in form) else {}
