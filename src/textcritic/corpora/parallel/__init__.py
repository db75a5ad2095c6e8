"""Parallel corpora: sentences with their translations, from files or from message catalogues."""
