"""The block of an experiment of kind `intruders`."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import Entry, Unique, key
from textcritic.plan.entries.blocks import (
    FIGURES,
    TABLES,
    AnswerFiles,
    Block,
    Figure,
    Seeds,
    Table,
    WithoutTitles,
    recipes,
)
from textcritic.plan.entries.parts import CorpusName, CriticName, DownloadPath


class Detectors(Entry):
    """Detectors that are compared: all combinations of the lists."""

    detectors: list[CriticName] = key("entries of the critics registry, of kind detector", min_length=1)
    trained: list[CorpusName] = key("the ones of `corpora` that they are trained on; none means all", [])
    corpora: list[CorpusName] = key("the ones of `corpora` whose documents they judge; none means all", [])
    across: bool = key("whether they also judge documents of other corpora than the one that they are trained on", True)
    seeds: Seeds = key("random seeds, one for each training", [1], min_length=1)


class EditedVotes(Entry):
    """Votes on documents whose intruder was edited."""

    probe: str = key("the name of the edit", min_length=1)
    path: DownloadPath = key("JSON lines, as above", min_length=1)


class Votes(Entry):
    """Votes of people on the test documents of a corpus."""

    corpus: CorpusName = key("the corpus whose documents they read")
    path: DownloadPath = key(
        "JSON lines with file_id, gold (the position of the intruder, -1 for none) and five votes; relative to the"
        " working directory",
        min_length=1,
    )
    joined: bool = key(
        "whether the votes have the ids of the documents of this corpus; then people and detectors are compared"
        " on the same documents",
        False,
    )
    edited: list[EditedVotes] = key("votes on documents whose intruder was edited", [])


class IntrudersBlock(Block):
    """Intruder sentences (kind `intruders`): which sentence of a document was taken from another one; detectors, people
    and generated text (Shen et al. 2021, Evaluating Document Coherence Modeling).
    """

    kind: Literal["intruders"] = key("detectors of intruder sentences, compared with people")
    corpora: Annotated[list[CorpusName], Unique] = key(
        "entries of the corpora registry with the extractor `intruders`; detectors are trained on their train splits"
        " and judge their test splits, in domain and across domains",
        min_length=1,
    )
    detectors: list[Detectors] = key(
        "the detectors that are compared; each block means all combinations of its lists", []
    )
    probes: bool = key(
        "edit the intruders of the test splits in eight linguistic ways, and measure how much better they are found",
        False,
    )
    votes: list[Votes] = key("votes of people on the test documents", [])
    annotations: AnswerFiles = key(
        "files of answers about the test documents, as `textcritic annotate export` writes them, relative to the"
        " working directory",
        [],
    )
    judges: Annotated[list[CriticName], Unique] = key(
        "the detectors that judge generated text, each trained on an intruder corpus that was made from the corpus of"
        " the text",
        [],
    )
    sources: list[WithoutTitles] = key(
        "the samples of generated text that the judges read, cut into documents as those of the intruder corpus are;"
        " none for no generated text",
        [],
    )
    tables: Annotated[
        list[Table],
        recipes(
            {
                "statistics": "statistics of the corpora (Table 1)",
                "incoherence": "kinds of incoherence as published (Table 2)",
                "detection": "accuracy and F1 (Table 3)",
                "coarse": "accuracy on the data of Chen et al. 2019 as published (Table 4)",
                "agreement": "where all people agree (Table 5)",
                "agreed": "detectors on these documents (Table 6)",
                "probes": "edited intruders (Table 7)",
            }
        ),
    ] = TABLES
    figures: Annotated[
        list[Figure],
        recipes(
            {
                "people": "how many people were right (Figure 2)",
                "right": "detectors by the number of people who were right (Figure 3)",
            }
        ),
    ] = FIGURES
