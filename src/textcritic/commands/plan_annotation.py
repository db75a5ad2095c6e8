"""`textcritic plan-annotation`: how many articles, and how many hours of people, before they are asked."""

import argparse
import json
from dataclasses import replace
from typing import Any

from textcritic.commands.arguments import Commands, add_command

ABOUT = """\
Say how many articles of each system people have to judge, and how many hours it takes them, for an interval of a given
width, or for a difference between two systems to be noticed by a test at 5%. Intervals and tests are to hold for other
articles and other annotators. The spreads of the log-odds are assumptions; a pilot shows one's own.
"""
OUTPUT = """\
One JSON object is printed:
  articles     of each system; null where no number is enough, as the annotators are too few
  hours        of all annotators together, for both systems if there are two
  half_width   of the 95% interval of SHARE with so many articles; with two systems that of each
  power        how often the test notices the difference, of simulated collections of answers; null of one system
  power_ci95   95% interval of that, over the collections
  simulated    how many there were
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    plan = add_command(commands, "plan-annotation", "how many articles and hours of people it takes", ABOUT, OUTPUT)
    plan.add_argument("--share", type=float, default=0.7, help="share of coherent articles that is expected (0.7)")
    plan.add_argument("--against", type=float, help="share of the other system; none: an interval of SHARE is planned")
    plan.add_argument("--width", type=float, default=0.1, help="half of the interval (0.1)")
    plan.add_argument("--power", type=float, default=0.8, help="of the test (0.8)")
    plan.add_argument("--annotators", type=int, default=8, help="who share all answers evenly (8)")
    plan.add_argument("--answers", type=int, default=1, help="on each article (1)")
    plan.add_argument("--minutes", type=float, default=7.0, help="that an answer takes (7)")
    plan.add_argument("--between-articles", type=float, default=1.5, help="spread of their log-odds (1.5)")
    plan.add_argument("--between-annotators", type=float, default=0.5, help="spread of their log-odds (0.5)")
    plan.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.inference import annotation_plan as plans  # loads numpy

    said = arguments
    design = plans.Design(
        answers=said.answers,
        annotators=said.annotators,
        minutes=said.minutes,
        between_articles=said.between_articles,
        between_annotators=said.between_annotators,
    )
    two = said.against is not None
    if two:
        articles = plans.articles_for_power(design, said.share, said.against, said.power)
    else:
        articles = plans.articles_for_width(design, said.share, said.width)
    found: dict[str, Any] = {"articles": articles, "hours": None, "half_width": None, "power": None}
    found |= {"power_ci95": None, "simulated": None}
    if articles is not None:
        planned = replace(design, articles=articles)
        found["hours"] = round((1 + two) * planned.hours, 1)
        found["half_width"] = round(plans.half_width(planned, said.share), 4)
        if two:
            # With another seed than the draws that chose the number.
            got = plans.simulated_power(planned, said.share, said.against, seed=2)
            found |= {"power": round(got.power, 4), "power_ci95": [round(got.low, 4), round(got.high, 4)]}
            found["simulated"] = got.studies
    return json.dumps(found, indent=2)
