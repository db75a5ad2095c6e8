import hashlib
import http.server
import json
import tarfile
import threading
import zipfile
from typing import ClassVar

import pytest
import yaml
from snake import ROOT, snakemake

from textcritic.download import download_file, unpack_member
from textcritic.errors import TextcriticError
from textcritic.plan.downloads import check_by_hand
from textcritic.plan.entries import Download

CONTENT = bytes(range(256)) * 5000


class Server(http.server.BaseHTTPRequestHandler):
    """Serves `content` with ranges; the first request of a path with `broken` in it is cut after half."""

    seen: ClassVar[list[tuple[str, str | None]]] = []
    content: ClassVar[bytes] = CONTENT

    def do_GET(self):
        asked = self.headers.get("Range")
        first = not any(path == self.path for path, _ in self.seen)
        self.seen.append((self.path, asked))
        tag = f'"{hashlib.md5(self.content).hexdigest()}"'
        if "absent" in self.path:
            self.send_error(404)
            return
        if self.headers["User-Agent"].startswith("Python-urllib"):
            self.send_error(403)
            return
        if self.headers.get("If-Range", tag) != tag:
            asked = None
        start = int(asked[6:-1]) if asked else 0
        if start >= len(self.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(self.content)}")
            self.end_headers()
            return
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(self.content) - start))
        if "nameless" not in self.path:
            self.send_header("ETag", tag)
        self.end_headers()
        stop = len(self.content) // 2 if first and "broken" in self.path else len(self.content)
        self.wfile.write(self.content[start:stop])

    def log_message(self, *_):
        pass


@pytest.fixture
def address():
    Server.seen, Server.content = [], CONTENT
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_a_broken_download_goes_on_where_it_stopped(address, tmp_path):
    entry = Download(url=f"{address}/broken", sha256=hashlib.sha256(CONTENT).hexdigest())
    target = tmp_path / "raw" / "x"
    with pytest.raises(TextcriticError, match=r"cannot be downloaded .* rerun to go on"):
        download_file(entry, target)
    assert not target.exists()
    download_file(entry, target)
    assert target.read_bytes() == CONTENT
    assert Server.seen[1][1] == f"bytes={len(CONTENT) // 2}-"
    assert sorted(p.name for p in target.parent.iterdir()) == ["x", "x.json"]


def test_a_file_that_changed_meanwhile_is_fetched_anew(address, tmp_path):
    entry = Download(url=f"{address}/broken")
    with pytest.raises(TextcriticError, match="cannot be downloaded"):
        download_file(entry, tmp_path / "x")
    Server.content = CONTENT[::-1]
    download_file(entry, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT[::-1]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x", "x.json"]


def test_a_part_longer_than_the_file_is_thrown_away(address, tmp_path):
    (tmp_path / ".x.partial").write_bytes(b"?" * (len(CONTENT) + 1))
    download_file(Download(url=f"{address}/nameless"), tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_a_part_that_is_the_whole_file_is_taken(address, tmp_path):
    """Killed between the last byte and the renaming."""
    (tmp_path / ".x.partial").write_bytes(CONTENT)
    download_file(Download(url=f"{address}/x", sha256=hashlib.sha256(CONTENT).hexdigest()), tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_a_sha1_is_checked_too(address, tmp_path):
    right = hashlib.sha1(CONTENT).hexdigest()
    download_file(Download(url=f"{address}/x", sha1=right), tmp_path / "x")
    noted = json.loads((tmp_path / "x.json").read_text())
    assert (noted["sha1"], noted["sha256"]) == (right, hashlib.sha256(CONTENT).hexdigest())
    with pytest.raises(TextcriticError, match=rf"its sha1 is {right}, not 0{{40}}; rerun, or put the file into"):
        download_file(Download(url=f"{address}/y", sha1="0" * 40), tmp_path / "y")
    assert not (tmp_path / "y").exists()


def test_a_wrong_checksum_leaves_nothing(address, tmp_path):
    with pytest.raises(TextcriticError, match=r"its sha256 is [0-9a-f]{64}, not 0{64}"):
        download_file(Download(url=f"{address}/x", sha256="0" * 64), tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_put_there_by_hand_is_compared_once(tmp_path):
    path = tmp_path / "x"
    entry = Download(url="http://nowhere/x", sha256=hashlib.sha256(CONTENT).hexdigest())
    check_by_hand(entry, path)  # it is not there, and will be downloaded
    path.write_bytes(b"")
    with pytest.raises(TextcriticError, match=r"/x: is empty; delete it, and it is downloaded, or put the right one"):
        check_by_hand(Download(url="http://nowhere/x"), path)
    path.write_bytes(CONTENT[1:])
    with pytest.raises(TextcriticError, match=rf"/x: its sha256 is [0-9a-f]{{64}}, not {entry.sha256}; delete it"):
        check_by_hand(entry, path)
    assert not (tmp_path / "x.json").exists()
    path.write_bytes(CONTENT)
    check_by_hand(entry, path)
    noted = (tmp_path / "x.json").stat().st_mtime_ns
    check_by_hand(entry, path)
    assert (tmp_path / "x.json").stat().st_mtime_ns == noted
    path.write_bytes(CONTENT[1:])  # replaced after it was compared
    with pytest.raises(TextcriticError, match="its sha256 is"):
        check_by_hand(entry, path)


def test_without_the_file_the_line_says_what_to_do_by_hand(address, tmp_path):
    with pytest.raises(TextcriticError, match=rf"absent: cannot be downloaded \(.*404.*\).*{tmp_path / 'x'} by hand"):
        download_file(Download(url=f"{address}/absent"), tmp_path / "x")


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_member_is_found_in_whatever_folder(tmp_path, kind):
    archive, source = tmp_path / "archive", tmp_path / "source.txt"
    source.write_text("article\n")
    if kind == "zip":
        with zipfile.ZipFile(archive, "w") as packed:
            packed.write(source, "data/train.txt")
            packed.writestr("data/", "")
            packed.writestr("__MACOSX/data/._train.txt", "shadow")
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


def test_the_layout_of_the_published_archives(tmp_path):
    """pubmed-dataset.zip: a folder with train.txt, val.txt, test.txt and vocab, and its shadow of a Mac."""
    archive = tmp_path / "pubmed"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("pubmed-dataset/", "")
        packed.writestr("__MACOSX/", "")
        for name in ("train.txt", "val.txt", "test.txt", "vocab"):
            packed.writestr(f"pubmed-dataset/{name}", f"{name}\n" * 1000)
            packed.writestr(f"__MACOSX/pubmed-dataset/._{name}", "shadow")
    for name in ("train.txt", "val.txt", "test.txt"):
        unpack_member(archive, name, tmp_path / "unpacked" / name)
        assert (tmp_path / "unpacked" / name).read_text() == f"{name}\n" * 1000


def test_an_archive_is_fetched_by_rule_or_put_there_by_hand(tmp_path):
    """Without a network one line names the file to put there; with the file there nothing is fetched."""
    entry = {"url": "http://127.0.0.1:9/bundle.zip"}  # the port that refuses
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry/downloads.yaml").write_text(yaml.safe_dump({"bundle": entry}))
    settings = {"studies": ["demo"], "registry_folders": [str(ROOT / "config/registry"), "registry"]}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(settings))
    wanted = "results/raw/unpacked/bundle/train.txt"
    run = snakemake(tmp_path, wanted, configfile=tmp_path / "config.yaml")
    assert run.returncode != 0
    by_hand = "put the file into results/raw/downloads/bundle by hand and rerun"
    (line,) = {line for line in run.stderr.splitlines() if "bundle.zip: cannot be downloaded" in line}
    assert "Connection refused" in line
    assert by_hand in line
    (tmp_path / "results/raw/downloads").mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(tmp_path / "results/raw/downloads/bundle", "w") as packed:
        packed.writestr("bundle/train.txt", "article\n")
    run = snakemake(tmp_path, wanted, configfile=tmp_path / "config.yaml")
    assert run.returncode == 0, run.stderr
    assert (tmp_path / wanted).read_text() == "article\n"
    assert "download_file" not in run.stdout + run.stderr
