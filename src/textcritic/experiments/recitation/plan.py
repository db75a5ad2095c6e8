"""Recitation in a study: its files."""

from textcritic.experiments.recitation.block import RecitationBlock
from textcritic.experiments.recitation.files import RealText, RecitationFiles
from textcritic.plan.experiment import Experiment
from textcritic.plan.sources import Drawn, drawn, real_scores

CUTTING = ("tokenizer", "lower_case", "straight_quotes", "words")


class Recitation(Experiment[RecitationBlock]):
    """How much occurs word for word in the training text (McCoy et al. 2023)."""

    kind = "recitation"
    critic_kind = "recitation"
    version = 2
    tables = ("recitation", "recitation-lengths", "recitation-passages")
    figures_read = ("recitation-lengths",)

    def files(self, part: str | None = None) -> RecitationFiles:
        """The scores of real text and of the samples compared."""
        corpora, sources = self.compared(part)
        critic = self.block.critic
        entry = self.registries.entry("critics", critic)
        return RecitationFiles(
            data=tuple(RealText(**real_scores(corpus, critic)) for corpus in corpora),
            samples=tuple(Drawn(**drawn(source, critic, self.registries)) for source in sources),
            resamples=self.config.resamples,
            cutting={key: getattr(entry, key) for key in CUTTING},
        )
