"""Detectors of intruder sentences, entries of the registry `critics`."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from textcritic.plan.entries.base import Entry, Number, key, optional
from textcritic.plan.entries.parts import (
    Batches,
    CriticName,
    DownloadPath,
    EncodingName,
    FromConfig,
    FromFolder,
    FromHub,
    GeneratorName,
    GpuJob,
    Setting,
)
from textcritic.plan.spec import Schema


class Majority(Entry):
    """The commoner class."""


class Bag(Entry):
    """Logistic regression on TF-IDF."""

    minimum_count: int = key(
        "words that occur in fewer sentences of the train split are left out; ours, the paper names none", 2, ge=1
    )
    inverse_penalty: Number = key(
        "scikit-learn's C, the inverse of the penalty on squared weights; its default, the paper names none",
        1.0,
        gt=0,
    )


class Embeddings(Entry):
    """Means of word vectors."""

    vectors: DownloadPath | None = key(
        "text file of GloVe with a word and its numbers in each line; only the words of the corpus are kept."
        " null means vectors that start at random",
        None,
        min_length=1,
    )
    size: int = key("numbers of a word's vector; 300 is the paper's", 300, ge=1)
    tuned: bool = key("train the vectors too; where they start at random they always are", True)
    hidden: int = key("units of the hidden layer; ours, the paper names none", 512, ge=1)
    minimum_count: int = key(
        "words that occur fewer times in the sentences of the train split are all one unknown word", 2, ge=1
    )
    longest: int = key(
        "words of sentence and document together that are read; the document is cut at its end", 512, ge=8
    )


class Bilstm(Embeddings):
    """A bidirectional LSTM."""

    states: int = key(
        "of each direction; 512 is the paper's, which does not say whether of one or of both together", 512, ge=1
    )


class TransformerDetector(Entry):
    """A transformer that reads sentence and document."""

    init: FromHub | FromFolder | FromConfig = key("where its weights come from")
    encoding: EncodingName | None = optional(
        "an entry of the encodings registry; needed with `init.config`, otherwise the model's own tokenizer is used",
    )
    max_tokens: int = key(
        "tokens of sentence and document together that are read; the longer one is cut at its end, and how"
        " often is in training.json. The paper names none",
        512,
        ge=8,
    )
    freeze: bool = key("train only what is on top of the encoder, as the paper's ALBERT-xxLarge-freeze", False)


class Surprise(Entry):
    """A log-probability alone and after the sentences before."""

    generator: GeneratorName = key(
        "an entry of the generators registry, of kind causal or ngram, the latter with `smoothing:"
        " interpolated`; its training has the detector's seed",
    )
    setting: Setting = key("the setting that it was trained in", "wo-title")
    per: Literal["token", "total"] = key(
        "`token`, nats a token of the sentence, so that long sentences compare with short ones; `total`,"
        " nats, the pointwise mutual information of sentence and context",
        "token",
    )


class Nll(Entry):
    """The Latent NLL of a document with and without the sentence."""

    critic: CriticName = key(
        "an entry of this registry, of kind ctm (nats a document), mentions with a resolver of kind"
        " persons or nearest (nats a token of the chain), or order (nats a document)",
    )


Descending = Embeddings | Bilstm | TransformerDetector
"""What is trained by gradient steps."""
Untrained = Surprise | Nll
"""What learns nothing, and is made with another model."""


class DetectorModel(Entry):
    """What judges a sentence: one of the keys."""

    schema_words: ClassVar[Schema] = {"minProperties": 1, "maxProperties": 1}

    majority: Majority | None = optional("the commoner class: no sentence is an intruder")
    bag: Bag | None = optional(
        "logistic regression on TF-IDF, by scikit-learn; of a sentence and its document, also on the"
        " cosine between them",
    )
    embeddings: Embeddings | None = optional(
        "the mean of the word vectors of sentence and document, a hidden layer and a softmax; the paper's BoW"
    )
    bilstm: Bilstm | None = optional(
        "a bidirectional LSTM over the words of sentence and document, the mean of its states, a hidden"
        " layer and a softmax",
    )
    transformer: TransformerDetector | None = optional(
        "a transformer that reads sentence and document, with the layers on top that transformers gives a"
        " classifier of sequences",
    )
    surprise: Surprise | None = optional(
        "nothing is trained: a sentence's score is its log-probability alone minus that after the"
        " sentences before it, under a language model that was trained on the corpus that the documents"
        " are cut out of; the threshold is that of the best F1 on the validation split",
    )
    nll: Nll | None = optional(
        "nothing is trained: a sentence's score is the Latent NLL of its document by a critic minus that"
        " of the document without the sentence, or by how much more the document without it is in order;"
        " the critic was fitted on the corpus that the documents are cut out of. The threshold as of"
        " `surprise`",
    )

    @property
    def kind(self) -> str:
        """The key that is given."""
        return next(name for name, _ in self._present())

    @property
    def settings(self) -> Majority | Bag | Descending | Untrained:
        """What that key says."""
        chosen: Majority | Bag | Descending | Untrained = getattr(self, self.kind)
        return chosen

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(list(self._present())) != 1:
            raise ValueError("give one of its keys")
        return self


class DetectorTraining(Batches):
    """How a detector is trained."""

    batch_size: int = key("sentences in one forward pass", 32, ge=1)
    accumulation: int = key(
        "forward passes in one update. 16 sentences in 2 passes are 32 in 1, but for rounding and the"
        " random numbers of dropout, and take about half the memory",
        1,
        ge=1,
    )
    epochs: Number | None = key("passes over the sentences of the train split; null means by steps", None, gt=0)


class Detector(GpuJob, title="a detector of intruder sentences (kind detector)"):
    """A detector of intruder sentences."""

    kind: Literal["detector"] = key(
        "says of each sentence whether it belongs into its document (Shen et al. 2021, Evaluating Document"
        " Coherence Modeling)",
    )
    bring: str | None = optional(
        "how to get its folder, where it is not downloaded, for the line that says that it is missing", min_length=1
    )
    label: str | None = optional("its name in tables and figures; by default the name of the entry", min_length=1)
    model: DetectorModel = key(
        "what judges a sentence; one of the keys. Those up to `transformer` learn from documents with and"
        " without intruders, the other two learn nothing",
    )
    test: Literal["intruder", "next", "order"] = key(
        "what is asked: `intruder`, whether a sentence is an intruder in its document (the paper's question);"
        " `next`, whether a sentence follows the one before it; `order`, whether two neighbouring sentences are"
        " in the right order. The last two are ours: they learn only from coherent documents, the score of a"
        " sentence is the mean score of its questions, and the threshold is the one with the best F1 on the"
        " validation split",
        "intruder",
    )
    reads: Literal["pair", "sentence"] = key(
        "`pair`, the sentence and its whole document; `sentence`, the sentence alone, which tests the"
        " corpus for artefacts (section 4.4)",
        "pair",
    )
    opening: bool = key(
        "ask about the opening sentence too, in training and prediction, though it is never an intruder (footnote 8)",
        False,
    )
    training: DetectorTraining | None = key(
        "how it is trained; for `embeddings`, `bilstm` and `transformer`. What has the lowest loss on the"
        " validation split is kept. The paper says nothing of all this",
        None,
    )
    runtime: str = key("time limit of the job that trains it", "2h")
