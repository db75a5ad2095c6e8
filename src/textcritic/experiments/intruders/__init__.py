"""Which sentence does not belong? Detectors and people on documents with an intruder (Shen et al. 2021)."""
