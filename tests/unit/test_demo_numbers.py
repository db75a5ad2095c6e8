"""The numbers of the demos stand in blocks that a tool writes: each block has a maker, and pages agree."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from demo_numbers import BLOCK, BLOCKS, PAGES, table, value  # noqa: E402

TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}


def test_each_block_is_made_and_each_maker_has_one_block():
    names = [found[2] for text in TEXTS.values() for found in BLOCK.finditer(text)]
    assert sorted(names) == sorted(BLOCKS)
    for text in TEXTS.values():
        assert text.count("<!-- demo:") == len(BLOCK.findall(text)) == text.count("<!-- end -->")


def test_the_readme_has_the_numbers_of_the_demos():
    [readme] = [found[0] for found in BLOCK.finditer(TEXTS["README.md"])]
    [coherence] = [found[0] for found in BLOCK.finditer(TEXTS["docs/demos.md"]) if found[2] == "coherence"]
    rows = [re.split(r" *\| *", line)[2:] for line in readme.splitlines() if re.search(r"\d–\d", line)]
    assert len(rows) == 5
    for ppl, ends, body, _ in rows:
        assert re.search(
            rf"\| {re.escape(ppl)} \| {re.escape(ends)} \| [\d,]+ \| [\d.]+% \| {re.escape(body)} ?\|", coherence
        )


def test_a_table_has_a_head_and_a_line_for_each_row():
    made = table([{"a": "one", "b": 1.234}, {"a": "two", "b": 5.0}], {"A": "a", "B": value("b", "%")})
    assert made == ["| A | B |", "|---|---|", "| one | 1.23% |", "| two | 5.00% |"]
