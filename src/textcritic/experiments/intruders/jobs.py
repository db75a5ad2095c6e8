"""The files that the jobs of intruder corpora need, from the registries."""

from textcritic.errors import TextcriticError
from textcritic.plan.checks.corpora import SPLITS
from textcritic.plan.registries import Registries


class IntruderPaths:
    """Input functions of rules/intruders.smk."""

    def __init__(self, registries: Registries) -> None:
        self.registries = registries

    def base(self, corpus: str) -> str:
        """The corpus from which an intruder corpus is made.

        Raises:
            TextcriticError: it is read from a published file.
        """
        options = self.registries.entry("corpora", corpus).options
        if options.corpus is None:
            raise TextcriticError(f"{corpus}: is read from {options.intruders.official}; it has no base corpus")
        return options.corpus

    def official(self, corpus: str) -> str | list[str]:
        """The published file that an intruder corpus is read from; none for one that we build."""
        return self.registries.entry("corpora", corpus).options.intruders.official or []

    def built_of(self, corpus: str, folder: str, suffix: str) -> list[str]:
        """A file for each split in a folder of results/intruders; none for a corpus read from a published file."""
        return [] if self.official(corpus) else [f"results/intruders/{folder}/{split}.{suffix}" for split in SPLITS]

    def base_articles(self, corpus: str, split: str) -> str:
        """A split of the corpus from which an intruder corpus is made."""
        return f"results/corpora/{self.base(corpus)}/{split}.parquet"

    def later_articles(self, corpus: str, split: str) -> list[str]:
        """The later articles that test documents are compared with; none for other splits, or if there are none."""
        later = self.registries.entry("corpora", corpus).options.intruders.later
        return [f"results/corpora/{later.corpus}/{s}.parquet" for s in SPLITS] if later and split == "test" else []

    def filter_predictions(self, corpus: str, split: str) -> list[str]:
        """The predictions of the filter's detector on the candidates of a split; none if there is no filter."""
        chosen = self.registries.entry("corpora", corpus).options.intruders.filter
        if chosen is None:
            return []
        detector = f"results/intruders/{chosen.detector}/{chosen.corpus}/seed{chosen.seed}"
        return [f"{detector}/predictions/{corpus}/candidates/{split}.parquet"]
