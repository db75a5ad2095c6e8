"""Articles to read in the report: mentions with colours and numbers, and why the critic finds some of them unlikely."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from markupsafe import Markup

from textcritic.critics.mentions import MentionCritic
from textcritic.experiments.coreference.files import CoreferenceFiles, Documents
from textcritic.experiments.coreference.passages import Passage, Piece, Token, excerpt, passages, pieces
from textcritic.experiments.coreference.read import critic_of, read_mention_scores
from textcritic.experiments.coreference.why import (
    HEADS,
    RARE,
    chance,
    is_unlikely,
    reason_of,
    seen,
    share,
    written,
)
from textcritic.latents.resolvers.language import Language, load_language
from textcritic.measures.names import Names
from textcritic.measures.numbers import count, number, plural
from textcritic.measures.score import Score
from textcritic.report.reader import Document, Reading, Shelf
from textcritic.report.section import Place, worst_and_middle
from textcritic.values import Row

FEWEST_TOKENS = 20  # of a chain that is shown, if there are such chains
MOST_CHARACTERS = 2000  # of a text that is shown
HEADS_OF_TABLE = ("Article", "Latent PPL", "Mentions", "Unlikely mentions")
NAMED = 3  # unlikely mentions that the table of articles names
COLOURS = 8  # of persons; later persons are grey

UNLIKELY, TYPICAL = "unlikely", "typical"

IdOf = Callable[[Token], str]


def choose(scores: Sequence[Row], most: int) -> list[tuple[str, str]]:
    """Which articles of a source are shown, in order: (id, `UNLIKELY` or `TYPICAL`).

    Articles with mentions and with at least `FEWEST_TOKENS` tokens in their chains are ranked by NLL per token; if
    there are none, all articles with mentions are ranked. Two thirds of those shown are the least likely ones, one
    third are from the middle.

    Args:
        scores: rows of schema `MENTION_SCORES_SCHEMA`.
        most: articles.
    """
    some = [row for row in scores if not row["rejected"] and row["mentions"]]
    long = [row for row in some if row["steps"] >= FEWEST_TOKENS] or some
    ranked = [row["id"] for row in sorted(long, key=lambda row: (-row["nll"] / row["steps"], row["id"]))]
    worst, middle = worst_and_middle(ranked, most)
    return [*((name, UNLIKELY) for name in worst), *((name, TYPICAL) for name in middle)]


def reader(files: CoreferenceFiles, names: Names, place: Place, card: Sequence[Score]) -> Reading:
    """Every source with its articles, for the template.

    Raises:
        TextcriticError: a file is missing or damaged, or files do not belong together.
    """
    language = load_language(files.resolver.get("language", "en"))
    shelves: list[Shelf] = []
    for data in files.data:
        critic = critic_of(data)
        for source in files.of(data):
            documents = [
                article_shown(*article, partial(_id, place, f"{len(shelves)}-{n}"), language)
                for n, article in enumerate(_articles(source, files, critic))
            ]
            shelves.append(Shelf(source.keys, names.source(source.keys), documents))
    return Reading.of(HEADS_OF_TABLE, shelves, card)


def article_shown(whole: Passage, kind: str, row: Row, id_of: IdOf, language: Language) -> Document:
    """An article for the template: if it is long, only a part around its least likely mention.

    Args:
        whole: the article.
        kind: `UNLIKELY` or `TYPICAL`.
        row: of its scores.
        id_of: gives the id of the element that says why a mention is unlikely.
        language: of the pronouns.
    """
    least = min(whole.mentions, key=lambda token: token.log_prob)
    passage = excerpt(whole, least, MOST_CHARACTERS)
    unlikely = [token for token in passage.mentions if is_unlikely(token)]
    ppl = math.exp(row["nll"] / row["steps"])
    mentions = f"{plural(len(whole.mentions), 'mention')} of {plural(row['people'], 'person', 'people')}"
    all_unlikely = sorted(filter(is_unlikely, whole.tokens), key=lambda token: token.log_prob)
    words = f"Latent PPL of this article: {number(ppl)}; {mentions}, {count(len(all_unlikely))} unlikely."
    if passage.before or passage.after:
        words += f" Shown: {count(len(passage.text))} of its {count(len(whole.text))} characters, around the least"
        words += " likely mention."
    shown = {
        "words": words,
        "before": bool(passage.before),
        "text": text_of_passage(passage, id_of),
        "after": bool(passage.after),
        "reasons": _by_kind([_reason(token, language) | {"id": id_of(token)} for token in unlikely]),
    }
    reasons = _in_short(all_unlikely) + " (a typical article)" * (kind == TYPICAL)
    entries = ((number(ppl), ppl), (count(len(whole.mentions)), float(len(whole.mentions))), reasons)
    title, name = whole.title or str(whole.article), str(whole.article)
    return Document(title, entries, shown, name if name != title else "")


def text_of_passage(passage: Passage, id_of: IdOf) -> Markup:
    """The text of a passage as HTML: mentions are coloured; a word of each has its number and probability.

    Args:
        passage: any.
        id_of: gives the id of the element that says why a mention is unlikely.
    """
    return Markup("").join(_piece(piece, id_of) for piece in pieces(passage))


def _articles(source: Documents, files: CoreferenceFiles, critic: MentionCritic) -> list[tuple[Passage, str, Row]]:
    scores = read_mention_scores(source).to_pylist()
    chosen = dict(choose(scores, files.report_articles))
    rows = {row["id"]: row for row in scores if row["id"] in chosen}
    read = {passage.article: passage for passage in passages(source, files, critic, chosen)}
    return [(read[name], kind, rows[name]) for name, kind in chosen.items()]


def _in_short(unlikely: Sequence[Token]) -> str:
    """The number of unlikely mentions, and the least likely ones."""
    more = " …" if len(unlikely) > NAMED else ""
    named = ", ".join(written(token.symbol) for token in unlikely[:NAMED])
    return f"{len(unlikely)}: {named}{more}" if unlikely else "0"


def _id(place: Place, article: str, token: Token) -> str:
    return place.id(f"mention-{article}-{token.place}")


def _reason(token: Token, language: Language) -> dict[str, str]:
    return {
        "mention": written(token.symbol),
        "chance": chance(token.log_prob),
        "expected": _expected(token),
        "saw": " ".join(written(symbol) for symbol in token.context),
        "kind": reason_of(token, language).kind,
        "seen": seen(token),
    }


def _by_kind(reasons: Sequence[Mapping[str, str]]) -> list[Row]:
    """The reasons by kind: each kind once, with all of its mentions."""
    kinds = {head: [reason for reason in reasons if reason["kind"] == kind] for kind, head in HEADS.items()}
    return [{"head": head, "mentions": mentions} for head, mentions in kinds.items() if mentions]


def _expected(token: Token) -> str:
    """The token that would be likelier; "" if there is none, or none is known."""
    if token.expected is None or token.expected_log_prob <= token.log_prob:
        return ""
    return f"{written(token.expected)}, {share(token.expected_log_prob)}"


def _piece(piece: Piece, id_of: IdOf) -> Markup:
    person = piece.words[-1].symbol.person if piece.words else piece.person
    if person is None:
        return Markup.escape(piece.text)
    colour = f"who who-{person}" if person < COLOURS else "who"
    tag = Markup("b" if piece.words else "span")
    html = Markup('<{0} class="{1}">{2}</{0}>').format(tag, colour, piece.text)
    return _numbered(html, piece.ends, id_of) if piece.ends else html


def _numbered(word: Markup, tokens: Sequence[Token], id_of: IdOf) -> Markup:
    """A word with the numbers of its persons after it and their probabilities below it (usually one person)."""
    numbers = ", ".join(str(token.symbol.person) for token in tokens)
    shares = ", ".join(share(token.log_prob) for token in tokens)
    html = Markup("<ruby>{}<sub>{}</sub><rt>{}</rt></ruby>").format(word, numbers, shares)
    least = min(tokens, key=lambda token: token.log_prob)
    if is_unlikely(least):
        return Markup('<a class="unlikely" href="#{}">{}</a>').format(id_of(least), html)
    name = "rare" if least.log_prob < math.log(RARE) else "likely"
    expected = _expected(least)
    hint = f"Likeliest here: {expected}" if expected else "The likeliest here"
    return Markup('<span class="{}" title="{}">{}</span>').format(name, hint, html)
