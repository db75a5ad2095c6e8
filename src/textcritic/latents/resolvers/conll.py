"""Documents in CoNLL columns as mentions of a text."""

from textcritic.corpora.readers.conll import written_out
from textcritic.corpora.readers.conll_document import ConllDocument
from textcritic.latents.resolvers.heads import head_word
from textcritic.latents.resolvers.mention import Mention, Resolved


def resolved_of(document: ConllDocument, language: str = "en") -> Resolved:
    """The document as text, see `corpora.readers.conll.written_out`, with its mentions.

    Args:
        document: as read.
        language: of the words that end the head of a mention without a parse.
    """
    return with_spans(document, *written_out(document), language)


def with_spans(document: ConllDocument, text: str, spans: list[tuple[int, int]], language: str = "en") -> Resolved:
    """The document as mentions of a text.

    Args:
        document: as read.
        text: that its words are in.
        spans: (start, end) characters of each word.
        language: of the words that end the head of a mention without a parse.
    """
    entities: dict[str, int] = {}
    sentence_of = [number for number, (first, last) in enumerate(document.sentences) for _ in range(first, last + 1)]
    mentions = []
    for first, last, parsed, entity in document.mentions:
        head = head_word(document.words, first, last, language) if parsed is None else parsed
        number = entities.setdefault(entity, len(entities))
        mentions.append(Mention(spans[first][0], spans[last][1], *spans[head], number, sentence_of[head]))
    sentences = tuple((spans[first][0], spans[last][1]) for first, last in document.sentences)
    return Resolved(document.id, text, sentences, tuple(mentions))
