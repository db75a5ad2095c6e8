"""The n-gram model of words: counted on disk, however long the corpus; exact probabilities and exact drawing."""
