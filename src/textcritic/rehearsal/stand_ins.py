"""All stand-ins of a study: they replace its downloads and the files that users bring."""

import shutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from textcritic.digests import sha256
from textcritic.plan.registries import REGISTRIES, Registries, download_of
from textcritic.rehearsal.brought import paths_of, put_corpus
from textcritic.rehearsal.files import SCIENTIFIC, stand_in
from textcritic.rehearsal.words import corpus, lessons, opening, sections
from textcritic.values import JsonObject

TEXTS = 40  # that tokenizers are made from
LESSONS = 200  # that generators are trained on
ARTICLES = 24
DATASET = (
    *("pubmed/scientific_papers-train-00000-of-00001.parquet", "pubmed/scientific_papers-validation.parquet"),
    "pubmed/scientific_papers-test.parquet",
)


class StandIns:
    """The stand-ins that a study needs, in a folder, made once.

    Args:
        registries: the real ones.
        uses: entries that the study names, by registry and name.
        folder: for the files of the hub and other servers.

    Attributes:
        used: all entries that are needed, by registry and name.
    """

    def __init__(self, registries: Registries, uses: Iterable[tuple[str, str]], folder: Path) -> None:
        self._registries, self._folder = registries, folder
        self.used = registries.closure(uses)

    def put(self, here: Path) -> None:
        """Write what is not there yet: the mirror's files, and below `here` what a user would bring."""
        for name in self.used.get("downloads", ()):
            path = self._folder / "files" / name
            if not path.is_file():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(stand_in(self._registries.entry("downloads", name).url))
        kinds = self._folder / "kinds"
        for name in self.used.get("hub", ()):
            model = self._registries.entry("hub", name)
            _put_model(self._folder / "hub" / model.repository, name, model.format == "pytorch", kinds)
        for name in self.used.get("datasets", ()):
            _put_dataset(self._folder / "hub" / self._registries.entry("datasets", name).repository)
        for name in self.used.get("corpora", ()):
            entry = self._registries.entry("corpora", name)
            for seed, path in paths_of(entry.options):
                if not (here / path).exists():
                    put_corpus(here / path, entry.extractor, seed + len(name))
        for path in self._model_folders():
            _put_model(here / path, path.name, False, kinds)

    def overlay(self, port: int) -> dict[str, dict[str, JsonObject]]:
        """The addresses and checksums of the downloads, for the registry of that name."""
        return {
            "downloads": {
                path.name: {
                    "url": f"http://127.0.0.1:{port}/files/{path.name}",
                    "sha256": sha256(path),
                }
                for path in sorted((self._folder / "files").glob("*"))
            }
        }

    def files(self) -> dict[str, bytes]:
        """What `mirror.Mirror.files` serves."""
        return {path.name: path.read_bytes() for path in (self._folder / "files").glob("*")}

    def repositories(self) -> dict[str, dict[str, bytes]]:
        """What `mirror.Mirror.repositories` serves."""
        return {
            repository.relative_to(self._folder / "hub").as_posix(): {
                path.relative_to(repository).as_posix(): path.read_bytes()
                for path in sorted(repository.rglob("*"))
                if path.is_file()
            }
            for repository in (self._folder / "hub").glob("*/*")
        }

    def _model_folders(self) -> list[Path]:
        """Folders of models that entries name as a user's own."""
        return sorted(
            {
                Path(text)
                for registry in REGISTRIES
                for name in self.used.get(registry, ())
                for key, text, about in self._registries.texts(registry, name)
                if about.get("brought") and key.endswith("init.folder") and download_of(text) is None
            }
        )


def _put_model(folder: Path, name: str, pytorch: bool, place: Path) -> None:
    """A checkpoint of the architecture in its name, a copy of the one below `place`."""
    if folder.is_dir():
        return
    from textcritic.rehearsal import checkpoints, coreference  # torch takes a second

    if "coref" in name:
        coreference.save_checkpoint(folder, "lingmess" if "lingmess" in name else "f-coref")
        return
    makers: dict[str, Callable[..., Path]] = {
        "gpt-neo": partial(checkpoints.tiny_gpt_neo, lessons=lessons(LESSONS)),
        "gpt2": partial(checkpoints.tiny_gpt2, lessons=lessons(LESSONS)),
        "roberta": checkpoints.tiny_roberta,
        "albert": checkpoints.tiny_albert,
        "electra": checkpoints.tiny_electra,
        "xlnet": checkpoints.tiny_xlnet,
        "bert": checkpoints.tiny_bert,
    }
    part = next(part for part in makers if part in name)
    alike = place / part
    if not alike.is_dir():
        makers[part](alike, corpus(TEXTS))
    shutil.copytree(alike, folder)
    if pytorch:
        checkpoints.as_pytorch(folder)


def _put_dataset(folder: Path) -> None:
    """Parquet files of scientific articles, as the hub has those of Cohan et al. 2018."""
    if folder.is_dir():
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    for number, place in enumerate(DATASET):
        rows = []
        for article in range(ARTICLES):
            parts = sections(500 * number + article, SCIENTIFIC)
            texts = {"article": "\n".join(text for _, text in parts), "abstract": opening(article)}
            rows.append(texts | {"section_names": "\n".join(title for title, _ in parts)})
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), path)
