"""Generators of kind `fairseq`: fairseq's architectures and criteria as torch modules, in this project's own loop.

fairseq 0.12.2 is optional (`textcritic install fairseq`) and is imported by `shim.load_fairseq` alone.
"""
