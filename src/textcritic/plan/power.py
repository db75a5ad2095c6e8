"""The key `power` of a block: how often the test notices a fault that is put into real text on purpose."""

import json
from pathlib import Path

from textcritic.plan.experiment import Experiment


def power_spec(experiment: Experiment) -> str:
    """What is tried, as a rule's parameter."""
    return json.dumps(experiment.block["power"], sort_keys=True)


def power_file(experiment: Experiment, corpus: str) -> Path | None:
    """The table of what the test notices on one corpus; None where nothing is to be tried."""
    tried = experiment.block["power"]["shares"] and experiment.block["power"]["articles"]
    return Path(f"{experiment.folder}/power/{corpus}.parquet") if tried else None
