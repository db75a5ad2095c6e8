"""A hub on this machine, for the real client: the tree of a commit of one repository, and its files."""

import hashlib
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import ClassVar

REVISION = "5" * 40
LARGE = (".safetensors", ".bin", ".parquet")  # what the hub keeps apart from git
API = re.compile(rf"/api/(models/some/model|datasets/some/data)/(tree|revision)/({REVISION}|main)")
FILE = re.compile(rf"/(some/model|datasets/some/data)/resolve/{REVISION}/(.+)")


class Hub(http.server.BaseHTTPRequestHandler):
    """What the client asks of a hub. `spoilt`: files that are sent with other content; `asked`: the paths asked for;
    `main`: the commit of its branch."""

    files: ClassVar[dict[str, bytes]] = {}
    spoilt: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []
    main: ClassVar[str] = REVISION

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.split("?")[0]
        self.asked.append(path)
        file, api = FILE.fullmatch(path), API.match(path)
        if file and file[2] in self.files:
            name = file[2]
            self.answer(self.spoilt.get(name, self.files[name]), hashlib.sha256(self.files[name]).hexdigest())
        elif api and api[2] == "tree":
            self.answer(json.dumps([self.listed(name) for name in self.files]).encode())
        elif api:
            siblings = [{"rfilename": name} for name in self.files]
            self.answer(json.dumps({"id": "some", "sha": self.main, "siblings": siblings}).encode())
        else:
            self.send_error(404)

    def listed(self, name):
        content = self.files[name]
        blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
        entry = {"type": "file", "path": name, "size": len(content), "oid": blob}
        if name.endswith(LARGE):
            entry |= {"lfs": {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}}
        return entry

    def answer(self, content, etag="none"):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{etag}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_):
        pass


@contextmanager
def local_hub(files, cache, monkeypatch):
    """Serve files of one repository; processes that are started meanwhile take it for the hub."""
    Hub.files, Hub.spoilt, Hub.asked, Hub.main = files, {}, [], REVISION
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_HOME", str(cache))
    yield Hub
    server.shutdown()


def fetch(function, *arguments):
    """Call a function of `textcritic` in a process of its own, since the hub's client reads its settings once.

    Args:
        function: e.g. `download.download_model`.
        arguments: its arguments, but for paths as JSON has them.

    Returns:
        the error line; nothing if there was none.
    """
    module, _, name = function.rpartition(".")
    code = (
        f"import json, sys\nfrom textcritic.{module} import {name}\nfrom textcritic.errors import TextcriticError\n"
        f"try:\n    {name}(*json.loads(sys.argv[1]))\nexcept TextcriticError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-c", code, json.dumps(arguments, default=str)]
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "HF_HUB_OFFLINE": "1"}
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()
