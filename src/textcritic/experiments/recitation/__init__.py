"""Recitation: how much of real text and of samples occurs word for word in the training text (McCoy et al. 2023)."""
