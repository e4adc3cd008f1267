"""Cases whose annotations were on screen outside a review: an opinion on them afterwards is not blind."""

from pages.shared.cache import visit


def mark(digest: str, case_id: str) -> None:
    """Record that the annotations on a case are on screen."""
    visit.review_seen |= {(digest, case_id)}


def seen(digest: str, case_id: str) -> bool:
    """Return True if the annotations on a case were on screen in this session."""
    return (digest, case_id) in visit.review_seen
