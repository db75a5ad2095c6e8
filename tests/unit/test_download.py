import hashlib
import http.server
import tarfile
import threading
import zipfile
from typing import ClassVar

import pytest

from textcritic.download import download_file, unpack_member
from textcritic.errors import TextcriticError

CONTENT = bytes(range(256)) * 5000


class Server(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT with ranges; the first request of a path with `broken` in it is cut after half."""

    seen: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self):
        asked = self.headers.get("Range")
        first = not any(path == self.path for path, _ in self.seen)
        self.seen.append((self.path, asked))
        if "absent" in self.path:
            self.send_error(404)
            return
        start = int(asked[6:-1]) if asked else 0
        if start >= len(CONTENT):
            self.send_error(416)
            return
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        stop = len(CONTENT) // 2 if first and "broken" in self.path else len(CONTENT)
        self.wfile.write(CONTENT[start:stop])

    def log_message(self, *_):
        pass


@pytest.fixture
def address():
    Server.seen = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_a_broken_download_goes_on_where_it_stopped(address, tmp_path):
    entry = {"url": f"{address}/broken", "sha256": hashlib.sha256(CONTENT).hexdigest()}
    target = tmp_path / "raw" / "x"
    with pytest.raises(TextcriticError, match=r"cannot be downloaded .* rerun to go on"):
        download_file(entry, target)
    assert not target.exists()
    download_file(entry, target)
    assert target.read_bytes() == CONTENT
    assert Server.seen[1][1] == f"bytes={len(CONTENT) // 2}-"
    assert sorted(p.name for p in target.parent.iterdir()) == ["x", "x.json"]


def test_a_wrong_checksum_leaves_nothing(address, tmp_path):
    with pytest.raises(TextcriticError, match=r"its sha256 is [0-9a-f]{64}, not 0{64}"):
        download_file({"url": f"{address}/x", "sha256": "0" * 64}, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_without_the_file_the_line_says_what_to_do_by_hand(address, tmp_path):
    with pytest.raises(TextcriticError, match=rf"absent: cannot be downloaded \(.*404.*\).*{tmp_path / 'x'} by hand"):
        download_file({"url": f"{address}/absent", "sha256": None}, tmp_path / "x")


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_member_is_found_in_whatever_folder(tmp_path, kind):
    archive, source = tmp_path / "archive", tmp_path / "source.txt"
    source.write_text("article\n")
    if kind == "zip":
        with zipfile.ZipFile(archive, "w") as packed:
            packed.write(source, "data/train.txt")
            packed.write(source, "__MACOSX/data/train.txt")
    else:
        with tarfile.open(archive, "w:gz") as packed:
            packed.add(source, "data/train.txt")
    unpack_member(archive, "train.txt", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "article\n"
    with pytest.raises(TextcriticError, match=r"archive: holds 0 files called val.txt"):
        unpack_member(archive, "val.txt", tmp_path / "val.txt")
    archive.write_bytes(archive.read_bytes()[:60])
    with pytest.raises(TextcriticError, match=r"not a whole zip or tar archive"):
        unpack_member(archive, "train.txt", tmp_path / "again.txt")
    assert not (tmp_path / "again.txt").exists()
