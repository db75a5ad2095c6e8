"""Mixing: do translations keep to one language? Topics of an LDA model that is fitted on real translations."""
