"""The program that replaces the interpreter if jobs are forked (`forks`): it asks for a process, and ends as that does.

It is run by its path, without textcritic, and imports little, because it is started for each job.
"""

import marshal
import os
import signal
import socket
import sys
from contextlib import suppress
from typing import NoReturn

REFUSED = b"refused"
"""The answer if no process can be forked."""


def main(address: str, most_threads: int, arguments: list[str]) -> NoReturn:
    """Run a script or a module in a forked process; anything else, or if none can be forked, in the interpreter.

    Args:
        address: of the server's socket.
        most_threads: a job with more uses the interpreter, because a forked process has one thread for linear algebra.
        arguments: of the interpreter.
    """
    first = arguments[0] if arguments else ""
    is_job = first == "-m" or (first != "" and first[0] != "-")
    with socket.socket(socket.AF_UNIX) as server:
        if is_job and _threads() <= most_threads:
            asked = False
            with suppress(OSError):
                server.connect(address)
                _ask(server, arguments)
                asked = True
            if asked and (answer := _answer(server)) != REFUSED:
                _end(answer)
    os.execv(sys.executable, [sys.executable, *arguments])


def _threads() -> int:
    try:
        return int(os.environ.get("OMP_NUM_THREADS", "1"))
    except ValueError:
        return 1


def _ask(server: socket.socket, arguments: list[str]) -> None:
    """Ask for a process; raises an error if there is none."""
    folder = os.getcwd()  # noqa: PTH109  pathlib takes longer to load than all else here
    request = marshal.dumps((os.getpid(), arguments, folder, dict(os.environ)))
    socket.send_fds(server, [len(request).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(request)


def _answer(server: socket.socket) -> bytes:
    """The server's answer when the process has ended, nothing if it is gone; requests to stop are passed on."""

    def pass_on(number: int, _: object) -> None:
        with suppress(OSError):
            server.sendall(bytes([number]))

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the forked process too, which then ends
    signal.signal(signal.SIGTERM, pass_on)
    try:
        return server.recv(16)
    except OSError:
        return b""


def _end(answer: bytes) -> NoReturn:
    """End with an exit code; a negative one is the signal that ended the process."""
    if not answer:
        sys.stderr.write("the process that was forked for this job is lost; run the same command again\n")
    code = int(answer or 1)
    if code == -signal.SIGKILL:
        sys.stderr.write(
            "this job was killed (SIGKILL): if nobody did that, the machine had too little memory; give it more, or run"
            " fewer jobs at a time (--cores), and run the same command again\n"
        )
    sys.stderr.flush()
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):  # the effect of these two cannot be changed
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
