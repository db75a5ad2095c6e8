"""The wheel alone, as `pip install textcritic` brings it, in a fresh environment: small, and its commands answer.

It is here because the real SLURM mostly waits, and this mostly waits for the network.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from textcritic.extras import EXTRAS

pytestmark = pytest.mark.slurm

ROOT = Path(__file__).parents[2]
MOST_MB = 800
"""Of the environment; 772 with NumPy 2.4, SciPy 1.17, pyarrow 25 and pandas 3.0."""


def run(*command: str | Path, folder: Path) -> "subprocess.CompletedProcess[str]":
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, cwd=folder, env=outside)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it depends on, in the locked versions."""
    folder = tmp_path_factory.mktemp("core")
    made = run(sys.executable, "-m", "hatchling", "build", "--directory", folder, "--target", "wheel", folder=ROOT)
    assert made.returncode == 0, made.stderr
    (wheel,) = folder.glob("*.whl")
    assert run(sys.executable, "-m", "venv", folder / "venv", folder=folder).returncode == 0
    pip = (folder / "venv/bin/python", "-m", "pip", "--disable-pip-version-check")
    done = run(*pip, "install", wheel, "--constraint", ROOT / "requirements.lock", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def files(core: Path) -> Path:
    for name, shift in (("real", 0), ("model", 5)):
        rows = []
        for number in range(60):
            titles = ("intro", "method", "end")[: 3 - (number + shift) % 4 % 2]
            text = f"Ann Lee saw {number} cows in May {number % 7}. Then she went home with {number % 5} of them."
            rows.append({"sections": [{"title": title, "text": text} for title in titles]})
        (core / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        chains = [{"chain": [section["title"] for section in row["sections"]]} for row in rows]
        (core / f"{name}-chains.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in chains))
    return core


def test_it_has_no_package_of_an_extra_and_is_small(core: Path) -> None:
    packages = next((core / "venv/lib").glob("python*/site-packages"))
    assert not [name for name in EXTRAS if (packages / name).exists()]
    size = sum(file.lstat().st_size for file in packages.rglob("*")) / 1e6
    assert size < MOST_MB


@pytest.mark.parametrize(
    ("words", "code", "shown"),
    [
        (["criticise", "real.jsonl", "model.jsonl", "--measures", "order,form", "--output", "out"], 0, "report: "),
        (["show", "out"], 0, "report: "),
        (["chains", "real-chains.jsonl", "model-chains.jsonl"], 0, "Latent PPL"),
        (["coreference", "real.jsonl", "model.jsonl", "--resolver", "persons", "--parts", "2"], 0, "Latent PPL"),
        (["tendencies", "real.jsonl", "model.jsonl", "--resamples", "50"], 0, "Which words"),
        (["recitation", "real.jsonl", "model.jsonl", "--train", "real.jsonl"], 0, "13"),
        (["importance", "weights.npy", "--tokens", "300"], 0, "instance"),
        (["topics", "real.jsonl", "model.jsonl"], 2, "pip install 'textcritic[models]'"),
        (["mixing", "real.jsonl", "model.jsonl", "--topics", "2"], 2, "pip install 'textcritic[mixing]'"),
        (["demo"], 2, "pip install 'textcritic[models]'"),
        (["workflow", "own"], 0, "snakemake"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_its_commands_answer(files: Path, words: list[str], code: int, shown: str) -> None:
    """All of them, or one line that says what to install."""
    if words[0] == "importance":
        numpy = "import numpy; numpy.save('weights.npy', numpy.random.default_rng(1).normal(-9, 1, (30, 40)))"
        assert run(files / "venv/bin/python", "-c", numpy, folder=files).returncode == 0
    done = run(files / "venv/bin/textcritic", *words, folder=files)
    assert done.returncode == code, done.stderr
    assert shown in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if code:
        assert done.stderr.strip().count("\n") == 0
