"""Numbers of the papers that need no training, computed again and compared with the printed ones."""

import json
import shutil

import pytest
from samples import LARGE

from textcritic.api.reproduce import DOWNLOADS, PROBES, VOTES, reproduce
from textcritic.cli import main
from textcritic.errors import TextcriticError

# The probes by the names of the published files.
FILES = {
    "gender": "gender_flip",
    "animacy-down": "animacy_downgrade",
    "animacy-up": "animacy_upgrade",
    "number": "number_exaggeration",
}


def test_without_the_votes_what_needs_none_is_there_and_the_rest_is_named(tmp_path, capsys):
    assert main(["reproduce", "--offline", "--folder", str(tmp_path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    values = {line["what"]: (line["published"], round(line["ours"], 3), line["n"]) for line in said["lines"]}
    assert values == {
        "perplexity a token": (1.99, 1.986, None),
        "Latent PPL": (44.3, 44.403, None),
        "pairs of models that perplexity orders as people do": (None, 2, 6),
        "pairs of models that MAUVE orders as people do": (None, 5, 6),
        "pairs of models that Latent PPL orders as people do": (None, 6, 6),
    }
    assert (said["compared"], said["differing"]) == (2, 1)
    places = [line.partition(": ")[0] for line in said["missing"]]
    assert places == [str(tmp_path / DOWNLOADS / name) for name in (VOTES, *(f"{VOTES}-{probe}" for probe in PROBES))]
    assert all("https://raw.githubusercontent.com/" in line for line in said["missing"])
    assert not list(tmp_path.iterdir())


@pytest.mark.large
def test_every_number_about_people_is_as_printed_but_one(tmp_path):
    downloads, insted = tmp_path / DOWNLOADS, LARGE / "insted"
    downloads.mkdir(parents=True)
    shutil.copy(insted / "human_annotation.jsonl", downloads / VOTES)
    for probe in PROBES:
        name = FILES.get(probe, probe.replace("-", "_"))
        edited = insted / f"linguistic_probe_data/human_annotation/injected_{name}.jsonl"
        shutil.copy(edited, downloads / f"{VOTES}-{probe}")
    found = reproduce(tmp_path, offline=True)
    assert found.missing == []
    assert sum(line.published is not None for line in found.lines) == 32
    assert {(line.what, line.difference) for line in found.differing} == {
        ("conjunction, F1 after it minus before", -0.1),
        ("Latent PPL", 0.1),
    }
    text = found.text()
    assert "30 of 32 numbers are as printed" in text
    assert max(map(len, text.split("\n\n")[0].splitlines())) <= 100


def test_damaged_votes_are_named_with_what_to_do(tmp_path):
    path = tmp_path / DOWNLOADS / VOTES
    path.parent.mkdir(parents=True)
    path.write_text('{"file_id": "1", "gold": "2", "annoated": ["2"]}\n')
    with pytest.raises(TextcriticError, match=r"file_id 1: 1 votes; give a list of 5; delete .*insted-votes, and run"):
        reproduce(tmp_path, offline=True)
