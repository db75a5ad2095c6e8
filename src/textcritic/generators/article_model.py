"""A causal language model with what it needs to draw articles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from transformers import PreTrainedModel

from textcritic.errors import TextcriticError


@dataclass(frozen=True)
class ArticleModel:
    """A causal language model with what it needs to draw articles.

    Attributes:
        model: in evaluation mode, on its device.
        prompt: token ids that every article begins with.
        end: id of the token that ends an article.
        name: what to call the model in errors.
        context: tokens that it sees at most; None: as many as its position table has.
        openings: [openings, tokens], ids that follow the prompt, see `sample.Openings`; None: no opening is given.
    """

    model: PreTrainedModel
    prompt: Sequence[int]
    end: int
    name: str = "model"
    context: int | None = None
    openings: np.ndarray | None = None

    @property
    def given(self) -> int:
        """Tokens of each article that are given."""
        return 0 if self.openings is None else self.openings.shape[1]

    def beginning(self, index: int) -> np.ndarray:
        """Ids of the prompt and of what is given of an article."""
        opening = () if self.openings is None else self.openings[index % len(self.openings)]
        return np.array([*self.prompt, *opening], np.int64)

    def window(self) -> int:
        """The longest context in tokens.

        Raises:
            TextcriticError: it is unknown, or does not hold the prompt and one more token.
        """
        positions = getattr(self.model.config, "max_position_embeddings", None)
        if positions is None:
            raise TextcriticError(
                f"{self.name}: config.json: max_position_embeddings is missing; the model's window is needed"
            )
        window = min(positions, self.context or positions)
        beginning = len(self.prompt) + self.given
        if not 1 <= beginning < window:
            raise TextcriticError(
                f"{self.name}: a window of {window} tokens does not hold a prompt of {beginning} and one more"
            )
        return window
