"""Recitation: how much of real text and of samples stands word for word in the training text (McCoy et al. 2023)."""
