"""A number that an experiment reports of each of its sources, declared once.

A kind of experiment declares its measures and reads its sources (`Scored`). All else follows from the declaration: the
columns in the table, with interval and test (`rows.source_rows`), the cell (`cells.measure_cell`) in the main table
(`cells.measure_sheet`), the mark in the chart (`charts.marks_of`), the score on the front page (`score.scores_of`), and
the sentence about it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from textcritic.inference import MARGIN, Groups, Statistic, exp_ratio_of_sums
from textcritic.values import Row


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure of one source, computed.

    Attributes:
        value: the number; infinite, or None where nothing can be computed.
        low, high: its 95% interval; None where there is none.
        p: of the test against real text; None where there is no test.
        more: further columns of the row.
        reason: why there is no interval or no test, e.g. "no interval of fewer than 20"; "" where there are.
        without: see `inference.Number`; in the unit of `value`, or its logarithm.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    more: Row = field(default_factory=dict)
    reason: str = ""
    without: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Scored:
    """All that a kind reads of one source.

    Attributes:
        data: by `Measure.value`, what the measure is computed from. For a measure with a `statistic`: float64
            [documents, k], whose columns are summed. For one with an `estimate`: whatever that takes.
        documents: how many were scored; None for a source that is no set of documents, such as an exact value.
        reasons: documents that could not be scored, by reason.
        more: further columns of the row, e.g. a value that is known and not estimated.
        groups: [documents], of those that belong together, which intervals and tests take as one; see
            `inference.clusters`. None: all documents are alone.
        estimates: by `Measure.value`, what was estimated already, as by cross-fitting.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    documents: int | None = None
    reasons: Mapping[str, int] = field(default_factory=dict)
    more: Row = field(default_factory=dict)
    groups: Groups = None
    estimates: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals and tests draw.

    Attributes:
        resamples: of each interval and each test.
        seed: of `numpy.random.default_rng`.
        shared: groups that several samples have, see `inference.jackknife.shared_groups`.
    """

    resamples: int
    seed: int = 1
    shared: Mapping[str, int] = field(default_factory=dict)


Estimator = Callable[[Scored, Scored | None, Resampling], Estimate]
"""Computes an estimate from a source, from the real text it is tested against, and from how to draw.

The second is None for real text itself and for other real text.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number of each source.

    It is computed in one of three ways: with a `statistic`, of sums over documents, by bootstrap and
    `inference.two_sample_test` of the ratio of sums; with an `estimate`, in any other way; with neither, it is in
    `Scored.more` already.

    Attributes:
        name: its head in card and tables, e.g. "Latent PPL".
        key: its name in Python, e.g. "latent_ppl"; "": as `value`.
        value, low, high, p: columns of the value, its 95% interval and its p-value; "" where it has none.
        section: name of the part of the section that is about it, e.g. "values"; see `Place.id`. "": the whole section.
        statistic: column sums [B, k] -> [B], e.g. `exp_ratio_of_sums`.
        estimate: computes the number where it is no statistic of sums, e.g. MAUVE or a distance.
        whole: 1 for a share, 100 for a share in percent, which tables write as percentages; None for a number.
        metric: its name among the published values; "" where nothing was published.
        published, difference: columns of the published value, and of ours minus it; "" where there are none.
        because: column that says why a value is infinite.
        by_ratio: whether values are compared by their ratio, as perplexities are, or by their difference.
        of_real: the value of real text if it has one by definition, e.g. 0 for a distance from real text.
        margin: the largest difference from real text that counts as none: a share of real text's value, or a number in
            the measure's unit where `of_real` is given. The verdict is "the same" if the interval lies within it.
        means: what it measures, in a few words that begin with a small letter, for readers who do not know its name:
            "how surprising the order of sections is".
        compared: whether real text has it too. If it has not, as with a generator's own perplexity, the front page
            shows the value without a verdict.
        aim: "higher" or "lower" where the sample with the highest or the lowest value is the best; "": the aim is real
            text's value.
        out_of: for a count, the column with its largest possible value: "0 of 4 measured".
        copies: for a measure of how much of a sample is copied, in percent: the words behind the percentage, e.g. "of
            its lines are in the reference". If a sample has half or more, and more than real text, these words
            follow its name wherever it is called nearest.
    """

    name: str
    value: str
    key: str = ""
    low: str = "ci_low"
    high: str = "ci_high"
    p: str = "p_value"
    section: str = ""
    statistic: Statistic | None = None
    estimate: Estimator | None = None
    whole: float | None = None
    metric: str = ""
    published: str = ""
    difference: str = ""
    because: str = "infinite_because"
    by_ratio: bool = False
    of_real: float | None = None
    margin: float = MARGIN
    means: str = ""
    compared: bool = True
    aim: str = ""
    out_of: str = ""
    copies: str = ""

    @property
    def known_as(self) -> str:
        """Its name in Python."""
        return self.key or self.value

    @property
    def anchor(self) -> str:
        """Its name in the addresses of a page."""
        return self.known_as.replace("_", "-")

    @property
    def why(self) -> str:
        """The column that says why a value has no interval or no test; it is there if a source has such a reason."""
        return f"{self.value}_why"

    @property
    def without(self) -> str:
        """The column of `Estimate.without`, numbers with spaces between; it is there if samples share groups."""
        return f"{self.value}_without"


LATENT_PPL = Measure(
    name="Latent PPL",
    value="latent_ppl",
    statistic=exp_ratio_of_sums,
    metric="latent_ppl",
    published="published",
    difference="difference",
    by_ratio=True,
)
"""The perplexity of chains of latent states; a kind says what it means and where it stands."""
