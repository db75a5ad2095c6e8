"""Topics: documents under a correlated topic model (model criticism paper, section 6)."""
