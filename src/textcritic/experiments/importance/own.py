"""Whether a proposal finds the posterior, on texts that the model drew itself."""

from textcritic.errors import TextcriticError
from textcritic.experiments.importance.files import ImportanceFiles, Own, Weighed
from textcritic.inference.importance import ExactWeights, LogWeights, gap
from textcritic.values import Row

GAP = ("own_texts", "gap", "gap_low", "gap_high", "gap_why", "gap_ratio", "gap_unreached", "gap_sign", "gap_says")


def by_own_texts(files: ImportanceFiles, weighed: Weighed) -> Row:
    """The columns `GAP` of an estimate; none if no such texts were drawn for its proposal and temperature.

    `gap`, the difference of the two bounds of log p, nats a text, with its interval over texts; `gap_ratio`, the ratio
    of the perplexities; `gap_unreached`, texts whose states the proposal never draws; `gap_sign` and `gap_says`, what
    that means.

    Raises:
        TextcriticError: a file is missing or damaged, or they are of different texts.
    """
    own = next((one for one in files.own if _is_of(one, weighed)), None)
    if own is None:
        return {}
    try:
        gaps = gap(LogWeights.read(own.drawn), ExactWeights.read(own.exact), files.resamples)
    except TextcriticError as error:
        where = "" if ".npz: " in str(error) else f"{own.drawn}: "
        raise TextcriticError(f"{where}{error}") from error
    return {
        "own_texts": len(gaps.by_text),
        "gap": gaps.nats.estimate,
        "gap_low": gaps.nats.low,
        "gap_high": gaps.nats.high,
        "gap_why": gaps.nats.reason,
        "gap_ratio": gaps.ratio.estimate,
        "gap_unreached": len(gaps.unreached),
        "gap_sign": gaps.sign,
        "gap_says": " ".join(gaps.sentences),
    }


def _is_of(own: Own, weighed: Weighed) -> bool:
    keys = ("corpus", "generator", "proposal", "seed", "temperature")
    return all(getattr(own, key) == getattr(weighed, key) for key in keys)
