"""textcritic: judge language models by the documents they write, beyond perplexity."""

__version__ = "0.1.0"
