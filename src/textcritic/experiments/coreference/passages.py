"""Articles with their mentions: the place of each in the text, and its probability under the critic."""

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from textcritic.corpora import some_articles
from textcritic.critics.mentions import (
    NEW_ENTITY,
    NO_ENTITY,
    NONE,
    MentionChains,
    MentionCritic,
    evidence,
    expected_tokens,
)
from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.files import CoreferenceFiles, Documents
from textcritic.experiments.coreference.read import chained
from textcritic.latents.resolvers import iter_mentions, text_of
from textcritic.values import Row

JOINER, VARIATIONS, SKINS = "\u200d", range(0xFE00, 0xFE10), range(0x1F3FB, 0x1F400)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A token of a chain: a pronoun or a gender label and the number of its person, or the mark of a sentence.

    Attributes:
        name: as the chain has it.
        person: number within the article, in the order of first mentions, or within a part of it, see `excerpt`; None
            for a mark, -1 for a person who is not in the context.
    """

    name: str
    person: int | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A token of an article's chain.

    Attributes:
        place: from 0 within the chain.
        symbol: the token itself.
        start, end: characters of the word that represents it in the text; for a mark both are the sentence's start.
        span: (start, end) of the whole mention; for a mark as `start`, `end`.
        ago: how many tokens before this one its person was last mentioned; None if never.
        log_prob: nats.
        expected: the likeliest token here, marks of sentences left out; None if there is none.
        expected_log_prob: nats, NaN if there is none.
        context: the tokens that the critic sees before it: n - 1, fewer at the start of a chain.
        known, seen, followed: see `critics.mentions.Evidence`.
    """

    place: int
    symbol: Symbol
    start: int
    end: int
    span: tuple[int, int]
    ago: int | None
    log_prob: float
    expected: Symbol | None
    expected_log_prob: float
    context: tuple[Symbol, ...]
    known: int
    seen: int
    followed: int

    @property
    def is_mention(self) -> bool:
        """Whether it is a mention, not a mark of a sentence."""
        return self.symbol.person is not None


@dataclass(frozen=True, slots=True)
class Passage:
    """An article, or a part of one, with its chain.

    Attributes:
        article: its id.
        title: of the article, "" if it has none.
        text: of the passage.
        tokens: of the chain, those of the passage.
        before, after: characters of the article that are left out.
    """

    article: str
    title: str
    text: str
    tokens: tuple[Token, ...]
    before: int = 0
    after: int = 0

    @property
    def mentions(self) -> list[Token]:
        """The tokens that are not marks of sentences."""
        return [token for token in self.tokens if token.is_mention]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text in which nothing changes.

    Attributes:
        text: its text.
        person: number of the person in whose mention it is, of nested mentions the shortest one's; None outside.
        words: the tokens whose word is this piece, or contains it.
        ends: those of them whose word ends here.
    """

    text: str
    person: int | None
    words: tuple[Token, ...]
    ends: tuple[Token, ...]


def passages(source: Documents, files: CoreferenceFiles, critic: MentionCritic, ids: Collection[str]) -> list[Passage]:
    """The articles of a source that have one of the ids, whole, in the order of the file.

    Raises:
        TextcriticError: a file is missing or damaged, or the mentions are of other articles.
    """
    read = chained(source, files)
    chosen = set(ids)
    wanted = np.fromiter((name in chosen for name in read.ids), dtype=bool, count=len(read.ids))
    chains, mention = read.chains.some(wanted), read.mention[np.repeat(wanted, read.chains.lengths)]
    names = [read.ids[row] for row in np.flatnonzero(wanted)]
    articles = some_articles(source.articles, set(names))
    rows = _rows(source, set(names))
    tokens = tokens_of(critic, chains)
    articles_read = []
    for name, start, end in zip(names, chains.offsets[:-1], chains.offsets[1:], strict=True):
        article, row = articles.get(name), rows[name]
        text = "" if article is None else text_of(article)
        if article is None or _end(row) > len(text):
            raise TextcriticError(
                f"{source.mentions}: article {name!r} is not in {source.articles}, or is shorter there; they belong to "
                "different articles: delete the mentions and rerun the rule that makes them"
            )
        placed = _placed(tokens[start:end], mention[start:end], row, files.critic["chains"]["token"])
        articles_read.append(Passage(name, article.title or "", text, placed))
    return articles_read


def tokens_of(critic: MentionCritic, chains: MentionChains) -> list[Token]:
    """Every token of some chains with its probability under a critic; their places in the text are unknown: 0."""
    expected, counts = expected_tokens(critic, chains, marks=False), evidence(critic, chains)
    log_prob = critic.log_prob(chains)
    tokens: list[Token] = []
    for start, end in zip(chains.offsets[:-1], chains.offsets[1:], strict=True):
        numbers = _numbers(chains.entities[start:end].tolist())
        symbols = [
            Symbol(chains.symbols[code], numbers[entity])
            for code, entity in zip(chains.codes[start:end].tolist(), chains.entities[start:end].tolist(), strict=True)
        ]
        latest: dict[int | None, int] = {}
        for place, symbol in enumerate(symbols):
            at = int(start) + place
            code, entity = int(expected.codes[at]), int(expected.entities[at])
            token = Token(
                place=place,
                symbol=symbol,
                start=0,
                end=0,
                span=(0, 0),
                ago=place - latest[symbol.person] if symbol.person in latest else None,
                log_prob=float(log_prob[at]),
                expected=None if code == NONE else Symbol(expected.symbols[code], numbers[entity]),
                expected_log_prob=float(expected.log_prob[at]),
                context=tuple(symbols[max(0, place - critic.order + 1) : place]),
                known=int(counts.known[at]),
                seen=int(counts.seen[at]),
                followed=int(counts.followed[at]),
            )
            tokens.append(token)
            latest[symbol.person] = place
    return tokens


def pieces(passage: Passage) -> list[Piece]:
    """The text of a passage cut wherever a mention, or the word that represents one, begins or ends.

    Mentions may be nested, may cross and may be equal, but pieces do not overlap. No piece begins inside a character
    that consists of several, such as a letter with its accent.
    """
    text = passage.text
    spans = [(_whole(text, token.span[0]), _whole(text, token.span[1]), token) for token in passage.mentions]
    words = [(_whole(text, token.start), _whole(text, token.end), token) for token in passage.mentions]
    places = sorted({0, len(text), *(place for start, end, _ in (*spans, *words) for place in (start, end))})
    cut = []
    for start, end in pairwise(places):
        around = [(last - first, token) for first, last, token in spans if first <= start and end <= last]
        person = min(around, key=lambda pair: pair[0])[1].symbol.person if around else None
        within = [(last, token) for first, last, token in words if first <= start and end <= last]
        ends = tuple(token for last, token in within if last == end)
        cut.append(Piece(text[start:end], person, tuple(token for _, token in within), ends))
    return cut


def excerpt(passage: Passage, token: Token, most: int) -> Passage:
    """Whole sentences around a token: as many as fit into `most` characters, about a third of these before it.

    A longer sentence is cut. Persons are numbered again, in the order of their first mentions in this part.
    """
    starts = [0, *(t.start for t in passage.tokens if not t.is_mention), len(passage.text)]
    part = _cut(passage, *_around(sorted(set(starts)), token, most))
    people = dict.fromkeys(t.symbol.person for t in (*part.tokens, *passage.tokens) if t.is_mention)
    numbers: dict[int | None, int | None] = {person: number for number, person in enumerate(people)}
    return replace(part, tokens=tuple(_renumbered(t, {None: None, -1: -1} | numbers) for t in part.tokens))


def _around(borders: Sequence[int], token: Token, most: int) -> tuple[int, int]:
    """The first and the last character of the sentences around a token; `borders` are the ends of the sentences."""
    least, greatest = token.span[0], max(token.span[1], token.end)
    first = max(b for b in borders if b <= least)
    last = min((b for b in borders if b >= greatest), default=borders[-1])
    if last - first > most:
        first = max(first, least - most // 3)
        return first, min(last, max(greatest, first + most))
    for border in sorted((b for b in borders if b < first), reverse=True):
        if least - border > most // 3 or last - border > most:
            break
        first = border
    for border in (b for b in borders if b > last):
        if border - first > most:
            break
        last = border
    # Room that is left at the end of a text is used for sentences before the token.
    for border in sorted((b for b in borders if b < first), reverse=True):
        if last - border > most:
            break
        first = border
    return first, last


def _cut(passage: Passage, first: int, last: int) -> Passage:
    first, last = _whole(passage.text, first), _whole(passage.text, last)
    while first < last and passage.text[first].isspace():
        first += 1
    kept = passage.text[first:last].rstrip()
    tokens = tuple(
        replace(
            token,
            start=token.start - first,
            end=token.end - first,
            span=(max(token.span[0] - first, 0), min(token.span[1] - first, len(kept))),
        )
        for token in passage.tokens
        if first <= token.start and token.end <= first + len(kept) and (token.is_mention or token.start < last)
    )
    before, after = passage.before + first, passage.after + len(passage.text) - first - len(kept)
    return replace(passage, text=kept, tokens=tokens, before=before, after=after)


def _renumbered(token: Token, numbers: Mapping[int | None, int | None]) -> Token:
    def of(symbol: Symbol) -> Symbol:
        return Symbol(symbol.name, numbers[symbol.person])

    expected = None if token.expected is None else of(token.expected)
    return replace(token, symbol=of(token.symbol), expected=expected, context=tuple(map(of, token.context)))


def _numbers(entities: Sequence[int]) -> Mapping[int, int | None]:
    """The number of each entity, in the order of first mentions."""
    people = dict.fromkeys(entity for entity in entities if entity != NO_ENTITY)
    return {NO_ENTITY: None, NEW_ENTITY: -1} | {entity: number for number, entity in enumerate(people)}


def _rows(source: Documents, ids: Collection[str]) -> dict[str, Row]:
    """The rows of a file of mentions, by id."""
    rows: dict[str, Row] = {}
    for batch in iter_mentions(source.mentions):
        for place, name in enumerate(batch["id"].to_pylist()):
            if name in ids:
                rows[name] = batch.slice(place, 1).to_pylist()[0]
    return rows


def _end(row: Row) -> int:
    """The last character that a row refers to."""
    return max((span["end"] for span in (*row["mentions"], *row["sentences"])), default=0)


def _placed(tokens: Sequence[Token], mention: np.ndarray, row: Row, word: str) -> tuple[Token, ...]:
    """Tokens with their places in the text; `word`, of the chains' switches, says which word represents a mention."""
    starts: Iterator[int] = iter(sorted(sentence["start"] for sentence in row["sentences"]))
    placed = []
    for token, index in zip(tokens, mention.tolist(), strict=True):
        if index < 0:
            start = next(starts)
            placed.append(replace(token, start=start, end=start, span=(start, start)))
            continue
        row_mention = row["mentions"][index]
        first, last = {
            "head": (row_mention["head_start"], row_mention["head_end"]),
            "first": (row_mention["start"], row_mention["start"] + len(row_mention["first"])),
            "last": (row_mention["end"] - len(row_mention["last"]), row_mention["end"]),
        }[word]
        placed.append(replace(token, start=first, end=last, span=(row_mention["start"], row_mention["end"])))
    return tuple(placed)


def _whole(text: str, place: int) -> int:
    """The first place from here on that is not inside a combined character."""
    while 0 < place < len(text) and (_joined(text[place]) or text[place - 1] == JOINER):
        place += 1
    return place


def _joined(character: str) -> bool:
    code = ord(character)
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or character == JOINER
        or code in VARIATIONS
        or code in SKINS
    )
