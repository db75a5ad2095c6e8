"""Generators: language models trained on a corpus in a setting; import the modules you need, several load torch."""
