"""An example of the latent states of a text: its tree, its mentions, or its links, as in the paper's Figure 1."""

from collections.abc import Iterator, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from textcritic.corpora.structured.texts import SHIFT, Mention, Structured, read_structured
from textcritic.experiments.importance.files import ImportanceFiles
from textcritic.report.drawings import WIDE, Drawing
from textcritic.report.palette import INK, LINE_COLOURS, MUTED, RULE
from textcritic.report.style import new_figure

MOST_TOKENS, MOST_NARROW = 12, 6
FEWEST_LEAVES = 5
NONE, REFLEXIVE = "∅", "reflexive"
CHARACTER = 0.082  # inches


def example_charts(files: ImportanceFiles) -> Iterator[Drawing]:
    """states-CORPUS, for each corpus whose test texts have a structure to show."""
    for texts in files.texts:
        example = example_of(read_structured(texts.test)) if texts.structured else None
        if example is not None:
            yield f"states-{texts.corpus}", partial(states_chart, example)


def example_of(texts: Sequence[Structured]) -> Structured | None:
    """The text that is best for a figure; the first of equal ones.

    If there are trees, the longest tree with 5 to 12 words, or the first tree if none has so few or so many. Otherwise
    the text whose first 12 tokens have the most mentions of entities that were mentioned before, or that follow from
    another; of equal ones, that with the most mentions. None if no text has a mention.
    """
    trees = [text for text in texts if text.actions]
    if trees:
        fit = [text for text in trees if FEWEST_LEAVES <= len(text.tokens) <= MOST_TOKENS]
        return max(fit, key=lambda text: len(text.tokens), default=trees[0])
    linked = [text for text in texts if text.mentions]
    return max(linked, key=lambda text: _shown(text, MOST_TOKENS), default=None)


def states_chart(text: Structured, width: float) -> Figure:
    """The first tokens of a text with their states below, a column for each; a tree is drawn above its words."""
    most = MOST_NARROW if width < WIDE else MOST_TOKENS
    if text.actions:
        return _tree_chart(text, width)
    return _table_chart(text, width, most)


def state_rows(text: Structured, most: int) -> dict[str, list[str]]:
    """The states of the first tokens, by the paper's symbols.

    Of mentions: t, whether a token is in a mention; e, its entity by number; l, tokens of the mention from here on. Of
    links: t, `new` or `related` at the first token of a mention; s, the entity that it follows from; r, the relation;
    o, its entity.
    """
    linked = any(mention.edges for mention in text.mentions)
    rows: dict[str, list[str]] = {name: [] for name in (("t", "s", "r", "o") if linked else ("t", "e", "l"))}
    numbers = {name: str(n) for n, name in enumerate(dict.fromkeys(m.entity for m in text.mentions), 1)}
    for place in range(min(most, len(text.tokens))):
        mention = next((m for m in text.mentions if m.start <= place < m.end), None)
        values = _link(mention, place) if linked else _mention(mention, place, numbers)
        for row, value in zip(rows.values(), values, strict=True):
            row.append(value)
    return rows


def _mention(mention: Mention | None, place: int, numbers: dict[str, str]) -> tuple[str, str, str]:
    if mention is None:
        return "0", NONE, "1"
    return "1", numbers[mention.entity], str(mention.end - place)


def _link(mention: Mention | None, place: int) -> tuple[str, str, str, str]:
    if mention is None:
        return NONE, NONE, NONE, NONE
    if place > mention.start:
        return "…", "…", "…", "…"
    if not mention.edges:
        return "new", NONE, NONE, mention.entity
    edge = mention.edges[0]
    relation = REFLEXIVE if edge.parent == mention.entity else edge.relation
    return "related", edge.parent, relation, mention.entity


def _shown(text: Structured, most: int) -> tuple[int, int]:
    """Mentions in the first tokens, those of entities that were mentioned before counted first."""
    within = [mention for mention in text.mentions if mention.end <= most]
    again = len(within) - len({mention.entity for mention in within})
    related = sum(bool(mention.edges) for mention in within)
    return again + related, len(within)


def _table_chart(text: Structured, width: float, most: int) -> Figure:
    tokens, rows = text.tokens[:most], state_rows(text, most)
    entities = list(dict.fromkeys(mention.entity for mention in text.mentions))
    room = width * (1 - 0.06) / max(len(tokens), 1) / CHARACTER
    shown = [("x", [_fitted(token, room) for token in tokens])]
    shown += [(name, [_fitted(value, room) for value in values]) for name, values in rows.items()]
    two_lines = any("\n" in value for _, values in shown for value in values)
    height = (0.62 if two_lines else 0.34) * len(shown) + 0.2
    figure = new_figure(width, height)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-0.7, len(tokens) + 0.15)
    axes.set_ylim(len(rows) + 0.5, -0.5)
    axes.axis("off")
    for y, (name, values) in enumerate(shown):
        axes.text(-0.45, y, name, ha="center", va="center", style="italic", color=MUTED)
        for x, value in enumerate(values):
            mention = next((m for m in text.mentions if m.start <= x < m.end), None)
            colour = INK if mention is None else LINE_COLOURS[entities.index(mention.entity) % len(LINE_COLOURS)]
            plain = value in (NONE, "0")
            axes.text(
                x + 0.5, y, value, ha="center", va="center", color=MUTED if plain else colour,
                fontsize=9 if y and two_lines else 10, fontweight="bold" if y == 0 and mention else "normal",
            )  # fmt: skip
    axes.axhline(0.5, color=RULE, linewidth=0.8)
    return figure


def _tree_chart(text: Structured, width: float) -> Figure:
    """Words on a line, a binary tree over them."""
    top = _height(text.actions)
    figure = new_figure(width, min(3.2, 0.5 + 0.32 * top))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-0.7, len(text.tokens) - 0.3)
    axes.set_ylim(-0.8, top + 0.3)
    axes.axis("off")
    _draw_tree(axes, text)
    room = width / len(text.tokens) / CHARACTER
    for place, token in enumerate(text.tokens):
        axes.text(place, -0.25, _fitted(token, room), ha="center", va="top", color=INK, fontsize=10 if room > 4 else 7)
    return figure


def _draw_tree(axes: Axes, text: Structured) -> None:
    stack: list[tuple[float, float]] = []
    leaf = 0
    for action in text.actions:
        if action == SHIFT:
            stack.append((float(leaf), 0.0))
            leaf += 1
            continue
        right, left = stack.pop(), stack.pop()
        node = ((left[0] + right[0]) / 2, max(left[1], right[1]) + 1)
        for child in (left, right):
            axes.plot([node[0], child[0]], [node[1], child[1]], color=LINE_COLOURS[0], linewidth=1.2)
        axes.plot(*node, "o", color=LINE_COLOURS[0], markersize=3.5)
        stack.append(node)


def _height(actions: Sequence[int]) -> int:
    stack: list[int] = []
    for action in actions:
        stack.append(0 if action == SHIFT else max(stack.pop(), stack.pop()) + 1)
    return max(1, stack[-1])


def _fitted(value: str, room: float) -> str:
    """A text that fits into a column of so many letters; a long one on two lines, cut at their end.

    Lines end between words if possible, else inside a word, with a hyphen.
    """
    letters = max(3, int(room))
    if len(value) <= letters:
        return value
    lines: list[str] = []
    rest = value.replace("_", " ").replace(":", ": ")
    while rest and len(lines) < 2:
        line, rest = _broken(rest, letters)
        lines.append(line)
    if rest:
        lines[1] = f"{lines[1].removesuffix('-')[: letters - 1]}…"
    return "\n".join(lines)


def _broken(text: str, letters: int) -> tuple[str, str]:
    """A first line of at most so many letters, and the rest."""
    if len(text) <= letters:
        return text, ""
    end = text.rfind(" ", 0, letters + 1)
    if end > 0:
        return text[:end], text[end:].lstrip()
    half = min(letters - 1, len(text) // 2 + 2) if " " not in text else letters - 1
    return f"{text[:half]}-", text[half:]
