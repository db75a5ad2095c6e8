"""Articles with their mentions: where each stands in the text, and what the critic makes of it."""

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

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
        symbol: what it is.
        start, end: characters of the word that stands for it in the text; of a mark both are where the sentence starts.
        span: (start, end) of the whole mention; of a mark as `start`, `end`.
        ago: how many tokens before this one its person was last mentioned; None if not before.
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
        """Whether it is no mark of a sentence."""
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
        """The tokens that are no marks of sentences."""
        return [token for token in self.tokens if token.is_mention]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text in which nothing changes.

    Attributes:
        text: of it.
        person: number of the person whose mention it is in, of several the shortest mention's; None outside.
        words: the tokens whose word this is, or is a part of.
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
    found = []
    for name, start, end in zip(names, chains.offsets[:-1], chains.offsets[1:], strict=True):
        article, row = articles.get(name), rows[name]
        text = "" if article is None else text_of(article)
        if article is None or _end(row) > len(text):
            raise TextcriticError(
                f"{source.mentions}: article {name!r} is not in {source.articles}, or is shorter there; they belong to "
                "different articles: delete the mentions and rerun the rule that makes them"
            )
        placed = _placed(tokens[start:end], mention[start:end], row, files.critic["chains"]["token"])
        found.append(Passage(name, article.title or "", text, placed))
    return found


def tokens_of(critic: MentionCritic, chains: MentionChains) -> list[Token]:
    """What a critic makes of every token of some chains; where they stand in the text is not known: 0."""
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
    """The text of a passage cut wherever a mention, or the word that stands for one, begins or ends.

    Mentions may be nested, may cross and may be equal: pieces lie side by side. No piece begins within a character that
    is made of several, such as a letter with its accent.
    """
    text = passage.text
    spans = [(_whole(text, token.span[0]), _whole(text, token.span[1]), token) for token in passage.mentions]
    words = [(_whole(text, token.start), _whole(text, token.end), token) for token in passage.mentions]
    places = sorted({0, len(text), *(place for start, end, _ in (*spans, *words) for place in (start, end))})
    found = []
    for start, end in pairwise(places):
        around = [(last - first, token) for first, last, token in spans if first <= start and end <= last]
        person = min(around, key=lambda pair: pair[0])[1].symbol.person if around else None
        within = [(last, token) for first, last, token in words if first <= start and end <= last]
        ends = tuple(token for last, token in within if last == end)
        found.append(Piece(text[start:end], person, tuple(token for _, token in within), ends))
    return found


def excerpt(passage: Passage, token: Token, most: int) -> Passage:
    """Whole sentences around a token: as many as fit into `most` characters, about a third of these before it.

    A sentence that is longer than that is cut. Persons are numbered anew, in the order in which they are in this part.
    """
    starts = [0, *(t.start for t in passage.tokens if not t.is_mention), len(passage.text)]
    part = _cut(passage, *_around(sorted(set(starts)), token, most))
    people = dict.fromkeys(t.symbol.person for t in (*part.tokens, *passage.tokens) if t.is_mention)
    numbers: dict[int | None, int | None] = {person: number for number, person in enumerate(people)}
    return replace(part, tokens=tuple(_renumbered(t, {None: None, -1: -1} | numbers) for t in part.tokens))


def _around(borders: Sequence[int], token: Token, most: int) -> tuple[int, int]:
    """The first and the last character of the sentences around a token, of which `borders` are the ends."""
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
    # Room that is left at the end of a text is given to what stands before.
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


def _rows(source: Documents, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """The rows of a file of mentions, by id."""
    rows: dict[str, dict[str, Any]] = {}
    for batch in iter_mentions(source.mentions):
        for place, name in enumerate(batch["id"].to_pylist()):
            if name in ids:
                rows[name] = batch.slice(place, 1).to_pylist()[0]
    return rows


def _end(row: Mapping[str, Any]) -> int:
    """The last character that a row speaks of."""
    return max((span["end"] for span in (*row["mentions"], *row["sentences"])), default=0)


def _placed(tokens: Sequence[Token], mention: np.ndarray, row: Mapping[str, Any], word: str) -> tuple[Token, ...]:
    """Tokens with their places in the text; `word`, of the chains' switches, says which word stands for a mention."""
    starts: Iterator[int] = iter(sorted(sentence["start"] for sentence in row["sentences"]))
    placed = []
    for token, index in zip(tokens, mention.tolist(), strict=True):
        if index < 0:
            start = next(starts)
            placed.append(replace(token, start=start, end=start, span=(start, start)))
            continue
        said = row["mentions"][index]
        first, last = {
            "head": (said["head_start"], said["head_end"]),
            "first": (said["start"], said["start"] + len(said["first"])),
            "last": (said["end"] - len(said["last"]), said["end"]),
        }[word]
        placed.append(replace(token, start=first, end=last, span=(said["start"], said["end"])))
    return tuple(placed)


def _whole(text: str, place: int) -> int:
    """The first place from here on where no character is torn from what belongs to it."""
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
