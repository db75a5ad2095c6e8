"""The options that every start of Snakemake checks load nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = ("numpy", "pyarrow", "pandas", "torch", "scipy")


@pytest.mark.parametrize("module", ["corpora", "decodings", "parallel", "process", "vocabulary"])
def test_the_options_load_nothing_heavy(module):
    code = f"import sys, textcritic.plan.checks.{module}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not loaded
