"""A small finished study, and a campaign of its texts, served by a process of its own."""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from own_study import own_folder, project, study

from textcritic.annotation.links import make_link
from textcritic.annotation.make import Made, database_of, make_campaign
from textcritic.annotation.store import Store
from textcritic.corpora import Article, Section, write_articles
from textcritic.corpora.intruders.documents import Document, write_documents

TITLES = ("summary", "ingredients", "steps", "notes")
WORDS = {
    "summary": "a dish of the north that people eat in winter with friends",
    "ingredients": "two eggs flour butter sugar salt milk one lemon",
    "steps": "mix stir bake cool slice pour heat serve until golden",
    "notes": "keeps for three days cold freeze leftovers well covered",
}
CORPUS = {
    "extractor": "jsonl",
    "options": {"paths": ["recipes.jsonl"]},
    "splits": {"validation": 0.15, "test": 0.25, "seed": 1},
    "titles": {"drop": []},
    "sections": {"minimum": 2, "minimum_tokens": 1, "maximum_tokens": 200, "minimum_title_count": 5},
}
CAMPAIGN = {
    "corpus": "recipes",
    "sources": [{"corpora": ["recipes"], "settings": ["w-title"], "generators": ["theirs"], "decodings": ["given"]}],
    "texts": 6,
    "per_annotator": 4,
    "training": {"texts": 2, "pass": 0.5, "rounds": 2},
    "contact": "ann@example.org",
}
MARKUP = "<script>document.title = 'hurt'</script> & <b>bold</b> {{ 7 * 7 }}"
"""What a text may say, and what must be shown as it is."""


def article(id_: str, titles: tuple[str, ...], rng: random.Random) -> Article:
    texts = [" ".join(rng.choices(WORDS[title].split(), k=8)) + "." for title in titles]
    return Article(id_, None, tuple(Section(*pair) for pair in zip(titles, texts, strict=True)), "recipes", None)


def finished_study(folder: Path, samples: list[Article] | None = None, **campaign: object) -> Path:
    """A folder with a corpus, samples and a registry with the campaign `test`."""
    rng = random.Random(1)
    for split, number in (("train", 40), ("test", 10)):
        real = [article(f"{split}-{n}", TITLES[: rng.randint(2, 4)], rng) for n in range(number)]
        write_articles(folder / f"results/corpora/recipes/{split}.parquet", real)
    if samples is None:
        samples = [article(f"theirs-{n}", tuple(rng.choices(TITLES, k=3)), rng) for n in range(10)]
    write_articles(folder / "results/samples/recipes/w-title/theirs/seed1/given/draw1.parquet", samples)
    for name in ("recipes", "theirs"):
        (folder / f"{name}.jsonl").write_text("")
    registries = {
        "corpora": {"recipes": CORPUS},
        "generators": {"theirs": {"kind": "file", "path": "theirs.jsonl"}},
        "decodings": {"given": {}},
        "campaigns": {"test": CAMPAIGN | campaign},
    }
    own_folder(folder, study({"kind": "corpora", "corpora": ["recipes"]}), **registries)
    (folder / "config.yaml").write_text(yaml.safe_dump({"studies": [], "registry_folders": ["registry"]}))
    return folder


def registries_of(folder: Path):
    return project(folder, studies=[], registry_folders=["registry"]).registries


def made_campaign(folder: Path, samples: list[Article] | None = None, **campaign: object) -> Made:
    """The campaign `test` of a finished study."""
    finished_study(folder, samples, **campaign)
    return make_campaign("test", registries_of(folder), folder)
