"""Coherence: the order of sections under a critic of title transitions (model criticism paper, section 4)."""
