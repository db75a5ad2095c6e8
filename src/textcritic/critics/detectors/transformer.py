"""A transformer that reads a sentence and its document: the detectors of Shen et al. 2021, section 5."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from transformers import AutoModelForSequenceClassification, PreTrainedModel, PreTrainedTokenizerFast

from textcritic.batches import batched
from textcritic.critics.detectors.encoded import Encoded, Network, Padding, answers_of
from textcritic.critics.detectors.learner import Files, Lessons, require_both_answers
from textcritic.critics.detectors.questions import Question
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Detector
from textcritic.plan.entries.detectors import TransformerDetector
from textcritic.training.load import load_model, load_tokenizer
from textcritic.training.loop import Loop

AT_ONCE = 2000  # questions
LABELS = {0: "own", 1: "intruder"}


class Transformer(Network):
    """A pretrained or new transformer with a small network on top of it, as transformers builds it.

    Args:
        model: a sequence classification model of two classes.
        tokenizer: its own.
        entry: of the detector.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, entry: Detector) -> None:
        assert entry.training is not None
        self.model: PreTrainedModel = model
        self.tokenizer, self.training, self.made = tokenizer, entry.training, {}
        self.max_tokens = _settings_of(entry).max_tokens
        _require_room(model, tokenizer, self.max_tokens)

    @classmethod
    def learn(cls, lessons: Lessons, entry: Detector, files: Files, seed: int, loop: Loop) -> Self:
        """Fine-tune, or train from random weights; with `freeze`, only what is on top of the encoder."""
        require_both_answers(lessons.train)
        settings = _settings_of(entry)
        init = {"folder": str(files.pretrained)} if files.pretrained else settings.init.plain()
        tokenizer = load_tokenizer(str(files.tokenizer or files.pretrained))
        labels = {"id2label": LABELS, "label2id": {name: number for number, name in LABELS.items()}}
        model = load_model(AutoModelForSequenceClassification, init, tokenizer, seed, new_head=True, **labels)
        if settings.freeze:
            model.base_model.requires_grad_(False)
        return cls(model, tokenizer, entry).train(lessons, seed, loop, {})

    def encode(self, questions: Sequence[Question]) -> Encoded:
        """Tokens of each question; the longer text is cut at its end until both fit.

        That is the document, unless the sentence is longer than half of `max_tokens`.
        """
        tokens, types, lengths, cut = [np.empty(0, np.int32)], [np.empty(0, np.int8)], [0], 0
        for chunk in batched(questions, AT_ONCE):
            first = [question.first for question in chunk]
            second = None if chunk[0].second is None else [str(question.second) for question in chunk]
            encoded = self.tokenizer(
                first, second, truncation="longest_first", max_length=self.max_tokens,
                split_special_tokens=True, return_token_type_ids=True, return_attention_mask=False,
            )  # fmt: skip
            tokens += [np.array(row, np.int32) for row in encoded["input_ids"]]
            types += [np.array(row, np.int8) for row in encoded["token_type_ids"]]
            lengths += [len(row) for row in encoded["input_ids"]]
            cut += sum(bool(one.overflowing) for one in encoded.encodings or ())
        padding = Padding(
            self.tokenizer.pad_token_id, self.tokenizer.pad_token_type_id, self.tokenizer.padding_side == "left"
        )
        of_types = np.concatenate(types) if self._reads_types() else None
        return Encoded(np.concatenate(tokens), of_types, np.cumsum(lengths), answers_of(questions), padding, cut)

    def save(self, folder: Path) -> None:
        """As transformers does."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    @classmethod
    def load(cls, folder: Path, entry: Detector) -> Self:
        """From the folder of a detector."""
        tokenizer = load_tokenizer(folder)
        return cls(load_model(AutoModelForSequenceClassification, {"folder": str(folder)}, tokenizer), tokenizer, entry)

    def _reads_types(self) -> bool:
        """Whether the model distinguishes the two texts by types of tokens; RoBERTa does not."""
        return bool(getattr(self.model.config, "type_vocab_size", 2) > 1)


def _settings_of(entry: Detector) -> TransformerDetector:
    assert entry.model.transformer is not None
    return entry.model.transformer


def _require_room(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, max_tokens: int) -> None:
    if tokenizer.pad_token_id is None:
        raise TextcriticError("the tokenizer has no padding token; use an encoder that has one, like BERT")
    positions = getattr(model.config, "max_position_embeddings", -1)
    if model.config.model_type in ("roberta", "xlm-roberta", "camembert"):
        positions -= model.config.pad_token_id + 1  # its positions are counted from behind the padding's number
    if 0 < positions < max_tokens:  # XLNet has no table of positions
        raise TextcriticError(
            f"model.transformer.max_tokens: {max_tokens} is more than the encoder's {positions} positions; use at most"
            " that"
        )
