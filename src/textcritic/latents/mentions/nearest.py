"""The baseline that stands beside each resolver: a pronoun is linked to the nearest name before it, whatever it is."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from textcritic.latents.mentions.language import Language, load_language
from textcritic.latents.mentions.linking import Entity, Linker
from textcritic.latents.mentions.mention import Resolved, Unresolved
from textcritic.latents.mentions.phrases import Phrase
from textcritic.latents.mentions.text import split_words


@dataclass(frozen=True)
class NearestResolver:
    """The mentions of `persons`, and its links between names and nouns; only its pronouns are linked otherwise."""

    language: Language

    def resolve(self, documents: Iterable[tuple[str, str]]) -> Iterator[Resolved | Unresolved]:
        """The mentions of each document (id, text), in order."""
        for name, text in documents:
            yield _Nearest(split_words(text, self.language), self.language).resolved(name)


def nearest_resolver(entry: Mapping[str, Any]) -> NearestResolver:
    """The resolver of a registry entry of kind `nearest`; its key here is `language`.

    Raises:
        TextcriticError: the language's data file is not there, or wrong.
    """
    return NearestResolver(load_language(entry.get("language", "en")))


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
