"""Articles of your own: from files of them to a study and its report. `result` gives Python the same."""

from textcritic.api.articles.run import Options, criticise

__all__ = ["Options", "criticise"]
