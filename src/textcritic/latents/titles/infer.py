"""Infer section titles: the posterior P(title | section text) of a trained classifier, section by section."""

import os
from collections.abc import Iterable

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, PreTrainedModel

from textcritic.corpora import Article, iter_articles
from textcritic.errors import TextcriticError
from textcritic.latents.titles.posteriors import Posteriors, write_posteriors
from textcritic.latents.titles.sections import Sections, answered_batches, encode_sections
from textcritic.runlog import Progress
from textcritic.training.hardware import cpu_settings, device
from textcritic.training.load import load_model, load_tokenizer

BATCH = 64


def infer_titles(
    model_dir: str | os.PathLike[str],
    articles_path: str | os.PathLike[str],
    out_path: str | os.PathLike[str],
    max_tokens: int,
    threads: int | None = None,
    float32_matmul_precision: str = "highest",
) -> None:
    """Write the section posteriors of a file of articles (see `posteriors`).

    The posterior of a section depends on its text alone: P_c(z | x) = prod_m P(z_m | x_m) (model criticism
    paper, section 4).

    Args:
        model_dir: a classifier's model folder.
        articles_path: a corpus split or a sample.
        out_path: Parquet file to write.
        max_tokens: tokens of a section that are read.
        threads: CPU threads; None leaves torch's own number.
        float32_matmul_precision: the training's, see `hardware.cpu_settings`.

    Raises:
        TextcriticError: the model or the articles cannot be read, or there are no articles.
    """
    with cpu_settings(threads, float32_matmul_precision):
        posteriors = Classifier(model_dir, max_tokens).posteriors(iter_articles(articles_path))
    if not posteriors.ids:
        raise TextcriticError(f"{articles_path}: holds no articles; nothing can be inferred")
    write_posteriors(out_path, posteriors)


class Classifier:
    """A trained section classifier.

    Args:
        model_dir: its folder.
        max_tokens: tokens of a section that are read.

    Raises:
        TextcriticError: the folder is missing, truncated, or holds no classifier of titles.
    """

    def __init__(self, model_dir: str | os.PathLike[str], max_tokens: int) -> None:
        self.tokenizer = load_tokenizer(model_dir)
        self.model = load_model(AutoModelForSequenceClassification, {"folder": str(model_dir)}, self.tokenizer).to(
            device()
        )
        labels = self.model.config.id2label
        self.titles = tuple(labels[k] for k in range(len(labels)))
        self.max_tokens = max_tokens
        if len(self.titles) < 2:
            raise TextcriticError(f"{model_dir}: a classifier of {len(self.titles)} title; train it on at least two")

    def posteriors(self, articles: Iterable[Article]) -> Posteriors:
        """Section posteriors of a stream of articles."""
        sections = encode_sections(articles, self.tokenizer, self.max_tokens)
        probabilities = posterior(
            self.model, sections, self.tokenizer.pad_token_id, what=f"inferring {len(self.titles)} titles"
        )
        ends = np.cumsum([len(titles) for titles in sections.gold])
        return Posteriors(self.titles, sections.ids, sections.gold, np.split(probabilities, ends[:-1]))


@torch.inference_mode()
def posterior(model: PreTrainedModel, sections: Sections, padding: int, what: str) -> np.ndarray:
    """P(title | text) of all sections, float32 [sections, titles].

    Args:
        model: a sequence classification model in evaluation mode.
        sections: encoded sections.
        padding: id of the padding token.
        what: a few words for the progress lines.
    """
    model.eval()
    at = next(model.parameters()).device
    result = np.zeros((len(sections.lengths), len(model.config.id2label or ())), np.float32)
    progress = Progress(what, len(result), "sections")
    for rows in answered_batches(sections.lengths, BATCH, at):
        batch = {key: value.to(at) for key, value in sections.batch(rows, padding).items()}
        result[rows] = torch.softmax(model(**batch).logits.double(), dim=-1).float().cpu().numpy()
        progress.advance(len(rows))
    return result


def labels_of(titles: Iterable[str]) -> dict[str, dict[int, str] | dict[str, int]]:
    """The configuration keys that tie logits to titles, in this order."""
    names = list(titles)
    return {"id2label": dict(enumerate(names)), "label2id": {name: k for k, name in enumerate(names)}}
