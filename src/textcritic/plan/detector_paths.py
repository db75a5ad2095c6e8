"""Which files the jobs of detectors need, read off the registries."""

import json

from textcritic.errors import TextcriticError
from textcritic.plan.entries import Ctm, Detector, Entry, Lda, Mentions
from textcritic.plan.entries.detectors import Nll, Surprise, Untrained
from textcritic.plan.paths import folder_of
from textcritic.plan.registries import Registries
from textcritic.plan.wildcards import Wildcards


class DetectorPaths:
    """Input functions of rules/detectors.smk; their wildcards have a `detector` and the corpus, `trained`."""

    def __init__(self, registries: Registries) -> None:
        self.registries = registries

    def tokenizer(self, w: Wildcards) -> str | list[str]:
        """The tokenizer of a detector that is initialised from a configuration; none of any other."""
        encoding = getattr(self._settings(w.detector), "encoding", None)
        return f"results/encodings/{w.trained}/{encoding}/tokenizer" if encoding else []

    def pretrained(self, w: Wildcards) -> str | list[str]:
        """The folder that a detector starts from; none where it starts from nothing."""
        return folder_of(getattr(self._settings(w.detector), "init", None))

    def vectors(self, w: Wildcards) -> str | list[str]:
        """The file of word vectors that a detector starts from, if it does."""
        return getattr(self._settings(w.detector), "vectors", None) or []

    def scorer(self, w: Wildcards) -> list[str]:
        """What a detector that learns nothing is made with, on the corpus that its documents are cut out of.

        Raises:
            TextcriticError: the documents are cut out of no corpus.
        """
        settings = self._settings(w.detector)
        if not isinstance(settings, Untrained):
            return []
        base = self.registries.entry("corpora", w.trained).options.corpus
        if base is None:
            raise TextcriticError(
                f"{w.detector}: is made with a model of the corpus that documents are cut out of, and those of"
                f" {w.trained} come from files; name another detector or corpus"
            )
        if isinstance(settings, Surprise):
            trained = f"{base}/{settings.setting}/{settings.generator}/seed{w.detector_seed}"
            return [f"results/generators/{trained}/model"]
        folder = f"results/critics/{settings.critic}/{base}"
        counts_words = isinstance(self.registries.entry("critics", settings.critic), Ctm | Lda)
        return [f"{folder}/critic.npz", *([f"{folder}/vocabulary.parquet"] if counts_words else [])]

    def made_with(self, w: Wildcards) -> str:
        """JSON of the canonical strings of the entries of what a detector is made with, by registry."""
        named = {}
        match self._settings(w.detector):
            case Surprise(generator=generator):
                named["generators"] = generator
            case Nll(critic=name):
                critic = self.registries.entry("critics", name)
                named |= {"critics": name} | ({"resolvers": critic.resolver} if isinstance(critic, Mentions) else {})
        return json.dumps({registry: self.registries.spec(registry, name) for registry, name in named.items()})

    def checkpoint_seconds(self, w: Wildcards) -> int:
        """Seconds between two checkpoints of a detector; 0 where nothing is trained by steps."""
        training = self._detector(w.detector).training
        return round(training.checkpoint_seconds) if training else 0

    def _settings(self, name: str) -> Entry:
        return self._detector(name).model.settings

    def _detector(self, name: str) -> Detector:
        return self.registries.of_kind("critics", name, Detector)
