"""`textcritic lock`: commits of the hub, looked up once, and what a run makes of them."""

import json
import sys

import pytest
import yaml
from local_hub import REVISION, fetch, local_hub
from own_study import own_folder, project, study, write
from snake import dry_run, snakemake

from textcritic.errors import TextcriticError
from textcritic.plan.entries import HubModel
from textcritic.plan.entries.downloads import Pin
from textcritic.plan.hub_lock import read_lock, write_lock

OTHER = "6" * 40
MODEL = {"repository": "some/model", "revision": "main"}
DATA = {"repository": "some/data", "revision": "main", "files": {"train": ["*.txt"]}}
COLUMNS = {"dataset": "rows", "from_splits": ["train"], "columns": {"titles": "a"}}
CAUSAL = {
    "kind": "causal",
    "encoding": "words",
    "init": {"hub": "m"},
    "training": {"context": 8, "learning_rate": 0.1, "steps": 1, "batch_size": 8},
}
PIN = {"repository": "some/model", "revision": "main", "commit": REVISION, "date": "2026-01-01"}
CONFIG = {"studies": ["own"], "registry_folders": ["config/registry", "registry"], "study_folders": ["studies"]}
SOURCES = {"corpora": ["docstrings"], "settings": ["wo-title"], "generators": ["ngram-3", "tuned"]}
HUB = "results/raw/hub/m"


@pytest.fixture
def folder(tmp_path):
    """A study of a trigram and of a pretrained model whose entry names a branch."""
    sources = SOURCES | {"decodings": ["demo"]}
    made = own_folder(
        tmp_path,
        study({"kind": "topics", "critic": "ctm-demo", "sources": [sources]}),
        hub={"m": MODEL | {"format": "either"}},
        datasets={"rows": DATA},
        encodings={"words": {"tokenizer": {"hub": "m"}}},
        generators={"tuned": CAUSAL},
        corpora={"table": {"extractor": "hub-dataset", "options": COLUMNS}},
    )
    write(made / "config.yaml", CONFIG)
    return made


@pytest.fixture
def hub(tmp_path, monkeypatch):
    files = {"config.json": b"{}", "pytorch_model.bin": b"weights", "a.txt": b"a"}
    with local_hub(files, tmp_path / "hf-home", monkeypatch) as served:
        yield served


def lock(folder, *names, update=False):
    """The error line of the command; none where there was none."""
    return fetch("workflow.lock.lock", names, folder / "config.yaml", folder, update)


def pinned(folder, pins):
    write(folder / "hub.lock", pins)


def planned(folder, *options, how=dry_run, **environment):
    run = how(folder, *options, "--", HUB, configfile=folder / "config.yaml", **environment)
    return run.returncode, run.stderr + run.stdout


def test_what_has_no_commit_is_left_out_and_the_command_is_named(folder):
    own = project(folder, leave_out=True)
    assert [source.generator for source in own.studies["own"].sources()] == ["ngram-3"]
    why = "needs words: needs m: the commit of its revision main is not known (textcritic lock)"
    command = "own: `textcritic lock own` looks the commits up, with a network"
    assert own.said_at_start() == [f"own: tuned: {why}", command]
    with pytest.raises(TextcriticError, match=r"missing: refuse: own: tuned: .* \| own: `textcritic lock own`"):
        project(folder, leave_out=True, missing="refuse")
    # Whichever of its names lacks a commit.
    write(folder / "registry/generators.yaml", {"tuned": CAUSAL | {"encoding": "gpt2"}})
    assert project(folder, leave_out=True).missing.why("generators", "tuned") == why.replace("needs words: ", "")
    (folder / HUB).mkdir(parents=True)  # put there by hand, without a network
    assert project(folder, leave_out=True).said_at_start() == []


def test_the_commit_of_a_lock_is_that_of_an_entry_which_names_it(folder):
    pinned(folder, {"hub": {"m": PIN}})
    own, entry = project(folder, leave_out=True), MODEL | {"revision": REVISION, "format": "either"}
    assert own.said_at_start() == []
    described, spec = own.describe("own"), own.registries.spec("hub", "m")
    assert described.pop("overlay") == {"hub.m": f'revision: "{REVISION}", was "main"'}
    write(folder / "registry/hub.yaml", {"m": entry})
    pinned(folder, {"hub": {"m": PIN | {"commit": OTHER}}})  # of an entry that names its commit: it has no effect
    named = project(folder, leave_out=True)
    assert (named.describe("own"), named.registries.spec("hub", "m")) == (described, spec)


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        ("hub: [", "hub.lock, line 2: not valid YAML"),
        ("m: {}", "hub.lock: unknown key 'm'; known keys are datasets, hub"),
        ({"hub": {"m": PIN | {"commit": "main"}}}, r'hub.lock: hub.m.commit: "main" is not a commit, 40 hexadecimal'),
        ({"hub": {"m": PIN | {"commit": int("5" * 40)}}}, r"hub.lock: hub.m.commit: 5{40} is not a commit"),
        ({"hub": {"m": {"commit": REVISION}}}, r"hub.lock: hub.m: the key 'repository' is missing"),
        ({"hub": {"mm": PIN}}, r"hub.lock: hub.mm: the hub registry has no such entry; did you mean"),
        ({"datasets": {"m": PIN}}, r"hub.lock: datasets.m: the datasets registry has no such entry; delete it there"),
        (
            {"hub": {"m": PIN | {"revision": "dev"}}},
            r"hub.lock: hub.m: revision: is dev, and main in its entry; `textcritic lock m` looks its commit up again",
        ),
        ({"hub": {"m": PIN | {"repository": "a/b"}}}, r"hub.m: repository: is a/b, and some/model in its entry"),
    ],
)
def test_a_lock_that_does_not_match_is_one_line(folder, pins, message):
    (folder / "hub.lock").write_text(pins if isinstance(pins, str) else yaml.safe_dump(pins))
    with pytest.raises(TextcriticError, match=message) as refused:
        project(folder)
    assert "\n" not in str(refused.value)


def test_a_lock_is_in_one_order_and_left_alone_where_nothing_changes(tmp_path):
    pins = dict.fromkeys([("hub", "b"), ("hub", "a"), ("datasets", "c")], Pin(**PIN))
    write_lock(tmp_path, pins)
    path, written = tmp_path / "hub.lock", (tmp_path / "hub.lock").stat().st_mtime_ns
    assert [line.strip() for line in path.read_text().splitlines() if line.endswith(":")] == (
        ["datasets:", "c:", "hub:", "a:", "b:"]
    )
    assert (read_lock(tmp_path), "date: '2026-01-01'" in path.read_text()) == (pins, True)
    write_lock(tmp_path, dict(reversed(pins.items())))
    assert path.stat().st_mtime_ns == written


@pytest.mark.parametrize("revision", ["5" * 39, "5" * 41, "", "-x", "a b"])
def test_what_is_neither_a_commit_nor_a_name_is_no_revision(folder, revision):
    write(folder / "registry/hub.yaml", {"m": MODEL | {"revision": revision}})
    with pytest.raises(TextcriticError, match=r"m: revision: .* is not a commit, 40 hexadecimal digits or a branch"):
        project(folder)


def test_commits_are_looked_up_once_downloaded_and_nothing_is_made_twice(folder, hub):
    assert "m: the commit of its revision main is not known (textcritic lock)" in planned(folder, "--dry-run")[1]
    (folder / HUB).mkdir(parents=True)  # by hand
    assert "Nothing to be done" in planned(folder, "--dry-run")[1]
    (folder / HUB).rmdir()
    line = fetch("download.download_model", "m", HubModel(**MODEL, format="either"), HUB)
    assert line == "some/model: the commit of its revision main is not known; call `textcritic lock` first"
    assert lock(folder) == ""
    assert hub.asked[-1] == "/api/models/some/model/revision/main"
    before = (folder / "hub.lock").read_bytes()
    pin = yaml.safe_load(before)["hub"]["m"]
    assert pin == PIN | {"date": pin["date"]}
    assert before.startswith(b"# Commits of the Hugging Face hub, looked up by `textcritic lock`")
    code, said = planned(folder, how=real)
    assert (code, "rule download_model" in said) == (0, True), said
    assert (folder / HUB / "pytorch_model.bin").read_bytes() == b"weights"
    assert "Nothing to be done" in planned(folder, "--dry-run")[1]
    hub.asked.clear()
    hub.main = OTHER
    assert lock(folder, "own") == ""
    assert (hub.asked, (folder / "hub.lock").read_bytes()) == ([], before)
    # Another commit: what was made of the first is said, by whatever way the values changed, and kept.
    assert lock(folder, "m", update=True) == ""
    again = f'hub: m is another recipe than that of the results here (revision: "{OTHER}", was "{REVISION}")'
    with pytest.raises(TextcriticError, match="add `--config accept=m`") as refused:
        project(folder, leave_out=True).begin()
    assert str(refused.value).startswith(again)
    hub.main = REVISION
    assert lock(folder, "own", update=True) == ""
    assert yaml.safe_load((folder / "hub.lock").read_text())["hub"]["m"] == pin
    assert "Nothing to be done" in planned(folder, "--dry-run")[1]
    # Lost: what was made is not made of anything else without a word.
    (folder / "hub.lock").unlink()
    with pytest.raises(TextcriticError, match=f'm is another recipe .*revision: "main", was "{REVISION}"'):
        project(folder, leave_out=True).begin()


def real(folder, *arguments, **options):
    """A run, in an interpreter of its own: the hub's client reads the address of the hub when it is imported."""
    return snakemake(folder, *arguments, python=sys.executable, **options)


def test_all_or_nothing_and_what_is_there_stays(folder, hub):
    pinned(folder, {"hub": {"m": PIN | {"commit": OTHER}}})
    assert lock(folder, "m", "rows") == ""
    pins = read_lock(folder)
    assert pins["hub", "m"].commit == OTHER
    assert pins["datasets", "rows"].commit == REVISION
    # An entry that has another revision now is looked up again; nothing is written where one fails.
    write(folder / "registry/datasets.yaml", {"rows": DATA | {"revision": "dev"}})
    before = (folder / "hub.lock").read_bytes()
    line = lock(folder, "m", "rows", update=True)
    assert line.startswith("rows: some/data: its commit cannot be looked up (")
    assert "\n" not in line
    assert (folder / "hub.lock").read_bytes() == before
    write(folder / "registry/datasets.yaml", {"rows": DATA})
    del hub.files["pytorch_model.bin"]
    line = lock(folder, "m", update=True)
    assert line.startswith(f"some/model: commit {REVISION} has no model.safetensors or pytorch_model.bin (it has no")


def test_a_commit_of_a_data_set_reaches_its_corpus(folder):
    pinned(folder, {"datasets": {"rows": PIN | {"repository": "some/data"}}})
    own = project(folder, leave_out=True)
    assert json.loads(own.registries.spec("datasets", "rows"))["revision"] == REVISION
    assert own.missing.why("corpora", "table") == ""
    (folder / "hub.lock").unlink()
    assert "(textcritic lock)" in project(folder, leave_out=True).missing.why("corpora", "table")


def test_without_a_network_and_without_such_a_study_it_is_one_line(folder, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # the port that refuses
    line = lock(folder)
    assert line.startswith("m: some/model: its commit cannot be looked up (")
    assert line.endswith("; see its entry, and call this where there is a network")
    assert not (folder / "hub.lock").exists()
    assert lock(folder, "owm").startswith("config: studies: there is no study 'owm'; known: own")
