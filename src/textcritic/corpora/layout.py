"""The text of an article as a language model sees it, and back (model criticism paper, section 4 and appendix E)."""

from textcritic.corpora.articles import Article, Section
from textcritic.errors import TextcriticError

W_TITLE = "w-title"
WO_TITLE = "wo-title"
SETTINGS = (W_TITLE, WO_TITLE)
SEPARATOR = "\n\n"
END = "<|endoftext|>"
BOUNDARY, TITLE, BODY = 0, 1, 2


class MalformedArticle(Exception):  # noqa: N818 - it is counted, and never shown as an error
    """A text that is not an article; `reason` is "empty", "empty section" or "section without title"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def render(article: Article, setting: str) -> str:
    r"""The article as text: sections joined by a blank line, each `title: text` (`w-title`) or `text` (`wo-title`).

    Raises:
        TextcriticError: unknown setting; a section text holds a blank line; a title is missing or holds a colon or
            a line break while the setting is `w-title` (such a text could not be parsed back).
    """
    return "".join(piece for piece, _ in _pieces(article, setting))


def render_with_titles(article: Article) -> str:
    """The article as text with the titles of its sections, or without if no section has one; raises as `render`."""
    return render(article, W_TITLE if any(section.title for section in article.sections) else WO_TITLE)


def spans(article: Article, setting: str) -> list[tuple[int, int, int]]:
    """Character spans (start, stop, kind) that cover `render(article, setting)` without gaps or overlaps.

    Kinds: `BOUNDARY` 0, the blank line between sections; `TITLE` 1, the title with its colon and space; `BODY` 2.
    """
    covered, position = [], 0
    for piece, kind in _pieces(article, setting):
        if piece:
            covered.append((position, position + len(piece), kind))
            position += len(piece)
    return covered


def parse(text: str, setting: str) -> tuple[Section, ...]:
    """The sections of a text that a language model wrote; the inverse of `render`.

    End markers are removed and the outside stripped first. In `w-title` a section is split at its first colon, the
    title is lower-cased, and a section without a title or without a body makes the whole article malformed. In
    `wo-title` an empty section is kept and only a wholly empty text is malformed, as in the paper's released code.

    Raises:
        MalformedArticle: the text is not an article; `reason` is counted.
        TextcriticError: unknown setting.
    """
    _require_setting(setting)
    text = text.replace(END, "").strip()
    if not text:
        raise MalformedArticle("empty")
    parts = [part.strip() for part in text.split(SEPARATOR)]
    if setting == WO_TITLE:
        return tuple(Section(None, part) for part in parts)
    return tuple(_titled(part) for part in parts)


def clean_text(text: str) -> str:
    """A section's text as the layout needs it: no blank lines, no trailing spaces, no end markers.

    Indentation inside the text is kept.
    """
    while END in text:  # removing one can join the halves of another
        text = text.replace(END, "")
    if "\n" not in text and "\r" not in text:
        return text.strip()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(kept for line in lines if (kept := line.rstrip())).strip()


def _titled(part: str) -> Section:
    if not part:
        raise MalformedArticle("empty section")
    title, colon, body = part.partition(":")
    title, body = title.strip().lower(), body.strip()
    if not colon or not title:
        raise MalformedArticle("section without title")
    if not body:
        raise MalformedArticle("empty section")
    return Section(title, body)


def _pieces(article: Article, setting: str) -> list[tuple[str, int]]:
    """Pieces of the rendered text with their kinds, in order."""
    _require_setting(setting)
    pieces: list[tuple[str, int]] = []
    for number, section in enumerate(article.sections, start=1):
        if SEPARATOR in section.text:
            raise TextcriticError(
                f"article '{article.id}', section {number}: the text holds a blank line, which is what separates "
                "sections; replace it by a single line break"
            )
        if number > 1:
            pieces.append((SEPARATOR, BOUNDARY))
        if setting == W_TITLE:
            pieces.append((f"{_renderable_title(article, number, section.title)}: ", TITLE))
        pieces.append((section.text, BODY))
    return pieces


def _renderable_title(article: Article, number: int, title: str | None) -> str:
    if not title or ":" in title or "\n" in title:
        raise TextcriticError(
            f"article '{article.id}', section {number}: title {title!r} cannot be written in the setting {W_TITLE}; "
            f"give a title without a colon or a line break, or use {WO_TITLE}"
        )
    return title


def _require_setting(setting: str) -> None:
    if setting not in SETTINGS:
        raise TextcriticError(f"setting '{setting}': unknown; use {W_TITLE} or {WO_TITLE}")
