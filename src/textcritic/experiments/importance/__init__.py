"""Importance: the perplexity of latent language models by importance sampling (Logan et al. 2020)."""
