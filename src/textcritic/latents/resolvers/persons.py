"""The resolver `persons`: people only, by rules and the data file of a language; and its baseline, `nearest`.

Results are the same everywhere. The baseline links a pronoun to the nearest name before it, whatever it is.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from textcritic.latents.resolvers.language import Language, load_language
from textcritic.latents.resolvers.linking import Entity, Linker
from textcritic.latents.resolvers.mention import Resolved, Unresolved
from textcritic.latents.resolvers.phrases import Phrase
from textcritic.latents.resolvers.text import split_words


@dataclass(frozen=True)
class PersonsResolver:
    """The rules of a language; `documents` of `resolve` are pairs of an id and a text.

    Attributes:
        language: of the texts.
        linker: how mentions are linked; the baseline has another.
    """

    language: Language
    linker: type[Linker] = Linker

    def resolve(self, documents: Iterable[tuple[str, str]]) -> Iterator[Resolved | Unresolved]:
        """The mentions of each document, in order; each text is read alone, in time linear in its length."""
        for name, text in documents:
            yield self.linker(split_words(text, self.language), self.language).resolved(name)


def persons_resolver(entry: Mapping[str, Any]) -> PersonsResolver:
    """The resolver of a registry entry of kind `persons`; `language` is its only key here.

    Raises:
        TextcriticError: the language's data file is not there, or wrong.
    """
    return PersonsResolver(load_language(entry.get("language", "en")))


def nearest_resolver(entry: Mapping[str, Any]) -> PersonsResolver:
    """The resolver of a registry entry of kind `nearest`; its key here is `language`.

    It has the mentions of `persons`, and its links between names and nouns; only pronouns are linked in another way.

    Raises:
        TextcriticError: the language's data file is not there, or wrong.
    """
    return PersonsResolver(load_language(entry.get("language", "en")), _Nearest)


class _Nearest(Linker):
    nearest: Entity | None = None

    def named(self, phrase: Phrase) -> Entity:
        self.nearest = super().named(phrase)
        return self.nearest

    def pronoun(self, phrase: Phrase) -> Entity:
        """The entity that was named last; before the first name, one entity for all pronouns."""
        if self.nearest is None:
            self.nearest = self.new(phrase)
        return self.nearest
