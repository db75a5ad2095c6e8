"""The block of an experiment of kind `metrics`."""

from typing import Annotated, Literal

from textcritic.plan.entries.base import key
from textcritic.plan.entries.blocks import SAMPLES, TABLES, Block, Table, WithoutTitles, recipes


class MetricsBlock(Block):
    """Measures of your own (kind `metrics`): one number a document, by Python functions; see docs/extend.md."""

    kind: Literal["metrics"] = key("one number a document, by functions of yours")
    metrics: list[str] = key(
        "the functions, each as `module:function`; the module is in one of the `metric_folders` of the configuration,"
        " or installed",
        min_length=1,
    )
    sources: list[WithoutTitles] = SAMPLES
    tables: Annotated[list[Table], recipes({"values": "all measures of all sources"})] = TABLES
