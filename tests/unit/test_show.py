"""`textcritic show`: the lines of every section, in the order of the study."""

import pandas as pd
import pytest

from textcritic.cli import main
from textcritic.files import write_json
from textcritic.report.show import latent_ppl_lines

COLUMNS = (
    "corpus",
    "source",
    "label",
    "latent_ppl",
    "ci_low",
    "ci_high",
    "documents",
    "rejected",
    "p_value",
    "ppl_all",
    "ppl_unit",
)


def write(study, name, *lines):
    (study / name).mkdir(parents=True)
    write_json(study / name / "section.json", {"title": name[:3], "lines": lines})


def test_sections_stand_in_the_order_of_the_study_and_the_path_is_printed(tmp_path, capsys):
    write(tmp_path, "coherence", "first line", "second line")
    write(tmp_path, "a-topics", "third line")
    write(tmp_path, "b-topics", "fourth line")
    write_json(tmp_path / "manifest.json", {"experiments": ["coherence", "b-topics", "gone"]})
    assert main(["show", str(tmp_path)]) == 0
    # What the study does not have any more is not shown, nor what is not there.
    assert capsys.readouterr().out.splitlines() == ["first line", "second line", "fourth line"]
    (tmp_path / "report.html").touch()
    assert main(["show", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["", f"report: {tmp_path / 'report.html'}"]


def test_a_study_that_was_not_built_is_one_clear_line(tmp_path, capsys):
    assert main(["show", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"textcritic: {tmp_path}: no section of an experiment here; build the study first: snakemake --cores 2\n"
    )


@pytest.mark.parametrize("arguments", [[], ["nonsense"]])
def test_unknown_commands_are_refused(arguments):
    with pytest.raises(SystemExit):
        main(arguments)


def test_lines_on_latent_ppl():
    sample = "small GPT-2, top-k, with titles, seed 2"
    none = None
    rows = [
        ("docs", "data-inferred", "real text", 4.5, 4.4, 4.6, 1200, 0, none, none, none),
        ("docs", "sample", sample, 5.25, 5, 5.5, 580, 20, 0.0001, 36.6, "tokens"),
        ("docs", "sample", "trigram, with titles", none, none, none, 600, 0, none, float("inf"), "words"),
        ("docs", "sample", "untrained", none, none, none, 0, 600, none, none, none),
    ]
    lines = latent_ppl_lines(pd.DataFrame(rows, columns=COLUMNS), "lower is not better")
    assert lines[:3] == ["", "Latent PPL on docs (lower is not better)", ""]
    assert lines[3].split("  ")[0] == "source"
    assert lines[4].split() == ["real", "text", "4.50", "4.40–4.60", "1,200", "0"]
    name, values = lines[5].split("seed 2")
    assert name == "small GPT-2, top-k, with titles, "
    assert values.split() == ["5.25", "5.00–5.50", "<", "0.001", "580", "20", "36.6", "/token"]
    assert lines[6].split("titles")[1].split() == ["∞", "600", "0", "∞", "/word"]
    # Infinite where documents were scored; a dash where nothing could be.
    assert lines[7].split() == ["untrained", "—", "0", "600"]
