"""Which files a rule needs: the input functions of the workflow, read off the registries."""

from collections.abc import Callable, Iterable
from pathlib import Path

from textcritic.plan.checks.corpora import LINKS, given_paths, is_parallel
from textcritic.plan.checks.decodings import GIVEN
from textcritic.plan.checks.parallel import parallel_paths
from textcritic.plan.entries import GeneratorEmbedder, Mauve, SampleFile, TransformerClassifier
from textcritic.plan.entries.encodings import TokenizerOfFolder, TokenizerOfHub
from textcritic.plan.entries.parts import FromConfig, FromFolder, FromHub
from textcritic.plan.project import Project
from textcritic.plan.shares import Shares
from textcritic.plan.sources import Source, from_file
from textcritic.plan.wildcards import Wildcards
from textcritic.runlog import versions

# Packages whose names on the package index differ from those they are imported by.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}


class Paths:
    """Input functions over a project; `w` is Snakemake's wildcards, or anything with the same attributes.

    Where a rule may need a file or not, the function returns its path, or an empty list: Snakemake's word for none.
    """

    def __init__(self, project: Project) -> None:
        self.registries = project.registries
        self.shares = Shares(project.registries)

    def corpus(self, corpus: str) -> list[str]:
        """The files that a corpus is extracted from; none for one that is made from installed packages."""
        options = self.registries.entry("corpora", corpus).options
        given = given_paths(options)
        if options.dataset is not None:
            return [str(path) for _, path in given]
        return [file for _, path in given for file in with_contents(path)]

    def parallel(self, corpus: str) -> list[str]:
        """The files that a parallel corpus is made from; none for artificial languages and message catalogues."""
        return [str(path) for path in parallel_paths(self.registries.entry("corpora", corpus).options.parallel)]

    def knowledge(self, corpus: str) -> str | list[str]:
        """The folder of a corpus' knowledge graph; none where texts have no links."""
        linked = self.registries.entry("corpora", corpus).extractor == LINKS
        return f"results/corpora/{corpus}/knowledge" if linked else []

    def lengths(self, w: Wildcards) -> str | list[str]:
        """The texts whose lengths a sample's texts have; none where the decoding gives no length."""
        given = self.registries.entry("decodings", w.decoding).stop == GIVEN
        return f"results/corpora/{w.corpus}/train.parquet" if given else []

    def lemmatised(self, w: Wildcards) -> bool:
        """Whether the titles of a corpus are lemmatised once it is extracted."""
        return bool(self.registries.entry("corpora", w.corpus).titles.lemmatise)

    def dataset_spec(self, corpus: str) -> str:
        """The canonical string of the entry of the data set that a corpus is made from."""
        dataset = self.registries.entry("corpora", corpus).options.dataset
        return self.registries.spec("datasets", str(dataset))

    def samples(self, generator: str) -> list[str]:
        """The file that samples of kind `file` are read from, or the folder and its files."""
        entry = self.registries.entry("generators", generator)
        return with_contents(entry.path) if isinstance(entry, SampleFile) else []

    def corpus_packages(self, corpus: str) -> dict[str, str]:
        """Versions of the packages whose docstrings or messages make a corpus, so that an upgrade rebuilds it."""
        entry = self.registries.entry("corpora", corpus)
        options = entry.options
        packages = {"docstrings": options.packages, "catalogues": options.catalogues.packages}.get(entry.extractor, [])
        return versions(*(DISTRIBUTIONS.get(package, package) for package in packages))

    def length_tokenizer(self, corpus: str) -> str | list[str]:
        """The hub folder whose tokenizer measures a corpus' sections; none where length is counted in words."""
        unit = self.registries.entry("corpora", corpus).sections.length_unit
        return [] if unit == "words" else hub_folder(unit)

    def pretrained(self, kind: str, name: str) -> str | list[str]:
        """The folder that an encoding, a generator or a classifier starts from; none where it starts from nothing."""
        entry = self.registries.entry(kind, name)
        return folder_of(getattr(entry, "tokenizer" if kind == "encodings" else "init", None))

    def embedder(self, w: Wildcards) -> str:
        """The folder of the model whose hidden states are the points of a corpus' documents."""
        entry = self.registries.entry("embedders", w.embedder)
        if isinstance(entry, GeneratorEmbedder):
            model = f"{entry.setting}/{entry.generator}/seed{entry.seed}"
            return f"results/generators/{w.corpus}/{model}/model"
        return str(folder_of(entry.init))

    def features(self, tail: str) -> Callable[[Wildcards], str]:
        """The features of a source, by the embedder of the critic that a job's wildcards name; `tail` has wildcards."""
        return lambda w: f"results/features/{self._mauve(w).embedder}/{w.corpus}/{tail.format(**w)}.npz"

    def second_features(self, w: Wildcards) -> str:
        """The features of the real text that real text is compared with."""
        return self.features(f"data/{self._mauve(w).second}")(w)

    def openings(self, w: Wildcards) -> str | list[str]:
        """The articles whose beginnings a decoding gives to a generator; none where it gives nothing."""
        given = self.registries.entry("decodings", w.decoding).opening
        return f"results/corpora/{w.corpus}/test.parquet" if given else []

    def tokenizer(self, w: Wildcards) -> str:
        """The tokenizer of a generator on a corpus."""
        return f"results/encodings/{w.corpus}/{self.registries.encoding(w.generator)}/tokenizer"

    def token_streams(self, w: Wildcards, splits: Iterable[str]) -> list[str]:
        """Token streams of a generator's corpus and setting: for each split its tokens, then their kinds."""
        encoding = self.registries.encoding(w.generator)
        prefix = f"results/encodings/{w.corpus}/{encoding}/{w.setting}"
        return [f"{prefix}/{split}.{part}.npy" for split in splits for part in ("tokens", "kinds")]

    def test_stream(self, w: Wildcards) -> list[str]:
        """Token streams of the test split of a generator without titles, where the setting is no wildcard."""
        encoding = self.registries.encoding(w.generator)
        return [f"results/encodings/{w.corpus}/{encoding}/wo-title/test.{part}.npy" for part in ("tokens", "kinds")]

    def encoded(self, w: Wildcards, splits: Iterable[str]) -> list[str]:
        """What a generator is trained or measured on: the pairs of a parallel corpus, else `token_streams`."""
        if not is_parallel(self.registries.entry("corpora", w.corpus)):
            return self.token_streams(w, splits)
        encoding = self.registries.encoding(w.generator)
        return [f"results/encodings/{w.corpus}/{encoding}/pairs/{split}.npz" for split in splits]

    def classifier_tokenizer(self, w: Wildcards) -> str | list[str]:
        """The tokenizer of a classifier that is initialised from a configuration; others bring their own."""
        entry = self.registries.entry("classifiers", w.classifier)
        if isinstance(entry, TransformerClassifier) and isinstance(entry.init, FromConfig):
            return f"results/encodings/{w.corpus}/{entry.encoding}/tokenizer"
        return []

    def perplexity(self, source: Source) -> list[str]:
        """The perplexity of a source's generator; none for samples from a file."""
        return [] if from_file(source, self.registries) else [f"{source.model}/perplexity.json"]

    def _mauve(self, w: Wildcards) -> Mauve:
        return self.registries.of_kind("critics", w.critic, Mauve)


def with_contents(path: str | Path) -> list[str]:
    """A path, and if it is a folder the files in it, since a file that changes leaves its folder's time as it was."""
    folder = Path(path)
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    return [str(path), *(str(file) for file in files if file.is_file() and not file.name.startswith("."))]


def folder_of(init: object) -> str | list[str]:
    """The folder that an `init` or a tokenizer names; none where it names none."""
    match init:
        case FromHub(hub=name) | TokenizerOfHub(hub=name):
            return hub_folder(name)
        case FromFolder(folder=folder) | TokenizerOfFolder(folder=folder):
            return folder
        case _:
            return []


def hub_folder(name: str) -> str:
    """Where the files of a hub entry lie."""
    return str(Path("results/raw/hub") / name)
