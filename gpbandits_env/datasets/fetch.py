"""Downloads, checked by their digests."""

from collections.abc import Sequence
from pathlib import Path

from gpbandits_env.errors import MissingData, require_extra


def fetch(urls: Sequence[str], checksum: str | None, folder: Path) -> Path:
    """A file from the first of its addresses that answers with what is expected.

    Args:
        urls: addresses of the same file.
        checksum: "algorithm:digest" of it, if one is known.
        folder: where it is kept, under its name in the address; a file that is there already and
            has that digest is not fetched again.
    Raises:
        MissingData: no address gave it; the message has what each of them said.
        MissingExtra: the package pooch is not installed.
    """
    try:
        import pooch
    except ImportError:
        raise require_extra("pooch", "data") from None
    said = []
    for url in urls:
        try:
            return Path(pooch.retrieve(url, checksum, Path(url).name, folder))
        except (OSError, ValueError) as error:
            said.append(f"{url}: {error}")
    raise MissingData("could not be downloaded: " + "; ".join(said))
