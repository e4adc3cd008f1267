"""Ends of the record, signed with a key outside the database, so that the owner of the tables cannot sign.

Each line of ``signed_heads.jsonl`` in the home folder contains the ends of the chains of all datasets at one time, and
an Ed25519 signature of them. The private key is needed only to sign, not by processes that serve pages; the public key
checks.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, MissingExtraError
from ..settings import current_settings
from .chain import Fault, Head

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

MOST_HOURS = 48  # longest time without a new signature; one is made every night
_FILE = "signed_heads.jsonl"


@dataclass(frozen=True, slots=True)
class SignedHeads:
    """Ends of chains that were signed at one time.

    Attributes
    ----------
    at : str
        Time as ISO 8601 in UTC.
    heads : dict of str to Head
        Ends of chains by digest of the dataset.
    signature : str
        Hexadecimal signature of `content`.
    """

    at: str
    heads: dict[str, Head]
    signature: str = ""

    def content(self) -> bytes:
        """Return the signed bytes."""
        return json.dumps([self.at, _plain(self.heads)], sort_keys=True, separators=(",", ":")).encode()


def make_key(file: Path) -> None:
    """Write a new private key that only its owner may read, and next to it the public key with the ending ``.pub``.

    Raises
    ------
    InputError
        The file exists, or it cannot be written.
    MissingExtraError
        The package cryptography is not installed.
    """
    serialization, key = _cryptography().hazmat.primitives.serialization, _ed25519().Ed25519PrivateKey.generate()
    pem, raw = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, raw)
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    try:
        for path, content, mode in ((file, private, 0o600), (file.with_name(f"{file.name}.pub"), public, 0o644)):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as target:
                target.write(content)
    except OSError as error:
        raise InputError(f"Could not write the key {file}: {error.strerror}.", "Choose another place.") from None


def sign_heads(key_file: Path, heads: Mapping[str, Head], now: datetime | None = None) -> SignedHeads:
    """Sign the ends of the chains, and add the signature to the file of the home folder.

    Parameters
    ----------
    key_file : Path
        Private key, as `make_key` writes it.
    heads : mapping of str to Head
        Ends of the chains by digest of the dataset.
    now : datetime, optional
        Time in UTC.

    Raises
    ------
    InputError
        The key cannot be read, or the home folder cannot be written.
    """
    private = _key(key_file, "load_pem_private_key", _ed25519().Ed25519PrivateKey)
    now = datetime.now(UTC) if now is None else now
    told = SignedHeads(now.strftime("%Y-%m-%dT%H:%M:%SZ"), dict(heads))
    told = SignedHeads(told.at, told.heads, private.sign(told.content()).hex())
    line = json.dumps({"at": told.at, "heads": _plain(told.heads), "signature": told.signature}, sort_keys=True)
    path = current_settings().home / _FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as target:
            target.write(line.encode() + b"\n")
            target.flush()
            os.fsync(target.fileno())
    except OSError as error:
        raise InputError(
            f"Could not write {path}: {error.strerror}.", "Give the user who runs Plurality write access to this file."
        ) from None
    return told


def signed_heads(public_key: Path, now: datetime | None = None) -> tuple[list[SignedHeads], list[Fault]]:
    """Return the signed ends, the oldest first, and the faults in them.

    Parameters
    ----------
    public_key : Path
        Public key, as `make_key` writes it.
    now : datetime, optional
        Time in UTC.

    Raises
    ------
    InputError
        The key cannot be read.
    """
    from cryptography.exceptions import InvalidSignature

    public: Ed25519PublicKey = _key(public_key, "load_pem_public_key", _ed25519().Ed25519PublicKey)
    path = current_settings().home / _FILE
    found, faults = [], []
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else (), 1):
        try:
            told = json.loads(line)
            heads = {dataset: Head(int(n), str(digest)) for dataset, (n, digest) in told["heads"].items()}
            one = SignedHeads(str(told["at"]), heads, str(told["signature"]))
            public.verify(bytes.fromhex(one.signature), one.content())
            found.append(one)
        except (ValueError, TypeError, LookupError, AttributeError, InvalidSignature):
            faults.append(Fault("", None, f"line {number} of {_FILE} was not signed with the key {public_key.name}"))
    last = max((one.at for one in found), default="")
    since = (datetime.now(UTC) if now is None else now) - timedelta(hours=MOST_HOURS)
    if last < since.strftime("%Y-%m-%dT%H:%M:%SZ"):
        faults.append(
            Fault(
                "",
                None,
                f"the record has not been signed in the last {MOST_HOURS} hours (last signature: {last or 'none'})",
            )
        )
    return found, faults


def missing_heads(signed: Iterable[SignedHeads], held: Iterable[str], erased: Mapping[str, int]) -> list[Fault]:
    """Return faults for signed ends that are no longer in the record.

    Parameters
    ----------
    signed : iterable of SignedHeads
    held : iterable of str
        All hashes that the record contains.
    erased : mapping of str to int
        Number of the last event erased with its whole dataset, by digest; missing heads up to it are not faults.
    """
    known = set(held)
    faults = []
    for one in signed:
        for dataset, head in one.heads.items():
            if head.hash not in known and head.number > erased.get(dataset, 0):
                what = f"event {head.number}, signed on {one.at}, is missing from the record or was changed"
                faults.append(Fault(dataset, head.number, what))
    return faults


def _plain(heads: Mapping[str, Head]) -> dict[str, list[Any]]:
    return {dataset: [head.number, head.hash] for dataset, head in heads.items()}


def _key(file: Path, loader: str, kind: type) -> Any:
    serialization = _cryptography().hazmat.primitives.serialization
    try:
        content = file.read_bytes()
        more = {"password": None} if "private" in loader else {}
        key: Ed25519PrivateKey | Ed25519PublicKey = getattr(serialization, loader)(content, **more)
    except (OSError, ValueError, TypeError) as error:
        said = getattr(error, "strerror", None) or "it is not a valid key"
        raise InputError(
            f"Could not read the key {file}: {said}.",
            "Check the file, or create a key with 'plurality sign --key FILE --new'.",
        ) from None
    if not isinstance(key, kind):
        raise InputError(
            f"Could not use {file}: it does not contain an Ed25519 key.",
            "Create one with 'plurality sign --key FILE --new'.",
        )
    return key


def _cryptography():
    try:
        import cryptography.hazmat.primitives.serialization
    except ModuleNotFoundError:
        raise MissingExtraError("Signing", "team") from None
    return cryptography


def _ed25519():
    _cryptography()
    from cryptography.hazmat.primitives.asymmetric import ed25519

    return ed25519
