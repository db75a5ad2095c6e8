"""`textcritic plan`: what a study costs, before it starts."""

import argparse
import json
import shutil
from pathlib import Path

from textcritic.commands.arguments import Commands, add_command

ABOUT = """\
Say what a study, a target or a file takes before anything runs: jobs and submissions, GPU-hours, core-hours, disk,
memory, the least time on the clock, what is there already, what would be made again and why, and what cannot be made.
Nothing is run. Seconds come from a declared model (docs/plan.md), or from earlier runs of the same job on such a
machine, if there are any. GPU-hours are arithmetic, never checked.
"""
BELOW = """\
examples:
  textcritic plan                          what `snakemake --profile slurm` would do
  textcritic plan demo                     a study
  textcritic plan model_criticism_table2   a target, or the path of a file
  textcritic plan --calibrate              measure this machine, in less than two minutes
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    plan = add_command(commands, "plan", "what a study costs, before it starts", ABOUT, BELOW)
    plan.add_argument("words", metavar="NAME", nargs="*", help="studies, targets or files (default: all configured)")
    plan.add_argument("--profile", metavar="NAME", help="of Snakemake: its groups and resources (profiles/slurm)")
    plan.add_argument("--configfile", metavar="FILE", help="in place of the profile's")
    plan.add_argument("--directory", metavar="FOLDER", default=".", help="where results are (.)")
    plan.add_argument("--card", metavar="NAME", help="GPU: v100, a100, a40, l40s, h100, h200 (calibrated, or a100)")
    plan.add_argument("--calibrate", action="store_true", help="measure this machine, write textcritic-node.json")
    plan.add_argument("--other-node", action="store_true", help="use that file though another machine wrote it")
    plan.add_argument("--all", action="store_true", help="show all rules")
    plan.add_argument("--json", action="store_true", help="print one JSON object")
    plan.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.place import workflow_folder
    from textcritic.plan.costs.measured import SECONDS, calibrate
    from textcritic.plan.costs.table import table_of
    from textcritic.workflow.planning import plan_of

    folder = Path(arguments.directory).resolve()
    if arguments.calibrate:
        from textcritic.training.device_check import card_speed  # torch takes seconds to load

        return f"written: {calibrate(folder, card_speed(SECONDS))}"
    options = ["--profile", arguments.profile or str(workflow_folder() / "profiles/slurm")]
    options += ["--configfile", str(Path(arguments.configfile).resolve())] if arguments.configfile else []
    plan = plan_of(arguments.words, options, folder, arguments.card, arguments.other_node)
    if arguments.json:
        return json.dumps(plan.as_json(), indent=2)
    return table_of(plan, shutil.get_terminal_size((100, 24)).columns, arguments.all)
