"""What the sources of a known process are called, and the columns that identify them."""

from collections.abc import Mapping
from dataclasses import dataclass

from textcritic.experiments.process.files import EXACT, TEST, ProcessFiles
from textcritic.measures.labels import corpus_name, decoding_name
from textcritic.measures.names import Names
from textcritic.report.decodings import QUANTITIES
from textcritic.values import Row

WORDS = {EXACT: "the process, exactly", TEST: "test sequences"}
STOPS = {"learnt": "ends by itself", "given": "length given"}  # by the key `stop` of a decoding


@dataclass(frozen=True, slots=True)
class ProcessNames:
    """Names of the sources of a study's processes.

    The corpus is named if there are several processes. How a sequence ends is named if a generator has several
    decodings or is given the length; if that does not distinguish them, so is the decoding.

    Attributes:
        names: of the generators and their seeds.
        decoded: by (generator, decoding) the words that follow the generator's name.
        several: whether there are several processes.
    """

    names: Names
    decoded: Mapping[tuple[str, str], str]
    several: bool

    @classmethod
    def of(cls, experiment: ProcessFiles) -> "ProcessNames":
        """Names for the processes of a study and for the samples compared with them."""
        uses: dict[str, list[str]] = {}
        for generator, decoding in dict.fromkeys((s.generator, s.decoding) for s in experiment.samples):
            uses.setdefault(generator, []).append(decoding)
        decoded = {
            (generator, decoding): words
            for generator, used in uses.items()
            for decoding, words in _decoding_words({name: experiment.decodings.get(name) for name in used}).items()
        }
        return cls(Names.of(experiment.samples), decoded, len(experiment.data) > 1)

    def source(self, row: Row, *, corpus: bool = True, decoding: bool = True, seed: bool = True) -> str:
        """A source in words: `transformer`, `HSMM, length given, seed 2`, `test sequences`.

        Args:
            row: with the columns `KEYS`.
            corpus: whether to name the process, if the study has several.
            decoding: whether to name what its decoding differs in.
            seed: whether to name the seed, and the draw, if the study has several for this sample.
        """
        start = f"{corpus_name(row['corpus'])}: " if corpus and self.several else ""
        if row["generator"] == "data":
            return start + WORDS[row["source"]]
        words = [self.names.labels[row["generator"]]]
        if decoding and (ending := self.decoded[row["generator"], row["decoding"]]):
            words.append(ending)
        return start + ", ".join([*words, *(self.names.run(row) if seed else [])])


def _decoding_words(used: Mapping[str, Row | None]) -> dict[str, str]:
    """What the decodings of one generator are called; `used` are their entries of the registry by name."""
    entries = {name: entry or {} for name, entry in used.items()}
    stops = {name: STOPS.get(entry.get("stop", ""), "") for name, entry in entries.items()}
    if len(used) == 1:
        return {name: words if words == STOPS["given"] else "" for name, words in stops.items()}
    others = [{k: v for k, v in entry.items() if k not in {*QUANTITIES, "stop"}} for entry in entries.values()]
    differ = "" not in stops.values() and len(set(stops.values())) > 1
    alone = differ and len(set(stops.values())) == len(used) and all(other == others[0] for other in others)
    return {name: ", ".join([words] * differ + [decoding_name(name)] * (not alone)) for name, words in stops.items()}
