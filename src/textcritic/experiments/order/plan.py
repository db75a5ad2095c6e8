"""The order of sentences in a study: its files."""

from textcritic.experiments.order.block import OrderBlock
from textcritic.experiments.order.files import OrderFiles, RealText
from textcritic.plan.experiment import Experiment
from textcritic.plan.sources import Drawn, drawn, real_scores


class Order(Experiment[OrderBlock]):
    """Whether sentences follow one another as those of real text do."""

    kind = "order"
    critic_kind = "order"
    version = 2
    tables = ("order", "order-pairs")
    figures_read = ("order",)

    def files(self, part: str | None = None) -> OrderFiles:
        """The scores of real text and of the samples compared."""
        corpora, sources = self.compared(part)
        critic = self.block.critic
        return OrderFiles(
            data=tuple(RealText(**real_scores(corpus, critic)) for corpus in corpora),
            samples=tuple(Drawn(**drawn(source, critic, self.registries)) for source in sources),
            resamples=self.config.resamples,
        )
