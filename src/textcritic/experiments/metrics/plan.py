"""Measures of one's own in a study: its files, and where their modules are."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.experiments.metrics.block import MetricsBlock
from textcritic.experiments.metrics.files import Measured, MetricsFiles, RealText
from textcritic.measures.own import check_source, digest_of
from textcritic.place import workflow_folder
from textcritic.plan.entries.config import Config
from textcritic.plan.experiment import Experiment
from textcritic.plan.registries import find_folder
from textcritic.plan.sources import drawn

FROM_MEMORY = "in_this_process"
"""The module name for functions that exist only in the calling process, which writes their scores itself; no rule does.
"""


def folders_of(metric_folders: Iterable[str], here: Path) -> list[str]:
    """The folders in which modules of measures are looked for.

    Raises:
        TextcriticError: there is no such folder.
    """
    return [str(find_folder(folder, (here, workflow_folder()))) for folder in metric_folders]


def digest(metric: str, config: Config, here: Path) -> str:
    """A digest by which a rule sees that the module of a measure has changed; `metric` as in paths, see `path_name`."""
    return digest_of(metric_name(metric), folders_of(config.metric_folders, here))


def path_name(name: str) -> str:
    """`module:function` as a part of paths: `module.function`."""
    return name.replace(":", ".")


def metric_name(path_name: str) -> str:
    """The inverse of `path_name`."""
    return ":".join(path_name.rsplit(".", 1))


class Metrics(Experiment[MetricsBlock]):
    """One number a document, by functions of one's own."""

    kind = "metrics"
    version = 2
    tables = ("metrics", "metrics-documents")
    figures_read = ("metrics",)

    def check(self) -> None:
        """See that every module is there and defines its function; raises as `Experiment.check`."""
        super().check()
        functions = [name.rpartition(":")[2] for name in self.block.metrics]
        for name, function in zip(self.block.metrics, functions, strict=True):
            if functions.count(function) > 1:
                raise TextcriticError(f"{self.where}: metrics: two measures have the name {function!r}; rename one")
            try:
                if not name.startswith(f"{FROM_MEMORY}:"):
                    check_source(name, folders_of(self.config.metric_folders, self.registries.here))
            except TextcriticError as error:
                raise TextcriticError(f"{self.where}: metrics: {error}") from error

    def files(self, part: str | None = None) -> MetricsFiles:
        """The numbers of real text and of the samples compared."""
        corpora, sources = self.compared(part)
        names = tuple(self.block.metrics)
        return MetricsFiles(
            data=tuple(self._real(corpus, names) for corpus in corpora),
            samples=tuple(
                Measured(**of_each[0], measured=tuple(one["scores"] for one in of_each))
                for source in sources
                for of_each in [[drawn(source, f"metrics/{path_name(name)}", self.registries) for name in names]]
            ),
            resamples=self.config.resamples,
            metrics=names,
        )

    def _real(self, corpus: str, names: Sequence[str]) -> RealText:
        measured = tuple(Path(f"results/scores/metrics/{path_name(name)}/{corpus}/data/test.parquet") for name in names)
        articles = Path(f"results/corpora/{corpus}/test.parquet")
        return RealText(corpus=corpus, articles=articles, scores=measured[0], measured=measured)
