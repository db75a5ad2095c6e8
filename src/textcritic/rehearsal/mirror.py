"""A mirror on this machine that answers the real clients like the hub and like servers of files, on loopback."""

import hashlib
import http.server
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from textcritic.errors import TextcriticError
from textcritic.values import JsonObject

LARGE = (".safetensors", ".bin", ".parquet")  # what the hub keeps apart from git
API = re.compile(r"/api/(?:models|datasets)/([^/]+/[^/]+)/(tree|revision)/([0-9a-f]{40}|main)(?:/.*)?")
FILE = re.compile(r"/(?:datasets/)?([^/]+/[^/]+)/resolve/([0-9a-f]{40})/(.+)")
PLAIN, BRANCH = "/files/", "main"


class Mirror(http.server.BaseHTTPRequestHandler):
    """What the clients ask for.

    Attributes:
        repositories: the files of each repository of the hub.
        revision: the one commit that they have; "": whatever is asked for.
        files: of other servers, by name: `/files/NAME`.
        spoilt: files of repositories that are sent with other content.
        asked: the paths asked for.
        main: the commit of every branch `main`.
    """

    repositories: ClassVar[Mapping[str, Mapping[str, bytes]]] = {}
    revision: ClassVar[str] = ""
    files: ClassVar[Mapping[str, bytes]] = {}
    spoilt: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []
    main: ClassVar[str] = "0" * 40

    def do_HEAD(self) -> None:
        """As do_GET, without the content."""
        self.do_GET()

    def do_GET(self) -> None:
        """Send a file, the list of a repository's files, or 404."""
        path = self.path.split("?")[0]
        self.asked.append(path)
        api, file = API.fullmatch(path), FILE.fullmatch(path)
        found = self.repositories.get((api or file or [""])[1 if api or file else 0], {})
        asked = (api and api[3]) or (file and file[2])
        if self.revision and asked not in (None, self.revision, BRANCH):
            self.send_error(404)
        elif api and found:
            self._listed(found, api[2], api[3])
        elif file and file[3] in found:
            content = found[file[3]]
            self._answer(self.spoilt.get(file[3], content), file[2], hashlib.sha256(content).hexdigest())
        elif path.startswith(PLAIN) and path.removeprefix(PLAIN) in self.files:
            self._answer(self.files[path.removeprefix(PLAIN)])
        else:
            self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _listed(self, found: Mapping[str, bytes], what: str, revision: str) -> None:
        revision = self.main if revision == BRANCH else revision
        value: object = [_entry(name, content) for name, content in found.items()]
        if what == "revision":
            value = {"id": "some", "sha": revision, "siblings": [{"rfilename": name} for name in found]}
        self._answer(json.dumps(value).encode(), revision)

    def _answer(self, content: bytes, revision: str = "none", tag: str = "none") -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{tag}"')
        self.send_header("X-Repo-Commit", revision)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


def _entry(name: str, content: bytes) -> JsonObject:
    blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
    entry: JsonObject = {"type": "file", "path": name, "size": len(content), "oid": blob}
    if name.endswith(LARGE):
        entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
    return entry


@contextmanager
def serving(handler: type[Mirror], port: int = 0) -> Iterator[int]:
    """Serve on loopback while the body runs; yields the port.

    Args:
        handler: a different class for each mirror, because it holds the files.
        port: 0: any that is free.

    Raises:
        TextcriticError: the port is taken.
    """
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        raise TextcriticError(
            f"port {port} of this machine is taken ({error.strerror}); use another --output"
        ) from error
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
