"""Votes of people: which sentence of a document they called the intruder, and how several answers become one.

The paper (Shen et al. 2021, section 4.5) does not say which rule gives which number. These give every one that it
prints: `same` for Table 3, the majority on the documents where three of five people or more gave one answer; `all` for
Tables 5 and 6; `each` for Table 7, every answer separately. `gold` is the paper's rule for Table 3 ("at least 3 humans
assign the same label as our test dataset"): nobody can be wrong there. Where a document has another number of answers
than five, the majority is more than half of them, and `all` needs two at least.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from textcritic.corpora.readers.jsonl import json_lines
from textcritic.critics.detectors.counts import counts_of
from textcritic.errors import TextcriticError
from textcritic.inference.statistics import Array
from textcritic.values import JsonObject

PEOPLE = 5
COHERENT = -1
MISSPELT = "annoated"  # the published files' spelling
RULES = ("same", "gold", "all", "each")


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes of some people on one document.

    Attributes:
        id: of the document.
        gold: position of the intruder, from 1 on; None: the document is coherent.
        answers: of each person the position that was named; None: the document was called coherent.
        group: of documents that share a source, where it is known.
    """

    id: str
    gold: int | None
    answers: tuple[int | None, ...]
    group: str | None = None

    @property
    def right(self) -> int:
        """How many people were right: they named the intruder, or that there is none."""
        return sum(answer == self.gold for answer in self.answers)

    @property
    def agreed(self) -> tuple[int | None, int]:
        """The commonest answer and how many gave it; of several that are as common the first given."""
        return Counter(self.answers).most_common(1)[0]

    @property
    def unanimous(self) -> bool:
        """Whether two people or more gave an answer, and all the same."""
        return len(self.answers) > 1 and self.agreed[1] == len(self.answers)


def read_votes(path: str | os.PathLike[str], exactly: bool = True) -> list[Votes]:
    """Read votes from JSON lines: `file_id`, `gold`, and the votes under `annoated` (as published) or `annotated`.

    Ids, `gold` and votes are whole numbers or their text; -1 is a coherent document.

    Args:
        path: plain or gzipped.
        exactly: whether each document must have five votes; the published votes on edited documents have four of a few.

    Raises:
        TextcriticError: the file is missing, empty or broken, a key is missing, ids are of mixed type or occur twice, a
            label is text or out of range, or a document has another number of votes; the line says which.
    """
    votes: list[Votes] = []
    lines: dict[str, int] = {}
    kinds: dict[type, int] = {}
    for number, value in json_lines(path):
        where, record = f"{path}:{number}", value if isinstance(value, dict) else {}
        one = _votes_of(record, where, exactly)
        kinds.setdefault(type(record["file_id"]), number)
        if len(kinds) > 1:
            raise TextcriticError(f"{where}: `file_id` is {_kind(record['file_id'])}, and it was not before; give one")
        if one.id in lines:
            raise TextcriticError(f"{where}: file_id {one.id} is in line {lines[one.id]} too; keep one of them")
        lines[one.id] = number
        votes.append(one)
    if not votes:
        raise TextcriticError(f"{path}: no votes in it; give a JSON object a line, with file_id, gold and {MISSPELT}")
    return votes


def answers_of(votes: Iterable[Votes], rule: str) -> list[tuple[Votes, int | None]]:
    """The answers that count, with their documents.

    Args:
        votes: of people.
        rule: `same`: the answer that more than half of the people gave (three of five), of documents that have one.
            `gold`: the same, where it is right. `all`: the answer that all gave, of documents with two answers or more
            where they did. `each`: every answer separately.

    Raises:
        TextcriticError: there is no such rule.
    """
    if rule not in RULES:
        raise TextcriticError(f"votes: no rule {rule!r}; there are {', '.join(RULES)}")
    return list(_counting(votes, rule))


def counts_of_votes(votes: Iterable[Votes], rule: str) -> Array:
    """The columns of `counts.counts_of` for each answer that counts: float64 [answers, 5]; raises as `answers_of`."""
    pairs = answers_of(votes, rule)
    rows = [counts_of(one.gold, () if answer is None else (answer,)) for one, answer in pairs]
    return np.array(rows, float).reshape(-1, 5)


def people_of(votes: Iterable[Votes]) -> int:
    """How many answers a document has: the commonest number, of several the largest; five as published."""
    numbers = Counter(len(one.answers) for one in votes)
    return max(numbers, key=lambda number: (numbers[number], number), default=PEOPLE)


def right_shares(votes: Sequence[Votes]) -> Array:
    """Figure 2: how many people were right, of the documents where more than half gave one answer.

    Args:
        votes: of documents with one number of answers.

    Returns:
        float64 [2, people + 1], percent: of all these documents; and of those with an intruder, as a share of all
        documents with an intruder, also those where fewer agree, as in the paper.
    """
    counted = [one for one, _ in answers_of(votes, "same")]
    incoherent = sum(one.gold is not None for one in votes)
    sets = ((counted, len(counted)), ([one for one in counted if one.gold is not None], incoherent))
    most = people_of(votes) + 1
    rows = [np.bincount([one.right for one in chosen], minlength=most) / max(n, 1) for chosen, n in sets]
    return 100 * np.array(rows)


def _counting(votes: Iterable[Votes], rule: str) -> Iterator[tuple[Votes, int | None]]:
    for one in votes:
        answer, number = one.agreed
        if rule == "each":
            yield from ((one, given) for given in one.answers)
        elif rule == "all":
            if one.unanimous:
                yield one, answer
        elif 2 * number > len(one.answers) and (rule == "same" or answer == one.gold):
            yield one, answer


def _votes_of(known: JsonObject, where: str, exactly: bool) -> Votes:
    given = known.get(MISSPELT, known.get("annotated"))
    for key, value in (("file_id", known.get("file_id")), ("gold", known.get("gold")), (MISSPELT, given)):
        if value is None:
            raise TextcriticError(f"{where}: `{key}` is missing; give file_id, gold and {MISSPELT}, as published")
    if isinstance(known["file_id"], bool) or not isinstance(known["file_id"], (int, str)):
        raise TextcriticError(f"{where}: `file_id` is {_kind(known['file_id'])}; give text or a whole number")
    if not isinstance(given, list) or not 0 < len(given) <= PEOPLE or (exactly and len(given) != PEOPLE):
        many = len(given) if isinstance(given, list) else _kind(given)
        raise TextcriticError(f"{where}: file_id {known['file_id']}: {many} votes; give a list of {PEOPLE}")
    label = f"{where}: file_id {known['file_id']}"
    answers = tuple(_position(answer, f"{label}: a vote") for answer in given)
    return Votes(str(known["file_id"]), _position(known["gold"], f"{label}: `gold`"), answers)


def _position(value: object, what: str) -> int | None:
    try:
        number = int(value) if isinstance(value, str) or type(value) is int else None
    except ValueError:
        number = None
    if number is None:
        raise TextcriticError(f"{what} is {value!r}; give the position of a sentence, or {COHERENT} for coherent")
    if number != COHERENT and number < 1:
        raise TextcriticError(f"{what} is {number}; give 1 or more (0 is the opening sentence), or {COHERENT}")
    return None if number == COHERENT else number


def _kind(value: object) -> str:
    names = {str: "text", int: "a whole number", float: "a number", dict: "an object", list: "a list"}
    return names.get(type(value), type(value).__name__)
