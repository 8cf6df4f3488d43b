"""A campaign's file: written in one step, restored to the bit."""

import base64
import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from gpbandits_env.agents.agent import BROKEN
from gpbandits_env.errors import InvalidInput, StoreError, shown
from gpbandits_env.files import check_regular, writing

FORMAT = 2
MOST_BYTES = 2**30


class CampaignFile:
    """Where a campaign is saved; `InvalidInput` unless it is a string or a path."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        if not isinstance(file, (str, os.PathLike)) or "\0" in os.fsdecode(file):
            raise InvalidInput(f"a campaign's file is a string or a path, got {shown(file)}")
        self.path = Path(os.fsdecode(file))
        self._digest: bytes | None = None  # of what this process read or wrote

    def refuse_old(self) -> None:
        """Raise `InvalidInput` if there is such a file already."""
        if self.path.exists():
            raise InvalidInput(
                f"{self.path} is there already: Campaign.resume({str(self.path)!r}) resumes its "
                "campaign; for a new one give another name, or remove the file"
            )

    def write(self, state: Mapping[str, Any]) -> None:
        """Write a state in one step; a reader or a kill meets the old file or the new one.

        Raises:
            InvalidInput: JSON cannot hold something in it, or the file that is there is no
                campaign.
            StoreError: the disk is full, the folder cannot be written, or another process has
                written there since this one read or wrote; an old file is unchanged.
        """
        if self._digest is not None and self._found() not in (None, self._digest):
            raise StoreError(
                f"another process has written {self.path} since this one did: nothing was written; "
                "Campaign.resume continues what is there, save() with another name keeps this one"
            )
        try:
            text = json.dumps(_plain(state)).encode()
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"this campaign cannot be saved: {error}") from None
        try:
            if not self.path.parent.is_dir():
                raise StoreError(f"{self.path} cannot be written: there is no such folder")
            with writing(self.path, "campaign") as part:
                part.write_bytes(text)
        except StoreError as error:
            raise StoreError(
                f"{error}; the campaign in memory holds every suggestion and value (`pending` "
                "lists the open ones), and the next change, or save(), writes all of it"
            ) from None
        self._digest = sha256(text).digest()

    def read(self) -> dict[str, Any]:
        """The state that is there, or `InvalidInput` where there is none."""
        try:
            check_regular(self.path, MOST_BYTES)
            text = self.path.read_bytes()
            state = json.loads(text, object_hook=_restored)
            found = state["format"]
        except (OSError, *BROKEN) as error:
            raise InvalidInput(f"{self.path} holds no campaign: {shown(error)}") from None
        if not isinstance(found, int) or found != FORMAT:
            raise InvalidInput(
                f"{self.path} holds no campaign that this version reads: its format is "
                f"{shown(found)}, and campaigns are in format {FORMAT}; start a new campaign, and "
                "give it the old values by observe"
            )
        self._digest = sha256(text).digest()
        return dict(state)

    def _found(self) -> bytes | None:
        try:
            return sha256(self.path.read_bytes()).digest()
        except OSError:
            return None


def _plain(value: Any) -> Any:
    """Nested data with arrays and tuples as what JSON can hold."""
    if isinstance(value, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"__array__": data, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return {"__tuple__": _plain(list(value))}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _restored(value: dict[str, Any]) -> Any:
    """The inverse of `_plain` for a dict, an array or a tuple, whose items are restored already."""
    if "__array__" in value:
        data = np.frombuffer(base64.b64decode(value["__array__"]), dtype=value["dtype"])
        return data.reshape(value["shape"]).copy()
    return tuple(value["__tuple__"]) if "__tuple__" in value else value
