"""Whether chains of Gibbs sampling have reached the posterior, by the values that each has had so far.

Two questions, and each has an R-hat (Gelman and Rubin 1992; split in halves, as Gelman et al. 2013, section 11.4, and
Vehtari et al. 2021 do), which is 1 where the answer is yes:

- Does a chain still move? Its halves are compared with each other: `drift`. A fit continues until that ends.
- Do the chains agree? Halves of all chains are compared: `split_r_hat`. If they do not, each has found topics of its
  own, and another seed gives another model. More sweeps seldom change that, so the fit reports it and does not wait.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LIMIT = 1.1
"""The R-hat up to which parts of chains count as alike (Gelman et al. 2013, section 11.5)."""
# Values in the window that is looked at, at least, and optimisations of alpha, so that each half has some.
LEAST_VALUES, LEAST_OPTIMISATIONS = 20, 4

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Convergence:
    """How far the chains have converged, judged by their traces.

    Attributes:
        drift: R-hat of the halves of each chain, the larger one of log-likelihood and alpha; NaN where there are too
            few sweeps to say. Above `LIMIT` the chains still move.
        agreement: R-hat of all chains, the larger one of both; NaN likewise, or of one chain.
        sweeps: of each chain.
    """

    drift: float
    agreement: float
    sweeps: int

    @property
    def converged(self) -> bool:
        """Whether the chains have come to rest."""
        return self.drift <= LIMIT

    @property
    def words(self) -> str:
        """Whether the fit has converged, in a sentence that ends with a full stop."""
        if np.isnan(self.drift):
            return f"{self.sweeps:,} sweeps are too few to say whether the fit has converged; raise `iterations`."
        if not self.converged:
            return (
                f"Not converged after {self.sweeps:,} sweeps (R-hat {self.drift:.2f} between the halves of the chains, "
                f"above {LIMIT}): more sweeps would change the share of words of another topic; raise `iterations`."
            )
        start = f"Converged after {self.sweeps:,} sweeps (R-hat {self.drift:.2f} between the halves of the chains)"
        if np.isnan(self.agreement):
            return f"{start}."
        if self.agreement <= LIMIT:
            return f"{start}, and the chains agree (R-hat {self.agreement:.2f})."
        return f"{start}; the chains differ (R-hat {self.agreement:.2f}), so another seed can give another model."

    def record(self) -> dict[str, float | int | bool | str | None]:
        """As JSON has it; None for NaN."""
        drift, agreement = (None if np.isnan(value) else float(value) for value in (self.drift, self.agreement))
        return {
            "converged": self.converged,
            "drift": drift,
            "agreement": agreement,
            "sweeps": self.sweeps,
            "words": self.words,
        }


def convergence(log_probs: Array, alphas: Array, every: int, optimised: tuple[int, int]) -> Convergence:
    """Judge chains by the second half of their sweeps.

    Args:
        log_probs: of the states, one each `every` sweeps: [chains, values].
        alphas: sum of alpha after the same sweeps: [chains, values].
        every: sweeps between two values.
        optimised: sweeps between two optimisations of alpha (0: none) and before the first.
    """
    values = log_probs.shape[1]
    sweeps, window = values * every, values - values // 2
    each, burn_in = optimised
    late = each == 0 or (window * every >= LEAST_OPTIMISATIONS * each and sweeps - window * every >= burn_in)
    if window < LEAST_VALUES or not late:
        return Convergence(np.nan, np.nan, sweeps)
    traces = [log_probs[:, -window:], np.log(alphas[:, -window:])]
    r_hats = [max(measure(trace) for trace in traces) for measure in (drift, split_r_hat)]
    return Convergence(r_hats[0], r_hats[1] if len(log_probs) > 1 else np.nan, sweeps)


def drift(traces: Array) -> float:
    """R-hat of the two halves of each chain, their variances pooled over the chains: [chains, values] -> a number.

    Of one chain it is its split R-hat. 1 where no value ever changes; infinite where only the halves differ.
    """
    halves, n = _halves(traces)
    between = halves.mean(axis=2).var(axis=0, ddof=1).mean()
    return _r_hat(float(between), float(halves.var(axis=2, ddof=1).mean()), n)


def split_r_hat(traces: Array) -> float:
    """Split R-hat of chains: [chains, values] -> a number; as Gelman et al. (2013), equations 11.3 and 11.4."""
    halves, n = _halves(traces)
    return _r_hat(float(halves.mean(axis=2).var(ddof=1)), float(halves.var(axis=2, ddof=1).mean()), n)


def _halves(traces: Array) -> tuple[Array, int]:
    """First and last half of each chain, without a value in the middle: [2, chains, n], and n."""
    n = traces.shape[1] // 2
    return np.stack([traces[:, :n], traces[:, -n:]]), n


def _r_hat(between: float, within: float, n: int) -> float:
    """From the variance of the means of sequences of n values, and the mean of their variances."""
    if within == 0:
        return 1.0 if between == 0 else np.inf
    return float(np.sqrt((n - 1) / n + between / within))
