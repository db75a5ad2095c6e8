"""A small finished study, and a campaign of its texts, served by a process of its own."""

import http.client
import random
import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import yaml
from own_study import own_folder, project, study

from textcritic.annotation.links import make_link
from textcritic.annotation.make import Made, database_of, make_campaign
from textcritic.annotation.store import Store
from textcritic.corpora import Article, Section, write_articles
from textcritic.corpora.intruders.documents import Document, write_documents
from textcritic.plan.entries import Campaign

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


def entry_of(folder: Path):
    """The entry of the campaign, checked."""
    return project(folder, studies=[], registry_folders=["registry"]).registries.entry("campaigns", "test")


def made_campaign(folder: Path, samples: list[Article] | None = None, **campaign: object) -> Made:
    """The campaign `test` of a finished study."""
    finished_study(folder, samples, **campaign)
    return make_campaign("test", entry_of(folder), folder)


def made_intruder_campaign(folder: Path, documents: list[Document], **campaign: object) -> Made:
    """A campaign of the task `intruder` on a corpus with these documents."""
    write_documents(folder / "results/corpora/stories/test.parquet", documents, "tests")
    options = {"task": "intruder", "corpus": "stories", "contact": "Ann", "texts": len(documents), "attention": 0}
    entry = Campaign.read({**options, "per_annotator": 4, "training": {"texts": 0}, **campaign}, "test")
    return make_campaign("test", entry, folder)


def open_store(folder: Path) -> Store:
    return Store(database_of(folder, "test"))


def link(folder: Path, kind: str = "annotator", days: float = 1, pilot: bool = False) -> str:
    """The path of a new link."""
    with open_store(folder) as store:
        return make_link(store, kind, days, pilot)


class Server:
    """`textcritic annotate serve test` in a folder, on the same port each time it is started."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            self.port = sock.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = ["annotate", "serve", "test", "--port", str(self.port), *self.options]
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "textcritic.cli", *command],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout.readline(), (self.folder / "server.log").read_text()

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()


@contextmanager
def serving(folder: Path, *options: str):
    server = Server(folder, *options)
    try:
        yield server
    finally:
        server.kill()


@dataclass
class Page:
    """An answer of the server."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def token(self) -> str:
        return re.search(r'name="token" value="([^"]+)"', self.text)[1]

    @property
    def heading(self) -> str:
        return re.search(r"<h1>(.*?)</h1>", self.text)[1]


@dataclass
class Client:
    """A browser without a screen: cookies, forms, and where it says that it comes from."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def request(self, method: str, path: str, body: str | None = None, **headers: str) -> Page:
        connection = self.connection()
        try:
            if self.cookies:
                headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            for name, value in answer.getheaders():
                if name.lower() == "set-cookie":
                    key, _, rest = value.partition("=")
                    self.cookies[key] = rest.partition(";")[0]
            return Page(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
        finally:
            connection.close()

    def get(self, path: str) -> Page:
        """A page; redirections are followed."""
        page = self.request("GET", path)
        while page.status == 303:
            page = self.request("GET", page.headers["location"])
        return page

    def post(self, path: str, fields: dict[str, str], origin: str | None = "", follow: bool = True) -> Page:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if origin is not None:
            headers["Origin"] = origin or f"http://127.0.0.1:{self.port}"
        page = self.request("POST", path, urlencode(fields), **headers)
        return self.get(page.headers["location"]) if page.status == 303 and follow else page

    def to_first_text(self, path: str) -> Page:
        """By a link through consent and instructions."""
        page = self.post("/consent", {"token": self.get(path).token})
        return self.post("/begin", {"token": page.token})


def filled(page: Page, coherent: str = "yes", choice: int = 0) -> dict[str, str]:
    """The form of a text, with one type for all sections."""
    sections = re.findall(r'name="(type\d+)"', page.text)
    return {"token": page.token, **dict.fromkeys(sections, str(choice)), "coherent": coherent, "do": "answer"}


def answered(client: Client, page: Page) -> Page:
    """The page after the text on this one, and after its feedback."""
    page = client.post("/answer", filled(page))
    return client.post("/seen", {"token": page.token}) if 'action="/seen"' in page.text else page
