"""The file of a campaign: it is written atomically and restored bit for bit."""

import base64
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np

from gpbandits_env.agents.agent import BROKEN
from gpbandits_env.arrays import State
from gpbandits_env.errors import InvalidInput, StoreError, shown
from gpbandits_env.files import check_regular, writing

FORMAT = 13
MOST_BYTES = 2**30
# What comes before the state, and after it a brace: the format and the checksum of the state.
HEAD = b'{"format": %d, "sha256": "%s", "campaign": '
# The keys of what JSON does not have. A mapping with one of them, or with a key that is no string,
# is written as its items.
ARRAY, TUPLE, ITEMS = TAGS = ("__array__", "__tuple__", "__items__")


class _WrittenByAnother(StoreError):
    """The file has changed since this process last read or wrote it."""


class CampaignFile:
    """The file of a campaign; raises `InvalidInput` unless it is a string or a path.

    A relative path refers to the folder in which the process is now, also if it changes it later.
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        if not isinstance(file, (str, os.PathLike)) or "\0" in os.fsdecode(file):
            raise InvalidInput(f"a campaign's file must be a string or a path, got {shown(file)}")
        self.path = Path(os.fsdecode(file)).absolute()
        # Of the content that this process last read or wrote; empty if there must be no file.
        self._digest: bytes | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a file; False where the system cannot say, and `write` tells why."""
        return os.path.exists(self.path)

    def refuse_old(self) -> None:
        """Raise `InvalidInput` if the file already exists; `write` then makes a new file only."""
        if not os.path.isdir(self.path.parent):
            raise StoreError(f"{self.path} cannot be written: its folder does not exist")
        if self.exists:
            check_regular(self.path)
            raise InvalidInput(
                f"{self.path} already exists: Campaign.resume({str(self.path)!r}) continues its "
                "campaign; for a new campaign give another name, or remove the file"
            )
        self._digest = b""

    def write(self, state: State) -> None:
        """Write a state atomically: after a kill there is the old file or the new one.

        Raises:
            InvalidInput: a part of the state cannot be saved as JSON, or the existing file is no
                campaign.
            StoreError: the disk is full, the folder cannot be written, the campaign is too large,
                or another process has written the file since this one last read or wrote it. An
                existing file is unchanged.
        """
        try:
            text = _sealed(json.dumps(plain(state)).encode())
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"an option or a setting of this campaign cannot be saved: {error}; use strings, "
                "numbers, lists and dicts"
            ) from None
        try:
            if not os.path.isdir(self.path.parent):
                raise StoreError(f"{self.path} cannot be written: its folder does not exist")
            if len(text) > MOST_BYTES:
                raise StoreError(
                    f"{self.path} cannot be written: the campaign takes {len(text)} bytes, and at "
                    f"most {MOST_BYTES} can be read"
                )
            with writing(self.path, "campaign", alone=True) as part:
                found = self._digest
                with suppress(FileNotFoundError):
                    found = sha256(self.path.read_bytes()).digest()
                if self._digest not in (None, found):
                    raise _WrittenByAnother(
                        f"another process has written {self.path} since this one did: nothing was "
                        "saved. Campaign.resume continues that file; save(file) with another name "
                        "keeps this campaign"
                    )
                part.write_bytes(text)
        except _WrittenByAnother:
            raise
        except StoreError as error:
            raise StoreError(
                f"{error}; the campaign in memory holds every suggestion and value (`pending` "
                "lists the open ones), and the next change, or save(file), writes all of it"
            ) from None
        self._digest = sha256(text).digest()

    def read(self) -> State:
        """The state in the file; raises `InvalidInput` if there is none, or if it was damaged."""
        try:
            check_regular(self.path, MOST_BYTES)
            text = self.path.read_bytes()
            body = text[len(HEAD % (FORMAT, b"0" * 64)) : -1]
            if text == _sealed(body):
                self._digest = sha256(text).digest()
                return dict(json.loads(body, object_hook=_restored))
            found = json.loads(text)["format"]
        except InvalidInput:  # it is a folder, for example
            raise
        except FileNotFoundError:
            cure = "Campaign.open(file, space) starts a campaign"
            raise InvalidInput(f"there is no file {self.path}: {cure}") from None
        except (OSError, *BROKEN) as error:
            raise InvalidInput(
                f"{self.path} holds no campaign, or it was damaged: {shown(error)}"
            ) from None
        if found != FORMAT:
            raise InvalidInput(
                f"{self.path} holds no campaign that this version reads: its format is "
                f"{shown(found)}, and campaigns are in format {FORMAT}; start a new campaign, and "
                "give it the old values by observe"
            )
        raise InvalidInput(
            f"{self.path} holds no campaign as it was saved: its checksum differs, so it was "
            "damaged or edited; use a copy, or give the values of its records to a new campaign by "
            "observe"
        )


def _sealed(body: bytes) -> bytes:
    """The content of the file of a state, which is given as JSON."""
    return HEAD % (FORMAT, sha256(body).hexdigest().encode()) + body + b"}"


def plain(value: object) -> object:
    """Nested data in the types of JSON, with arrays, tuples and keys that are no names encoded."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError(f"an array of objects, {shown(value)}")
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {ARRAY: data, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and key not in TAGS for key in value):
            return {key: plain(item) for key, item in value.items()}
        return {ITEMS: [[plain(key), plain(item)] for key, item in value.items()]}
    if isinstance(value, tuple):
        return {TUPLE: plain(list(value))}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _restored(value: State) -> object:
    """The inverse of `plain` for a dict, an array or a tuple with restored items."""
    if ARRAY in value:
        data = np.frombuffer(base64.b64decode(value[ARRAY]), dtype=value["dtype"])
        return data.reshape(value["shape"]).copy()
    if ITEMS in value:
        return dict(value[ITEMS])
    return tuple(value[TUPLE]) if TUPLE in value else value
