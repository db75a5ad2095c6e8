"""Units of work of a job, by name: documents, tokens, steps and operations, from its wildcards and what these name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from textcritic.plan.checks.decodings import BEAM_SAMPLING, BEST_OF, LIKELIEST
from textcritic.plan.costs.models import Transformer, of_fairseq, of_init
from textcritic.plan.costs.sizes import Size, Sizes
from textcritic.plan.entries.encodings import SYMBOLS
from textcritic.plan.registries import Registries
from textcritic.plan.stage_costs import BEYOND, WEIGHED_DRAW
from textcritic.values import JsonObject

# What a rule's name begins with, and the registry and the wildcard of the model that its jobs ask.
ASKED = (
    ("train_classifier", "classifiers", "classifier"),
    ("infer_", "classifiers", "classifier"),
    ("infer_", "resolvers", "resolver"),
    ("measure_neural", "resolvers", "resolver"),
    ("measure_neural", "critics", "critic"),
    ("train_detector", "critics", "detector"),
    ("predict_", "critics", "detector"),
    ("train_proposal", "proposals", "proposal"),
    ("embed_", "embedders", "embedder"),
    ("", "generators", "generator"),
)


NO_MODEL = Transformer(0, 1, 0, 0, 0)


@dataclass(frozen=True)
class Job:
    """A job as its cost sees it.

    Args:
        rule: its name.
        wildcards: their values by name.
        registries: the entries that these name.
        sizes: of corpora.
    """

    rule: str
    wildcards: Mapping[str, str]
    registries: Registries
    sizes: Sizes

    def entry(self, registry: str, wildcard: str) -> JsonObject:
        """The registry entry that a wildcard names."""
        return self.registries.entry(registry, self.wildcards[wildcard]).plain()

    @property
    def corpus(self) -> Size:
        """The corpus, or that which a detector was trained on."""
        return self.sizes.of(self.wildcards.get("corpus") or self.wildcards.get("trained", ""))

    @property
    def decoding(self) -> JsonObject:
        """How the job draws; nothing where it draws nothing."""
        return self.entry("decodings", "decoding") if self.rule.startswith("sample_") else {}

    @property
    def drawn_exactly(self) -> bool:
        """Whether its texts are drawn in fp32."""
        return self.decoding.get("precision") == "fp32"

    @property
    def guessed(self) -> bool:
        """Whether nobody knows the size of its corpus."""
        return "corpus" in self.wildcards and self.corpus.source == "guessed"

    @property
    def documents(self) -> float:
        """Those that the job reads: of a sample, of a split, or else of test."""
        decoding = self.wildcards.get("decoding") or self._of_path("samples/", -2)
        if decoding in self.registries.entries["decodings"]:
            shards = self.wildcards.get("shard", "").partition("-of-")[2]
            articles = self.registries.entry("decodings", decoding).articles
            return articles / self._shards(shards)
        split = self.wildcards.get("split") or self._of_path("data/", -1) or "test"
        return float(getattr(self.corpus, split, self.corpus.test))

    def _shards(self, named: str) -> int:
        if "shard" not in self.wildcards or "decoding" not in self.wildcards:
            return 1
        return int(named) if named else self.entry("decodings", "decoding")["shards"] or 1

    def _of_path(self, start: str, place: int) -> str:
        """A part of the wildcard `texts`, which names a split or a sample by its path."""
        texts = self.wildcards.get("texts", "")
        return texts.split("/")[place] if texts.startswith(start) else ""

    @property
    def length(self) -> float:
        """Tokens of a document, or of a text that is drawn, which its decoding may cut."""
        length = self.corpus.tokens
        if "decoding" in self.wildcards and self.wildcards["decoding"] in self.registries.entries["decodings"]:
            return float(min(length, self.entry("decodings", "decoding")["max_tokens"]))
        return length

    @property
    def trained(self) -> JsonObject:
        """The entry of the model that the job trains or asks."""
        for start, registry, wildcard in ASKED:
            if self.rule.startswith(start) and wildcard in self.wildcards:
                entry = self.entry(registry, wildcard)
                if "generator" in entry and registry == "embedders":
                    return self.registries.entry("generators", entry["generator"]).plain()
                return {**entry, "init": {"hub": entry["model"]}} if registry == "resolvers" else entry
        raise LookupError(f"{self.rule}: asks no model that is known")

    def vocabulary(self, encoding: str | None) -> int:
        """Symbols of an encoding: those that it is trained to have, or those of its checkpoint."""
        if encoding not in self.registries.entries["encodings"]:
            return 50257
        entry = self.registries.entry("encodings", encoding)
        return entry.vocabulary or (60 if entry.reads == SYMBOLS else 50257)

    def transformer(self) -> Transformer:
        """The transformer that the job trains or asks; GPT-2 small's size where it is not known."""
        entry = self.trained
        if entry.get("kind") == "fairseq":
            return of_fairseq(entry["architecture"], entry["options"], self.vocabulary(entry["encoding"]))
        model = entry.get("model")
        if entry.get("kind") == "detector" and "transformer" not in entry["model"]:
            return self._other_detector(entry["model"])
        about = model["transformer"] if isinstance(model, dict) and "transformer" in model else entry
        return of_init(about.get("init", {}), self.vocabulary(about.get("encoding", entry.get("encoding"))))[0]

    def _other_detector(self, model: JsonObject) -> Transformer:
        """Of detectors that are no transformers what costs operations: the generator that one asks, or an LSTM."""
        if "surprise" in model:
            init = self.registries.entry("generators", model["surprise"]["generator"]).plain().get("init")
            return of_init(init, self.vocabulary(None))[0] if init else NO_MODEL
        return Transformer(1, model["bilstm"].get("states") or 300, 1200, 0, 0) if "bilstm" in model else NO_MODEL


def _training_tokens(job: Job) -> float:
    """Tokens of a training, validation losses not counted."""
    entry, training = job.trained, job.trained.get("training") or {}
    if entry.get("kind") == "fairseq":  # an update has at most so many
        return float((training["steps"] or 0) * training["max_tokens"] * training["accumulation"])
    if "max_tokens" in entry or entry["kind"] == "detector":
        return _sentences(job, "train") * _sentence_length(job) * (training.get("epochs") or 1)
    if training.get("steps"):
        # Padded to the longest of a batch where a block is an article.
        length = min(training["context"], job.corpus.tokens if training["blocks"] == "articles" else 1e9)
        return float(training["steps"] * training["batch_size"] * training["accumulation"] * length)
    return float((training["epochs"] or 1) * job.corpus.train * job.corpus.tokens)


def _evaluated_tokens(job: Job) -> float:
    training = job.trained.get("training") or {}
    if "context" not in training:
        return 0.0
    tokens = job.corpus.validation * job.corpus.tokens
    if training.get("evaluate_blocks"):
        tokens = min(tokens, training["evaluate_blocks"] * training["context"])
    every = training.get("evaluate_every")
    return tokens * (training["steps"] / every if every and training.get("steps") else training.get("epochs") or 1)


def _sentences(job: Job, split: str) -> float:
    """Texts that an encoder reads: sections for a classifier; all sentences but the first for a detector."""
    documents = float(getattr(job.corpus, split))
    return documents * (4 if "classifier" in job.wildcards or "detector" in job.wildcards else 1)


def _sentence_length(job: Job) -> float:
    entry = job.trained
    if "max_tokens" in entry:
        return float(min(entry["max_tokens"], job.corpus.tokens / 4))
    if entry.get("reads") == "sentence":
        return job.corpus.tokens / 5
    most = entry["model"].get("transformer", {}).get("max_tokens", 512)
    return float(min(most, job.corpus.tokens * 1.2))


def _context(job: Job) -> float:
    training = job.trained.get("training") or {}
    return float(min(training.get("context", 1e9), job.corpus.tokens if "context" not in training else 1e9))


def _training_operations(job: Job) -> float:
    entry, model = job.trained, job.transformer()
    passes = 4 if (entry.get("training") or {}).get("activation_checkpointing") else 3
    forward = model.forward(_context(job))
    return forward * (passes * _training_tokens(job) + _evaluated_tokens(job))


def _updates(job: Job) -> float:
    training = job.trained.get("training") or {}
    if training.get("steps"):
        return float(training["steps"])
    return float(training.get("epochs", 1) * _sentences(job, "train") / training.get("batch_size", 16))


def _read_tokens(job: Job) -> float:
    """Tokens of what a transformer reads once: documents of a generator, sentences of a classifier or detector."""
    if "detector" in job.wildcards or "classifier" in job.wildcards:
        return 4 * job.documents * _sentence_length(job)
    return job.documents * job.corpus.tokens


def _steps_side_by_side(job: Job) -> float:
    """Tokens drawn one after the other, each for a batch of texts, times the layers that each passes."""
    batches: float = max(
        1.0, _texts(job) / min(job.entry("decodings", "decoding")["batch_size"], max(job.documents, 1))
    )
    # With a stride of 1 each token past the window is a pass over the whole window.
    return batches * job.length * max(1, job.transformer().layers)


def _texts(job: Job) -> float:
    """Texts that are drawn: of some methods, several for each that is kept."""
    decoding = job.entry("decodings", "decoding")
    return float(job.documents * (decoding["beam"] if decoding["method"] in (LIKELIEST, BEAM_SAMPLING, BEST_OF) else 1))


def _drawn_tokens(job: Job) -> float:
    return _texts(job) * job.length


def _drawn_operations(job: Job) -> float:
    context = float(job.trained.get("training", {}).get("context", job.length))
    past = max(job.length - context, BEYOND * job.length)  # lengths differ: some texts are longer than their mean
    strided = job.entry("decodings", "decoding")["stride"] == 1
    again = past * context if strided else past
    return (job.length + again) * _drawn_tokens(job) / max(job.length, 1) * job.transformer().forward(context)


def _latent_tokens(job: Job) -> float:
    return float(job.trained["training"].get("epochs") or 1) * job.corpus.train * job.corpus.tokens


def _draws(job: Job) -> float:
    """Draws of the states of every test text, times what one costs on a card, as declared."""
    shard = job.wildcards.get("shard", "0")
    first, _, last = shard.partition("-")
    temperatures = job.wildcards.get("temperatures", "").count("-") + 1
    samples = int(job.wildcards.get("samples", 1)) * (int(last or first) - int(first) + 1) * temperatures
    return samples * WEIGHED_DRAW.get(job.trained["kind"], 1.0)


def _test_tokens_drawn(job: Job) -> float:
    samples = _draws(job) / WEIGHED_DRAW.get(job.trained["kind"], 1.0)
    return samples * job.corpus.test * job.corpus.tokens


def _paths_drawn(job: Job) -> float:
    """The same of a hidden semi-Markov model, of 800 states or so many as it has."""
    return _test_tokens_drawn(job) * float(job.trained["states"]) / 800


def _hsmm_updates(job: Job) -> float:
    training = job.trained["training"]
    if training["method"] != "adam":
        return 0.0
    return float((training["epochs"] + training["pretraining_epochs"]) * job.corpus.train / training["batch_size"])


def _hsmm_passes(job: Job) -> float:
    """Sequences read in all iterations of EM, times the square of the states: 0.8 thousand of them are 0.64."""
    entry = job.trained
    if entry["training"]["method"] == "adam":
        return 0.0
    tokens = entry["training"]["iterations"] * job.corpus.train * job.corpus.tokens
    return float(tokens * (entry["states"] / 800) ** 2)


def _topic_fit(job: Job) -> float:
    critic = job.entry("critics", "critic")
    return float(critic["starts"] * job.corpus.train * job.corpus.tokens * critic["topics"] / 100)


def _topic_read(job: Job) -> float:
    return float(job.documents * job.corpus.tokens * job.entry("critics", "critic")["topics"] / 100)


def _lda_sweeps(job: Job) -> float:
    critic = job.entry("critics", "critic")
    return float(critic["starts"] * critic["iterations"] * job.corpus.test * job.corpus.tokens)


Unit = Callable[[Job], float]
UNITS: Mapping[str, Unit] = {
    "1": lambda job: 1.0,
    "documents": lambda job: job.documents,
    "dump share": lambda job: 1 / max(1, job.entry("corpora", "corpus")["options"]["shards"]),
    "tendency share": lambda job: (
        job.documents * job.corpus.tokens / max(1, job.entry("critics", "critic")["shards"] or 1)
    ),
    "tokens": lambda job: job.documents * job.corpus.tokens,
    "train documents": lambda job: job.corpus.train,
    "train tokens": lambda job: job.corpus.train * job.corpus.tokens,
    "all documents": lambda job: job.corpus.documents,
    "all tokens": lambda job: job.corpus.documents * job.corpus.tokens,
    "training operations": _training_operations,
    "updates": _updates,
    "read operations": lambda job: _read_tokens(job) * job.transformer().forward(_context(job)),
    "drawn operations": _drawn_operations,
    "drawn tokens": _drawn_tokens,
    "layers passed": _steps_side_by_side,
    "trained sentences": lambda job: _sentences(job, "train") * (job.trained["training"] or {}).get("epochs", 1),
    "sentences": lambda job: 4 * job.documents,
    "latent tokens": _latent_tokens,
    "declared draws": _draws,
    "drawn states": _test_tokens_drawn,
    "drawn paths": _paths_drawn,
    "HSMM updates": _hsmm_updates,
    "HSMM passes": _hsmm_passes,
    "topic fits": _topic_fit,
    "topics read": _topic_read,
    "sweeps": _lda_sweeps,
}
OPERATIONS = ("training operations", "read operations", "drawn operations")
