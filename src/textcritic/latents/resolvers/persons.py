"""The resolver `persons`: people only, by rules and the data file of a language; and its baseline, `nearest`.

Results are the same everywhere. The baseline links a pronoun to the nearest name before it, whatever it is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from textcritic.latents.resolvers.language import Language
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


class NearestLinker(Linker):
    """Links a pronoun to the nearest name before it; mentions and links of names and nouns are those of `persons`."""

    nearest: Entity | None = None

    def named(self, phrase: Phrase) -> Entity:
        """As `Linker.named`; it is remembered."""
        self.nearest = super().named(phrase)
        return self.nearest

    def pronoun(self, phrase: Phrase) -> Entity:
        """The entity that was named last; before the first name, one entity for all pronouns."""
        if self.nearest is None:
            self.nearest = self.new(phrase)
        return self.nearest
