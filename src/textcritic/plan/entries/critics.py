"""Entries of the registry `critics`, but for detectors."""

import math
from fractions import Fraction
from typing import Annotated, Literal

from textcritic.plan.entries.base import Entry, Number, key, limits
from textcritic.plan.entries.parts import (
    WORDS,
    ClassifierName,
    DownloadPath,
    EmbedderName,
    Job,
    ResolverName,
    WordSplitter,
)


class Transitions(Entry, title="transitions between sections, fitted on real text (kind transitions)"):
    """A Markov chain over section titles."""

    kind: Literal["transitions"] = key("a Markov chain over section titles with begin and end states")
    classifier: ClassifierName = key("an entry of the classifiers registry; it projects text into section titles")
    mode: Literal["paper", "as_released"] = key(
        "`paper`: documents with an unknown title are rejected, rows are distributions over titles and the"
        " end; `as_released`: unknown transitions are skipped, the begin and end states are targets too,"
        " the grid is 0 and 1",
        "paper",
    )
    smoothing: list[Annotated[Number, limits(ge=0)]] = key(
        "candidates for add-delta smoothing, chosen by the Latent PPL of held-out gold titles in 10-fold"
        " cross-validation on the train split, as the commands `chains` and `criticise` do",
        [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0],
        min_length=1,
    )


class KnownProcess(Entry, title="the process that made the corpus (kind process)"):
    """The known process of a synthetic corpus."""

    kind: Literal["process"] = key("the known process of a corpus with the extractor `process`; nothing is fitted")


class VocabularyOptions(Entry):
    """The words of the train split that are counted; which are left out the paper says, or its released code."""

    stop_words: DownloadPath = key(
        "`none` (the paper names none), `english` (318 words), or the path of a file, one word a line,"
        " relative to the working directory",
        "none",
        min_length=1,
    )
    lowercase: bool = key("count words in lower case", False)
    maximum_share: Number = key("words in more than this share of the train documents are left out", 0.5, gt=0, le=1)
    mode: Literal["paper", "as_released"] = key(
        "`as_released` leaves words in just that share of the documents out too", "paper"
    )
    minimum_count: int = key(
        "words that occur less often in the train split are left out; the released code's value, the paper names none",
        5,
        ge=1,
    )
    placeholders: list[Annotated[str, limits(min_length=1)]] = key(
        "words that contain one of these, in any case, are left out", ["xmath"]
    )
    words: WordSplitter = key(WORDS, "spaces")

    def most_documents(self, documents: int) -> int:
        """The largest document frequency that a word may have, of so many documents."""
        limit = Fraction(str(self.maximum_share)) * documents  # exact: 0.7 of 10 documents are 7
        return math.floor(limit) if self.mode == "paper" else math.ceil(limit) - 1


class FittedElsewhere(Entry):
    """A model that ctm-c has fitted."""

    folder: str = key(
        "the folder with `final-mu.dat`, `final-cov.dat` and `final-log-beta.dat`, relative to the working"
        " directory; `topics` and what follows it, and `vocabulary` but for `lowercase`, are then without"
        " effect",
        min_length=1,
    )
    vocabulary: str = key("the file of its words, one a line, that of id 0 first", min_length=1)


class Ctm(Job, title="a correlated topic model, fitted on real text (kind ctm)"):
    """A correlated topic model."""

    kind: Literal["ctm"] = key(
        "a correlated topic model: a logistic normal over topics, which are distributions over words"
    )
    vocabulary: VocabularyOptions = key(
        "the words of the train split that are counted; all others are left out", VocabularyOptions
    )
    topics: int = key("topics, K; 100 is the paper's", 100, ge=2)
    starts: int = key(
        "number of fits from different starts, each until it has converged. The fit with the highest bound is"
        " the critic, and the spread of each number over all fits is reported too; the time grows with the number",
        4,
        ge=1,
    )
    seed: int = key("of the topics that the fits start from", 1, ge=0)
    iterations: int = key("passes over the train split, at most, of each fit", 1000, ge=1)
    tolerance: Number = key(
        "a fit ends when the bound changes by less than this share of it an iteration, in the mean of"
        " three; the settings that come with Blei's code have 0.001 of one iteration, which ends early",
        0.0001,
        ge=0,
    )
    fitted: FittedElsewhere | None = key(
        "a model that ctm-c (Blei's C code, which the paper used) has fitted, read instead of fitting one;"
        " null means to fit",
        None,
    )
    threads: int = key("CPU threads of the job that fits it; its other jobs take four at most", 1, ge=1)
    mem_mb: int = key("memory of the job that fits it", 4000, ge=500)
    runtime: str = key("time limit of the job that fits it", "2h")


class ChainOptions(Entry):
    """How mentions become chains."""

    case: Literal["keep", "fold"] = key(
        "of pronouns: `keep`, as written, so that He is not he; `fold`, lower case", "keep"
    )
    sentence_marks: bool = key("a mark at each start of a sentence", True)
    people: Literal["resolver", "as_released", "all"] = key(
        "which entities count: `resolver`, those that it takes for people (where it cannot say, those with"
        " a personal pronoun); `as_released`, those with a personal pronoun or a person's name, so that a"
        " company called they is one; `all`",
        "resolver",
    )
    gender: Literal["majority", "none"] = key(
        "`majority`, all but pronouns are replaced by MALE, FEMALE, PLURAL or None, the majority of the"
        " entity's pronouns; `none`, by None",
        "majority",
    )
    left_out: list[Annotated[str, limits(min_length=1)]] = key(
        "pronouns that are no mentions; these are those that neuralcoref, the resolver of the paper, leaves out",
        ["i", "me", "my", "you", "your"],
    )
    token: Literal["head", "first", "last"] = key("the word that represents a mention", "head")
    shared_token: Literal["last", "first", "all"] = key(
        "of mentions of several entities with the same word, which is kept: `last` (of the entity whose"
        " first mention comes last, as released), `first`, or `all`",
        "last",
    )


class Mentions(Job, title="chains of mentions, an n-gram model fitted on real text (kind mentions)"):
    """An n-gram model of who is mentioned after whom."""

    kind: Literal["mentions"] = key(
        "an n-gram model of who is mentioned after whom, with entities relabelled inside each window"
        " (model criticism paper, section 5)",
    )
    resolver: ResolverName = key("an entry of the resolvers registry; it projects text into chains of mentions")
    order: int = key("tokens of a window, n; 5 is the paper's", 5, ge=1, le=9)
    discount: Literal["kneser-ney", "as_released", "modified"] = key(
        "`kneser-ney`, interpolated with continuation counts, as the paper's words say; `as_released`,"
        " absolute discounting of raw counts; `modified`, Kneser-Ney with three discounts an order (Chen"
        " and Goodman 1999)",
        "kneser-ney",
    )
    chains: ChainOptions = key("how mentions become chains; the defaults are the paper's text", ChainOptions)


class LdaVocabulary(VocabularyOptions):
    """The words that latent Dirichlet allocation counts."""

    stop_words: DownloadPath = key(
        "`none`, `english` (318 words), or the path of a file, one word a line, relative to the working directory",
        "none",
        min_length=1,
    )
    maximum_share: Number = key("words in more than this share of the train documents are left out", 1.0, gt=0, le=1)
    minimum_count: int = key("words that occur less often in the train split are left out", 1, ge=1)
    placeholders: list[Annotated[str, limits(min_length=1)]] = key(
        "words that contain one of these, in any case, are left out", []
    )


class Lda(Job, title="latent Dirichlet allocation, fitted on real text (kind lda)"):
    """Latent Dirichlet allocation."""

    kind: Literal["lda"] = key(
        "latent Dirichlet allocation, whose topics are the languages that a text mixes (model criticism"
        " paper, appendix C)",
    )
    vocabulary: LdaVocabulary = key(
        "the words of the train split that are counted; all others are left out. By default all are counted",
        LdaVocabulary,
    )
    topics: int = key("topics, K; 3, one a language, is the paper's", 3, ge=2, le=32767)
    beta: Number = key("of the symmetric Dirichlet prior of each topic's words; fixed", 0.01, gt=0)
    alpha: Number | None = key(
        "of each topic, of the Dirichlet prior of a document's shares, at first; null means 1 / topics", None, gt=0
    )
    optimise_every: int = key("iterations between two optimisations of alpha; 0 leaves it as it is", 100, ge=0)
    burn_in: int = key("iterations before the first of these; MALLET's default, the paper names none", 200, ge=0)
    iterations: int = key(
        "sweeps of Gibbs sampling over all tokens, at most: a fit ends once its chains have come to rest"
        " (R-hat at most 1.1), and one that does not is called so; the paper names none, and MALLET makes"
        " 1,000",
        5000,
        ge=1,
    )
    starts: int = key(
        "chains, each of a seed of its own; the one whose last state is the most probable is kept. The paper's is one",
        1,
        ge=1,
    )
    posterior: Literal["gibbs", "exact"] = key(
        "how the topics of a new document's tokens are drawn, before its shares are: `gibbs`, Gibbs"
        " sampling, as in the paper; `exact`, from the same distribution without sampling, for 2 or 3"
        " topics and documents of up to some hundred tokens",
        "gibbs",
    )
    draws: int = key("posterior draws of the shares of each document", 20, ge=1)
    sweeps: int = key(
        "sweeps of Gibbs sampling over a document before each of these draws, which have chains of their own",
        50,
        ge=1,
    )
    seed: int = key("of the first chain of the fit, and of the draws", 1, ge=0)
    threads: int = key("CPU threads of the job that fits it; at most one a start is used", 1, ge=1)


class Tendencies(Job, title="what is counted of documents and of words (kind tendencies)"):
    """What is counted of documents and of words."""

    kind: Literal["tendencies"] = key(
        "documents and their words are counted; nothing is fitted on the train split (Meister and Cotterell 2021)",
    )
    tokenizer: Literal["whitespace", "words"] = key(
        "`whitespace`, text is cut at white space, for text that was tokenised before, as the paper's;"
        " `words`, for text that was not: a run of letters and digits is a token, with apostrophes and"
        " hyphens inside it, and so is every other visible character",
        "whitespace",
    )
    lower_case: bool = key("count words in lower case, as the paper's text is", True)
    words: WordSplitter = key(WORDS, "spaces")
    stop_words: DownloadPath = key(
        "`english` (the 179 words of NLTK, as in the paper), another language of NLTK's lists (`german`,"
        " `french`, ...), which is fetched; the path of a file, one word a line, relative to the working"
        " directory; or `none`. It does not follow the corpus: for text in another language name its list",
        "english",
        min_length=1,
    )
    window: int = key("tokens of a segment of Taylor's law; a document is cut into as many whole ones as fit", 50, ge=2)
    longest_lag: int = key(
        "recurrence of words is counted at distances of 1, 2, 4, ... tokens up to this one", 64, ge=1
    )
    groups: int = key("groups into which documents are divided at random; words are resampled by group", 100, ge=2)
    draws: int = key(
        "draws from the train split, each of as many documents as the test split has: how far two texts of"
        " one corpus differ by chance; they decide no verdict. Of a small train split the draws are"
        " smaller, and where they would have fewer than 20 documents there are fewer draws",
        10,
        ge=1,
    )
    ranks: int = key("first ranks that Zipf's law is compared on; 10,000 are the paper's", 10000, ge=2)
    resamples: int = key(
        "of the bootstrap, of permutations and of Monte Carlo tests; the paper names no number",
        1000,
        ge=1,
        le=10000000,
    )
    least: int = key(
        "types are compared at each length that has so many documents on both sides; neighbouring lengths"
        " are put together until there are as many; where half of the documents are left out even so,"
        " fewer do, at least 4",
        30,
        ge=2,
    )
    shards: int = key(
        "jobs that share the counting of a split, of a draw or of a sample: one counts a million short"
        " documents in 13 s, so several are for 100 million and more",
        1,
        ge=1,
    )
    seed: int = key("of the groups and the draws", 1, ge=0)
    threads: int = key("CPU threads of a job that counts", 1, ge=1)


class Recitation(Entry, title="the training text, in which documents are looked up (kind recitation)"):
    """An index of the training text."""

    kind: Literal["recitation"] = key(
        "an index of the train split, which finds what a document copies word for word from it (McCoy et al."
        " 2023, RAVEN)",
    )
    tokenizer: Literal["words", "whitespace"] = key(
        "`words`, a run of letters and digits is a token, with apostrophes and hyphens inside it, and so"
        " is every other visible character; `whitespace`, text is cut at white space, for text that was"
        " tokenised before",
        "words",
    )
    lower_case: bool = key("compare words in lower case", True)
    straight_quotes: bool = key(
        "take curly apostrophes and quotes for straight ones, as `textcritic criticise` and `textcritic recitation` do",
        False,
    )
    words: WordSplitter = key(WORDS, "spaces")
    mem_mb: int = key("memory of its jobs: some 40 bytes a word of the train split", 4000, ge=500)
    runtime: str = key("time limit of its jobs", "2h")


class Order(Entry, title="the order of sentences, fitted on real text (kind order)"):
    """Features of the order of sentences."""

    kind: Literal["order"] = key(
        "features of the order of sentences inside sections, weighted as they tell real text from the same"
        " sentences in random order; English",
    )
    mem_mb: int = key("memory of its jobs: some 30 kB a document of 7 sentences", 4000, ge=500)
    runtime: str = key("time limit of its jobs", "2h")


class Mauve(
    Job, title="MAUVE, the overlap of real text and a sample as points in a language model's space (kind mauve)"
):
    """The overlap of real text and a sample as points."""

    kind: Literal["mauve"] = key(
        "MAUVE (Pillutla et al. 2021), by its authors' library, which is under the GPL-3: `textcritic install mauve`",
    )
    embedder: EmbedderName = key("an entry of the embedders registry, which makes documents points")
    documents: int = key(
        "of real text and of each sample, the same number for all, as MAUVE depends on it; the library's"
        " advice is some thousand. A source with fewer has no value",
        ge=100,
    )
    buckets: int | None = key(
        "clusters of k-means; null means a tenth of the documents, the library's default", None, ge=2
    )
    scaling: Number = key("c of the divergence curve; it changes the values, not their order", 5, gt=0)
    seeds: int = key("k-means is run with so many seeds, from the library's own on; the value is the mean", 5, ge=1)
    halves: int = key("number of random halves of the documents, from which the interval is computed", 40, ge=2)
    redo: int = key("starts of each k-means; 5 is the library's default", 5, ge=1)
    iterations: int = key("of k-means, at most; 500 is the library's default", 500, ge=1)
    second: Literal["train", "validation"] = key(
        "the split that the second sample of real text is of: its MAUVE is what a perfect model would reach",
        "validation",
    )
    runtime: str = key("time limit of its jobs", "4h")
