"""Text files, plain, gzipped, or in a .tar.gz archive."""

import gzip
import os
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from textcritic.errors import TextcriticError

GZIP = b"\x1f\x8b"


def texts_of(
    path: str | os.PathLike[str], suffixes: tuple[str, ...], folder: str | None = None
) -> Iterator[tuple[str, str]]:
    """The name and the text of a file, plain or gzipped, or of each file in a .tar.gz archive, in order of their names.

    Args:
        path: of the file or archive.
        suffixes: of the files of an archive that are read, as `.conll`.
        folder: of an archive: only files whose path has this folder in it.

    Yields:
        `PATH` or `ARCHIVE:PATH`, and the text.

    Raises:
        TextcriticError: a file that is missing, cut or not UTF-8, or an archive without such a file.
    """
    path = Path(path)
    try:
        if is_archive(path):
            members = _members(path, suffixes, folder)
        else:
            data = path.read_bytes()
            members = [(str(path), gzip.decompress(data) if data.startswith(GZIP) else data)]
    except FileNotFoundError as error:
        raise TextcriticError(f"{path}: no such file") from error
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TextcriticError(f"{path}: cut or no gzip archive ({error}); fetch it again") from error
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error
    for where, data in members:
        try:
            yield where, data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise TextcriticError(f"{where}:{line}: not UTF-8; save the file as UTF-8") from error


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a .tar.gz archive, by what is in it: what was downloaded has no suffix.

    Raises:
        OSError: it cannot be read.
    """
    with Path(path).open("rb") as handle:
        return handle.read(len(GZIP)) == GZIP and tarfile.is_tarfile(path)


def _members(path: Path, suffixes: tuple[str, ...], folder: str | None) -> list[tuple[str, bytes]]:
    inside = "" if folder is None else f"/{folder.strip('/')}/"
    members = []
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            name = PurePosixPath(member.name).name
            if member.isfile() and name.endswith(suffixes) and name[0] != "." and inside in f"/{member.name}":
                handle = archive.extractfile(member)
                members.append((f"{path}:{member.name}", handle.read() if handle else b""))
    if not members:
        place = f" in a folder {folder}" if folder else ""
        raise TextcriticError(f"{path}: there is no file *{' or *'.join(suffixes)}{place} in the archive")
    return sorted(members)
