"""Importance sampling: what log weights of draws say of a latent language model's perplexity, and how surely."""
