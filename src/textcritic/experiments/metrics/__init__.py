"""Measures of one's own: one number a document, by functions that are declared with `textcritic.measure`."""
