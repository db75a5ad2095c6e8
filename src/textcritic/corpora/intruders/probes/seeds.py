"""Random numbers of a probe that depend on the sentence alone, so that an edit is the same in every run."""

import hashlib
import random


def random_of(probe: str, sentence: str) -> random.Random:
    """A generator that a probe and a sentence seed together."""
    return random.Random(hashlib.blake2b(f"{probe}\n{sentence}".encode(), digest_size=16).digest())
