"""The order of sentences: whether those of a sample follow one another as those of real text do."""
