"""A hub on this machine, for the real client: one repository, as a model and as a data set."""

import json
import os
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
