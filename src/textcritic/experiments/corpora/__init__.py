"""Corpora: what they contain, what was left out of them, and why (model criticism paper, appendix E)."""
