"""Fifty annotators at once, and a server that is killed three times: no answer is lost, and none counts twice."""

import http.client
import random
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from itsdangerous import URLSafeSerializer

from annotation.campaigns import Client, article, filled, link, made_campaign, open_store, serving
from textcritic.annotation.export import export

pytestmark = pytest.mark.annotation


class Patient(Client):
    """Sends a request again where the server is gone, as a person does; and keeps how long each took."""

    seconds: list[float]

    def request(self, method, path, body=None, **headers):
        for _ in range(600):
            begun = time.perf_counter()
            try:
                page = super().request(method, path, body, **headers)
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)
                continue
            if page.status == 503:
                continue
            self.seconds.append(time.perf_counter() - begun)
            return page
        raise AssertionError("the server did not come back")


@dataclass(frozen=True)
class Load:
    """How many come, how many texts each answers, each after so many seconds at most; how often it is killed."""

    annotators: int
    texts: int
    thought: float
    kills: int


class Crowd:
    """What annotators were told to be saved: (annotator's number, place) and the answer."""

    def __init__(self, server, links, load):
        self.server, self.links, self.load = server, links, load
        self.saved = {}
        self.clients = [Patient(server.port) for _ in links]

    def work(self, number):
        rng, client = random.Random(number), self.clients[number]
        client.seconds = []
        time.sleep(rng.random() * self.load.thought)
        page = client.to_first_text(self.links[number])
        for place in range(1, self.load.texts + 1):
            form = filled(page, rng.choice(("yes", "no")), rng.randrange(4))
            time.sleep(rng.random() * self.load.thought)
            copies = [form, form] if rng.random() < 0.2 else [form]
            with ThreadPoolExecutor(2) as both:  # a double click: the same form twice at once
                answers = list(both.map(lambda one: client.post("/answer", one, follow=False), copies))
            assert {answer.status for answer in answers} == {303}
            self.saved[number, place] = (form["coherent"] == "yes", form["type0"])
            page = client.get("/")
        assert page.heading == "Thank you"


@dataclass(frozen=True)
class Seen:
    """What was acknowledged, what is in the database, and how long requests took."""

    saved: dict
    stored: dict
    rows: int
    summary: str


def crowded(folder, load):
    """A campaign in a folder, answered by a crowd of annotators while its server is killed."""
    rng = random.Random(1)
    samples = [article(f"theirs-{n}", ("steps", "notes", "summary"), rng) for n in range(10)]
    none = {"texts": 0, "pass": 0, "rounds": 1}
    made_campaign(folder, samples, training=none, attention=0, per_annotator=load.texts)
    links = [link(folder) for _ in range(load.annotators)]
    with serving(folder, "--limit", "100000") as server:
        crowd = Crowd(server, links, load)
        begun, own = time.perf_counter(), time.process_time()
        with ThreadPoolExecutor(load.annotators) as people:
            done = [people.submit(crowd.work, number) for number in range(load.annotators)]
            for kill in range(1, load.kills + 1):
                enough = kill * load.annotators * load.texts // (load.kills + 1)
                while len(crowd.saved) < enough and not all(d.done() for d in done):
                    time.sleep(0.01)
                server.kill()
                server.start()
            for one in done:
                one.result()
        spent, own = time.perf_counter() - begun, time.process_time() - own
    of_server = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open_store(folder) as store:
        assert store.value("PRAGMA integrity_check") == "ok"
        rows = export(store).rows
        who = {row["id"]: row["annotator"] for row in store.rows("SELECT id, annotator FROM link")}
        titles = store.about("titles")
    order = {who[id_in(path)]: number for number, path in enumerate(links)}
    stored = {
        (order[row.annotator], row.order): (row.answer.coherent, str(titles.index(row.answer.titles[0])))
        for row in rows
    }
    times = sorted(second for client in crowd.clients for second in client.seconds)
    p50, p95, p99 = (1000 * times[int(share * len(times))] for share in (0.5, 0.95, 0.99))
    summary = (
        f"{len(rows)} answers of {load.annotators} annotators in {spent:.1f} s, {len(times)} requests,"
        f" p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms, {load.kills} kills; of a core the annotators took"
        f" {100 * own / spent:.0f}%, the servers {100 * (of_server.ru_utime + of_server.ru_stime) / spent:.0f}%"
    )
    return Seen(crowd.saved, stored, len(rows), summary)


def test_fifty_annotators_and_three_kills(tmp_path):
    load = Load(annotators=50, texts=6, thought=0.1, kills=3)
    seen = crowded(tmp_path, load)
    assert seen.rows == len(seen.saved) == load.annotators * load.texts
    assert seen.stored == seen.saved
    print(f"\n{seen.summary}")


def id_in(path):
    """The id in a link: a signature hides nothing."""
    return URLSafeSerializer("any").loads_unsafe(path.removeprefix("/enter/"))[1]
