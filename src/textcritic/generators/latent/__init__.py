"""Language models with latent structure, and the proposals by which their likelihood is estimated."""
