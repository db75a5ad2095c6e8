"""Texts with structure for latent language models: trees, mentions of entities, links to a knowledge graph."""
