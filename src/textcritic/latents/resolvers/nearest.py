"""The baseline that stands beside each resolver: a pronoun is linked to the nearest name before it, whatever it is."""

from collections.abc import Mapping
from typing import Any

from textcritic.latents.resolvers.language import load_language
from textcritic.latents.resolvers.linking import Entity, Linker
from textcritic.latents.resolvers.persons import PersonsResolver
from textcritic.latents.resolvers.phrases import Phrase


def nearest_resolver(entry: Mapping[str, Any]) -> PersonsResolver:
    """The resolver of a registry entry of kind `nearest`; its key here is `language`.

    It has the mentions of `persons`, and its links between names and nouns; only its pronouns are linked otherwise.

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
