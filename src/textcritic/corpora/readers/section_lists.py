"""Sections whose titles and texts are in two lists, as in the articles of Cohan et al. 2018."""

from collections.abc import Sequence
from typing import TypeGuard

from textcritic.corpora.articles import Section
from textcritic.corpora.layout import clean_text


def paired(titles: Sequence[str | None], texts: Sequence[str | list[str]]) -> tuple[Section, ...] | None:
    """Sections with their titles; None where these are not as many.

    Args:
        titles: of the sections in order.
        texts: of the sections in order, each whole, or as a list of sentences.
    """
    if len(titles) != len(texts):
        return None
    return tuple(Section(title, text_of(text)) for title, text in zip(titles, texts, strict=True))


def text_of(text: str | list[str]) -> str:
    """A text of an article's section; sentences are joined by spaces, without the marks `<S>` and `</S>`."""
    if isinstance(text, str):
        return clean_text(text)
    return clean_text(" ".join(bare for s in text if (bare := s.removeprefix("<S>").removesuffix("</S>").strip())))


def is_strings(value: object) -> TypeGuard[list[str]]:
    """Whether a value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
