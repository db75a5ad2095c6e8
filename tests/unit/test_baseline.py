"""Two folders of tables are compared value by value; what may differ is listed with its reason."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from baseline_compare import compare  # noqa: E402
from baseline_inputs import cases, keywords  # noqa: E402


@pytest.fixture
def folders(tmp_path):
    """Two folders with the same values."""
    for name in ("one", "two"):
        folder = tmp_path / name
        (folder / "python").mkdir(parents=True)
        (folder / "COMMIT").write_text(f"{name}\nsome processor\n")
        (folder / "python/a.csv").write_text("source,value,verdict\nreal,1.0,\ntheirs,2.0,same\n")
        (folder / "b.json").write_text(json.dumps({"n": 3, "scores": [{"p": 0.5}], "seconds": len(name)}))
        (folder / "c.txt").write_text(f"first\nreport: /tmp/textcritic-baseline-{name}/page.html\n")
    return tmp_path / "one", tmp_path / "two"


def change(folder, name, old, new):
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_volatile_values_and_the_names_of_commits_may_differ(folders):
    one, two = folders
    change(two, "b.json", '"seconds": 3', '"seconds": 17.25')
    assert compare(one, two, {}) == ([], [])


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("python/a.csv", "2.0", "2.5", "python/a.csv: value: row 2: '2.0', '2.5'"),
        ("python/a.csv", "1.0", "1", "python/a.csv: value: row 1: '1.0', '1'"),
        ("python/a.csv", "verdict", "says", "python/a.csv: verdict: a column of the first alone"),
        ("python/a.csv", "theirs,2.0,same\n", "", "python/a.csv: (rows): theirs; 1 in the first"),
        ("python/a.csv", "same\n", '"same"\n', "python/a.csv: (bytes): other bytes of the same values"),
        ("b.json", "0.5", "0.25", "b.json: scores.0.p: 0.5, 0.25"),
        ("b.json", '"n": 3, ', "", "b.json: n: 3, not there"),
        ("c.txt", "first", "1st", "c.txt: (lines): line 1: 'first', '1st'"),
    ],
)
def test_each_difference_is_named(folders, name, old, new, said):
    one, two = folders
    change(two, name, old, new)
    assert compare(one, two, {})[0][0] == said
    assert compare(two, one, {})[0]


def test_a_file_that_is_missing_or_new_is_a_difference(folders):
    one, two = folders
    (two / "b.json").unlink()
    (two / "d.csv").write_text("a\n")
    assert compare(one, two, {})[0] == ["b.json: (missing): only in the first", "d.csv: (new): only in the second"]


def test_columns_and_rows_in_another_order_are_a_difference(folders):
    one, two = folders
    (two / "python/a.csv").write_text("value,source,verdict\n1.0,real,\n2.0,theirs,same\n")
    assert compare(one, two, {})[0] == ["python/a.csv: (columns): another order"]
    (two / "python/a.csv").write_text("source,value,verdict\ntheirs,2.0,same\nreal,1.0,\n")
    assert compare(one, two, {})[0] == ["python/a.csv: (order of rows): another order"]


def test_rows_about_the_same_are_compared(folders):
    one, two = folders
    (two / "python/a.csv").write_text("source,value,verdict\nothers,3.0,\nreal,1.0,\ntheirs,2.0,unclear\n")
    (one / "python/a.csv").write_text("source,value,verdict\nreal,1.0,\ntheirs,2.0,same\ntheirs,4.0,\n")
    assert compare(one, two, {})[0] == [
        "python/a.csv: (rows): theirs; 2 in the first; others; 1 in the second",
        "python/a.csv: verdict: row 2: 'same', 'unclear'",
    ]


def test_numbers_may_be_allowed_to_differ_by_so_much(folders):
    one, two = folders
    change(two, "python/a.csv", "2.0", "2.0000000000000004")
    said = "python/a.csv: value: row 2: '2.0', '2.0000000000000004' (at most 2e-16 apart)"
    assert compare(one, two, {"*.csv": {"value ~1e-12": "summed in another order"}}) == (
        [],
        [f"{said} [summed in another order]"],
    )
    assert compare(one, two, {"*.csv": {"value ~1e-17": "summed in another order"}}) == ([said], [])
    change(two, "python/a.csv", "1.0", "one")
    assert compare(one, two, {"*.csv": {"value ~1e-12": "summed in another order"}})[0]


def test_what_is_allowed_has_its_reason_and_excuses_nothing_else(folders):
    one, two = folders
    change(two, "python/a.csv", "2.0,same", "2.5,unclear")
    change(two, "b.json", "0.5", "0.25")
    faults, excused = compare(one, two, {"python/*.csv": {"verdict": "one rule"}, "b.json": {"scores.*": "one test"}})
    assert faults == ["python/a.csv: value: row 2: '2.0', '2.5'"]
    assert excused == [
        "b.json: scores.0.p: 0.5, 0.25 [one test]",
        "python/a.csv: verdict: row 2: 'same', 'unclear' [one rule]",
    ]


def test_the_command_ends_with_1_where_something_is_not_allowed(folders):
    one, two = folders
    command = [sys.executable, ROOT / "tools/baseline.py", "compare", one, two]
    assert subprocess.run(command, check=False).returncode == 0
    change(two, "python/a.csv", "same", "unclear")
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.count("NOT ALLOWED")) == (1, 1)
    (one / "allowed.yaml").write_text("python/*: {verdict: one rule}")
    (two / "allowed.yaml").write_text("python/*: {verdict: one rule}")
    assert subprocess.run([*command, "--allowed", one / "allowed.yaml"], check=False).returncode == 0


def test_words_of_a_command_are_options_of_the_function():
    words = "a.jsonl b.jsonl --num-topics 3 --no-gender --paired --smoothing 0.5 --discount as_released"
    files, options = keywords(f"{words} --as-released 5".split(" "))
    assert files == ["a.jsonl", "b.jsonl"]
    assert options == {
        "num_topics": 3, "gender": False, "paired": True, "smoothing": 0.5, "discount": "as_released", "as_released": 5,
    }  # fmt: skip
    assert len({name for name, _, _ in cases()}) == len(list(cases())) > 30
