"""`textcritic plan-annotation` on the command line."""

import json

import pytest

from textcritic.cli import main


def planned(capsys, *arguments):
    assert main(["plan-annotation", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_an_interval_is_planned(capsys):
    found = planned(capsys, "--share", "0.7", "--width", "0.1", "--annotators", "12", "--minutes", "6")
    assert found["half_width"] == pytest.approx(0.1, abs=0.001)
    assert found["hours"] == pytest.approx(found["articles"] * 6 / 60, abs=0.05)
    assert found["power"] is None


def test_a_difference_is_planned_for_both_systems(capsys):
    alone = ("--between-articles", "0", "--between-annotators", "0", "--annotators", "1000")
    found = planned(capsys, "--share", "0.71", "--against", "0.88", *alone)
    assert found["articles"] == pytest.approx(85, abs=4)
    assert found["hours"] == pytest.approx(2 * found["articles"] * 7 / 60, abs=0.05)
    assert found["power"] == pytest.approx(0.8, abs=0.02)
    low, high = found["power_ci95"]
    assert low < found["power"] < high
    assert found["simulated"] == 4000


def test_too_few_annotators_for_any_number_of_articles(capsys):
    assert planned(capsys, "--width", "0.03", "--annotators", "3")["articles"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--share", "1.2"], "plan: a share of 1.2"),
        (["--annotators", "1"], "1 annotators; give at least"),
        (["--against", "0.7"], "both systems have the same share"),
        (["--against", "0.8", "--power", "1"], "plan: a power of 1;"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, message):
    assert main(["plan-annotation", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
