"""Names of detectors, corpora and probes."""

from collections.abc import Mapping
from dataclasses import dataclass

from textcritic.experiments.intruders.files import IntruderFiles
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.values import Row

PEOPLE, MAJORITY = "people", "majority"
"""Values of the column `detector` that may not be entries of the registry."""
OURS = {
    **{PEOPLE: "People", MAJORITY: "Majority class"},
    **{"infersent": "InferSent, not available", "skip-thought": "Skip-Thought, not available"},
}
PROBES = {
    "gender": "Gender",
    "animacy-down": "Animacy ↓",
    "animacy-up": "Animacy ↑",
    "past-to-future": "Past to future",
    "conjunction": "Conjunction",
    "demonstrative": "Demonstrative",
    "negation": "Negation",
    "number": "Number",
}
"""The edits in the paper's order (Shen et al. 2021, Table 7)."""
NUMBERS = {
    "accuracy": "Accuracy",
    "f1": "F1",
    "precision": "Precision",
    "recall": "Recall",
    "auc": "AUC",
    "average_precision": "Average precision",
}


@dataclass(frozen=True, slots=True)
class IntruderNames:
    """Names with just as many words as are needed to distinguish detectors and sources.

    Attributes:
        samples: of generated text.
        labels: of each detector.
        several_corpora: whether detectors were trained on, or judge, several corpora.
    """

    samples: Names
    labels: Mapping[str, str]
    several_corpora: bool

    @classmethod
    def of(cls, files: IntruderFiles) -> "IntruderNames":
        """Names for all that is compared."""
        labels = {judge.detector: judge.label for judge in files.judges}
        labels |= {one.detector: one.label for one in files.judged}
        corpora = {name for one in files.judged for name in (one.corpus, one.trained)} | {v.corpus for v in files.voted}
        return cls(Names.of(files.samples), {**OURS, **labels}, len(corpora) > 1)

    def source(self, row: Row, **keys: bool) -> str:
        """A source of text, as `Names.source`."""
        return self.samples.source(row, **keys)

    def detector(self, row: Row, trained: bool = True) -> str:
        """A detector in words: `BERT, trained on docs`; the second part if it judges another corpus than `docs`."""
        label = self.labels.get(row["detector"], str(row["detector"]))
        elsewhere = trained and row["trained"] and row["trained"] != row.get("corpus")
        return f"{label}, trained on {corpus_name(row['trained'])}" if elsewhere and self.several_corpora else label


def probe_name(probe: str) -> str:
    """An edit in words."""
    return PROBES.get(probe, probe)
