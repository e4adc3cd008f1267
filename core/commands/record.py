"""Record of reviews on the command line: verify, upgrade as its owner, back up, restore, erase, bring over."""

from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .. import library, read_anew
from ..errors import InputError
from .inputs import check_codes, declared_order, read_file, stamp

if TYPE_CHECKING:
    import pandas as pd

    from ..backup import Backup
    from ..review.chain import RecordCheck


def verify(options) -> tuple[dict, "pd.DataFrame"]:
    """Check that the record is whole and contains the given hashes; the table lists the faults."""
    import pandas as pd

    from ..review.chain import RecordCheck, not_held
    from ..review.signed_heads import signed_heads
    from ..review.store import open_store, there_is_a_store
    from ..settings import current_settings

    heads, key = [head.strip().lower() for head in options.head], current_settings().head_key
    signed, faults = ([], []) if key is None else signed_heads(key)
    found = open_store().check(heads, signed) if there_is_a_store() else RecordCheck(0, {}, tuple(map(not_held, heads)))
    found = replace(found, faults=(*found.faults, *faults))
    answer = _told(found) | {
        "database_checked_by": found.looked_by,
        "signed": {"n": len(signed), "last": signed[-1].at if signed else None},
        "backwards": [_fields(fault) for fault in found.backwards],
        "role_owns_tables": found.owns_tables,
    }
    return answer, pd.DataFrame(answer["problems"], columns=["dataset", "number", "what"])


def sign(options) -> tuple[dict, "pd.DataFrame"]:
    """Sign the ends of the chains, with a key stored elsewhere; the table lists what was signed."""
    import pandas as pd

    from ..review.signed_heads import make_key, sign_heads
    from ..review.store import open_store, there_is_a_store

    key = Path(options.key)
    if options.new:
        make_key(key)
    told = sign_heads(key, open_store().heads() if there_is_a_store() else {})
    heads = {dataset: {"number": head.number, "hash": head.hash} for dataset, head in told.heads.items()}
    answer = {"ok": True, "at": told.at, "heads": heads, "signature": told.signature}
    return answer, pd.DataFrame([{"dataset": dataset} | head for dataset, head in heads.items()])


def upgrade(options) -> tuple[dict, "pd.DataFrame"]:
    """Upgrade the database to this version as the owner of its tables, and give the application's role access."""
    import pandas as pd

    from ..review.database import grant, open_database, owner_url, store_url

    url = store_url()
    engine = open_database(owner_url())
    role = None
    if owner_url() != url:
        if not url.username:
            raise InputError(
                "Could not use PLURALITY_DATABASE_URL: it does not contain a role.",
                "Set it to postgresql://role@host/name.",
            )
        role = url.username
        grant(engine, role)
    engine.dispose()
    answer = {"ok": True, "database": url.get_backend_name(), "role": role}
    return answer, pd.DataFrame([answer])


def backup(options) -> tuple[dict, "pd.DataFrame"]:
    """Write the backup; the table lists its content."""
    from ..backup import ENCRYPTED, back_up, expire_backups

    if (options.out is None) == (options.folder is None):
        raise InputError(
            "Could not write a backup: exactly one destination is needed.", "Use either a file or --folder."
        )
    if options.folder is None:
        return _of(back_up(Path(options.out), options.encrypt_to or ""), options.out)
    folder = Path(options.folder)
    end = ENCRYPTED if options.encrypt_to else ""
    out = folder / f"{datetime.now(UTC):%Y-%m-%dT%H%M%S}.backup{end}"
    answer, table = _of(back_up(out, options.encrypt_to or ""), str(out))
    removed = expire_backups(folder, options.keep, options.days) if answer["ok"] else []  # the good ones stay
    return answer | {"removed": [path.name for path in removed]}, table


def restore(options) -> tuple[dict, "pd.DataFrame"]:
    """Restore a backup; the table lists its content."""
    from ..backup import restore as put_back

    identity = None if options.identity is None else Path(options.identity)
    return _of(put_back(Path(options.file), identity), options.file)


def erase(options) -> tuple[dict, "pd.DataFrame"]:
    """Erase what is stored of a person, or data that nobody uses any more; the table lists what it was."""
    import pandas as pd

    from ..erasure import erase_person, forget, unused

    if (options.person is None) == (options.unused is None):
        raise InputError(
            f"Could not delete: {'neither --person nor' if options.person is None else 'both --person and'} --unused "
            f"{'was' if options.person is None else 'were'} given.",
            "Use either --person NAME or --unused DAYS.",
        )
    if options.person is not None:
        if not options.yes:
            raise InputError(
                "Could not delete the person: this cannot be undone and needs confirmation.",
                "Make a backup, then add --yes.",
            )
        done = erase_person(options.person, options.by)
        answer = {"ok": True, "n_events": done.n_events, "n_datasets": done.n_datasets}
        return answer, pd.DataFrame([{"dataset": key, "n_events": n} for key, n in done.n_events.items()])
    found = unused(options.unused)
    for one in found if options.yes else ():
        forget(one.digest)
    told = [{"digest": one.digest, "name": one.name, "last": one.last.isoformat(timespec="seconds")} for one in found]
    return {"ok": True, "erased": bool(options.yes), "datasets": told}, pd.DataFrame(told)


def _of(done: "Backup", file: str) -> tuple[dict, "pd.DataFrame"]:
    import pandas as pd

    told = {"ok": True, "n_events": 0, "heads": {}, "erased": {}, "without_person": {}}
    told |= {"erasures": [], "problems": []}
    told = told if done.record is None else _told(done.record)
    held = {"n_files": done.n_files, "n_bytes": done.n_bytes, "datasets": list(done.datasets)}
    table = pd.DataFrame([{"file": file, "n_files": done.n_files, "n_events": told["n_events"], "ok": told["ok"]}])
    return {**told, "file": file, **held}, table


def _told(found: "RecordCheck") -> dict:
    from ..review.export import time_of

    return {
        "ok": found.ok,
        "n_events": found.n_events,
        "heads": dict(found.heads),
        "erased": dict(found.erased),
        "without_person": dict(found.without_person),
        "erasures": [asdict(one) | {"at": time_of(one.at)} for one in found.erasures],
        "problems": [_fields(fault) for fault in found.faults],
    }


def _fields(fault) -> dict:
    return {"dataset": fault.dataset, "number": fault.number, "what": fault.what}


def bring_over(options) -> tuple[dict, "pd.DataFrame"]:
    """Copy what is stored under earlier digests of a file to the present dataset; the table has one row per digest."""
    import pandas as pd

    options.select = None
    reading = read_file(options)
    if reading.report is not None:
        check_codes(reading.report.codes)
    if options.ordinal:
        reading = read_file(options, order=declared_order(reading.dataset.classes, options))
    dataset, earlier = reading.dataset, reading.earlier
    if library.is_kept(dataset.digest) and (now := read_anew.as_read_now(dataset)) is not None:
        dataset, earlier = now, (dataset.digest,)
    rows = []
    for found in read_anew.found_before(dataset, earlier, left_apart=True):
        n_steps, n_left = read_anew.bring_over(found.digest, dataset, reading.facts, options.by, reading.rater_names)
        rows.append({"earlier": found.digest, "steps": n_steps, "steps_left": n_left, "found": found.words})
    columns = ["earlier", "steps", "steps_left", "found"]
    return {"brought_over": rows, **stamp(options, dataset)}, pd.DataFrame(rows, columns=columns)
