"""textcritic: judge language models by the documents they write, beyond perplexity.

`criticise`, `chains`, `coreference`, `topics`, `mixing`, `recitation`, `importance` and `compare_tendencies` are
described in docs/python.md; they are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from textcritic.errors import TextcriticError

if TYPE_CHECKING:
    from textcritic.api.chains import ChainsResult, chains
    from textcritic.api.coreference import CoreferenceResult, coreference
    from textcritic.api.criticise import criticise
    from textcritic.api.importance import ImportanceResult, importance
    from textcritic.api.mixing import MixingResult, mixing
    from textcritic.api.recitation import RecitationResult, recitation
    from textcritic.api.results import Result
    from textcritic.api.tendencies import TendenciesResult, compare_tendencies
    from textcritic.api.topics import TopicsResult, topics
    from textcritic.measures.own import left_out, measure
    from textcritic.measures.score import Score

__version__ = "0.1.0"
__all__ = [
    "ChainsResult",
    "CoreferenceResult",
    "ImportanceResult",
    "MixingResult",
    "RecitationResult",
    "Result",
    "Score",
    "TendenciesResult",
    "TextcriticError",
    "TopicsResult",
    "__version__",
    "chains",
    "compare_tendencies",
    "coreference",
    "criticise",
    "importance",
    "left_out",
    "measure",
    "mixing",
    "recitation",
    "topics",
]

# The module of each name that is loaded when it is first used.
LATER = {
    **{"left_out": "own", "measure": "own"},
    **{"CoreferenceResult": "coreference", "coreference": "coreference"},
    **{"ImportanceResult": "importance", "importance": "importance"},
    **{"MixingResult": "mixing", "mixing": "mixing"},
    **{"RecitationResult": "recitation", "recitation": "recitation"},
    **{"TendenciesResult": "tendencies", "compare_tendencies": "tendencies"},
    **{"ChainsResult": "chains", "chains": "chains", "criticise": "criticise"},
    **{"Result": "results", "Score": "results", "TopicsResult": "topics", "topics": "topics"},
}


def __getattr__(name: str) -> object:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    room = "measures" if LATER[name] == "own" else "api"
    return getattr(import_module(f"{__name__}.{room}.{LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
