"""The classifier of section titles: trained on real sections, it tells the sections of a sample."""
