"""Words of a figure that lie on one another, for the tests of figures."""

from itertools import combinations

from matplotlib.text import Text


def overlapping(figure):
    """Pairs of texts of a figure whose boxes share more than a hair of room."""
    figure.draw_without_rendering()
    shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in shown]
    return [(one, other) for (one, a), (other, b) in combinations(boxes, 2) if _shared(a, b)]


def _shared(a, b):
    across = min(a.x1, b.x1) - max(a.x0, b.x0)
    return across > 2 and min(a.y1, b.y1) - max(a.y0, b.y0) > 3
