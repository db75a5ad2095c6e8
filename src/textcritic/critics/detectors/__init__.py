"""Detectors of intruder sentences: whether a sentence belongs into its document (Shen et al. 2021)."""
