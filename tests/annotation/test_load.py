"""Fifty annotators at once, and a server that is killed three times: no answer is lost, and none counts twice."""

import http.client
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from itsdangerous import URLSafeSerializer

from annotation.campaigns import Client, article, filled, link, made_campaign, open_store, serving
from textcritic.annotation.export import export

pytestmark = pytest.mark.annotation
ANNOTATORS, TEXTS, KILLS = 50, 6, 3


class Patient(Client):
    """Sends a request again where the server is gone, as a person does; and keeps how long each took."""

    seconds: list[float]

    def request(self, method, path, body=None, **headers):
        for _ in range(200):
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


class Crowd:
    """What annotators were told to be saved: (annotator's number, place) and the answer."""

    def __init__(self, server, links):
        self.server, self.links = server, links
        self.saved = {}
        self.clients = [Patient(server.port) for _ in links]

    def work(self, number):
        rng, client = random.Random(number), self.clients[number]
        client.seconds = []
        page = client.to_first_text(self.links[number])
        for place in range(1, TEXTS + 1):
            form = filled(page, rng.choice(("yes", "no")), rng.randrange(4))
            time.sleep(rng.random() / 10)
            copies = [form, form] if rng.random() < 0.2 else [form]
            with ThreadPoolExecutor(2) as both:  # a double click: the same form twice at once
                answers = list(both.map(lambda one: client.post("/answer", one, follow=False), copies))
            assert {answer.status for answer in answers} == {303}
            self.saved[number, place] = (form["coherent"] == "yes", form["type0"])
            page = client.get("/")
        assert page.heading == "Thank you"


def test_fifty_annotators_and_three_kills(tmp_path):
    rng = random.Random(1)
    samples = [article(f"theirs-{n}", ("steps", "notes", "summary"), rng) for n in range(10)]
    none = {"texts": 0, "pass": 0, "rounds": 1}
    made_campaign(tmp_path, samples, training=none, attention=0, per_annotator=TEXTS)
    links = [link(tmp_path) for _ in range(ANNOTATORS)]
    with serving(tmp_path, "--limit", "100000") as server:
        crowd = Crowd(server, links)
        begun = time.perf_counter()
        with ThreadPoolExecutor(ANNOTATORS) as people:
            done = [people.submit(crowd.work, number) for number in range(ANNOTATORS)]
            for kill in range(1, KILLS + 1):
                while len(crowd.saved) < kill * ANNOTATORS * TEXTS // (KILLS + 1) and not all(d.done() for d in done):
                    time.sleep(0.01)
                server.kill()
                server.start()
            for one in done:
                one.result()
        spent = time.perf_counter() - begun
    with open_store(tmp_path) as store:
        assert store.value("PRAGMA integrity_check") == "ok"
        rows = export(store).rows
        who = {row["id"]: row["annotator"] for row in store.rows("SELECT id, annotator FROM link")}
        titles = store.about("titles")
    order = {who[id_in(path)]: number for number, path in enumerate(links)}
    stored = {
        (order[row.annotator], row.order): (row.answer.coherent, str(titles.index(row.answer.titles[0])))
        for row in rows
    }
    assert len(rows) == len(crowd.saved) == ANNOTATORS * TEXTS
    assert stored == crowd.saved
    times = sorted(second for client in crowd.clients for second in client.seconds)
    p50, p95, p99 = (1000 * times[int(share * len(times))] for share in (0.5, 0.95, 0.99))
    print(
        f"\n{len(rows)} answers of {ANNOTATORS} annotators in {spent:.1f} s, {len(times)} requests,"
        f" p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms, {KILLS} kills"
    )


def id_in(path):
    """The id in a link: a signature hides nothing."""
    return URLSafeSerializer("any").loads_unsafe(path.removeprefix("/enter/"))[1]
