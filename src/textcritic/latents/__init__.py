"""Latents: projecting text into a critic's space. Import the module that you need; some of them load torch."""
