"""Recurrent neural network grammars over binary trees, and the constituency CRF that proposes trees.

K trees over n words are one int8 tensor [K, 2n - 1] of SHIFT and REDUCE (`corpora.structured.texts`), in both.
"""
