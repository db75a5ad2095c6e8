"""Recitation in a study: which files it is made of."""

from pathlib import Path

from textcritic.experiments.recitation.files import RealText, RecitationFiles
from textcritic.plan.experiment import Experiment
from textcritic.plan.sources import Drawn, drawn

CUTTING = ("tokenizer", "lower_case")


class Recitation(Experiment):
    """How much stands word for word in the training text (McCoy et al. 2023)."""

    kind = "recitation"
    critic_kind = "recitation"
    tables = ("recitation", "recitation-lengths", "recitation-passages")
    figures_read = ("recitation-lengths",)

    def files(self, part: str | None = None) -> RecitationFiles:
        """What was found of real text and of the samples compared."""
        corpora, sources = self.compared(part)
        critic = self.block["critic"]
        entry = self.registries.entry("critics", critic)
        return RecitationFiles(
            data=tuple(self._real(corpus) for corpus in corpora),
            samples=tuple(Drawn(**drawn(source, critic, self.registries)) for source in sources),
            resamples=self.config["resamples"],
            cutting={key: entry[key] for key in CUTTING},
        )

    def _real(self, corpus: str) -> RealText:
        return RealText(
            corpus=corpus,
            articles=Path(f"results/corpora/{corpus}/test.parquet"),
            scores=Path(f"results/scores/{self.block['critic']}/{corpus}/data/test.parquet"),
        )
