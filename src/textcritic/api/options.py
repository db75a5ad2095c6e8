"""The options of each function and of its command; loading them loads nothing heavy."""

import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

from textcritic.api.declare import FROM_ZERO, SHARE, Options, Values, one_of, option, or_several, whole
from textcritic.critics.tendencies.options import ENGLISH, TOKENIZERS, Tokenizer
from textcritic.errors import TextcriticError, suggestion
from textcritic.plan.checks.critics import DISCOUNTS, MAXIMUM_ORDER, MOST, PARTS, STARTS, Discount
from textcritic.plan.checks.words import is_way

if TYPE_CHECKING:
    from textcritic.corpora.readers.reading import Reading

SPLITS = 5
RESAMPLES = whole(1, 10_000_000)  # more say nothing that these do not, and take days
HELD_OUT = 0.2  # of the reference, as of the corpora entry `my-articles`
NUM_TOPICS = 20  # of `criticise`
RESOLVERS = ("persons",)
TITLES = ("given", "inferred")
MEASURES = ("order", "tendencies", "topics", "mentions", "recitation", "sentences", "form")
"""What `criticise` measures of texts and articles: names of `api.articles.configure.KINDS`."""
KNOWN_MEASURES = f"known are {', '.join(MEASURES)}"
WAYS_OF_WORDS = Values(
    "spaces, characters, unicode or MODULE:FUNCTION", "spaces|characters|unicode|MODULE:FUNCTION", str, is_way
)
AUTO = "auto"
CORES = "CPU cores (default: all); the numbers do not depend on it"

Name = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class Drawn(Options):
    """What is drawn at random."""

    resamples: int = option(10_000, "of the bootstrap, and the most that permutation tests make", RESAMPLES)
    seed: int = option(1, "of everything that is drawn", whole(0), metavar="S")


@dataclass(frozen=True, kw_only=True)
class FromFiles(Options):
    """How documents are read."""

    text_key: str | None = option(
        None,
        "key or column of the text (default: text; where there is none, the first of messages, completion, generation, "
        "output, response, answer, content)",
        metavar="KEY",
    )
    title_key: str | None = option(None, "key or column of titles, of documents and of sections", metavar="KEY")
    id_key: str | None = option(None, "key or column of ids", metavar="KEY")
    keep_reasoning: bool = option(False, "keep what a model wrote between <think> and </think> before its answer")

    @property
    def reading(self) -> "Reading":
        """How documents are read, as their reader has it."""
        from textcritic.corpora.readers.reading import Reading

        return Reading(self.text_key, self.title_key, self.id_key, self.keep_reasoning)


@dataclass(frozen=True, kw_only=True)
class CutIntoWords(FromFiles):
    """How texts are read and cut into words."""

    words: str | None = option(
        None,
        "how words are found: spaces; characters, each character of a script without spaces is a word; unicode, by the "
        "Unicode rules; MODULE:FUNCTION, a function that makes a list of words of a text, such as jieba:lcut (default: "
        "spaces, and characters where the real texts have no spaces between words)",
        WAYS_OF_WORDS,
    )


@dataclass(frozen=True, kw_only=True)
class ChainOptions(FromFiles, Drawn):
    """How chains of titles are criticised."""

    smoothing: float | None = option(
        None,
        "pseudo-count added to every transition, 0 or more; without it, the one of 0.001 ... 10 with the lowest Latent "
        "PPL in 10-fold cross-validation on the real chains (ties: the larger)",
        FROM_ZERO,
        metavar="auto|DELTA",
        none="auto",
    )
    as_released: bool = option(
        False,
        "do as the paper's released code does: rows are normalised over the begin state too, transitions next to an "
        "unknown title are skipped instead of the document rejected, and the smoothing is chosen from 0 and 1",
    )


@dataclass(frozen=True, kw_only=True)
class MentionOptions(FromFiles, Drawn):
    """How chains of mentions are criticised."""

    order: int = option(5, "tokens of a window, 1 to 9; 5 is the paper's", whole(1, MAXIMUM_ORDER))
    discount: Discount = option(
        "kneser-ney",
        "kneser-ney: interpolated, with continuation counts, as the paper's words say; as_released: absolute "
        "discounting, as in its released code; modified: three discounts an order (Chen and Goodman 1999)",
        one_of(DISCOUNTS),
    )
    gender: bool = option(True, "the label None in place of MALE, FEMALE and PLURAL")


@dataclass(frozen=True, kw_only=True)
class CrossFitted(Options):
    """How real documents are judged by critics that have not seen them."""

    parts: int = option(
        PARTS,
        f"real documents are divided into K parts at random, and each part is judged by critics that are fitted on the "
        f"others; if there are more than {MOST:,}, a fifth is held out instead",
        whole(2),
        metavar="K",
    )
    unpaired: bool = option(
        False, "do not take documents of several sets that have the same `group`, `pair` or prompt for pairs"
    )
    held_out: float | None = option(
        None,
        "share of the real documents, drawn at random, to compare samples with; critics are fitted on the rest",
        SHARE,
    )


@dataclass(frozen=True, kw_only=True)
class CoreferenceOptions(CrossFitted, MentionOptions):
    """How `coreference` finds and criticises chains of mentions."""

    resolver: Literal["persons"] | None = option(
        None,
        "find the mentions in texts; persons: people, by rules, English",
        one_of(RESOLVERS),
    )


@dataclass(frozen=True)
class TopicFit(CutIntoWords, Drawn):
    """How a topic model is fitted."""

    num_topics: int | str | Sequence[int] | None = option(
        None,
        "topics; of several numbers (auto: 5,10,20,50) the smallest that may predict words as well as the best",
        or_several(whole(2), AUTO),
    )
    _: KW_ONLY
    starts: int = option(STARTS, "fits; the one with the highest bound is kept", whole(1))
    iterations: int = option(1000, "of a fit, at most", whole(1))
    tolerance: float = option(
        1e-4, "a fit ends when the bound rises by less than this share of it an iteration", FROM_ZERO, metavar="T"
    )
    workers: int | None = option(None, CORES, whole(1))
    stop_words: str | None = option(
        None,
        "text: words left out in any case; english: 318, FILE: one word a line (default none)",
        metavar="none|english|FILE",
    )
    minimum_count: int | None = option(
        None, "text: leave out words that are rarer in the real documents (default 5)", whole(1)
    )

    @property
    def threads(self) -> int:
        """CPU cores that work, as a number."""
        return self.workers or os.cpu_count() or 1


@dataclass(frozen=True, kw_only=True)
class TopicOptions(TopicFit):
    """How `topics` fits and scores."""

    critic: Name | None = option(
        None,
        "score under a model that Blei's ctm-c has fitted, instead of fitting one: the folder of final-mu.dat, "
        "final-cov.dat and final-log-beta.dat",
        metavar="FOLDER",
    )
    vocabulary: Name | None = option(
        None, "LDA-C, or text with a critic: words, one a line, the first is that of id 0", metavar="FILE"
    )


@dataclass(frozen=True, kw_only=True)
class MixingOptions(CutIntoWords, Drawn):
    """How `mixing` fits and judges."""

    topics: int = option(3, "topics, 2 or more; as many as there are languages", whole(2, 32_767), metavar="K")
    paired: bool = option(
        False,
        "text i of both sets translates the same sentence: both tests exchange the texts of a pair alone",
    )
    held_out: float = option(
        HELD_OUT,
        "share of the real texts, drawn at random, to compare samples with; the model is fitted on the rest",
        SHARE,
    )
    iterations: int = option(
        5000,
        "sweeps of the fit over all tokens, at most: it ends once its chains have come to rest; if they do not, the "
        "result says so",
        whole(1),
    )
    starts: int = option(4, "chains of the fit; the most probable one is kept", whole(1))
    draws: int = option(20, "posterior draws of a text", whole(1))
    lowercase: bool = option(False, "lower-case the tokens")
    workers: int | None = option(None, CORES, whole(1))


@dataclass(frozen=True, kw_only=True)
class TendencyOptions(CutIntoWords, Drawn):
    """How `compare_tendencies` counts, measures and judges."""

    tokenizer: Tokenizer = option(
        "words",
        "words: for raw text; whitespace: for text that has been tokenised, as the paper's",
        one_of(TOKENIZERS),
    )
    lower_case: bool = option(True, "count words as they are, not in lower case", flag="keep-case")
    stop_words: str = option(
        ENGLISH,
        "english: 179 words; another language of NLTK's lists, if they are installed; FILE: one word a line",
        metavar="LANGUAGE|none|FILE",
    )
    held_out: float = option(
        0.5,
        "with second draws: share of the real documents to compare samples with; second draws are taken from the rest",
        SHARE,
    )
    draws: int = option(0, "second draws of real text at most, each as large as the largest sample", whole(0))
    ranks: int = option(10_000, "the first ranks, which distances of ranks and frequencies are taken over", whole(2))
    workers: int | None = option(None, "threads that count (default 1)", whole(1))
    resamples: int = option(1000, "of bootstrap and tests", RESAMPLES)


@dataclass(frozen=True, kw_only=True)
class RecitationOptions(CutIntoWords, Drawn):
    """How `recitation` looks texts up."""

    train: object = option(None, "texts that the samples' model was trained on; it has to be given", metavar="TRAIN")
    tokenizer: Tokenizer = option(
        "words",
        "words: for raw text; whitespace: for text that has been tokenised",
        one_of(TOKENIZERS),
    )
    lower_case: bool = option(True, "compare words as they are, not in lower case", flag="keep-case")


@dataclass(frozen=True, kw_only=True)
class ImportanceOptions(Drawn):
    """How `importance` reads and sums up log weights."""

    tokens: object = option(
        None,
        "what perplexity divides by: the tokens of all texts, or a file (.npy, .txt, .csv, .json) with a number for "
        "each text, which the interval over texts needs; files that textcritic wrote have it",
        metavar="T",
    )
    reverse: object = option(
        None,
        "the texts were drawn from the model, and these are log p(x, z) - log q(z | x) of the states that it drew with "
        "them (a column, or several), +inf where the proposal never draws the state: says whether the proposal finds "
        "the posterior",
        metavar="FILE",
    )
    repeats: int = option(100, "sub-samples of the curve, and pairings of the draws of different texts", whole(1))
    resamples: int = option(10_000, "of the texts", RESAMPLES)
    as_released: int | None = option(
        None,
        "give also the perplexity that the paper's released code prints with --samples-per-batch S: it subtracts log S "
        "instead of the logarithm of the number of all draws",
        whole(1),
        metavar="S",
    )


@dataclass(frozen=True, kw_only=True)
class OwnMeasures(Options):
    """Measures of one's own, see `textcritic.measure`."""

    metrics: object = option(
        (),
        "a measure of your own, a function of a document; there may be several. The module is in the working directory "
        "or installed; FILE.py:FUNCTION names a file",
        metavar="MODULE:FUNCTION",
        flag="metric",
    )


@dataclass(frozen=True, kw_only=True)
class ScorecardOptions(OwnMeasures, MentionOptions, TopicFit):
    """How texts and articles are compared with real ones, by every measure that applies."""

    measures: str | Sequence[str] | None = option(
        None,
        f"which ones, with commas between them: {', '.join(MEASURES)} (default: all that apply)",
        metavar="NAME,NAME,...",
    )
    control: object = option(
        (),
        "other real documents, which are shown as a row, but never ranked; there may be several",
        metavar="FILE",
    )
    num_topics: int = option(
        NUM_TOPICS, "topics, 2 or more; by default fewer of less than 200 documents, one for ten", whole(2), metavar="K"
    )
    splits: int = option(
        SPLITS, "held-out splits for topics, which are expensive to fit; they share the starts", whole(2), metavar="N"
    )
    workflow: bool = option(False, "run the jobs by Snakemake, as with models or inferred titles, not in this process")
    verbose: bool = option(False, "show all lines of the log on stderr")

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names of the measures that are asked for; none where all are wanted.

        Raises:
            TextcriticError: there is no such measure.
        """
        asked = self.measures.split(",") if isinstance(self.measures, str) else self.measures or ()
        names = tuple(dict.fromkeys(name.strip() for name in asked if name.strip()))
        for name in names:
            if name not in MEASURES:
                raise TextcriticError(f"measures: {name!r}: {suggestion(name, MEASURES, KNOWN_MEASURES)}")
        return names


@dataclass(frozen=True, kw_only=True)
class ArticleOptions(ScorecardOptions):
    """How articles are compared: the options of texts, and more."""

    titles: Literal["given", "inferred"] | None = option(
        None,
        "of the samples (default: given if nine of ten articles have one on every section)",
        one_of(TITLES),
    )
    minimum_title_count: int | None = option(
        None,
        "leave out articles of the reference with a title on fewer sections of its training part (default 10; of fewer "
        "than 500 articles a fiftieth of their number, at least 2)",
        whole(1),
    )
    minimum_sections: int | None = option(None, "fewest sections of an article of the reference (default 2)", whole(1))
    model: Name | Sequence[Name] = option(
        (),
        "draw samples from this causal language model; there may be several. A local folder, or a name on the hub, "
        "OWNER/NAME or OWNER/NAME@COMMIT; a commit that is not named is looked up and recorded",
        metavar="NAME_OR_FOLDER",
    )
    fine_tune: float = option(
        0.0,
        "train the models on the reference first, for this number of passes; 0: they continue the first words of real "
        "articles",
        FROM_ZERO,
        metavar="EPOCHS",
    )
    articles: int = option(200, "drawn from each model", whole(1))
    max_tokens: int | None = option(
        None,
        "of an article of a model, longer ones are rejected (default: twice the words of the longest real one)",
        whole(1),
    )
    cores: int | None = option(None, "CPU cores of the workflow (default: all)", whole(1))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.models and (about := {"fine_tune", "articles", "max_tokens"} & self.asked().keys()):
            raise TextcriticError(f"{min(about)}: is about models; name one with `model`")

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are named."""
        given = [self.model] if isinstance(self.model, str | os.PathLike) else self.model
        return tuple(os.fspath(model) for model in given)


@dataclass(frozen=True, kw_only=True)
class CriticiseOptions(CrossFitted, ArticleOptions, ChainOptions):
    """How `criticise` compares: options for all kinds of documents, and those of each kind."""

    output: Name | None = option(
        None,
        "folder for configuration and results (default: own-text, of the command)",
        metavar="FOLDER",
    )
    force: bool = option(
        False, "overwrite table.csv, report.html and the texts in `given`, even if textcritic did not write them"
    )
    test: object = option(
        None,
        "real documents to compare samples with; critics are then fitted on all of the reference (default: the "
        "reference itself, by critics that have not seen the document)",
        metavar="FILE",
    )
