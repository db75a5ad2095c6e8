"""Names of models, their proposals and temperatures."""

from collections.abc import Mapping
from dataclasses import dataclass

from textcritic.experiments.importance.files import MIXED, Beam, Exact, ImportanceFiles, Weighed
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import with_several
from textcritic.values import Row

PEEKLESS = "no peeking"
TAU = "τ"
ALL = f"all {TAU} mixed"


@dataclass(frozen=True, slots=True)
class ImportanceNames:
    """Names with just as many words as are needed to distinguish the estimates of an experiment.

    Attributes:
        labels: of each generator.
        proposals: the name of each proposal.
        several_corpora: whether there are several.
        several_proposals: generators with several proposals that peek.
        seeded: (corpus, generator) with several seeds.
    """

    labels: Mapping[str, str]
    proposals: Mapping[str, str]
    several_corpora: bool
    several_proposals: frozenset[str]
    seeded: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, files: ImportanceFiles) -> "ImportanceNames":
        """Names for all models that are estimated, bounded or exact."""
        every: list[Weighed | Exact | Beam] = [*files.weighed, *files.exact, *files.beams]
        return cls(
            {one.generator: one.label for one in every},
            {one.proposal: one.drawn_by for one in every if not isinstance(one, Exact)},
            len({one.corpus for one in every}) > 1,
            with_several((one.generator, one.proposal) for one in files.weighed if one.peeks),
            with_several(((one.corpus, one.generator), one.seed) for one in every),
        )

    def model(self, row: Row, corpus: bool = True) -> str:
        """A model in words: `trees: RNNG, seed 2`."""
        start = f"{corpus_name(row['corpus'])}: " if corpus and self.several_corpora else ""
        several = (row["corpus"], row["generator"]) in self.seeded
        seed = f", seed {row['seed']}" if several else ""
        return f"{start}{self.labels[row['generator']]}{seed}"

    def drawn(self, row: Row, corpus: bool = True) -> str:
        """A model with its proposal, if it has several: `RNNG, CRF`."""
        several = row["peeks"] and row["generator"] in self.several_proposals
        return self.model(row, corpus) + (f", {self.proposals[row['proposal']]}" if several else "")

    def line(self, row: Row) -> str:
        """The temperature, or that the proposal does not peek: `τ = 1.1`."""
        return temperature_name(float(row["temperature"])) if row["peeks"] else PEEKLESS

    def short(self, row: Row) -> str:
        """An estimate under the name of its model: `τ = 1.1`, with its proposal if there are several."""
        if not row["peeks"] or row["generator"] not in self.several_proposals:
            return self.line(row)
        return f"{self.proposals[row['proposal']]}, {self.line(row)}"

    def estimate(self, row: Row) -> str:
        """All together: `RNNG, τ = 1.1`; a model whose value is exact has neither."""
        return self.model(row) if not row["proposal"] else f"{self.drawn(row)}, {self.line(row)}"


def temperature_name(temperature: float) -> str:
    """`τ = 1.1`, or the words for the mixture of all temperatures."""
    return ALL if temperature == MIXED else f"{TAU} = {temperature:g}"


def keys_of(weighed: Weighed) -> dict[str, object]:
    """The columns that identify an estimate in every table."""
    names = ("corpus", "generator", "proposal", "seed", "temperature", "peeks")
    return {name: getattr(weighed, name) for name in names}
