"""Downloads of files and models; with `download_dataset` the only code of the project that uses the network."""

import glob
import os
import re
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from textcritic import __version__
from textcritic.digests import is_commit
from textcritic.errors import TextcriticError, first_line
from textcritic.files import whole_file, write_json
from textcritic.plan.downloads import compared
from textcritic.plan.entries import Dataset, Download, HubModel
from textcritic.runlog import Progress, log

if TYPE_CHECKING:  # where a job may use the network is said before this is loaded
    from huggingface_hub import HfApi

CHUNK = 1 << 20
# The files of a model's repository that are fetched: weights in safetensors form, in one file or in shards with their
# index (or, where an entry asks for it, in the form of PyTorch), and tokenizer and configuration. The same weights in
# other formats are not fetched.
WEIGHTS = {
    "safetensors": re.compile(r"model(-\d+-of-\d+)?\.safetensors"),
    "pytorch": re.compile(r"pytorch_model\.bin"),
}
OTHERS = re.compile(r"[^/]+\.(json|txt|model)")
CODE = re.compile(r"[^/]+\.py")  # fetched only where an entry allows it
# Some servers, Wikimedia's among them, refuse programs without a name and a contact.
AGENT = {"User-Agent": f"textcritic/{__version__}"}


def download_file(entry: Download, out_path: str | os.PathLike[str]) -> None:
    """Fetch a file, whole or not at all; a broken attempt leaves a partial file next to it, and a rerun continues it.

    The address and the checksum of the file are written to `{out_path}.json`.

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
        _fetch(entry.url, partial)
    except (OSError, HTTPException) as error:
        raise TextcriticError(f"{entry.url}: cannot be downloaded ({error}); rerun to go on, or {by_hand}") from error
    note, fault = compared(partial, entry)
    if fault:
        partial.unlink()
        _version_of(partial).unlink(missing_ok=True)
        raise TextcriticError(f"{entry.url}: {fault}; rerun, or {by_hand}")
    write_json(f"{target}.json", note)
    partial.replace(target)
    _version_of(partial).unlink(missing_ok=True)


def download_model(name: str, entry: HubModel, out_dir: str | os.PathLike[str]) -> None:
    """Fetch one pinned commit of a model to a folder, whole or not at all; a rerun continues where a download broke.

    Every file is compared with its checksum in the commit: the SHA-256 of weights, git's own checksum of the rest.
    An entry with `custom_code` gets its `code_mark` too; without it an older mark is removed.

    Args:
        name: the hub entry's name.
        entry: a hub registry entry.
        out_dir: folder to write.

    Raises:
        TextcriticError: no network, no such repository or commit (the line says which files to put where by hand); no
            weights in the entry's format; a file that differs from the commit's.
    """
    # Everywhere else the hub is offline.
    os.environ["HF_HUB_OFFLINE"] = "0"
    from huggingface_hub import HfApi

    target = Path(out_dir)
    partial = target.with_name(f".{target.name}.partial")
    repository, revision = entry.repository, entry.revision
    mark = code_mark(target)
    mark.unlink(missing_ok=True)
    log.info("fetching %s: %s at %s", name, repository, revision)
    try:
        api = HfApi(user_agent=AGENT["User-Agent"])
        # This call comes first: without a network `snapshot_download` would accept the files in the folder. And it is
        # this call, because without a network it fails at once; others try for half a minute.
        listed = [file.rfilename for file in api.model_info(repository, revision=revision).siblings or []]
        wanted = wanted_of_model(listed, entry)
        broken = fetch_commit(api, entry, wanted, partial)
    except TextcriticError:
        raise
    except Exception as error:  # the hub client raises its own, its transport's and the system's for one fault
        files = "config.json, the tokenizer's files" + (f" and {_weights_named(entry)}" if entry.weights else "")
        code = f"; to allow its Python files, put them there too and make an empty file {mark}"
        raise TextcriticError(
            f"{repository}: cannot be downloaded ({first_line(error)}); put {files} of"
            f" https://huggingface.co/{repository}/tree/{revision} into {target} by hand and rerun"
            f"{code if entry.custom_code else ''}"
        ) from error
    keep_commit(entry, partial, target, broken)
    if entry.custom_code:
        write_json(mark, {"repository": repository, "revision": revision})


def code_mark(folder: Path) -> Path:
    """The file that says that the Python files of a downloaded model may run; it names their commit.

    It is next to the folder, not in it, so that a repository cannot contain one.
    """
    return folder.with_name(f"{folder.name}.custom_code")


def keep_commit(entry: HubModel | Dataset, partial: Path, target: Path, broken: Sequence[str]) -> None:
    """Replace an older folder by the one that `fetch_commit` has filled.

    Args:
        entry: its repository and commit.
        partial: the folder that was filled.
        target: the folder to replace.
        broken: names of files that differ from the commit's, as `fetch_commit` gives them.

    Raises:
        TextcriticError: there are any.
    """
    if broken:
        raise TextcriticError(
            f"{entry.repository}: {', '.join(broken)}: differs from the file of commit {entry.revision};"
            " rerun to fetch it again"
        )
    shutil.rmtree(partial / ".cache", ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)


def current_commit(repository: str, revision: str | None = None, dataset: bool = False) -> tuple[str, list[str]]:
    """The commit that a branch or tag of a repository on the hub is now, 40 hexadecimal digits, and its files.

    Args:
        repository: owner/name.
        revision: the branch or tag; None: the main branch.
        dataset: whether it is a repository of a data set, and not of a model.

    Raises:
        TextcriticError: no network, or no such repository or revision.
    """
    os.environ["HF_HUB_OFFLINE"] = "0"
    from huggingface_hub import HfApi

    api = HfApi(user_agent=AGENT["User-Agent"])
    try:
        info = (api.dataset_info if dataset else api.model_info)(repository, revision=revision, timeout=30)
    except Exception as error:  # as in download_model
        raise TextcriticError(f"{repository}: its commit cannot be looked up ({first_line(error)})") from error
    return str(info.sha), [file.rfilename for file in info.siblings or []]


def fetch_commit(api: "HfApi", entry: HubModel | Dataset, wanted: list[str], partial: Path) -> list[str]:
    """Fill a folder with files of a commit; files that differ from the commit are deleted and named.

    Args:
        api: of the hub.
        entry: its repository and commit.
        wanted: paths in the repository; the folder holds no others afterwards.
        partial: the folder; files of an earlier attempt are continued.

    Raises:
        TextcriticError: the revision is a branch or a tag.
    """
    repository, revision, kind = entry.repository, entry.revision, "dataset" if isinstance(entry, Dataset) else "model"
    if not is_commit(revision):
        why = f"the commit of its revision {revision} is not known; call `textcritic lock` first"
        raise TextcriticError(f"{repository}: {why}")
    patterns = [glob.escape(path) for path in wanted]
    api.snapshot_download(repository, revision=revision, repo_type=kind, local_dir=partial, allow_patterns=patterns)
    for path in partial.rglob("*"):  # files of an earlier attempt at another commit
        inside = path.relative_to(partial)
        if path.is_file() and inside.parts[0] != ".cache" and inside.as_posix() not in wanted:
            path.unlink()
    checked = api.verify_repo_checksums(repository, revision=revision, repo_type=kind, local_dir=partial)
    broken = {file["path"] for file in checked.mismatches} | (set(wanted) & set(checked.missing_paths))
    for name in broken:
        (partial / name).unlink(missing_ok=True)
    return sorted(broken)


def unpack_member(archive: str | os.PathLike[str], member: str, out_path: str | os.PathLike[str]) -> None:
    """Copy the file called `member`, in any folder of a zip or tar archive, to `out_path`.

    Raises:
        TextcriticError: not a whole archive, or not exactly one such file in it.
    """
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                name = _only(member, [info.filename for info in opened.infolist() if not info.is_dir()], archive)
                with opened.open(name) as source:
                    _unpack(source, opened.getinfo(name).file_size, out_path)
        else:
            with tarfile.open(archive) as tar:
                name = _only(member, [info.name for info in tar if info.isfile()], archive)
                with tar.extractfile(name) as source:  # type: ignore[union-attr]
                    _unpack(source, tar.getmember(name).size, out_path)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
        raise TextcriticError(f"{archive}: not a whole zip or tar archive ({error}); delete it and rerun") from error


def wanted_of_model(listed: list[str], entry: HubModel) -> list[str]:
    """The files of a repository that are fetched.

    Raises:
        TextcriticError: there are no weights in the entry's format; the line names those that there are.
    """
    by_format = ([path for path in listed if WEIGHTS[one].fullmatch(path)] for one in _formats(entry))
    weights: list[str] = next(filter(None, by_format), [])
    if entry.weights and not weights:
        top = [path for path in listed if "/" not in path]
        named = _weights_named(entry).replace("*", "model")
        others = [path for path in top if path.endswith((".bin", ".h5", ".msgpack", ".ot", ".pt", ".safetensors"))]
        raise TextcriticError(
            f"{entry.repository}: commit {entry.revision} has no {named} (it has"
            f" {', '.join(sorted(others)) or 'no weights at all'}); name a commit that has, or save the model with"
            " save_pretrained and give its folder as init.folder"
        )
    code = [path for path in listed if CODE.fullmatch(path)] if entry.custom_code else []
    return [path for path in listed if OTHERS.fullmatch(path)] + code + (weights if entry.weights else [])


def _formats(entry: HubModel) -> list[str]:
    """The formats of weights that an entry allows; the first that is there is fetched."""
    return [*WEIGHTS] if entry.format == "either" else [entry.format]


def _weights_named(entry: HubModel) -> str:
    return " or ".join({"safetensors": "*.safetensors", "pytorch": "pytorch_model.bin"}[one] for one in _formats(entry))


def _unpack(source: IO[bytes], size: int, out_path: str | os.PathLike[str]) -> None:
    progress = Progress(f"unpacking {Path(out_path).name}", size, "bytes")
    with whole_file(out_path) as target, target.open("wb") as sink:
        while chunk := source.read(CHUNK):
            sink.write(chunk)
            progress.advance(len(chunk))


def _only(member: str, names: list[str], archive: str | os.PathLike[str]) -> str:
    # Archives packed on a Mac have a second entry for each file under __MACOSX, and as ._name.
    matching = [name for name in names if Path(name).name == member and "__MACOSX" not in name]
    if len(matching) != 1:
        raise TextcriticError(f"{archive}: holds {len(matching)} files called {member}; exactly one is wanted")
    return matching[0]


def _fetch(url: str, partial: Path) -> None:
    """Append to `partial` the missing rest of the file at `url`; start over if that file has changed since."""
    done = partial.stat().st_size if partial.exists() else 0
    version = _version_of(partial)
    headers = {"Range": f"bytes={done}-"} if done else {}
    if done and version.is_file():
        headers["If-Range"] = version.read_text(encoding="utf-8")
    try:
        response = urlopen(Request(url, headers=AGENT | headers), timeout=60)
    except HTTPError as error:
        if error.code != 416 or not done:
            raise
        size = error.headers.get("Content-Range", "").rpartition("/")[2]
        if size not in ("", "*", str(done)):
            partial.unlink()
            _fetch(url, partial)
        return  # nothing is left: the earlier attempt fetched everything
    with response:
        if response.status != 206:  # a server that cannot resume, or whose file has changed, sends everything
            done = 0
            partial.unlink(missing_ok=True)
            _note_version(response.headers, version)
        left = response.headers.get("Content-Length")
        progress = Progress(f"downloading {url}", done + int(left or 0), "bytes", done)
        with partial.open("ab" if done else "wb") as handle:
            while chunk := response.read(CHUNK):
                handle.write(chunk)
                progress.advance(len(chunk))
        if left is not None and progress.done < progress.total:
            raise OSError(f"the connection broke after {progress.done:,} of {progress.total:,} bytes")


def _version_of(partial: Path) -> Path:
    """The file that records the version of the download to which `partial` belongs."""
    return partial.with_name(f"{partial.name}.version")


def _note_version(headers: Mapping[str, str], version: Path) -> None:
    tag = headers.get("ETag", "")
    mark = tag if tag and not tag.startswith("W/") else headers.get("Last-Modified", "")
    if mark:
        version.write_text(mark, encoding="utf-8")
    else:
        version.unlink(missing_ok=True)
