"""Words of texts for the random checkpoints of `textcritic.rehearsal.coreference`."""

from textcritic.rehearsal.coreference import WORDS

SHORT, EMOJI, END = "She saw him , but he did n't see her .", "\U0001f600 he", "All the men and they"
DOCUMENTS = [
    WORDS.split(),
    SHORT.split(),
    EMOJI.split(),
    [*WORDS.split(), "\U0001f600", *WORDS.lower().split(), *WORDS.upper().split(), *END.split()],
]
"""Words of texts; the last one has several segments."""
