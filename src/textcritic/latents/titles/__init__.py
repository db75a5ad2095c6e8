"""The classifier of section titles: trained on real sections, it labels the sections of a sample."""
