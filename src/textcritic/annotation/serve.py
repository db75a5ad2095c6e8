"""The server: one process, one campaign; by default only this machine can reach its address."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from textcritic.annotation.backups import settle
from textcritic.annotation.store import Store, only_server
from textcritic.annotation.visits import Settings
from textcritic.errors import TextcriticError


def serve(path: Path, host: str, port: int, settings: Settings, announce: str) -> None:
    """Serve a campaign until the process is stopped.

    Neither requests nor addresses are logged.

    Args:
        path: of the database.
        host: of this machine to listen on; 127.0.0.1: reached from this machine alone, as by a reverse proxy.
        port: to listen on.
        settings: of the app.
        announce: printed once requests are taken.

    Raises:
        TextcriticError: the port is in use, another server is at work on the campaign, or the database is not one.
    """
    import uvicorn

    from textcritic.annotation.app import make_app
    from textcritic.annotation.security import PromptProtocol

    with only_server(path), Store(path) as store, _listening(host, port) as sock:
        for name, why in settle(store).items():
            print(f"textcritic annotate: {name}: somebody who withdrew may still be in it ({why})", file=sys.stderr)
        app = make_app(store, settings)
        config = uvicorn.Config(
            app,
            http=PromptProtocol,
            access_log=False,
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            lifespan="off",
        )
        config.timeout_graceful_shutdown = 5
        print(announce, flush=True)
        try:
            uvicorn.Server(config).run(sockets=[sock])
        except KeyboardInterrupt:
            print("textcritic annotate: stopped; all answers are saved", file=sys.stderr)


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
            sock.listen(256)
        except (OSError, OverflowError) as error:
            raise TextcriticError(
                f"{host}:{port} cannot be listened on ({error}); choose another with --port, or stop what is there"
            ) from error
        yield sock
