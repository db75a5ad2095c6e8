"""What entries of several registries share."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Literal

from textcritic.errors import TextcriticError
from textcritic.plan.entries.base import Entry, Keywords, Number, key, limits, names, pattern

EncodingName = Annotated[str, names("encodings")]
HubName = Annotated[str, names("hub")]
CorpusName = Annotated[str, names("corpora")]
GeneratorName = Annotated[str, names("generators")]
DecodingName = Annotated[str, names("decodings")]
ClassifierName = Annotated[str, names("classifiers")]
ResolverName = Annotated[str, names("resolvers")]
CriticName = Annotated[str, names("critics")]
EmbedderName = Annotated[str, names("embedders")]
AnnotationsName = Annotated[str, names("annotations")]
ProposalName = Annotated[str, names("proposals")]
DatasetName = Annotated[str, names("datasets")]
DownloadPath = Annotated[str, names("downloads")]
"""The path of a file, which names an entry only if rules/download.smk fetches it."""
BroughtPath = Annotated[str, Keywords((("brought", True),))]
"""The path of a file or folder that users bring."""
Matmul = Literal["highest", "high", "medium"]
Precision = Literal["auto", "fp32", "bf16"]
Setting = Literal["w-title", "wo-title"]
Words = Annotated[str, pattern(r"\S")]
WordSplitter = Annotated[str, pattern(r"^(spaces|characters|unicode|[\w.]+:\w+)$")]
Revision = (
    Annotated[str, limits(title="a commit, 40 hexadecimal digits"), pattern("^[0-9a-f]{40}$")]
    | Annotated[str, limits(title="a branch or tag"), pattern("^(?![0-9a-f]{7,}$)[0-9A-Za-z][0-9A-Za-z._/-]*$")]
)
REVISION = (
    "the commit, 40 hexadecimal digits, so that everybody gets the same files; or a branch or tag,"
    " e.g. main, whose commit `textcritic lock` looks up and writes to hub.lock"
)
MATMUL = (
    "of matrix products in fp32 (`torch.set_float32_matmul_precision`): `highest` keeps all digits;"
    " with `high` a GPU with tensor cores computes them in TF32, many times faster, with about three"
    " decimal digits. It changes nothing of what is computed in bf16"
)
WORDS = (
    "how words are found in writing without spaces, before text is cut: `spaces`, as it is;"
    " `characters`, each character of Chinese, Japanese, Thai, Lao, Khmer, Burmese or Tibetan is a"
    " word; `unicode`, by the Unicode rules (UAX 29); or `MODULE:FUNCTION`, an installed function that"
    " makes a list of words of a text, such as `jieba:lcut`. `textcritic criticise` chooses"
    " `characters` where the reference has no spaces"
)
OPENING = (
    "only articles whose first section opens like this are resolved, in real text and in samples; the"
    " others are rejected and counted. null for all. The released code of the model-criticism paper"
    " keeps films by `{matches: '.*is a.*film.*', of: sentence, word: film, without: born}`, its"
    " appendix G says `{matches: '.*is a.*film.*'}`"
)
LANGUAGE = (
    "the words that tell who is meant (pronouns by gender, titles, names): `en`, or the path of a file"
    " of one's own, relative to the working directory; the file of English,"
    " `latents/resolvers/languages/en.yaml` of the package, says how one is written"
)


class Job(Entry):
    """Resources of the jobs of an entry."""

    threads: int = key("CPU threads of its jobs", 1, ge=1)
    mem_mb: int = key("memory of its jobs", 4000, ge=500)
    runtime: str = key("time limit of its jobs", "2h")


class GpuJob(Job):
    """Resources of jobs that may use a GPU."""

    gpu: int = key("GPUs of its jobs", 0, ge=0, le=1)


class Steps(Entry):
    """A training by gradient steps."""

    learning_rate: Number = key("peak learning rate of Adam", gt=0)
    warmup_steps: int = key("updates until the peak", 0, ge=0)
    weight_decay: Number = key("decoupled weight decay", 0.0, ge=0)
    checkpoint_seconds: Number = key("seconds between two checkpoints", 300, ge=0)
    precision: Precision = key("auto: bf16 on a GPU, fp32 on a CPU", "auto")
    float32_matmul_precision: Matmul = key(MATMUL, "highest")


class Descent(Steps):
    """A training by gradient steps for so many steps or epochs; the best checkpoint is kept."""

    accumulation: int = key("forward passes in one update", 1, ge=1)
    schedule: Literal["constant", "linear", "cosine", "inverse_sqrt"] = key("decay after the warm-up", "linear")
    steps: int | None = key("updates in all; null means by epochs", None, ge=1)
    adam_beta2: Number = key("decay of Adam's mean squared gradient", 0.999, gt=0, lt=1)
    gradient_clip: Number | None = key("largest norm of the gradient; null means no clipping", 1.0, gt=0)
    evaluate_every: int | None = key("updates between validations; null means once an epoch", None, ge=1)
    epochs: Number | None = key("passes over the train split; null means by steps", None, gt=0)

    @property
    def method(self) -> str:
        """The optimiser, see `training.optimiser`."""
        return "adam"

    def check_length(self) -> None:
        """See that there is one length, in steps or in epochs; raises TextcriticError."""
        if (self.steps is None) == (self.epochs is None):
            raise TextcriticError("training: give steps or epochs, one of the two")

    def total_steps(self, steps_of: Callable[[float], int]) -> int:
        """Steps in all, where `steps_of` gives those of so many epochs.

        Raises:
            TextcriticError: neither or both of `steps` and `epochs`, or none above 0.
        """
        self.check_length()
        total = int(self.steps or 0) if self.epochs is None else steps_of(self.epochs)
        if total < 1:
            raise TextcriticError("training: steps or epochs: should be above 0")
        return total

    def deciding(self) -> dict[str, Any]:
        """The settings that are no defaults, but for how often a checkpoint is saved: a training is known by them.

        So a key that a later version adds does not part a training under way from its checkpoints. A default that a
        later version changes would go unnoticed: raise the format of its state, or the stage's version, with it.
        """
        return self.decided(("checkpoint_seconds",))


class Batches(Descent):
    """A training whose updates read several batches of texts."""

    batch_size: int

    @property
    def texts(self) -> int:
        """Texts in an update; those of a detector are sentences."""
        return self.batch_size * self.accumulation


class FromHub(Entry, title="{hub: NAME}"):
    """Weights of the hub."""

    hub: HubName = key("an entry of the hub registry")


class FromFolder(Entry, title="{folder: PATH}"):
    """Weights of a folder."""

    folder: BroughtPath = key("a model saved by transformers")


class Architecture(Entry, extra="allow"):
    """An architecture, in the keys of its transformers configuration."""

    model_type: str = key("the architecture's name, e.g. gpt2 or bert")


class FromConfig(Entry, title="{config: {model_type: ..., ...}}"):
    """Random weights."""

    config: Architecture = key("the architecture, in the keys of its transformers configuration; initialised at random")


class SourceBlock(Entry):
    """Samples that are compared: all combinations of the lists."""

    bases_first: ClassVar[bool] = True

    corpora: list[CorpusName] = key("entries of the corpora registry", min_length=1)
    settings: Sequence[Setting] = key(
        "with titles in the text, without, or both", ["w-title", "wo-title"], min_length=1
    )
    generators: list[GeneratorName] = key("entries of the generators registry", min_length=1)
    decodings: list[DecodingName] = key("entries of the decodings registry", min_length=1)
    seeds: list[Annotated[int, limits(ge=0)]] = key(
        "trainings, each by the seed of its random numbers", [1], min_length=1
    )
    draws: list[Annotated[int, limits(ge=0)]] = key(
        "draws from each training, whose random numbers come from seed and draw together", [1], min_length=1
    )
