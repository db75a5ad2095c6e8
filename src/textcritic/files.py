"""Files that are either whole or absent: write to a temporary sibling, then rename."""

import errno
import glob
import json
import math
import os
import re
import shutil
import stat
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from textcritic.errors import TextcriticError

# Every start of Snakemake reads JSON here, so only the functions that need numpy and pyarrow load them.
if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

MOST_SHOWN = 200  # characters of a path in a message
MARKED = 4096  # bytes at the beginning of a file that show who wrote it
MOST_PACKED = 200  # times the size of an .npz file that its arrays may have
# What numpy raises for an .npz file that is damaged, or not an .npz file.
DAMAGED = (
    *(OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, NotImplementedError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError),
)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path; on success its content is at `path`, on failure nothing is changed there.

    A regular file is replaced by one of the same mode and, if this user may set it, the same owner. A link stays, and
    the file that it points to is replaced. Anything else (a device, a pipe, an open file such as /dev/stdout) is
    written into.

    Raises:
        TextcriticError: it cannot be written.
    """
    given = Path(path)
    with _written(given):
        present, opened = _present(given), _opened(given)
        if opened is not None or not (present is None or stat.S_ISREG(present.st_mode)):
            with tempfile.TemporaryDirectory(prefix="textcritic-") as folder:
                yield Path(folder) / given.name
                with _into(given, opened) as sink, (Path(folder) / given.name).open("rb") as source:
                    shutil.copyfileobj(source, sink)
            return
        target = Path(os.path.realpath(given))
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = _temporary(target)
        try:
            if present is not None:
                temporary.touch(0o600)  # nobody else may read it while it is written
            yield temporary
            with temporary.open("rb") as handle:
                os.fsync(handle.fileno())
            if present is not None:
                _as_before(temporary, present)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def is_standard_output(path: str | os.PathLike[str]) -> bool:
    """Whether this path is where a command prints."""
    try:
        return os.path.samestat(Path(path).stat(), os.fstat(1))
    except OSError:
        return False


def _present(path: Path) -> os.stat_result | None:
    """What is at a path, behind links; None if there is nothing. A folder is no file."""
    try:
        present = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(present.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return present


def _opened(path: Path) -> int | None:
    """The open file of this process behind a path such as /dev/stdout or /dev/fd/63."""
    while os.path.realpath(path.parent) != f"/proc/{os.getpid()}/fd":
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return int(path.name)


def _into(path: Path, opened: int | None) -> IO[bytes]:
    """The existing file, for writing: it is not replaced, and an open file is continued at its position."""
    return os.fdopen(os.open(path, os.O_WRONLY) if opened is None else os.dup(opened), "wb")


def _as_before(temporary: Path, present: os.stat_result) -> None:
    """Give a file the owner, the group and the mode of the one that it replaces."""
    for owner, group in ((-1, present.st_gid), (present.st_uid, -1)):
        with suppress(PermissionError):  # another user's file, in a folder that we may write to
            os.chown(temporary, owner, group)
    temporary.chmod(stat.S_IMODE(present.st_mode))


@contextmanager
def _written(target: Path) -> Iterator[None]:
    """Name a file or folder that cannot be written."""
    try:
        yield
    except TextcriticError:
        raise
    except Exception as error:
        if (cause := _of_system(error)) is None:
            raise
        why = cause.strerror or str(cause)
        if cause.errno in (errno.ENOSPC, errno.EDQUOT):
            disk = next((folder for folder in target.absolute().parents if folder.is_mount()), Path("/"))
            why += f": make room on the disk of {disk}, then run the same command again"
        raise TextcriticError(f"{_short(target)}: cannot be written: {why}") from error


def _of_system(error: BaseException) -> OSError | None:
    """The system's error behind another one, if there is one: torch and safetensors raise their own errors."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        if match := re.search(r"\(os error (\d+)\)", str(cause)):
            return OSError(int(match[1]), os.strerror(int(match[1])))
        cause = cause.__context__
    return cause


def results_folder(path: str | os.PathLike[str], name: str = "output") -> Path:
    """The whole path of a folder for results, which can be made, and is not made yet; errors begin with the name.

    Raises:
        TextcriticError: it cannot be made or written to.
    """
    try:
        folder = Path(path).expanduser().resolve()
        missing = [place for place in (folder, *folder.parents) if not os.path.lexists(place)]
        folder.mkdir(parents=True, exist_ok=True)
        why = "" if os.access(folder, os.W_OK | os.X_OK) else "it may not be written to"
        for place in missing:
            place.rmdir()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of links
        why = getattr(error, "strerror", None) or str(error).partition(" from ")[0]
        why = "there is a file of this name" if isinstance(error, FileExistsError) else why
    if why:
        raise TextcriticError(f"{name}: {_short(path)}: cannot be used for results: {why}")
    return folder


def require_ours(path: Path, mark: bytes, force: bool) -> None:
    """Refuse to overwrite a file that textcritic did not write.

    Args:
        path: of the file, which may be missing.
        mark: pattern that is in the first `MARKED` bytes of those that textcritic wrote.
        force: whether a file of somebody else's may be overwritten, too; a folder of this name never is.

    Raises:
        TextcriticError: it is.
    """
    if not os.path.lexists(path) or (force and not path.is_dir()):
        return
    try:
        # Without waiting for the writer of a pipe: a pipe is not ours.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as handle:
            ours = re.search(mark, handle.read(MARKED))
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}; choose another `output`") from error
    if not ours:
        raise TextcriticError(
            f"{path}: textcritic did not write this; choose another `output`, or overwrite it with `force`"
        )


def _short(path: str | os.PathLike[str]) -> str:
    """A path for a message, shortened if it is very long."""
    text = os.fsencode(path).decode("utf-8", "replace")
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


@contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder next to `path`; on success it replaces that folder, on failure it is removed.

    A link to a folder stays, and a file is not replaced. Raises as `whole_file`.
    """
    target = Path(os.path.realpath(path))
    with _written(Path(path)):
        if target.exists() and not target.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = _temporary(target)
        temporary.mkdir()
        try:
            yield temporary
            for part in temporary.rglob("*"):
                if part.is_file():
                    with part.open("rb") as handle:
                        os.fsync(handle.fileno())
            old = temporary.with_suffix(".old.tmp")
            if target.exists():
                target.rename(old)
            temporary.rename(target)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _temporary(target: Path) -> Path:
    """A name next to `target`; temporary files of killed jobs are removed (only one job writes a target)."""
    for stale in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        if stale.is_dir():
            shutil.rmtree(stale, ignore_errors=True)
        else:
            stale.unlink(missing_ok=True)
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | os.PathLike[str], value: object) -> None:
    """Write JSON (keys in the order given, no NaN or infinity), whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def finite(data: object) -> Any:
    """The same data with infinite numbers as text, because JSON cannot write them as numbers."""
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [finite(value) for value in data]
    return str(data) if isinstance(data, float) and math.isinf(data) else data


def read_json(path: str | os.PathLike[str], advice: str = "delete it and rerun the rule that makes it") -> Any:
    """Read a JSON file; if it is damaged, the error ends with the advice.

    Raises:
        TextcriticError: the file is missing, not JSON or cannot be read.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except (ValueError, RecursionError) as error:
        raise TextcriticError(f"{path}: not a JSON file ({error}); {advice}") from error
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error


@contextmanager
def lacking(path: str | os.PathLike[str], what: str = "") -> Iterator[None]:
    """Turn a missing key, or a value of another kind, into an error that names the file that was read.

    Args:
        path: of the JSON file.
        what: it should have, e.g. "perplexity"; "": the key.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        found = f"no {what} in it ({error})" if what else f"no {error} in it"
        raise TextcriticError(f"{path}: {found}; delete it and rerun its rule") from error


def write_table(path: str | os.PathLike[str], table: "pa.Table") -> None:
    """Write a Parquet file, whole or not at all."""
    import pyarrow.parquet as pq

    with whole_file(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_table(path: str | os.PathLike[str]) -> "pa.Table":
    """Read a Parquet file.

    Raises:
        TextcriticError: the file is missing, truncated or not Parquet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(Path(path), partitioning=None)
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except (pa.ArrowInvalid, OSError) as error:
        raise TextcriticError(
            f"{path}: not a whole Parquet file; delete it and rerun the rule that makes it"
        ) from error


def write_arrays(path: str | os.PathLike[str], arrays: "Mapping[str, np.ndarray]") -> None:
    """Write an .npz file, whole or not at all."""
    import numpy as np

    with whole_file(path) as temporary, temporary.open("wb") as handle:
        np.savez(handle, allow_pickle=False, **arrays)


@contextmanager
def arrays_of(
    path: str | os.PathLike[str], otherwise: str, missing: str = "no such file"
) -> "Iterator[Mapping[str, np.ndarray]]":
    """Yield the arrays of an .npz file; each is read when it is asked for, so read all of them inside the block.

    Args:
        path: of the file.
        otherwise: message for a file that is damaged or lacks an array.
        missing: message for a file that does not exist.

    Raises:
        TextcriticError: with the path and one of the two messages.
    """
    import numpy as np

    try:
        with np.load(Path(path), allow_pickle=False) as arrays:
            if sum(one.file_size for one in arrays.zip.infolist()) > MOST_PACKED * Path(path).stat().st_size:
                raise ValueError("a bomb")
            yield arrays
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: {missing}") from error
    except DAMAGED as error:
        raise TextcriticError(f"{path}: {otherwise}") from error
