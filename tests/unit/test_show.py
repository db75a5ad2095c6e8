"""`textcritic show`: the scorecard and what else the sections say, in the order of the study."""

import os

import pandas as pd
import pytest

from textcritic.cli import main
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.measures.card_file import card_to_json
from textcritic.measures.phrases import perplexity_lines
from textcritic.measures.score import Number, Score
from textcritic.report.show import show_study


def write(study, name, *lines, **said):
    (study / name).mkdir(parents=True)
    write_json(study / name / "section.json", {"title": name[:3], "lines": lines, **said})


def test_sections_stand_in_the_order_of_the_study_and_the_path_is_printed(tmp_path, capsys):
    write(tmp_path, "coherence", "first line", "second line")
    write(tmp_path, "a-topics", "third line")
    write(tmp_path, "b-topics", "fourth line")
    write_json(tmp_path / "manifest.json", {"experiments": ["coherence", "b-topics", "gone"]})
    assert main(["show", str(tmp_path)]) == 0
    # What the study does not have any more is not shown, nor what is not there.
    assert capsys.readouterr().out == "first line\nsecond line\n\nfourth line\n"
    (tmp_path / "report.html").touch()
    assert main(["show", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["", f"report: {tmp_path / 'report.html'}"]


def test_the_headline_comes_first_then_the_card_the_sentences_and_the_lines(tmp_path, monkeypatch, capsys):
    real = Number(4.0, 3.9, 4.1)
    same = {"corpus": "docs", "measure": "Latent PPL", "section": "one-values", "n": 700}
    card = [
        Score(**same, label="real text", number=real),
        Score(**same, label="small GPT-2", generator="gpt2", seed=3, number=Number(8.0, 7.5, 8.5), p=0.001, real=real),
    ]
    found = [{"about": "", "says": "Strong.", "strength": "inf"}, {"about": "", "says": "Weak.", "strength": 0.0}]
    warned = ["Titles are wrong."]
    said = {"card": card_to_json(card), "findings": found, "warnings": warned}
    write(tmp_path, "one", "a line", "b" * 90, **said)
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["show", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "small GPT-2 scores higher than real text (4.00) by “Latent",
        "PPL”: 8.00, 4.0 more (7.50–8.50; p = 0.001).",
        "",
        "- small GPT-2: Latent PPL higher: 8.00 against 4.00.",
        "No measure here looks at facts: whether what is said is",
        "  true.",
        "",
        "warning: one: Titles are wrong.",
        "",
        "docs           one",
        "               Latent PPL",
        "real text      4.00 (3.90–4.10)",
        "small GPT-2  ≠ 8.00 (7.50–8.50)",
        "",
        "Latent PPL: n = 700 of real text, 700 of a sample, seed 3.",
        "",
        "≠ differs from real text (p < 0.05).",
        "",
        "- one: Strong.",
        "",
        "a line",
        "b" * 60,
        "b" * 30,
    ]
    assert show_study(tmp_path, 100).startswith("small GPT-2 scores higher than real text (4.00) by “Latent PPL”: 8.00")


def test_a_headline_of_a_kind_leaves_what_the_scores_say_to_the_sentences(tmp_path):
    scores = {"corpus": "docs", "measure": "Latent PPL", "section": "one-values", "n": 700}
    real = Number(4.0, 3.9, 4.1)
    sample = Score(**scores, label="a", generator="a", seed=1, number=Number(8.0, 7.5, 8.5), p=0.001, real=real)
    card = card_to_json([Score(**scores, label="real text", number=real), sample])
    write(tmp_path, "one", card=card, headline="It differs.")
    shown = show_study(tmp_path, 100)
    facts = "No measure here looks at facts: whether what is said is true."
    assert shown.startswith(f"It differs.\n\n- a: Latent PPL higher: 8.00 against 4.00.\n{facts}\n\ndocs")
    assert "\n- one, Latent PPL: a scores higher than real text (4.00): 8.00, 4.0 more (7.50–8.50; p = 0.001)." in shown


def test_the_folder_that_output_named_leads_to_its_study(tmp_path):
    study = tmp_path / "results/studies/own"
    write(study, "one", "its line")
    assert show_study(tmp_path) == show_study(study)
    write(tmp_path / "results/studies/other", "one", "another line")
    with pytest.raises(TextcriticError, match=r"has several studies; give one of them: .*other, .*own"):
        show_study(tmp_path)


def test_two_experiments_of_one_title_are_told_apart(tmp_path):
    for name in ("topics-50", "topics-100"):
        write(tmp_path, name, "its line")
    assert show_study(tmp_path) == "top (topics-100)\nits line\n\ntop (topics-50)\nits line"


def test_a_study_that_was_not_built_is_one_clear_line(tmp_path, capsys):
    assert main(["show", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"textcritic: {tmp_path}: no results of a study here; name its folder, or the one that --output named, or build"
        " it first\n"
    )


@pytest.mark.parametrize("arguments", [[], ["nonsense"]])
def test_unknown_commands_are_refused(arguments):
    with pytest.raises(SystemExit):
        main(arguments)


def test_lines_on_perplexity():
    rows = [
        ("docs", "real text", None, None),
        ("docs", "small GPT-2", 36.6, "tokens"),
        ("docs", "trigram", float("inf"), "words"),
        ("wiki", "small GPT-2", 20.0, "tokens"),
    ]
    table = pd.DataFrame(rows, columns=["corpus", "label", "ppl_body", "ppl_unit"])
    assert perplexity_lines(table, "ppl_body", "body text") == [
        "Perplexity on docs, body text: small GPT-2 36.6 /token; trigram ∞ /word.",
        "Perplexity on wiki, body text: small GPT-2 20.0 /token.",
    ]
    assert perplexity_lines(table.iloc[:1], "ppl_body", "body text") == []


GOOD = b'{"title": "One", "lines": ["said"]}'


UNREADABLE = [GOOD.decode().encode("utf-16"), b"\xef\xbb\xbf" + GOOD, b"\x00\x01\xff", GOOD[:-5]]
CARDS = [b'{"title": "One", "lines": [], "card": %b}' % card for card in (b"7", b'[{"label": 1}]')]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *(
            (name, content, "not a JSON file")
            for name in ("one/section.json", "manifest.json")
            for content in UNREADABLE
        ),
        *((name, b"[1]", "") for name in ("one/section.json", "manifest.json")),
        ("one/section.json", b'{"title": "One"}', ""),
        *(("one/section.json", card, "no card in it") for card in CARDS),
    ],
)
def test_a_damaged_file_is_one_clear_line(tmp_path, capsys, name, content, message):
    write(tmp_path, "one", "said")
    (tmp_path / name).write_bytes(content)
    assert main(["show", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"textcritic: {tmp_path / name}: {message}")
    assert said.count("\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_named(tmp_path, capsys):
    write(tmp_path, "one", "said")
    tmp_path.chmod(0)
    assert main(["show", str(tmp_path)]) == 2
    tmp_path.chmod(0o700)
    assert capsys.readouterr().err == f"textcritic: {tmp_path}: cannot be read: Permission denied\n"
