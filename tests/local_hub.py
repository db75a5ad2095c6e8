"""A hub on this machine, for the real client: one repository, as a model and as a data set."""

import os
import pickle
import subprocess
import sys
from contextlib import contextmanager

from textcritic.rehearsal.mirror import Mirror, serving

REVISION = "5" * 40


@contextmanager
def local_hub(files, cache, monkeypatch):
    """Serve files of one repository; processes that are started meanwhile take it for the hub."""
    names = ("some/model", "some/data")
    held = {"files": files, "repositories": dict.fromkeys(names, files), "revision": REVISION, "main": REVISION}
    hub = type("Hub", (Mirror,), {**held, "spoilt": {}, "asked": []})
    with serving(hub) as port:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("HF_HOME", str(cache))
        yield hub


def fetch(function, *arguments):
    """Call a function of `textcritic` in a process of its own, since the hub's client reads its settings once.

    Args:
        function: e.g. `download.download_model`.
        arguments: its arguments.

    Returns:
        the error line; nothing if there was none.
    """
    module, _, name = function.rpartition(".")
    code = (
        f"import pickle, sys\nfrom textcritic.{module} import {name}\nfrom textcritic.errors import TextcriticError\n"
        "arguments = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        f"try:\n    {name}(*arguments)\nexcept TextcriticError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-c", code, pickle.dumps(arguments).hex()]
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "HF_HUB_OFFLINE": "1"}
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()
