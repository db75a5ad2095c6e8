"""The tasks for annotators: a task type is a template, the fields of its form, and what counts as agreement.

A new one is a subclass of `Task`, a template in templates/tasks, and its form of answer in `annotation.answers`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypedDict, TypeVar, final

from textcritic.annotation.answers import INTRUDER, SECTIONS

Form = Mapping[str, str]
"""Fields of a form that was sent, and their values."""


@final
class SectionsChoice(TypedDict):
    """The type of each section and the verdict, as `answers.SectionsAnswer`; None where nothing was chosen yet."""

    titles: list[str | None]
    coherent: bool | None


@final
class IntruderChoice(TypedDict):
    """The sentence, as `answers.IntruderAnswer`."""

    intruder: int | None


Choice = SectionsChoice | IntruderChoice
"""What was chosen in a form, as the database has it."""
Chosen = TypeVar("Chosen", SectionsChoice, IntruderChoice)


@dataclass(frozen=True, slots=True)
class Filled:
    """The answer in a form.

    Attributes:
        answer: what was chosen.
        missing: (id of the field, what should be chosen), in the order of the page; none if the answer is whole.
    """

    answer: Choice
    missing: tuple[tuple[str, str], ...]


class Task(ABC, Generic[Chosen]):
    """A type of task."""

    name: ClassVar[str]
    template: ClassVar[str]

    @abstractmethod
    def read(self, form: Form, texts: Sequence[str], titles: Sequence[str]) -> Filled:
        """The answer in a form about a text of these sections or sentences; impossible values count as missing."""

    @abstractmethod
    def verdict(self, answer: Chosen) -> str:
        """What annotators should agree in, as a word."""

    def right_parts(self, answer: Chosen, right: Chosen) -> list[bool]:
        """For each part of a training text that is checked, whether the answer is right."""
        return [self.verdict(answer) == self.verdict(right)]

    def passes(self, answer: Chosen, right: Chosen) -> bool:
        """Whether a text that contains the answer to give was read."""
        return answer == right


class SectionsTask(Task[SectionsChoice]):
    """The type of each section, then whether the types make sense in this order (paper, appendix H)."""

    name = SECTIONS
    template = "tasks/sections.html.j2"

    def read(self, form: Form, texts: Sequence[str], titles: Sequence[str]) -> Filled:
        """Fields `type0`, `type1`, ... hold the places of titles in the list, `coherent` holds yes or no."""
        values = {str(place): title for place, title in enumerate(titles)}
        chosen = [values.get(form.get(f"type{section}", "")) for section in range(len(texts))]
        coherent = {"yes": True, "no": False}.get(form.get("coherent", ""))
        missing = [
            (f"type{n}", f"Choose a type for section {n + 1}.") for n, title in enumerate(chosen) if title is None
        ]
        if coherent is None:
            missing.append(("coherent-yes", "Answer the question at the end."))
        return Filled({"titles": chosen, "coherent": coherent}, tuple(missing))

    def verdict(self, answer: SectionsChoice) -> str:
        """Whether the text is coherent."""
        return "coherent" if answer["coherent"] else "not coherent"

    def right_parts(self, answer: SectionsChoice, right: SectionsChoice) -> list[bool]:
        """Whether each section has its type; there is no right answer to whether a text is coherent."""
        return [one == other for one, other in zip(answer["titles"], right["titles"], strict=True)]


class IntruderTask(Task[IntruderChoice]):
    """Which sentence does not belong (Shen et al. 2021, section 5): the schema of their published votes."""

    name = INTRUDER
    template = "tasks/intruder.html.j2"

    def read(self, form: Form, texts: Sequence[str], titles: Sequence[str]) -> Filled:
        """The field `intruder` holds the place of a sentence, from 1 on, or none."""
        value = form.get("intruder", "")
        places = {str(place): place for place in range(1, len(texts))}
        if value != "none" and value not in places:
            return Filled({"intruder": None}, (("intruder-none", "Choose a sentence, or that all belong."),))
        return Filled({"intruder": places.get(value)}, ())

    def verdict(self, answer: IntruderChoice) -> str:
        """The sentence."""
        return str(answer["intruder"])


TASK_TYPES: Mapping[str, Task[Any]] = {task.name: task for task in (SectionsTask(), IntruderTask())}
