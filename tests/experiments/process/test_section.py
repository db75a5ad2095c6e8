"""The section of the report on known processes, beside one on coherence."""

import math
import re
from dataclasses import replace

import pytest
from report_html import Page
from report_jobs import Made, make_study

from experiments.coherence.tiny import build_coherence
from experiments.process.tiny import NOTHING, RECIPE, SAMPLES, build_process
from textcritic.corpora import read_articles
from textcritic.corpora.synthetic.process import Process
from textcritic.errors import TextcriticError
from textcritic.experiments.process.sequences import examples
from textcritic.files import read_json, read_table, write_table
from textcritic.measures.numbers import number

NASTY = "</code><script>alert(1)</script> <b>bold</b> & {{ 7 * 7 }} "


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a study, the files of its process, and the text of its report."""
    root = tmp_path_factory.mktemp("report")
    coherence = build_coherence(root / "results", documents=40, generators=("gpt2-demo",), resamples=50)
    process = build_process(root / "results", samples=(*SAMPLES, NOTHING), resamples=50)
    rejected = process.samples[0].rejected
    table = read_table(rejected).to_pydict()
    write_table(rejected, read_table(rejected).from_pydict({**table, "text": [NASTY] * len(table["text"])}))
    return root, process, make_study(root, Made("coherence", coherence), Made("process", process))


def test_page_with_a_process_parses_and_loads_nothing_from_elsewhere(made):
    root, _, text = made
    page = Page(text)
    assert not [target for target in page.loads if re.match(r"(https?:)?//|data:|file:", target)]
    assert len(page.ids) == len(set(page.ids))
    assert {target[1:] for target in page.loads if target.startswith("#")} <= set(page.ids)
    for target in page.loads:
        assert target.startswith("#") or (root / target).is_file()
    assert {"process", "process-table-process", "process-table-parsing"} <= set(page.ids)
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert "<b>bold" not in text


def test_every_source_and_sequence_has_a_pane_and_a_choice(made):
    _, files, text = made
    page = Page(text)
    panes = {attrs["data-key"] for _, attrs in page.tags if attrs.get("data-pane") == "process-sequences"}
    assert len(panes) == 1 + len(files.samples)
    groups = {attrs["data-group"] for tag, attrs in page.tags if tag == "select" and "data-group" in attrs}
    assert {f"process-sequence-{number}" for number in range(1, 1 + len(panes))} <= groups
    shown = [attrs["data-key"] for _, attrs in page.tags if attrs.get("data-pane") == "process-sequence-2"]
    assert len(shown) == len(set(shown)) == 7
    assert all(f'<option value="{key}">' in text for key in (*panes, *shown))


def test_a_sequence_adds_up_to_its_latent_ppl(made):
    _, files, text = made
    data, transformer, *_, nothing = examples(files)
    source = files.samples[0]
    scores = {row["id"]: row for row in read_table(source.scores).to_pylist() if not row["rejected"]}
    ranked = sorted(scores.values(), key=lambda row: (-row["nll"], row["id"]))
    worst = next(shown for shown in transformer.shown if shown.label == "the least likely")
    article = next(a for a in read_articles(source.articles) if a.id == ranked[0]["id"])
    assert [(step.letters, step.state) for step in worst.steps] == [(s.text, s.title) for s in article.sections]
    assert [float(step.nll) for step in worst.steps] == pytest.approx(ranked[0]["step_nll"], abs=0.051)
    blind = math.log(RECIPE.states)
    assert [step.unlikely for step in worst.steps] == [nll > blind for nll in ranked[0]["step_nll"]]
    assert f"= {number(math.exp(ranked[0]['nll'] / RECIPE.steps))}, the Latent PPL of this sequence" in worst.words
    assert f"{number(ranked[0]['nll'])} nats over 9 steps" in worst.words
    assert "Number 1 of 264 from the least likely." in worst.words
    near = [shown.key for shown in transformer.shown if shown.label.startswith("near the median")]
    assert near == [f"n{place}" for place in (132, 133, 134)]
    ppl = read_json(files.data[0].statistics)["latent_ppl"]["test"]
    assert f"= {number(ppl)}, the Latent PPL in the table" in data.words
    assert "No sequence of this sample could be read" in nothing.words
    assert [shown.label[:9] for shown in nothing.shown] == ["not read:"] * 2
    assert all(shown.words in text.replace("&#39;", "'") for shown in (*data.shown, worst))


def test_texts_that_were_rejected_are_shown_with_their_faults(made):
    _, files, _ = made
    process = Process.load(files.data[0].process)
    hsmm = examples(files)[2]
    short, long = (next(s for s in hsmm.shown if why in s.label) for why in ("fewer than 9", "more than 9"))
    assert [step.state for step in short.steps] == [str(process.state_of[short.steps[0].letters])]
    assert short.words == "1 sub-sequence, where the process writes 9; all of them are known."
    assert len(long.steps) == 10
    assert not any(step.nll for step in (*short.steps, *long.steps))
    nasty = next(shown for shown in examples(files)[1].shown if shown.label.startswith("not read"))
    assert "no state writes" in nasty.words
    assert all(len(step.letters) <= 13 for step in nasty.steps)


def test_the_summary_the_contents_and_the_definitions_speak_of_the_process(made):
    root, _, text = made
    assert '<a href="#process">A process whose truth is known</a>' in text
    assert "<summary><h2>A process whose truth is known</h2>" in text
    assert "<strong>Latent PPL:</strong>" in text
    assert "<dt>Word-level perplexity</dt>" in text
    assert 'href="process/tables/process.csv"' in text
    assert 'href="process/figures/latent-nll.pdf"' in text
    assert read_json(root / "manifest.json")["seeds"] == [1]
    section = text[text.index('id="process"') : text.index('id="definitions"')]
    assert not re.search(r">[^<]*\d\.\d{5,}[^<]*<", section)
    # Names of files and keys of groups are told from coherence's by the experiment's name alone.
    assert 'id="coherence-' not in section


def test_sequences_of_another_sample_are_refused(made):
    _, files, _ = made
    mixed = replace(files.samples[0], articles=files.samples[1].articles)
    with pytest.raises(TextcriticError, match="they belong to different samples"):
        examples(replace(files, samples=(mixed,)))


def test_its_lines_for_the_terminal(made):
    lines = read_json(made[0] / "process/section.json")["lines"]
    (line,) = lines
    assert line.startswith("Perplexity on process, sequences without their ends: the process, exactly ")
    assert "; untrained transformer" in line
