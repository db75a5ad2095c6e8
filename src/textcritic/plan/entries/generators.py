"""Entries of the registry `generators`: language models that are trained on a corpus."""

import math
from typing import Any, Literal

from textcritic.plan.entries.base import Entry, Number, key, optional
from textcritic.plan.entries.parts import BroughtPath, Descent, EncodingName, FromConfig, FromFolder, FromHub, GpuJob


class CausalTraining(Descent):
    """How a causal transformer is trained."""

    context: int = key("tokens in a block", ge=2)
    blocks: Literal["packed", "articles"] = key(
        "where blocks begin: `packed`, one after the other (the papers' way), or `articles`, each with an"
        " article, so that a model trained on little text learns how articles begin",
        "packed",
    )
    batch_size: int = key("blocks in one forward pass, over all GPUs together", 8, ge=1)
    epochs: Number | None = key("passes over the train split; null means by steps, 0 the model as it is", None, ge=0)
    evaluate_blocks: int | None = key("validation blocks used; null means all", None, ge=1)
    activation_checkpointing: bool = key("recompute activations to save memory", False)

    def steps_of(self, epochs: float, blocks: int) -> int:
        """Optimiser steps in so many passes over so many blocks."""
        return math.ceil(epochs * blocks / (self.batch_size * self.accumulation))


class Causal(GpuJob, title="a causal transformer (kind causal)"):
    """A causal transformer of the transformers library."""

    kind: Literal["causal"] = key("a causal transformer of the transformers library")
    label: str | None = optional("what tables and figures call it")
    encoding: EncodingName = key("an entry of the encodings registry")
    init: FromHub | FromFolder | FromConfig = key("where its weights come from")
    training: CausalTraining = key("how it is trained; the checkpoint with the lowest validation loss is kept")
    gpu: int = key("GPUs of its training job, on one node; its other jobs ask for one at most", 0, ge=0, le=8)
    runtime: str = key("time limit of its training job", "2h")


class Ngram(Entry, title="an n-gram model on words (kind ngram)"):
    """An n-gram model on words."""

    kind: Literal["ngram"] = key("an n-gram model on words")
    label: str | None = optional("what tables and figures call it")
    order: int = key("words in an n-gram", 3, ge=1)
    smoothing: Literal["none", "interpolated"] = key(
        "maximum likelihood, or a mixture of all orders, which is drawn from as it is: without"
        " temperature, top_k or top_p, and by no other method",
        "none",
    )
    shuffled: bool = key(
        "whether the words of all train articles change places with each other before they are counted:"
        " lengths and sections stay, what goes with what is lost; a baseline for critics of topics",
        False,
    )
    mem_mb: int = key(
        "memory of its jobs; when n-grams are counted, half of it is for sorting them, and it can be less"
        " than they take",
        4000,
        ge=500,
    )
    runtime: str = key("time limit of its jobs", "2h")


class HsmmTraining(Entry):
    """How a hidden semi-Markov model is trained."""

    method: Literal["em", "adam"] = key(
        "`em`, expectation maximisation from segments and states that are found beforehand, or `adam`, the"
        " paper's gradient descent from random tables over all states and n-grams (appendix D)",
        "em",
    )
    iterations: int = key("em: passes over the train split, at most", 10, ge=1)
    tolerance: Number = key("em: ends when the validation loss, in nats per token, falls by less", 0.0001, ge=0)
    transition_prior: Number = key(
        "em: for each state, transitions added to a row of the table, spread as the states follow any state",
        0.1,
        ge=0,
    )
    epochs: int = key("adam: passes over the train split", 10, ge=1)
    pretraining_epochs: int = key("adam: passes before those that train the emission table alone", 1, ge=0)
    batch_size: int = key("adam: sequences in one update", 8, ge=1)
    learning_rate: Number = key("adam: at first", 0.3, gt=0)
    pretraining_learning_rate: Number = key("adam: while the emission table alone is trained", 0.1, gt=0)
    minimum_learning_rate: Number = key("adam: the least", 0.0003, gt=0)
    decay: Number = key(
        "adam: what the learning rate is divided by; 2 is the paper's text, 4 the released code's", 2.0, gt=1
    )
    evaluate_every: int = key(
        "adam: updates between validations; the learning rate is divided when one is no better", 240, ge=1
    )
    checkpoint_seconds: Number = key("seconds between two checkpoints", 300, ge=0)


class Hsmm(GpuJob, title="a hidden semi-Markov language model (kind hsmm)"):
    """A hidden semi-Markov model: states that emit segments of tokens."""

    kind: Literal["hsmm"] = key("a hidden semi-Markov model: states that emit segments of tokens")
    label: str | None = optional("what tables and figures call it")
    encoding: EncodingName = key("an entry of the encodings registry")
    states: int = key("hidden states", ge=1)
    longest: int = key("tokens of the longest segment", 11, ge=1)
    most_common: int = key("n-grams of each length that can be emitted, the commonest of the train split", 250000, ge=1)
    training: HsmmTraining = key("how it is trained; the model with the lowest validation loss is kept", HsmmTraining)
    runtime: str = key("time limit of its training job", "2h")


class FairseqTraining(Descent):
    """How a model of fairseq is trained."""

    max_tokens: int = key("tokens in one forward pass, of source or target, whichever are more, padding included", ge=1)
    accumulation: int = key("forward passes in one update, over all GPUs together", 1, ge=1)
    schedule: Literal["constant", "linear", "cosine", "inverse_sqrt"] = key("decay after the warm-up", "inverse_sqrt")
    adam_beta2: Number = key("decay of Adam's mean squared gradient", 0.98, gt=0, lt=1)
    gradient_clip: Number | None = key("largest norm of the gradient; null means no clipping", None, gt=0)
    label_smoothing: Number = key(
        "share of the probability spread over all symbols; 0 with an adaptive softmax", 0.0, ge=0, lt=1
    )

    def steps_of(self, epochs: float, batches: int) -> int:
        """Optimiser steps in so many passes over so many batches."""
        return math.ceil(epochs * batches / self.accumulation)


class Fairseq(GpuJob, title="a model of fairseq (kind fairseq)"):
    """A translator or a language model of fairseq."""

    kind: Literal["fairseq"] = key(
        "a translator of a parallel corpus, or a language model of text, of fairseq 0.12.2 (`textcritic"
        " install fairseq`)",
    )
    label: str | None = optional("what tables and figures call it")
    encoding: EncodingName = key("an entry of the encodings registry; subwords for a translator")
    architecture: str = key(
        "its name in fairseq, e.g. transformer_wmt_en_de, nonautoregressive_transformer,"
        " iterative_nonautoregressive_transformer; of language models transformer_lm,"
        " transformer_lm_wiki103, fconv_lm_dauphin_wikitext103, lstm_lm",
    )
    options: dict[str, Any] = key(
        "fairseq's own arguments of the model, with underscores for hyphens, where they differ from the"
        " architecture's; also max_source_positions and max_target_positions (1024), `noise` (how a"
        " non-autoregressive model's targets are spoilt in training) and `criterion: adaptive_loss` (which"
        " gives fconv_lm and lstm_lm their adaptive softmax)",
        {},
    )
    training: FairseqTraining = key(
        "how it is trained; the checkpoint with the lowest validation loss, exact and without label smoothing, is kept",
    )
    gpu: int = key("GPUs of its training job, on one node; its other jobs ask for one at most", 0, ge=0, le=8)
    runtime: str = key("time limit of its training job", "2h")


class SampleFile(Entry, title="samples that you bring (kind file)"):
    """Samples that are read from a file."""

    kind: Literal["file"] = key("no model: its samples are read from a file")
    label: str | None = optional("what tables and figures call it")
    control: bool = key(
        "whether it is other real text: shown below real text, never ranked; where it differs too, the"
        " report says what that means",
        False,
    )
    path: BroughtPath = key(
        "its articles, relative to the working directory: JSONL, a file .parquet or .arrow, a folder of"
        " these, or a folder that `datasets` saved; on a parallel corpus translations of its test"
        " sentences: plain text, a line each in their order, or `text` with `source`, the sentence, in"
        " JSON lines or a table",
    )
