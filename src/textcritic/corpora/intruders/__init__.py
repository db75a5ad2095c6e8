"""Documents of a few sentences, some with a sentence that was taken from another one (Shen et al. 2021, INSteD)."""
