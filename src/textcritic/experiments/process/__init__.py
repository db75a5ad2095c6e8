"""Known processes: sequences whose truth is known (model criticism paper, section 3)."""
