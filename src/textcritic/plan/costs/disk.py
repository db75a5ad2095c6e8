"""Bytes that a job leaves on the disk: those of models, tokens and texts; other results are small."""

from collections.abc import Callable, Mapping

from textcritic.errors import TextcriticError
from textcritic.plan.costs.models import KNOWN
from textcritic.plan.costs.units import Job

SMALL = 20_000.0
TEXT, TOKEN = 3.0, 5.0  # bytes a token of Parquet, and of a token stream
WEIGHT = 4.0
DUMP = 19e9


def _model(job: Job) -> float:
    return WEIGHT * job.transformer().parameters


def _ngram(job: Job) -> float:
    return 12.0 * job.corpus.train * job.corpus.tokens


def _hsmm(job: Job) -> float:
    return float(WEIGHT * job.trained["states"] * job.trained["most_common"]) * (2 if "training" in job.trained else 1)


def _hub(job: Job) -> float:
    known = KNOWN.get(job.wildcards["model"])
    return WEIGHT * known.parameters if known else 0.5e9


KEPT: Mapping[str, Callable[[Job], float]] = {
    "train_causal": _model,
    "train_fairseq": _model,
    "train_detector": _model,
    "train_classifier": _model,
    "train_hsmm": _hsmm,
    "fit_ngram": _ngram,
    "download_model": _hub,
    "download_file": lambda job: DUMP if "wiki" in job.wildcards.get("download", "") else 1e8,
    "encode_corpus": lambda job: TOKEN * job.corpus.documents * job.corpus.tokens / 3,
    "encode_lines": lambda job: TOKEN * job.corpus.documents * job.corpus.tokens / 3,
    "build_corpus": lambda job: TEXT * job.corpus.documents * job.corpus.tokens,
    "build_lines": lambda job: TEXT * job.corpus.documents * job.corpus.tokens,
    "extract_corpus": lambda job: TEXT * job.corpus.documents * job.corpus.tokens,
    "sample_causal": lambda job: TEXT * job.documents * job.length,
    "sample_fairseq": lambda job: TEXT * job.documents * job.length,
    "sample_fairseq_text": lambda job: TEXT * job.documents * job.length,
    "sample_ngram": lambda job: TEXT * job.documents * job.length,
    "collect_samples": lambda job: TEXT * job.documents * job.length,
}


def kept(job: Job) -> float:
    """Bytes that a job's results take."""
    try:
        return KEPT[job.rule](job) if job.rule in KEPT else SMALL
    except (TextcriticError, LookupError, TypeError):  # not such as this is declared for
        return SMALL
