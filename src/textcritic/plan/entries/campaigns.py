"""Entries of the registry `campaigns`."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import Entry, Number, key, pattern
from textcritic.plan.entries.parts import CorpusName, SourceBlock, Words


class Overlap(Entry):
    """Texts that more annotators answer."""

    share: Number = key("of the texts", 0.2, ge=0, le=1)
    answers: int = key("annotators of each of them", 3, ge=2)


class AnnotatorTraining(Entry):
    """Real texts at the beginning, with the right answers."""

    texts: int = key("in a round; 0: no training", 3, ge=0)
    pass_: Number = key("share of the sections of a round whose type must be right", 0.6, ge=0, le=1, alias="pass")
    rounds: int = key("with fresh texts, before an annotator who does not pass is thanked and sent home", 2, ge=1)


class Campaign(Entry):
    """People are asked about texts, by the web app."""

    task: Literal["sections", "intruder"] = key(
        "what is asked: the type of each section and then whether the text is coherent; or which sentence"
        " is an intruder",
        "sections",
    )
    corpus: CorpusName = key(
        "real texts: those of the train split train the annotators, those of the test split are judged;"
        " for intruder an intruder corpus, whose test split is judged",
    )
    sources: list[SourceBlock] = key(
        "the samples that are judged together with real text, all for this corpus; each block means all"
        " combinations of its lists",
        [],
        min_length=0,
    )
    texts: int = key("texts of each sample and of real text, chosen at random", 20, ge=1)
    seed: int = key("of the random choice of texts", 1, ge=0)
    longest: int = key("characters; longer texts are left out, and counted where the campaign is made", 200000, ge=100)
    answers: int = key("annotators of each text; published intruder votes have 5", 1, ge=1)
    overlap: Overlap = key(
        "texts that more annotators answer, for agreement; chosen at random within each sample", Overlap
    )
    per_annotator: int = key("texts of the study that an annotator is given; fewer if the campaign has fewer", 20, ge=1)
    reserve_minutes: int = key(
        "how long a text waits for the annotator it was given to, before somebody else may get it too", 90, ge=1
    )
    training: AnnotatorTraining = key(
        "real texts at the beginning, with the right types shown after each (Figures 14 and 16)", AnnotatorTraining
    )
    attention: int = key(
        "texts that say what is to be answered, at random places among an annotator's texts", 1, ge=0, le=100
    )
    titles: list[Words] = key(
        "the section types to choose from, in this order; none means those of the corpus' train split, the"
        " most frequent first",
        [],
    )
    title: Words | None = key(
        "heading of the annotators' pages; null: the wording that textcritic brings for the task", None
    )
    language: str = key("of the texts, as in HTML's lang", "en")
    question: Words | None = key(
        "what is asked last, word for word; null: the wording that textcritic brings for the task", None
    )
    instructions: Words | None = key(
        "how to do the task, in paragraphs with an empty line between two; null: the wording that"
        " textcritic brings for the task",
        None,
    )
    consent: Words | None = key(
        "what an annotator agrees to, in paragraphs with an empty line between two; its version is stored"
        " with each answer; null: the wording that textcritic brings, which your ethics board should see",
        None,
    )
    contact: Words = key("whom annotators can write to, e.g. a name and a mail address; on every page", min_length=3)
    withdraw_until: Annotated[str, pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")] | None = key(
        "last day on which an annotator can withdraw, e.g. 2027-03-31; null: as long as the campaign is open",
        None,
        format="date",
    )
    completion: str | None = key("Prolific's completion code, shown on the last page", None)
