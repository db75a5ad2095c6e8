"""The predictions of a detector for each sentence of a document, as an artefact."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from textcritic.errors import TextcriticError
from textcritic.files import read_table, write_table


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction of a detector for one document.

    Attributes:
        id: of the document.
        scores: float64 [sentences - 1], of all but the opening sentence; a higher one is more like an intruder. A
            trained detector gives the probability of an intruder, one without training any number.
        flagged: bool [sentences - 1], whether the detector calls the sentence an intruder.
        probabilities: whether scores are probabilities.
        opening: the score of the opening sentence, where the detector may call it an intruder; else None.
        opening_flagged: whether it does.
    """

    id: str
    scores: np.ndarray
    flagged: np.ndarray
    probabilities: bool = True
    opening: float | None = None
    opening_flagged: bool = False


PREDICTION_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("scores", pa.list_(pa.float64()), nullable=False),
        pa.field("flagged", pa.list_(pa.bool_()), nullable=False),
        pa.field("probabilities", pa.bool_(), nullable=False),
        pa.field("opening", pa.float64()),
        pa.field("opening_flagged", pa.bool_(), nullable=False),
    ]
)


def write_predictions(path: str | os.PathLike[str], predictions: Sequence[Prediction]) -> None:
    """Write predictions as Parquet in `PREDICTION_SCHEMA`, whole or not at all.

    Raises:
        TextcriticError: a score is not a number.
    """
    for prediction in predictions:
        if not np.isfinite(prediction.scores).all():
            raise TextcriticError(f"{path}: {prediction.id}: a score is not finite")
    columns = {
        "id": [prediction.id for prediction in predictions],
        "scores": [prediction.scores.tolist() for prediction in predictions],
        "flagged": [prediction.flagged.tolist() for prediction in predictions],
        "probabilities": [prediction.probabilities for prediction in predictions],
        "opening": [prediction.opening for prediction in predictions],
        "opening_flagged": [prediction.opening_flagged for prediction in predictions],
    }
    write_table(path, pa.table(columns, schema=PREDICTION_SCHEMA))


def read_predictions(path: str | os.PathLike[str]) -> list[Prediction]:
    """Read them back.

    Raises:
        TextcriticError: the file is missing, damaged, or not of predictions.
    """
    table = read_table(path)
    if not table.schema.equals(PREDICTION_SCHEMA):
        raise TextcriticError(f"{path}: not a file of predictions; delete it and rerun the rule that makes it")
    return [
        Prediction(**{**row, "scores": np.array(row["scores"], float), "flagged": np.array(row["flagged"], bool)})
        for row in table.to_pylist()
    ]
