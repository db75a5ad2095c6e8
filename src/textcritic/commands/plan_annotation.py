"""`textcritic plan-annotation`: how many articles, and how many hours of people, before they are asked."""

import argparse
import json
from dataclasses import replace

from textcritic.commands.arguments import Commands, add_command
from textcritic.values import JsonObject

ABOUT = """\
Say how many articles of each system people have to judge, and how many hours it takes them, for an interval of a given
width, or for a test at 5% to notice a difference between two systems. Intervals and tests are valid for other articles
and other annotators. The spreads of the log-odds are assumptions; a pilot study estimates your own.
"""
OUTPUT = """\
One JSON object is printed:
  articles     of each system; null if no number is enough, because the annotators are too few
  hours        of all annotators together, for both systems if there are two
  half_width   of the 95% interval of SHARE with so many articles; with two systems that of each
  power        share of simulated collections of answers in which the test notices the difference; null for one system
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

    design = plans.Design(
        answers=arguments.answers,
        annotators=arguments.annotators,
        minutes=arguments.minutes,
        between_articles=arguments.between_articles,
        between_annotators=arguments.between_annotators,
    )
    two = arguments.against is not None
    if two:
        articles = plans.articles_for_power(design, arguments.share, arguments.against, arguments.power)
    else:
        articles = plans.articles_for_width(design, arguments.share, arguments.width)
    numbers: JsonObject = {"articles": articles, "hours": None, "half_width": None, "power": None}
    numbers |= {"power_ci95": None, "simulated": None}
    if articles is not None:
        planned = replace(design, articles=articles)
        numbers["hours"] = round((1 + two) * planned.hours, 1)
        numbers["half_width"] = round(plans.half_width(planned, arguments.share), 4)
        if two:
            # With another seed than the draws that chose the number.
            simulated = plans.simulated_power(planned, arguments.share, arguments.against, seed=2)
            numbers |= {
                "power": round(simulated.power, 4),
                "power_ci95": [round(simulated.low, 4), round(simulated.high, 4)],
            }
            numbers["simulated"] = simulated.studies
    return json.dumps(numbers, indent=2)
