"""`textcritic device-check`: whether a GPU computes what the CPU does, how fast, and what fits into it."""

import argparse

from textcritic.commands.arguments import Commands, add_command
from textcritic.commands.output import print_text
from textcritic.errors import TextcriticError

CHECK = """\
Check the GPU that jobs would use, in about a minute: its kernels against the CPU's, the memory of the largest
configurations (allocated, and given back), the speed of a training of GPT-2 small, and sums over several GPUs if there
are more than one. Prints one table. Run it in a job on the machine that is to be checked.
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    check = add_command(commands, "device-check", "check a GPU before a study is run on it", CHECK)
    check.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.training.device_check import check_device, table

    rows, card = check_device()
    if failed := [name for name, held, _ in rows if not held]:
        print_text(table(rows, card))
        raise TextcriticError(
            f"device-check: {len(failed)} of {len(rows)} failed ({'; '.join(failed)}); what does not fit needs a"
            " larger GPU; for anything else report this table with the output of nvidia-smi"
        )
    return table(rows, card)
