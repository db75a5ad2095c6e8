"""Detectors on word vectors: their mean, or an LSTM over them (Shen et al. 2021, section 5: BoW and Bi-LSTM)."""

import os
import re
from collections.abc import Container, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from textcritic.critics.detectors.encoded import Encoded, Network, Padding, joined
from textcritic.critics.detectors.learner import Files, Lessons, require_both_answers
from textcritic.critics.detectors.questions import Question
from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json
from textcritic.plan.entries import Detector
from textcritic.plan.entries.detectors import Bilstm, Embeddings
from textcritic.runlog import log
from textcritic.training.loop import Loop

# As GloVe's tokenizer cuts them: clitics such as 's and n't are words, and so is every punctuation mark.
WORD = re.compile(r"\w+(?=n['’]t\b)|n['’]t\b|['’](?:s|m|d|re|ve|ll)\b|\w+(?:[-.]\w+)*|[^\w\s]")

WORDS, WEIGHTS = "words.json", "model.safetensors"
PADDING, UNKNOWN = 0, 1  # numbers of what is no word; words follow
SPREAD = 0.1  # standard deviation of numbers that start at random


class Output(NamedTuple):
    """What `AnswerJob` reads of a model: logits [questions, 2]."""

    logits: torch.Tensor


class WordNetwork(nn.Module):
    """Word vectors, something that makes one vector of them, a hidden layer, and two logits."""

    def __init__(self, words: int, settings: Embeddings, width: int = 0) -> None:
        super().__init__()
        self.vectors = nn.Embedding(words + 2, settings.size, padding_idx=PADDING)
        nn.init.normal_(self.vectors.weight, std=SPREAD)
        with torch.no_grad():
            self.vectors.weight[PADDING] = 0
        hidden = nn.Linear(width or settings.size, settings.hidden)
        self.top = nn.Sequential(hidden, nn.ReLU(), nn.Linear(settings.hidden, 2))

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Output:
        """Logits of questions, as padded numbers of words [questions, longest]."""
        return Output(self.top(self.read(self.vectors(input_ids), attention_mask)))

    def read(self, vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The mean over words: [questions, longest, size] -> [questions, size]."""
        return _mean(vectors, mask)


class LstmNetwork(WordNetwork):
    """The mean over the states of a bidirectional LSTM."""

    def __init__(self, words: int, settings: Bilstm) -> None:
        super().__init__(words, settings, 2 * settings.states)
        self.lstm = nn.LSTM(settings.size, settings.states, batch_first=True, bidirectional=True)

    def read(self, vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """[questions, longest, size] -> [questions, 2 states]."""
        lengths = mask.sum(dim=1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
        states, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=mask.shape[1])
        return _mean(states, mask)


class WordVectors(Network):
    """A learner that reads the words of sentence and document by number, one after the other.

    Args:
        words: its vocabulary.
        entry: of the detector.
    """

    def __init__(self, words: Sequence[str], entry: Detector) -> None:
        assert entry.training is not None
        settings = _settings_of(entry)
        self.words, self.settings, self.training, self.made = list(words), settings, entry.training, {}
        self.number = {word: number for number, word in enumerate(self.words, start=2)}
        self.model: WordNetwork = (
            LstmNetwork(len(words), settings) if isinstance(settings, Bilstm) else WordNetwork(len(words), settings)
        )

    @classmethod
    def learn(cls, lessons: Lessons, entry: Detector, files: Files, seed: int, loop: Loop) -> Self:
        """Count the words of the lessons, take their vectors from the file if there is one, and train."""
        require_both_answers(lessons.train)
        torch.manual_seed(seed)
        learner = cls(_vocabulary(lessons.train, _settings_of(entry).minimum_count), entry)
        of_vectors = learner.start_from(files) if files.vectors else {}
        return learner.train(lessons, seed, loop, {"words": len(learner.words), **of_vectors})

    def start_from(self, files: Files) -> dict[str, int]:
        """Put the vectors of a file in place; words that it lacks keep those that were drawn.

        Returns:
            how many words the file has.

        Raises:
            TextcriticError: as `read_vectors`.
        """
        vectors = read_vectors(str(files.vectors), self.number, self.settings.size)
        log.info("%d of %d words have a vector in %s", len(vectors), len(self.words), files.vectors)
        with torch.no_grad():
            for word, values in vectors.items():
                self.model.vectors.weight[self.number[word]] = torch.from_numpy(values)
        self.model.vectors.weight.requires_grad_(self.settings.tuned)
        return {"words_with_vectors": len(vectors)}

    def encode(self, questions: Sequence[Question]) -> Encoded:
        """Numbers of the words of the first text, then of the second, cut at the end."""
        known: dict[str, np.ndarray] = {}  # the questions of a document share its text

        def numbers(text: str) -> np.ndarray:
            if text not in known:
                known[text] = np.array([self.number.get(word, UNKNOWN) for word in WORD.findall(text)], np.int32)
            return known[text]

        pieces, longest = [], self.settings.longest
        empty = np.full(1, UNKNOWN, np.int32)
        for question in questions:
            both = np.concatenate([numbers(question.first), numbers(question.second or "")])
            pieces.append(both if len(both) else empty)
        cut = sum(len(piece) > longest for piece in pieces)
        encoded = joined([piece[:longest] for piece in pieces], questions, Padding(PADDING))
        return Encoded(encoded.tokens, None, encoded.starts, encoded.wrong, encoded.padding, cut)

    def save(self, folder: Path) -> None:
        """Words and weights."""
        write_json(folder / WORDS, self.words)
        save_file({name: weights.contiguous() for name, weights in self.model.state_dict().items()}, folder / WEIGHTS)

    @classmethod
    def load(cls, folder: Path, entry: Detector) -> Self:
        """From the folder of a detector."""
        learner = cls(read_json(folder / WORDS), entry)
        try:
            learner.model.load_state_dict(load_file(folder / WEIGHTS))
        except (OSError, SafetensorError, RuntimeError) as error:
            raise TextcriticError(f"{folder / WEIGHTS}: not whole; delete the folder and train it again") from error
        return learner


def _settings_of(entry: Detector) -> Embeddings:
    settings = entry.model.embeddings or entry.model.bilstm
    assert settings is not None
    return settings


def _mean(vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    weights = mask[:, :, None].to(vectors.dtype)
    return (vectors * weights).sum(dim=1) / weights.sum(dim=1)


def _vocabulary(questions: Sequence[Question], minimum_count: int) -> list[str]:
    """Words of the first texts, the commonest first, of equally common ones those first in the alphabet."""
    counts: dict[str, int] = {}
    for question in questions:
        for word in WORD.findall(question.first):
            counts[word] = counts.get(word, 0) + 1
    return sorted((word for word, n in counts.items() if n >= minimum_count), key=lambda word: (-counts[word], word))


def read_vectors(path: str | os.PathLike[str], words: Container[str], size: int) -> dict[str, np.ndarray]:
    """The vectors of some words, float32 [size] each; the file is read line by line, and nothing else of it is kept.

    A line is a word, a space and `size` numbers with spaces between them. A word may hold spaces itself, as some of
    glove.840B.300d do; such words, and a word's second line, are passed over. A first line of two numbers, as word2vec
    writes, is one too.

    Args:
        path: of the file.
        words: those wanted; in the file's own spelling, upper case and all.
        size: numbers of a vector.

    Raises:
        TextcriticError: the file is missing, or a line has another number of numbers, or text in their place; no word
            of these occurs.
    """
    vectors: dict[str, np.ndarray] = {}
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                parts = line.rstrip(b" \r\n").split(b" ")
                if number == 1 and len(parts) == 2 and size != 1:
                    continue
                if len(parts) <= size:
                    raise TextcriticError(
                        f"{path}, line {number}: {len(parts) - 1} numbers, {size} are wanted; set `size`, or fetch the"
                        " file again if it is cut off"
                    )
                word = b" ".join(parts[:-size]).decode("utf-8", errors="replace")
                if word in words and word not in vectors:
                    vectors[word] = _numbers(parts[-size:], f"{path}, line {number}")
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not vectors:
        raise TextcriticError(f"{path}: has a vector of no word of the corpus; give vectors of its language")
    return vectors


def _numbers(parts: list[bytes], where: str) -> np.ndarray:
    try:
        values = np.array([float(part) for part in parts], np.float32)
    except ValueError as error:
        raise TextcriticError(f"{where}: not numbers behind the word; set `size` to how many there are") from error
    if not np.isfinite(values).all():
        raise TextcriticError(f"{where}: a number is not finite")
    return values
