"""Tables, figures and section of documents that little can be measured of: they say why, and show no NaN."""

import html
import re
import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import pytest
from report_html import Page
from report_jobs import Made

from experiments.tendencies.tiny import EMPTY, MEASURING, build_tendencies, counted, write_counts
from textcritic.critics.tendencies.measure import measure_real, measure_sample
from textcritic.experiments.tendencies.figures import FIGURES
from textcritic.experiments.tendencies.rows import tendency_rows
from textcritic.experiments.tendencies.statistics import REAL
from textcritic.measures.material import Material
from textcritic.measures.names import Names

LONG = "x" * 10_000
SAMPLES = {
    "one type": ["a a a"] * 20,
    "one document": ["the end ."],
    "raw text": ["it's fine, he said."] * 20,
    "long words": [f"{LONG}, a b {LONG}y"] * 20,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Real text of one type, and samples beside it."""
    root = tmp_path_factory.mktemp("extremes")
    given = build_tendencies(root, sources=[(EMPTY, "drawn", "wo-title")], documents=1)
    real, samples = counted(["a a a"] * 20), []
    measure_real(real, [real] * 2, MEASURING).write(given.data[0].scores, given.data[0].curves)
    for number, (label, texts) in enumerate(SAMPLES.items()):
        scores, curves = (root / f"{number}.{suffix}" for suffix in ("json", "parquet"))
        measure_sample(real, counted(texts), [real] * 2, MEASURING).write(scores, curves)
        of = {"generator": f"g{number}", "label": label, "scores": scores, "curves": curves}
        samples.append(replace(given.samples[0], **of, counts=root / f"{number}.counts.json"))
        write_counts(samples[-1], len(texts), {"no end within 40 tokens": 1234} if label == "one document" else {})
    return replace(given, samples=tuple(samples))


def test_tables_and_section_say_what_is_the_matter(files, tmp_path):
    """Figures are drawn without a warning, but not saved, which takes long: empty ones stand in the section."""
    study, place = Made("tendencies", files), tmp_path / "tendencies"
    (place / "figures").mkdir(parents=True)
    rows = {"tendencies": tendency_rows(Material(files, names=Names.of(files.samples, REAL)))}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, *_ in FIGURES["figures"](files, rows):
            for form in ("svg", "narrow.svg"):
                (place / f"figures/{name}.{form}").write_text('<svg viewBox="0 0 1 1"></svg>')
    plt.close("all")
    study.tables(place / "tables")
    study.section(tmp_path)
    page = (place / "section.html").read_text("utf-8")
    Page(page)
    said = [html.unescape(line) for line in re.findall(r'<p class="warning">(.*?)</p>', page)]
    one_word = "Zipf's law: all tokens are one word, so s is infinite; give at least two words"
    assert {f"{who}: {one_word}" for who in ("real text", "one type", "one document: real text")} <= set(said)
    assert re.search(
        r"one document.{,400}no end within 40 tokens: 1,234",
        page[page.index("Rejected texts do not") :],
        re.DOTALL,
    )
    raw = "0.0% of the tokens of the real text are letters with a mark such as a comma behind them, and 50.0% of the"
    assert f"raw text: {raw} sample; cut both with the same tokenizer" in said
    assert len(set(said)) == len(said)
    for path in place.rglob("*.*"):
        text = path.read_text("utf-8")
        assert not re.search(r"\b(nan|inf)\b|xxx", text, re.IGNORECASE), path
        assert len(text) < 100_000
