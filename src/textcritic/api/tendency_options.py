"""How `textcritic.compare_tendencies` counts, measures and judges."""

from dataclasses import dataclass
from typing import TypedDict

from textcritic.api.arguments import share, whole
from textcritic.critics.tendencies.estimates import Options
from textcritic.plan.checks.tendencies import ENGLISH, CountOptions, Tokenizer

HELD_OUT = 0.5
DRAWS = 5


@dataclass(frozen=True, slots=True)
class TendencyOptions:
    """How tendencies are measured.

    Attributes:
        tokenizer: `words`, for raw text; or `whitespace`, for text that has been tokenised, as in the paper.
        lower_case: whether words are counted in lower case.
        stop_words: `english`, 179 words; a language of NLTK's lists, whose data must be installed; the path of a file
            with one word a line; or `none`.
        held_out: share of the real documents that samples are compared with; second draws are taken from the others.
        draws: second draws at most; 0 means none.
        ranks: the first ranks, which distances of rank-frequency distributions are taken over.
        workers: threads that count; None: one. The numbers do not depend on it.
        resamples: of bootstrap and tests.
        seed: of everything that is drawn.

    Raises:
        TextcriticError: a value out of range.
    """

    tokenizer: Tokenizer = "words"
    lower_case: bool = True
    stop_words: str = ENGLISH
    held_out: float = HELD_OUT
    draws: int = DRAWS
    ranks: int = 10_000
    workers: int | None = None
    resamples: int = 1000
    seed: int = 1

    def __post_init__(self) -> None:
        self.counting()
        share(self.held_out, "held_out")
        whole(self.draws, "draws", 0)
        whole(self.ranks, "ranks", 2)
        whole(self.resamples, "resamples", 1)
        whole(self.seed, "seed", 0)
        if self.workers is not None:
            whole(self.workers, "workers", 1)

    def counting(self) -> CountOptions:
        """How documents are counted."""
        return CountOptions(self.tokenizer, self.lower_case, self.stop_words)

    def measuring(self) -> Options:
        """How counts are measured."""
        return Options(ranks=self.ranks, resamples=self.resamples, seed=self.seed)


class TendencyKeywords(TypedDict, total=False):
    """The keys of `TendencyOptions`, for type checkers."""

    tokenizer: Tokenizer
    lower_case: bool
    stop_words: str
    held_out: float
    draws: int
    ranks: int
    workers: int | None
    resamples: int
    seed: int
