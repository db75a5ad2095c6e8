"""Your own text: from files of articles to a study and its report."""

from textcritic.owntext.criticise import Options, criticise

__all__ = ["Options", "criticise"]
