"""The best of several draws: texts are drawn independently of each other, and the likeliest is kept.

fairseq does this for `--sampling --beam k`, and "beam sampling" may mean it where a paper names only the tool. Draw j
of text i is text k * i + j of a plain sample with the same seed and decoding, so all k draws of all texts are just such
a sample.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Drawn:
    """A text that was drawn.

    Attributes:
        index: number of the text, or of the draw.
        ids: ids of its tokens: first those that were given, then those that were drawn.
        finish: "end" or "length".
        score: mean log probability of a token that was drawn, its end included, at the temperature of the decoding;
            top-k and top-p change what is drawn, not the score. This is fairseq's default. A text that was cut has the
            score of what there is of it.
    """

    index: int
    ids: list[int]
    finish: str
    score: float


class Best:
    """Waits for all draws of a text; of equal scores the first draw wins.

    Args:
        draws: k, of each text.
    """

    def __init__(self, draws: int) -> None:
        self.draws = draws
        self._waiting: dict[int, list[Drawn]] = {}

    def add(self, drawn: Drawn) -> Drawn | None:
        """Take a draw, whose index is k * text + number; returns the best of its text once all have come."""
        text = drawn.index // self.draws
        waiting = self._waiting.setdefault(text, [])
        waiting.append(drawn)
        if len(waiting) < self.draws:
            return None
        del self._waiting[text]
        return replace(min(waiting, key=lambda each: (-each.score, each.index)), index=text)
