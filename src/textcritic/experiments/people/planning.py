"""How many articles and hours it takes before people are asked: a table that needs no data."""

from dataclasses import replace

import pandas as pd

from textcritic.inference.annotation_plan import Design, articles_for_power, articles_for_width
from textcritic.measures.material import Material

SHARE, GAPS = 0.7, ((0.71, 0.88), (0.7, 0.8))
"""A usual share of coherent answers, and pairs of shares that are to be told apart; the first is the paper's."""
WIDTHS = (0.1, 0.05)
ANNOTATORS, ANSWERS = (5, 8, 12, 20), (1, 3)
COLUMNS = ("aim", "annotators", "answers_each", "articles", "hours")


def planning_rows(_: Material) -> pd.DataFrame:
    """For each aim, number of annotators and of answers an article: articles of one system, and hours of all people.

    Columns: `aim`, `annotators`, `answers_each`, `articles` and `hours`, both empty where no number of articles is
    enough. For a difference the hours are of both systems.
    """
    rows = []
    for annotators in ANNOTATORS:
        for each in ANSWERS:
            design = Design(answers=each, annotators=annotators)
            for width in WIDTHS:
                aim = f"a share of {SHARE:.0%}, to ±{100 * width:.0f} points"
                rows.append(_row(aim, design, articles_for_width(design, SHARE, width), 1))
            for first, second in GAPS:
                aim = f"{first:.0%} against {second:.0%}, with a power of 80%"
                rows.append(_row(aim, design, articles_for_power(design, first, second), 2))
    table = pd.DataFrame(rows, columns=list(COLUMNS)).sort_values(["aim", "annotators", "answers_each"], kind="stable")
    return table.astype({"articles": "Int64"}).reset_index(drop=True)


def _row(aim: str, design: Design, articles: int | None, systems: int) -> dict[str, object]:
    hours = None if articles is None else systems * replace(design, articles=articles).hours
    about = {"aim": aim, "annotators": design.annotators, "answers_each": design.answers}
    return about | {"articles": articles, "hours": hours}
