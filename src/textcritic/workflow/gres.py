"""The block of a SLURM profile for sites that take GPUs by --gres alone, from the rules and registries themselves.

python -m textcritic.workflow.gres [CONFIGFILE] >> profiles/slurm/profile.yaml
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.place import workflow_folder

HEAD = (
    "# Made by `python -m textcritic.workflow.gres`: GPUs by --gres, for every rule that can use one.\nset-resources:\n"
)


def gres_block(configfile: Path | None = None) -> str:
    """`set-resources` with no `gpu` and, where a registry entry asks for GPUs, `gres`, of each rule that has them.

    Args:
        configfile: laid over the workflow's, e.g. with the user's registry folders.
    """
    lines = []
    for rule, wildcard, gpus in gpu_rules(configfile):
        usual = Counter(gpus.values()).most_common(1)[0][0]
        others = {name: count for name, count in sorted(gpus.items()) if count != usual}
        asked = f"{others}.get(wildcards.{wildcard}, {usual})"
        gres = f"'gpu:%d' % n if (n := {asked}) else ''" if others else f"'gpu:{usual}'"
        lines.append(f"  {rule}: {{gpu: 0, gres: {json.dumps(gres)}}}\n")
    return HEAD + "".join(lines)


def gpu_rules(configfile: Path | None = None) -> list[tuple[str, str, dict[str, int]]]:
    """The rules that can ask for a GPU: name, the wildcard that it depends on, and how many by its value.

    Rules are asked themselves, with every name of a registry that their wildcard may have.
    """
    from snakemake.api import SnakemakeApi  # here: it takes a second
    from snakemake.settings.types import ConfigSettings, ResourceSettings

    configured = ConfigSettings(configfiles=[configfile] if configfile else [])
    with SnakemakeApi() as api:
        workflow = api.workflow(
            ResourceSettings(), config_settings=configured, snakefile=workflow_folder() / "Snakefile"
        )
        loaded = workflow._workflow  # Snakemake has no public way to its rules
        usual = loaded.modifier.wildcard_constraints
        rules = [rule for rule in loaded.rules if "gpu" in rule.resources]
        return [
            (rule.name, *_asked(rule.resources["gpu"]._value, {**usual, **rule.wildcard_constraints})) for rule in rules
        ]


def _asked(gpus: Callable[["_Noted"], int], constraints: Mapping[str, object]) -> tuple[str, dict[str, int]]:
    """The wildcard that a rule's resource reads, and its GPUs by the value of that wildcard."""
    noted = _Noted()
    try:
        gpus(noted)
    except (LookupError, TextcriticError):  # no registry has an entry of this placeholder name
        wildcard = noted.names[0]
    names = str(getattr(constraints[wildcard], "pattern", constraints[wildcard])).split("|")
    asked = {}
    for name in names:
        with suppress(LookupError):  # of a kind that never has a GPU
            asked[name] = gpus(_Noted(name))
    return wildcard, asked


class _Noted:
    """Wildcards that note which of them is read; all have one value."""

    def __init__(self, value: str = "") -> None:
        self.value, self.names = value, list[str]()

    def __getitem__(self, name: str) -> str:
        self.names.append(name)
        return self.value

    def __getattr__(self, name: str) -> str:
        return self[name]


if __name__ == "__main__":
    sys.stdout.write(gres_block(Path(sys.argv[1]) if sys.argv[1:] else None))
