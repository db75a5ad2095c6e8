"""The options that every start of Snakemake checks load nothing heavy."""

import subprocess
import sys

import pytest

from textcritic.plan.entries import REGISTRIES

HEAVY = ("numpy", "pyarrow", "pandas", "torch", "scipy")


CHECKS = {check.partition(":")[0] for about in REGISTRIES.values() for check in about.checks}


def test_checks_are_found_in_several_rooms():
    assert {check.split(".")[1] for check in CHECKS} == {"annotation", "corpora", "critics", "plan"}


@pytest.mark.parametrize("module", sorted(CHECKS))
def test_the_options_load_nothing_heavy(module):
    code = f"import sys, {module}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not loaded
