"""The kind of experiment `people`, see README.md."""
