"""People, their roles, and the account of each name on a server with sign-in, on the command line."""

import time
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_REVIEWS = "open and review data shared with them"
_MAY = {
    "reviewer": _REVIEWS,
    "manager": f"{_REVIEWS}; add data; change, share and delete their own data",
    "administrator": "open, change, share and delete everything",
    "ended": "nothing",
    "nobody": "nothing",
    "claim": "as the role in the claim named by PLURALITY_ROLE_CLAIM; as a reviewer if there is none",
}
_COLUMNS = ["name", "role", "may", "groups", "issuer", "subject"]


def people(options) -> tuple[dict, "pd.DataFrame"]:
    """List everybody with their role, or free a name from its account."""
    import pandas as pd

    if options.action is None:
        answer = _everybody()
        return answer, pd.DataFrame(answer["people"], columns=_COLUMNS)
    from ..accounts import free
    from ..people_list import normal_name

    if options.name is None:
        raise InputError("Could not unlink a name: no name was given.", "Usage: plurality people rebind NAME")
    name = normal_name(options.name)
    free(name)
    answer = {"ok": True, "name": name, "next": "The next account that signs in with this name takes it over."}
    return answer, pd.DataFrame([answer])


def access(options) -> tuple[dict, "pd.DataFrame"]:
    """Check the record of access and list its lines, the oldest first; the table has the lines."""
    import pandas as pd

    from ..access_record import check_access

    if options.days is not None and options.days < 1:
        raise InputError(f"--days must be at least 1; got {options.days}.", "Use a larger number.")
    lines, faults = check_access()
    since = 0.0 if options.days is None else time.time() - 86_400 * options.days
    rows = [
        {"number": line.number, "at": line.time, "who": line.who, "what": line.what, "dataset": line.dataset}
        | {"details": list(line.details)}
        for line in lines
        if line.at >= since and options.who in (None, line.who)
    ]
    answer = {"ok": not faults, "n_lines": len(lines), "head": lines[-1].hash if lines else None}
    columns = ["number", "at", "who", "what", "dataset", "details"]
    return answer | {"problems": faults, "lines": rows}, pd.DataFrame(rows, columns=columns)


def _everybody() -> dict:
    from ..accounts import bound_accounts
    from ..people import TRUSTED
    from ..people_list import read_people
    from ..settings import current_settings

    settings, listed = current_settings(), read_people()
    accounts = {account.name: account for account in bound_accounts() if not account.is_free}
    others = listed.others or ("claim" if settings.role_claim else "reviewer")
    rows = []
    for name in sorted(listed.names | accounts.keys()):
        role = listed.roles.get(name, others)
        account = accounts.get(name)
        rows.append(
            {
                "name": name,
                "role": role,
                "may": _MAY[role],
                "groups": sorted(group for group, members in listed.groups.items() if name in members),
                "issuer": account.issuer if account else None,
                "subject": account.subject if account else None,
            }
        )
    verified = (
        f"every address is accepted as verified ({TRUSTED}=1)"
        if settings.email_trusted
        else (f"required; if the provider verifies every address but does not report it, set {TRUSTED}=1")
    )
    return {
        "list": str(settings.people) if settings.people else None,
        "name_claim": settings.name_claim,
        "email_verified": verified if settings.name_claim == "email" else "not used",
        "everybody_else": {"role": others, "may": _MAY[others]},
        "people": rows,
    }
