"""What a latent language model p(x, z), and a proposal q(z | x), are to the code that trains, draws and weighs them.

A text x is a `Structured`; its latent states z are of a type that a model shares with its proposals. `K states` below
are K of them for one text, in one object that the kind defines. All log probabilities are in nats, float64.
"""

import os
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Generic, Self, TypeVar

import safetensors.torch
import torch
from safetensors import SafetensorError

from textcritic.corpora.structured.texts import Structured
from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.plan.entries import Entry

CONFIG, WORDS, WEIGHTS = "config.json", "vocabulary.json", "model.safetensors"
Settings = TypeVar("Settings", bound=Entry)
States = TypeVar("States")


class Learner(torch.nn.Module, Generic[Settings]):
    """What is trained on texts whose latent states are given: a model by -log p(x, z), a proposal by -log q(z | x).

    Attributes:
        kind: of the generator or the proposal in its registry.
        form: the class of `settings`.
        settings: the architecture; with the vocabulary all that `build` needs.
        vocabulary: of the words of x.
    """

    kind: ClassVar[str]
    form: type[Settings]

    def __init__(self, settings: Settings, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.settings, self.vocabulary = settings, vocabulary

    @classmethod
    def build(cls, settings: Settings, vocabulary: Vocabulary, knowledge: Path | None = None) -> Self:
        """A model with random weights, by torch's random numbers.

        Args:
            settings: `model` of its registry entry.
            vocabulary: of the words of x.
            knowledge: folder of the knowledge graph of the corpus, for the kinds that read one.

        Raises:
            TextcriticError: settings that do not go together; the line names the key.
        """
        return cls(settings, vocabulary)

    @abstractmethod
    def losses(self, texts: Sequence[Structured]) -> torch.Tensor:
        """-log p(x, z) or -log q(z | x) of each text with the states that it has, in nats [texts], with gradients.

        Texts are padded together; a text's loss does not depend on the others, but for dropout.

        Raises:
            TextcriticError: a text without states, or longer than the model reads.
        """

    def counted(self, text: Structured) -> int:
        """T: the tokens of a text that perplexity is per; the default is all."""
        return len(text.tokens)

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.parameters()).device

    def save(self, folder: Path) -> None:
        """Write config.json, vocabulary.json and model.safetensors into a folder that is there."""
        # Copies, as weights that a model uses twice would be refused.
        weights = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in self.state_dict().items()}
        safetensors.torch.save_file(weights, folder / WEIGHTS)
        self.vocabulary.write(folder / WORDS)
        write_json(folder / CONFIG, {"kind": self.kind, "settings": self.settings.plain()})

    @classmethod
    def load(cls, folder: str | os.PathLike[str], knowledge: Path | None = None) -> Self:
        """Read what `save` wrote, in evaluation mode.

        Raises:
            TextcriticError: a file is missing or damaged, or the folder has another kind of model.
        """
        place = Path(folder)
        config = read_json(place / CONFIG)
        if config.get("kind") != cls.kind:
            raise TextcriticError(f"{place / CONFIG}: has a model of kind {config.get('kind')}; expected {cls.kind}")
        settings = cls.form.read(config["settings"], f"{place / CONFIG}: settings")
        learner = cls.build(settings, Vocabulary.read(place / WORDS), knowledge)
        try:
            learner.load_state_dict(safetensors.torch.load_file(place / WEIGHTS))
        except (OSError, SafetensorError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            raise TextcriticError(f"{place / WEIGHTS}: cannot be read: {reason}; train the model again") from None
        return learner.eval()


class LatentModel(Learner[Settings], Generic[Settings, States]):
    """A latent language model p(x, z)."""

    @property
    def ends(self) -> bool:
        """Whether the model decides where a text ends; else p(x) is over texts of a given length, the default."""
        return False

    @abstractmethod
    def log_joint(self, text: Structured, states: States) -> torch.Tensor:
        """The log p(x, z) of a text with each of K states: float64 [K], without gradients; -inf: not possible."""

    @abstractmethod
    def states_of(self, text: Structured) -> States:
        """The states that a text has, K = 1."""

    @abstractmethod
    def sample(self, count: int, longest: int, generator: torch.Generator) -> list[Structured]:
        """Texts drawn from the model with their states; one that has not ended after `longest` tokens is cut."""

    def sample_with_states(
        self, count: int, longest: int, generator: torch.Generator
    ) -> list[tuple[Structured, States]]:
        """The same, with the states that each was drawn with, K = 1, also where the text does not show all of them."""
        return [(text, self.states_of(text)) for text in self.sample(count, longest, generator)]

    @property
    def why_inexact(self) -> str:
        """Why texts and states are not drawn with the probability that `log_joint` gives; nothing if they are."""
        return ""


class Proposal(Learner[Settings], Generic[Settings, States]):
    """A distribution q(z | x) of the latent states of a text, which can be drawn from and is normalised."""

    @property
    def as_released(self) -> bool:
        """Whether it has the fault of a released sampler, so that its weights are no p / q."""
        return False

    @abstractmethod
    def draw(
        self, text: Structured, count: int, temperature: float, generator: torch.Generator
    ) -> tuple[States, torch.Tensor]:
        """K = `count` states of a text, and log q of each, float64 [K], without gradients."""

    @abstractmethod
    def log_q(self, text: Structured, states: States, temperature: float) -> torch.Tensor:
        """The log q of K states at a temperature: float64 [K], -inf where q never draws z."""

    @abstractmethod
    def best(self, text: Structured, count: int) -> States:
        """At most so many distinct states that q finds likely: the k best, or those of a beam search."""
