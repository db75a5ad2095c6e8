"""Who must not come in, and what nobody may read or send."""

import http.client
import json
import re
import socket
import subprocess
import sys
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import cache
from urllib.parse import unquote, urlencode

import pytest
from itsdangerous import TimestampSigner, URLSafeSerializer
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotation.campaigns import (
    MARKUP,
    TITLES,
    Client,
    answered,
    filled,
    link,
    made_campaign,
    open_store,
    serving,
)
from textcritic.annotation import visits
from textcritic.annotation.app import make_app
from textcritic.annotation.links import ADMIN, PROLIFIC, link_of_token, revoke
from textcritic.annotation.security import HEADERS, LONGEST_FORM
from textcritic.annotation.visits import Settings
from textcritic.corpora import Article, Section

pytestmark = pytest.mark.annotation
HURT = "=cmd|' /C calc'!A0<img src=x onerror=alert(1)>\"'"
FREE = {"training": {"texts": 0, "pass": 0, "rounds": 1}, "attention": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A campaign whose texts, titles and wording try to be markup."""
    folder = tmp_path_factory.mktemp("attacks")
    samples = [
        Article(f"secret-{n}", None, (Section("notes", f"{MARKUP} {n}"), Section("steps", "word " * 25_000)), "x", None)
        for n in range(6)
    ]
    wording = {"question": f"Is it {MARKUP}?", "consent": MARKUP, "title": HURT, "titles": [*TITLES, HURT]}
    made_campaign(folder, samples, **FREE, **wording)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with serving(folder, "--limit", "1000") as started:
        yield started


@pytest.fixture
def client(server):
    return Client(server.port)


@pytest.fixture
def at_text(server, folder):
    """An annotator before the first text, and the page."""
    client = Client(server.port)
    return client, client.to_first_text(link(folder))


def num_answers(folder):
    with open_store(folder) as store:
        return store.value("SELECT count(*) FROM answer")


def test_every_page_has_the_headers_and_no_script(at_text, client):
    for page in (at_text[1], at_text[0].get("/withdraw"), client.get("/"), client.get("/enter/x"), client.get("/no")):
        for name, value in HEADERS.items():
            assert page.headers[name.lower()] == value
        assert "<script" not in page.text
        assert not re.search(
            r"\son\w+=", re.sub(r"<option.*?</option>|<title>.*?</title>|<p class=\"site\">.*", "", page.text)
        )
        assert "server" not in page.headers


def test_markup_is_shown_and_not_obeyed(server, folder):
    client = Client(server.port)
    page = client.get(link(folder))
    assert "&lt;script&gt;document.title" in page.text
    seen = []
    page = client.to_first_text(link(folder))
    for _ in range(4):
        seen.append(page.text)
        page = answered(client, page)
    texts = "".join(seen)
    assert "<script" not in texts
    assert "<img" not in texts
    assert "<b>" not in texts
    assert "{{ 7 * 7 }}" in texts  # no template either
    assert "&lt;script&gt;" in texts
    assert "&lt;img src=x onerror=alert(1)&gt;" in texts
    assert any(len(text) > 100_000 for text in seen)


def test_no_page_says_who_wrote_a_text(server, folder):
    client = Client(server.port)
    pages = [client.get(path := link(folder)), client.to_first_text(path)]
    for _ in range(4):
        pages.append(answered(client, pages[-1]))
    pages += [client.get(path) for path in ("/previous", "/withdraw", "/")]
    with open_store(folder) as store:
        documents = [row["document"] for row in store.rows("SELECT document FROM item")]
    words = [*documents, "theirs", "w-title", "given", "seed", "recipes", "real", "secret"]
    for page in pages:
        visible = page.text + json.dumps(page.headers) + "".join(map(decoded, client.cookies.values()))
        visible += "".join(decoded(token) for token in re.findall(r'name="token" value="([^"]+)"', page.text))
        for word in words:
            assert not re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z-])", visible), word


def decoded(signed):
    """What a signed value says to whoever looks into it."""
    payload = unquote(signed).strip('"').partition(".")[0]
    try:
        return urlsafe_b64decoded(payload)
    except ValueError:
        return payload


def urlsafe_b64decoded(payload):
    return urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode()


def forged(folder):
    """A link signed with another secret, for an id that there is."""
    with open_store(folder) as store:
        id_ = store.value("SELECT id FROM link LIMIT 1")
    return f"/enter/{URLSafeSerializer('guess', salt='link').dumps(id_)}"


def other_purpose(folder):
    """The campaign's own signature, made for a form."""
    with open_store(folder) as store:
        id_ = store.value("SELECT id FROM link LIMIT 1")
        return f"/enter/{URLSafeSerializer(store.about('secret'), salt='form').dumps(id_)}"


def unknown(folder):
    with open_store(folder) as store:
        return f"/enter/{URLSafeSerializer(store.about('secret'), salt='link').dumps('A' * 22)}"


@pytest.mark.parametrize(
    "make", [forged, other_purpose, unknown, lambda folder: link(folder)[:-1], lambda _: "/enter/x"]
)
def test_a_forged_link_opens_nothing(make, client, folder):
    link(folder)
    page = client.get(make(folder))
    assert page.status == 403
    assert "not valid" in page.text
    assert client.get("/").status == 403


def test_an_expired_link_opens_nothing(client, folder):
    assert "This link has expired" in client.get(link(folder, days=-0.01)).text
    assert client.get("/").status == 403


def test_a_link_that_expires_or_is_revoked_closes_pages_that_are_open(at_text, folder):
    client, page = at_text
    before = num_answers(folder)
    with open_store(folder) as store:
        who = store.value("SELECT id FROM annotator ORDER BY rowid DESC LIMIT 1")
        with store.transaction():
            store.change("UPDATE link SET expires = '2026-01-01' WHERE annotator = ?", who)
        assert client.post("/answer", filled(page)).status == 403
        assert client.get("/").status == 403
        with store.transaction():
            store.change("UPDATE link SET expires = '2999-01-01' WHERE annotator = ?", who)
        assert client.get("/").status == 200
        revoke(store, who)
    assert client.post("/answer", filled(page)).status == 403
    assert client.get("/").status == 403
    assert num_answers(folder) == before


@pytest.mark.parametrize(("kind", "page"), [(PROLIFIC, "/"), (ADMIN, "/admin")])
def test_a_revoked_link_closes_the_pages_of_everybody_who_came_by_it(kind, page, client, folder):
    path = link(folder, kind)
    client.get(f"{path}?PROLIFIC_PID=5f7")
    assert client.get(page).status == 200
    with open_store(folder) as store:
        revoke(store, link_of_token(store, path.removeprefix("/enter/")).id)
    assert client.get(page).status == 403
    assert client.get(f"{path}?PROLIFIC_PID=5f8").status == 403


@pytest.mark.parametrize("kind", ["annotator", PROLIFIC])
def test_an_annotators_link_does_not_open_the_campaigns_pages(kind, client, folder):
    client.get(link(folder, kind) + "?PROLIFIC_PID=5f0")
    for path in ("/admin", "/admin/answers.csv", "/admin/answers.jsonl", "/admin/pilot.jsonl"):
        page = client.get(path)
        assert page.status == 403
        assert "theirs" not in page.text


def test_a_session_that_somebody_made_up_is_none(server, folder):
    with open_store(folder) as store:
        id_ = store.value("SELECT id FROM annotator LIMIT 1")
    made = urlsafe_b64encode_json({"admin": {"link": id_, "annotator": None}, "word": "x"})
    client = Client(server.port, {"textcritic": TimestampSigner("guess").sign(made).decode()})
    assert client.get("/admin").status == 403


def urlsafe_b64encode_json(value):
    return urlsafe_b64encode(json.dumps(value).encode())


LOOK_ALIKE = [
    "http://{here}.evil.example",
    "http://{here}@evil.example",
    "http://evil.example/{here}",
]


@pytest.mark.parametrize(
    "origin", [None, "null", "https://evil.example", "http://127.0.0.1:1", "http://localhost", *LOOK_ALIKE]
)
def test_a_post_from_another_site_changes_nothing(origin, at_text, folder):
    client, page = at_text
    origin = origin and origin.format(here=f"127.0.0.1:{client.port}")
    before = num_answers(folder)
    refused = client.post("/answer", filled(page), origin=origin)
    assert refused.status == 403
    assert "another site" in refused.text
    assert client.post("/withdraw", {"token": page.token}, origin=origin).status == 403
    assert num_answers(folder) == before


def test_a_post_that_the_browser_calls_cross_site_is_refused(at_text):
    client, page = at_text
    headers = {"Origin": f"http://127.0.0.1:{client.port}", "Sec-Fetch-Site": "cross-site"}
    assert client.request("POST", "/answer", urlencode(filled(page)), **headers).status == 403


def test_a_form_of_another_session_is_refused(at_text, server, folder):
    _, page = at_text
    thief = Client(server.port)
    thief.to_first_text(link(folder))
    before = num_answers(folder)
    refused = thief.post("/answer", filled(page))
    assert refused.status == 403
    assert "another visit" in refused.text
    for token in ("", "x", page.token[:-2], page.token + "x"):
        assert thief.post("/answer", filled(page) | {"token": token}).status == 403
    assert num_answers(folder) == before


def test_a_form_that_is_sent_again_counts_once(at_text, folder):
    client, page = at_text
    before = num_answers(folder)
    form = filled(page)
    second = client.post("/answer", form)
    assert second.heading == "Text 2 of 4"
    # The same request with other answers, at once and after the next text.
    assert client.post("/answer", form | {"coherent": "no"}).heading == "Text 2 of 4"
    assert answered(client, second).heading == "Text 3 of 4"
    assert client.post("/answer", form | {"coherent": "no"}).heading == "Text 3 of 4"
    assert num_answers(folder) == before + 2
    with open_store(folder) as store:
        sent = store.rows("SELECT answer FROM answer ORDER BY rowid DESC LIMIT 2")
    assert all(json.loads(row["answer"])["coherent"] for row in sent)


def test_an_item_that_was_given_to_somebody_else_cannot_be_answered(at_text, folder):
    """Even by whoever knows its id and the session: a form says which text it was made for, signed."""
    client, page = at_text
    before = num_answers(folder)
    with open_store(folder) as store:
        secret = store.about("secret")
        mine = URLSafeSerializer(secret, salt="form").loads(page.token)
        other = store.value("SELECT id FROM item WHERE id != ? LIMIT 1", mine[1])
        sign = URLSafeSerializer(secret, salt="form")
        assert client.post("/answer", filled(page) | {"token": sign.dumps([mine[0], other, "r"])}).status == 403
    guessed = URLSafeSerializer("guess", salt="form").dumps([mine[0], other, "r"])
    assert client.post("/answer", filled(page) | {"token": guessed}).status == 403
    assert num_answers(folder) == before


def test_answers_that_the_form_does_not_offer_are_missing(at_text, folder):
    client, page = at_text
    before = num_answers(folder)
    for change in ({"type0": "99"}, {"type0": "summary"}, {"type0": ""}, {"coherent": "perhaps"}, {"type0": "-1"}):
        asked = client.post("/answer", filled(page) | change)
        assert asked.status == 422
        assert "Nothing is saved yet" in asked.text
    assert num_answers(folder) == before


def test_what_was_chosen_is_still_there_when_something_is_missing(at_text):
    client, page = at_text
    form = filled(page, choice=2)
    del form["coherent"]
    asked = client.post("/answer", form)
    assert asked.text.count('<option value="2" selected>') == len([key for key in form if key.startswith("type")])


def test_a_form_without_end_and_one_with_too_many_fields(at_text):
    client, page = at_text
    assert client.post("/answer", filled(page) | {"more": "x" * LONGEST_FORM}).status == 413
    assert client.post("/answer", filled(page) | {f"f{n}": "" for n in range(3000)}).status == 400
    headers = {"Origin": f"http://127.0.0.1:{client.port}"}
    assert client.request("POST", "/answer", b"\xff\xfe", **headers).status == 400


@pytest.mark.parametrize("path", ["/answer", "/consent", "/admin/backup", "/admin/invite"])
def test_a_page_that_changes_something_cannot_be_read(path, client):
    assert client.get(path).status == 405


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "X"])
def test_other_methods_do_nothing(method, at_text, folder):
    client, page = at_text
    before = num_answers(folder)
    for path in ("/", "/answer", "/withdraw", "/admin"):
        assert client.request(method, path, urlencode(filled(page))).status in (400, 404, 405)
    assert num_answers(folder) == before


def test_files_of_the_server_are_not_served(client):
    for path in ("/../campaign.sqlite", "/style.css/../app.py", "/campaign.sqlite", "/%2e%2e/config.yaml"):
        assert client.get(path).status == 404


def test_too_many_requests_of_one_link_are_refused_and_others_are_not(tmp_path):
    made_campaign(tmp_path)
    with serving(tmp_path, "--limit", "20") as server:
        quick, other = Client(server.port), Client(server.port)
        path = link(tmp_path)
        quick.get(path)
        answers = [quick.get("/") for _ in range(25)]
        assert {page.status for page in answers} == {200, 429}
        assert answers[-1].headers["retry-after"] == "60"
        assert other.get(link(tmp_path)).status == 200
        # Guessing links is limited too, and limits nobody who has one.
        assert Client(server.port).get("/enter/x").status == 403
        assert {Client(server.port).get(f"/enter/{n}").status for n in range(25)} == {403, 429}
        assert other.get("/").status == 200


def test_the_session_cookie_is_kept_from_scripts_and_other_sites(client, folder):
    page = client.request("GET", link(folder))
    flags = {flag.strip().lower() for flag in page.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/"} <= flags
    assert "secure" not in flags
    with open_store(folder) as store:
        app = make_app(store, Settings(address="https://study.example.org"))
    (session,) = [one for one in app.user_middleware if isinstance(one, Middleware) and "https_only" in one.kwargs]
    assert session.kwargs["https_only"]
    assert session.kwargs["same_site"] == "lax"


def test_behind_a_proxy_the_origin_is_that_of_the_address(folder, tmp_path):
    made_campaign(tmp_path, **FREE)
    with serving(tmp_path, "--address", "http://study.example.org") as server:
        client = Client(server.port)
        page = client.get(link(tmp_path))
        assert client.post("/consent", {"token": page.token}).status == 403
        assert client.post("/consent", {"token": page.token}, origin="http://study.example.org").status == 200
        forged = client.request("GET", "/", Host="evil.example", **{"X-Forwarded-Host": "evil.example"})
        assert "evil.example" not in forged.text + str(forged.headers)
        wrong = client.post("/begin", {"token": page.token}, origin="http://evil.example")
        assert wrong.status == 403


def test_no_address_is_stored_or_logged(tmp_path):
    made_campaign(tmp_path, **FREE)
    with serving(tmp_path) as server:
        client = Client(server.port)
        page = client.request(
            "GET", link(tmp_path), **{"X-Forwarded-For": "203.0.113.7", "Forwarded": "for=203.0.113.7"}
        )
        assert page.status == 303
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", "/", headers={"X-Forwarded-For": "203.0.113.7"})
        connection.getresponse().read()
        connection.close()
        answered(client, client.to_first_text("/"))
        server.stop()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert b"203.0.113.7" not in content
            assert b"127.0.0.1" not in content


def test_participants_of_prolific_come_by_one_link_and_are_not_stored(tmp_path):
    made_campaign(tmp_path, **FREE, completion="C0DE42")
    with serving(tmp_path) as server:
        path = link(tmp_path, PROLIFIC)
        assert Client(server.port).get(path).status == 400
        first, again, second = (Client(server.port) for _ in range(3))
        first.to_first_text(f"{path}?PROLIFIC_PID=5f00aa&STUDY_ID=s&SESSION_ID=t")
        assert again.get(f"{path}?PROLIFIC_PID=5f00aa&STUDY_ID=s&SESSION_ID=u").heading == "Text 1 of 4"
        assert second.get(f"{path}?PROLIFIC_PID=5f00bb").heading == "Before you begin"
        page = first.get("/")
        while "Thank you" not in page.heading:
            assert "C0DE42" not in page.text
            page = answered(first, page)
        assert "C0DE42" in page.text
        assert "https://app.prolific.com/submissions/complete?cc=C0DE42" in page.text
        database = open_store(tmp_path)
        assert database.value("SELECT count(*) FROM annotator") == 2
        database.close()
        assert b"5f00aa" not in database.path.read_bytes()


@pytest.fixture
def crowd(tmp_path):
    """What opens a link of Prolific as participants, and says how each was answered; five places."""
    made_campaign(tmp_path, **FREE)
    path = link(tmp_path, PROLIFIC)
    with open_store(tmp_path) as store:

        @cache
        def app():
            return make_app(store, Settings())

        def come(*people):
            return [TestClient(app()).get(f"{path}?PROLIFIC_PID={person}", follow_redirects=False) for person in people]

        yield come, store


def test_a_link_of_prolific_makes_so_many_annotators_as_there_are_places(crowd):
    come, store = crowd
    asked = come(*range(8))
    assert [page.status_code for page in asked] == [303] * 5 + [403] * 3
    assert "All places of this study are taken. Please return it on Prolific." in asked[-1].text
    assert [page.status_code for page in come(*range(5))] == [303] * 5
    revoke(store, store.value("SELECT id FROM annotator WHERE person IS NOT NULL"))
    assert [page.status_code for page in come(8, 9)] == [303, 403]
    assert store.value("SELECT count(*) FROM annotator") == 6


def test_newcomers_are_limited_by_the_minute_and_whoever_returns_is_not(monkeypatch, crowd):
    assert visits.NEWCOMERS_A_MINUTE == 200
    monkeypatch.setattr(visits, "NEWCOMERS_A_MINUTE", 2)
    come, _ = crowd
    pages = come(1, 2, 3, 1, 2, 1, 2, 3)
    assert [page.status_code for page in pages] == [303, 303, 429, 303, 303, 303, 303, 429]
    assert pages[-1].headers["retry-after"] == "60"


def test_a_placeholder_is_no_participant(crowd):
    come, store = crowd
    for person in ("{{%PROLIFIC_PID%}}", "%7B%7B%25PROLIFIC_PID%25%7D%7D"):
        (page,) = come(person)
        assert page.status_code == 400
        assert "still has Prolific&#39;s placeholder in the place of a participant&#39;s id" in page.text
    assert store.value("SELECT count(*) FROM annotator") == 0


def test_an_answer_that_comes_too_late_says_so(at_text, folder):
    client, page = at_text
    late = filled(page)  # in a second window
    second = answered(client, page)
    late["token"] = client.get("/previous").token
    third = answered(client, second)
    before = num_answers(folder)
    for do in ("answer", "pause"):
        said = client.post("/answer", late | {"do": do})
        assert (said.status, said.heading) == (409, "Not saved: you have gone on")
    assert num_answers(folder) == before
    assert client.get("/").heading == third.heading


def test_a_slow_connection_is_closed_and_a_patient_one_is_not(folder):
    code = (
        "from textcritic.annotation import security; security.LONGEST_REQUEST = 0.3\n"
        "import sys; from textcritic.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", code, "annotate", "serve", "test", "--port", str(port)]
    (folder / "other").mkdir()
    made_campaign(folder / "other", **FREE)
    with subprocess.Popen(command, cwd=folder / "other", stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline()
            head = b"POST /consent HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
            for begun in (b"", b"GET / HT", head + b"half"):
                with socket.create_connection(("127.0.0.1", port), 10) as slow:
                    slow.sendall(begun)
                    assert slow.recv(1) == b""
            kept = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            for _ in range(2):  # one connection, longer than a request may take
                kept.request("GET", "/style.css")
                assert kept.getresponse().read()
                time.sleep(0.35)
            kept.close()
        finally:
            process.kill()


def test_withdrawal_closes_on_its_day(tmp_path):
    made_campaign(tmp_path, **FREE, withdraw_until="2026-01-31")
    with serving(tmp_path) as server:
        client = Client(server.port)
        page = client.to_first_text(link(tmp_path))
        assert "until 2026-01-31" in client.get("/withdraw").text
        assert client.post("/withdraw", {"token": page.token}).status == 403
        assert client.get("/").status == 200


def test_the_campaigns_pages_invite_and_revoke(server, folder):
    admin = Client(server.port)
    page = admin.get(link(folder, "admin"))
    assert page.heading == "Campaign test"
    made = admin.post("/admin/invite", {"token": page.token, "number": "2", "days": "3"})
    links = re.findall(r"<li>http://127\.0\.0\.1:\d+(/enter/[\w.-]+)</li>", made.text)
    assert len(links) == 2
    annotator = Client(server.port)
    assert annotator.get(links[0]).heading == "Before you begin"
    with open_store(folder) as store:
        who = link_of_token(store, links[0].removeprefix("/enter/")).annotator
    assert who in admin.get("/admin").text
    admin.post("/admin/revoke", {"token": admin.get("/admin").token, "annotator": who})
    assert annotator.get("/").status == 403
    for code, status in (("nobody", 404), (who, 200), (who, 404)):
        assert admin.post("/admin/withdraw", {"token": page.token, "annotator": code}).status == status
    wrong = {"number": ("0", "1e9", "", "²", "101", "9" * 5000), "days": ("0", "x", "9" * 5000)}
    for key, values in wrong.items():
        for value in values:
            fields = {"token": page.token, "number": "1", "days": "3", key: value}
            assert admin.post("/admin/invite", fields).status == 400
    (folder / "results/annotations/test/backups").touch()  # where a folder should be
    refused = admin.post("/admin/backup", {"token": page.token})
    assert (refused.status, "No backup was written: " in refused.text) == (200, True)
    (folder / "results/annotations/test/backups").unlink()
    prolific = admin.post("/admin/invite", {"token": page.token, "number": "1", "days": "3", "prolific": "1"})
    assert "?PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;STUDY_ID=" in prolific.text
    exported = admin.get("/admin/answers.csv")
    assert exported.headers["content-disposition"] == 'attachment; filename="test.csv"'
    assert exported.text.startswith("campaign,task,annotator,")
