"""What the blocks of a study's `experiments` share; each kind of experiment has its own class of block."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from textcritic.plan.entries.base import Entry, Number, Rule, Unique, key, limits, optional, pattern
from textcritic.plan.entries.parts import Setting, SourceBlock
from textcritic.plan.spec import laid_over

Seeds = list[Annotated[int, limits(ge=0)]]
AnswerFiles = Annotated[list[Annotated[str, limits(min_length=1)]], Unique]
"""Files of answers, as `textcritic annotate export` writes them."""

SAMPLES = key("the samples compared; each block means all combinations of its lists", min_length=1)
TABLES = key("tables of a paper by their numbers there, each made of what it compares and of nothing else", [])
FIGURES = key("figures of a paper by their numbers there, each made of what it compares and of nothing else", [])
_CORPORA = key("the corpora that it compares, in its order; none means all of the experiment", [])
_GENERATORS = key("the generators that it compares, in its order; none means all of the experiment", [])


class Block(Entry):
    """One experiment of a study. The docstring of a kind's class is the description of its block."""

    bases_first: ClassVar[bool] = True

    kind: str = key("the kind of experiment")
    name: Annotated[str, pattern("^[a-z0-9]+(-[a-z0-9]+)*$")] | None = optional(
        "the name of this experiment in the study and part of its paths, by default its kind; two of one kind need"
        " names of their own"
    )

    def __init_subclass__(cls, **about: Any) -> None:
        super().__init_subclass__(**about)
        cls.schema_words = {"description": " ".join((cls.__doc__ or "").split())}


class WithoutTitles(SourceBlock):
    """Samples for an experiment that needs no titles."""

    settings: Sequence[Setting] = key("with titles in the text, without, or both", ["wo-title"], min_length=1)


class TitlesUnread(SourceBlock):
    """Samples for an experiment that reads no titles."""

    settings: Sequence[Setting] = key(
        "with titles in the text, without, or both; titles are never read", ["wo-title"], min_length=1
    )


class Table(Entry):
    """A numbered table of a paper; a kind says which there are by `of`."""

    bases_first: ClassVar[bool] = True

    name: Annotated[str, pattern("^table[1-9][0-9]*$")] = key(
        "`table` and its number in the paper, which picks the published values"
    )
    of: str = key("which table it is")
    caption: str = key("what the table shows, in a line")
    corpora: list[str] = _CORPORA
    generators: list[str] = _GENERATORS


class Figure(Entry):
    """A numbered figure of a paper; a kind says which there are by `of`."""

    bases_first: ClassVar[bool] = True

    name: Annotated[str, pattern("^figure[1-9][0-9]*$")] = key("`figure` and its number in the paper")
    of: str = key("which figure it is")
    corpora: list[str] = _CORPORA
    generators: list[str] = _GENERATORS


@dataclass(frozen=True, slots=True)
class Recipes(Rule):
    """Which numbered tables or figures a kind has, see `recipes`."""

    intro: str = ""

    def holds(self, value: Any) -> bool:
        """Whether each item is made by one of the recipes."""
        return all(item.of in self.value for item in value)

    def lay(self, form: dict[str, Any]) -> None:
        """Lay the names and their meanings over the key `of` of the items."""
        meanings = "; ".join(f"`{name}`, {meaning}" for name, meaning in self.value.items())
        of = {"enum": [*self.value], "description": f"{self.intro}{meanings}"}
        form["items"] = laid_over(form["items"], {"properties": {"of": of}})


def recipes(meanings: Mapping[str, str], intro: str = "") -> Recipes:
    """The values of `of` in a list of tables or figures, and what each means, for `Annotated`.

    Args:
        meanings: by value; the same values are keys of PAPER_TABLES or FIGURES of the kind.
        intro: what is said before them.
    """
    return Recipes("of", meanings, intro)


class Power(Entry):
    """Real text into which a fault is put on purpose, to see from which share on the test notices it."""

    bases_first: ClassVar[bool] = True

    shares: Annotated[list[Annotated[Number, limits(gt=0, le=1)]], Unique] = key(
        "shares of the documents that have the fault; an empty list leaves it all out",
        [0.02, 0.05, 0.1, 0.2, 0.5, 1.0],
    )
    articles: Annotated[list[Annotated[int, limits(ge=4)]], Unique] = key(
        "documents on each side of the test; more than half of the test split are not tried", [25, 50, 100, 200]
    )
    repetitions: int = key("times that each test is repeated with other documents", 200, ge=20)
    seed: int = key("of the draws", 1, ge=0)

    def spec(self) -> str:
        """What is tried, as a rule's parameter."""
        return json.dumps(self.plain(), sort_keys=True)

    def file(self, experiment: str, corpus: str) -> Path | None:
        """The table of what the test notices on one corpus, below an experiment's folder; None if nothing is tried."""
        return Path(f"{experiment}/power/{corpus}.parquet") if self.shares and self.articles else None
