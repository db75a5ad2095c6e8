"""Downloads: the only code of the project that uses the network."""

import hashlib
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from textcritic.errors import TextcriticError, first_line
from textcritic.files import whole_file, write_json
from textcritic.runlog import Progress, log

CHUNK = 1 << 20
# PyTorch's own format and other frameworks' copies are left out where the same weights come as safetensors.
WEIGHTS = ["*.safetensors", "*.safetensors.index.json"]
OTHERS = ["*.json", "*.txt", "*.model"]


def download_file(entry: Mapping[str, Any], out_path: str | os.PathLike[str]) -> None:
    """Fetch a file, whole or not at all; what a broken attempt left is kept beside it and gone on from.

    The checksum found is written to `{out_path}.json` with the address.

    Args:
        entry: a downloads registry entry.
        out_path: file to write.

    Raises:
        TextcriticError: no network, no such file, or another checksum; the line says what to do by hand.
    """
    target = Path(out_path)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    by_hand = f"put the file into {target} by hand and rerun"
    try:
        _fetch(entry["url"], partial)
    except (OSError, HTTPException) as error:
        raise TextcriticError(
            f"{entry['url']}: cannot be downloaded ({error}); rerun to go on, or {by_hand}"
        ) from error
    with partial.open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if entry["sha256"] not in (None, found):
        partial.unlink()
        raise TextcriticError(f"{entry['url']}: its sha256 is {found}, not {entry['sha256']}; rerun, or {by_hand}")
    write_json(f"{target}.json", {"url": entry["url"], "sha256": found, "bytes": partial.stat().st_size})
    partial.replace(target)


def download_model(name: str, entry: Mapping[str, Any], out_dir: str | os.PathLike[str]) -> None:
    """Fetch one pinned commit of a model to a folder, whole or not at all; a broken download goes on where it stopped.

    Args:
        name: the hub entry's name.
        entry: a hub registry entry.
        out_dir: folder to write.

    Raises:
        TextcriticError: no network, no such repository or commit; the line says which files to put where by hand.
    """
    # Everywhere else the hub is offline.
    os.environ["HF_HUB_OFFLINE"] = "0"
    from huggingface_hub import snapshot_download

    target = Path(out_dir)
    partial = target.with_name(f".{target.name}.partial")
    patterns = OTHERS + (WEIGHTS if entry["weights"] else [])
    log.info("fetching %s: %s at %s", name, entry["repository"], entry["revision"])
    try:
        snapshot_download(entry["repository"], revision=entry["revision"], local_dir=partial, allow_patterns=patterns)
    except Exception as error:  # the hub client raises its own, its transport's and the system's for one fault
        raise TextcriticError(
            f"{entry['repository']}: cannot be downloaded ({first_line(error)}); put {', '.join(patterns)} of"
            f" https://huggingface.co/{entry['repository']}/tree/{entry['revision']} into {target} by hand and rerun"
        ) from error
    shutil.rmtree(partial / ".cache", ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)


def unpack_member(archive: str | os.PathLike[str], member: str, out_path: str | os.PathLike[str]) -> None:
    """Copy the file called `member`, in whatever folder of a zip or tar archive it lies, to `out_path`.

    Raises:
        TextcriticError: not a whole archive, or not exactly one such file in it.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                name = _only(member, opened.namelist(), archive)
                with opened.open(name) as source, whole_file(out_path) as target, target.open("wb") as sink:
                    shutil.copyfileobj(source, sink, CHUNK)
        else:
            with tarfile.open(archive) as tar:
                name = _only(member, tar.getnames(), archive)
                with tar.extractfile(name) as source, whole_file(out_path) as target, target.open("wb") as sink:  # type: ignore[union-attr]
                    shutil.copyfileobj(source, sink, CHUNK)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
        raise TextcriticError(f"{archive}: not a whole zip or tar archive ({error}); delete it and rerun") from error


def _only(member: str, names: list[str], archive: str | os.PathLike[str]) -> str:
    # Archives packed on a Mac carry a shadow of each file under __MACOSX, and as ._name.
    found = [name for name in names if Path(name).name == member and "__MACOSX" not in name]
    if len(found) != 1:
        raise TextcriticError(f"{archive}: holds {len(found)} files called {member}; exactly one is wanted")
    return found[0]


def _fetch(url: str, partial: Path) -> None:
    """Append to `partial` what it still lacks of the file at `url`."""
    done = partial.stat().st_size if partial.exists() else 0
    request = Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        response = urlopen(request, timeout=60)
    except HTTPError as error:
        if error.code == 416 and done:  # nothing left: the earlier attempt had it all
            return
        raise
    with response:
        if done and response.status != 206:  # a server that cannot resume sends everything again
            done = 0
        left = response.headers.get("Content-Length")
        progress = Progress(f"downloading {url}", done + int(left or 0), "bytes", done)
        with partial.open("ab" if done else "wb") as handle:
            while chunk := response.read(CHUNK):
                handle.write(chunk)
                progress.advance(len(chunk))
        if left is not None and progress.done < progress.total:
            raise OSError(f"the connection broke after {progress.done:,} of {progress.total:,} bytes")
