"""Coreference: who is mentioned after whom, in real text and in samples (model criticism paper, section 5)."""
