"""Which files the jobs of detectors need, read off the registries."""

import json
from collections.abc import Mapping
from typing import Any

from textcritic.errors import TextcriticError
from textcritic.plan.checks.detectors import UNTRAINED
from textcritic.plan.paths import hub_folder
from textcritic.plan.registries import Registries


class DetectorPaths:
    """Input functions of rules/detectors.smk; their wildcards have a `detector` and the corpus, `trained`."""

    def __init__(self, registries: Registries) -> None:
        self.registries = registries

    def tokenizer(self, w: Any) -> str | list[str]:
        """The tokenizer of a detector that is initialised from a configuration; none of any other."""
        _, settings = self._model(w.detector)
        named = settings.get("encoding")
        return f"results/encodings/{w.trained}/{named}/tokenizer" if named else []

    def pretrained(self, w: Any) -> str | list[str]:
        """The folder that a detector starts from; none where it starts from nothing."""
        _, settings = self._model(w.detector)
        init: Mapping[str, Any] = settings.get("init", {})
        return hub_folder(init["hub"]) if "hub" in init else init.get("folder", [])

    def vectors(self, w: Any) -> str | list[str]:
        """The file of word vectors that a detector starts from, if it does."""
        _, settings = self._model(w.detector)
        return settings.get("vectors") or []

    def scorer(self, w: Any) -> list[str]:
        """What a detector that learns nothing is made with, on the corpus that its documents are cut out of.

        Raises:
            TextcriticError: the documents are cut out of no corpus.
        """
        kind, settings = self._model(w.detector)
        if kind not in UNTRAINED:
            return []
        base = self.registries.entry("corpora", w.trained)["options"].get("corpus")
        if base is None:
            raise TextcriticError(
                f"{w.detector}: is made with a model of the corpus that documents are cut out of, and those of"
                f" {w.trained} come from files; name another detector or corpus"
            )
        if kind == "surprise":
            trained = f"{base}/{settings['setting']}/{settings['generator']}/seed{w.detector_seed}"
            return [f"results/generators/{trained}/model"]
        folder = f"results/critics/{settings['critic']}/{base}"
        counts_words = "vocabulary" in self.registries.entry("critics", settings["critic"])
        return [f"{folder}/critic.npz", *([f"{folder}/vocabulary.parquet"] if counts_words else [])]

    def made_with(self, w: Any) -> str:
        """JSON of the canonical strings of the entries of what a detector is made with, by registry."""
        kind, settings = self._model(w.detector)
        if kind not in UNTRAINED:
            return "{}"
        named = {"generators": settings.get("generator"), "critics": settings.get("critic")}
        if named["critics"]:
            named["resolvers"] = self.registries.entry("critics", named["critics"]).get("resolver")
        return json.dumps({registry: self.registries.spec(registry, name) for registry, name in named.items() if name})

    def checkpoint_seconds(self, w: Any) -> int:
        """Seconds between two checkpoints of a detector; 0 where nothing is trained by steps."""
        return round((self.registries.entry("critics", w.detector)["training"] or {}).get("checkpoint_seconds", 0))

    def _model(self, name: str) -> tuple[str, Mapping[str, Any]]:
        """The kind of a detector's model, and its settings."""
        ((kind, settings),) = self.registries.entry("critics", name)["model"].items()
        return kind, settings
