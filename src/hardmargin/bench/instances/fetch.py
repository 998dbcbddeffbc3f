"""Downloads the published instances, and refuses files whose checksum is not the published one."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import urlopen

from hardmargin.atomic import replace_file
from hardmargin.bench.instances.catalogue import DataFile, data_files
from hardmargin.bench.instances.data_folder import SUBFOLDER, refuse_instances_themselves

#: The authors' files in the version that the checksums were made from.
AUTHORS_URL = (
    "https://raw.githubusercontent.com/vidalt/Hard-Margin-SVM/b99e067b2d0355f8ede2ddf0638720a08887ca29/Datasets"
)

_TIMEOUT = 30.0
_ATTEMPTS = 3
_PAUSE = 1.0
_NOT_FOUND = 404
# HTTP errors that may be temporary.
_PASSING = frozenset({408, 429, 500, 502, 503, 504})


def fetch(
    folder: Path, url: str = AUTHORS_URL, *, on_file: Callable[[DataFile, bool], None] | None = None
) -> tuple[int, int]:
    """Download the files that are missing or damaged in a data folder.

    Parameters
    ----------
    folder : Path
        The data folder; the files go to its subfolder ``brooks``. Created if missing.
    url : str
        Where the files are: directly below, or in the two folders of the authors' repository.
    on_file : callable, optional
        ``on_file(file, downloaded)``, called after every file.

    Returns
    -------
    downloaded, present : int
        How many files were downloaded, and how many were already there.

    Raises
    ------
    ValueError
        If the folder contains the instances itself, or a file cannot be downloaded or is not the published one.
        Files downloaded before it are kept, and another call continues from there.
    """
    refuse_instances_themselves(folder)
    target = folder / SUBFOLDER
    target.mkdir(parents=True, exist_ok=True)
    downloaded = 0
    for file in data_files().values():
        path = target / file.name
        missing = not (path.is_file() and file.is_content(path.read_bytes()))
        if missing:
            replace_file(path, _published_content(file, url.rstrip("/")))
            downloaded += 1
        if on_file is not None:
            on_file(file, missing)
    return downloaded, len(data_files()) - downloaded


def _published_content(file: DataFile, url: str) -> bytes:
    address, content = _content(file, url)
    if not file.is_content(content):
        raise ValueError(
            f"{address} is not the published file: its SHA-256 checksum is {hashlib.sha256(content).hexdigest()}, "
            f"expected {file.sha256} of {file.size} bytes. It was not written; try another --url."
        )
    return content


def _content(file: DataFile, url: str) -> tuple[str, bytes]:
    """The address of the file, and its content."""
    places = [f"{file.folder}/{quote(file.name)}", quote(file.name)]
    if url != AUTHORS_URL:
        places.reverse()
    for place in places:
        content = _downloaded(f"{url}/{place}", file.size)
        if content is not None:
            return f"{url}/{place}", content
    raise ValueError(f"there is no {file.name} at {url}, nor in {file.folder} there; try another --url.")


def _downloaded(address: str, size: int) -> bytes | None:
    """The content of an address; None if there is none."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with urlopen(address, timeout=_TIMEOUT) as answer:
                # One byte more than expected is enough to see that the file is a different one.
                content: bytes = answer.read(size + 1)
                return content
        except HTTPError as error:
            error.close()
            if error.code == _NOT_FOUND:
                return None
            reason, passing = f"the server answers {error.code} ({error.reason})", error.code in _PASSING
        except ValueError as error:
            reason, passing = f"{error}; expected an address like https://host/folder", False
        except (URLError, HTTPException, OSError) as error:
            reason, passing = str(getattr(error, "reason", error)) or type(error).__name__, True
        if not passing or attempt == _ATTEMPTS:
            break
        time.sleep(_PAUSE)
    raise ValueError(
        f"{address} cannot be downloaded: {reason}. Files downloaded so far are kept; try again, or another --url."
    )
