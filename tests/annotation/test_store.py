"""The database: never damaged by another version, a second server, a full disk, a backup; what is deleted is gone."""

import socket
import sqlite3
import threading
from contextlib import closing

import pytest
from starlette.testclient import TestClient

from annotation.campaigns import Client, Server, answered, filled, link, made_campaign, open_store, serving
from textcritic.annotation import steps, store
from textcritic.annotation.app import make_app
from textcritic.annotation.backups import backups_of, make_backup, withdraw
from textcritic.annotation.links import ANNOTATOR, add_annotator, link_of_token, make_link, signer
from textcritic.annotation.run import Served, open_campaign
from textcritic.annotation.steps import Campaign
from textcritic.annotation.store import NotStoredError, Store, now, only_server
from textcritic.annotation.visits import Settings
from textcritic.cli import main
from textcritic.errors import TextcriticError

pytestmark = pytest.mark.annotation
UNUSUAL = "Zwetschgenkuchen"


@pytest.fixture
def folder(tmp_path):
    made_campaign(tmp_path)
    return tmp_path


@pytest.fixture
def path(folder):
    with open_store(folder) as opened:
        return opened.path


def test_the_settings_that_keep_answers_safe_are_on(folder):
    with open_store(folder) as opened:
        settings = {name: opened.value(f"PRAGMA {name}") for name in ("journal_mode", "synchronous", "secure_delete")}
    assert settings == {"journal_mode": "delete", "synchronous": 3, "secure_delete": 1}
    assert path_mode(opened.path) == 0o600


def path_mode(path):
    return path.stat().st_mode & 0o777


def test_a_later_version_is_refused_and_left_as_it_is(path):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=7")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(TextcriticError, match="of version 7, made by a later textcritic"):
        Store(path)
    assert path.read_bytes() == before


def test_an_earlier_version_is_migrated_and_kept(folder, path, monkeypatch):
    monkeypatch.setattr(store, "MIGRATIONS", (*store.MIGRATIONS, ("ALTER TABLE item ADD COLUMN note TEXT",)))
    with Store(path) as opened:
        assert opened.value("PRAGMA user_version") == 2
        assert opened.value("SELECT count(*) FROM item WHERE note IS NULL") == 17
        (kept,) = backups_of(opened)
    with sqlite3.connect(kept) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()


def test_a_migration_that_fails_changes_nothing(path, monkeypatch):
    broken = ("ALTER TABLE item ADD COLUMN note TEXT", "ALTER TABLE nothing ADD COLUMN note TEXT")
    with monkeypatch.context() as patched:
        patched.setattr(store, "MIGRATIONS", (*store.MIGRATIONS, broken))
        with pytest.raises(TextcriticError, match="nothing was saved"):
            Store(path)
    with Store(path) as opened:
        assert opened.value("PRAGMA user_version") == 1
        assert "note" not in [row["name"] for row in opened.rows("PRAGMA table_info(item)")]


@pytest.mark.parametrize("content", [b"no database" * 100, None])
def test_what_is_no_campaign_is_refused(content, tmp_path):
    path = tmp_path / "other.sqlite"
    if content is None:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE mine (a)")
        connection.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(TextcriticError, match=r"other\.sqlite: .*database"):
        Store(path)
    assert path.read_bytes() == before


def test_a_campaign_that_was_not_made(tmp_path):
    with pytest.raises(TextcriticError, match="make the campaign with `textcritic annotate make NAME`"):
        Store(tmp_path / "campaign.sqlite")
    assert not list(tmp_path.iterdir())


def test_two_servers_on_one_campaign_and_a_port_in_use(folder, path):
    with only_server(path), pytest.raises(TextcriticError, match="another server is at work on this campaign"):
        open_campaign("test", Served(port=1), folder=folder)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            TextcriticError, match=f"127.0.0.1:{port} cannot be listened on .* choose another with --port"
        ):
            open_campaign("test", Served(port=port), folder=folder)


def a_full_disk(opened):
    """SQLite says of this what it says of a full disk."""
    opened.connection.execute(f"PRAGMA max_page_count={opened.value('PRAGMA page_count')}")


def test_a_full_disk_loses_nothing_and_is_survived(folder):
    with open_store(folder) as opened:
        campaign = Campaign(opened)
        with opened.transaction():
            who = add_annotator(opened, False, None)
        steps.consent(campaign, who)
        steps.begin(campaign, who, now())
        a_full_disk(opened)
        acknowledged = 0

        def fill():
            nonlocal acknowledged
            for number in range(1000):
                with opened.transaction():
                    opened.insert("request", ("id", "annotator"), [(f"{number} {'x' * 500}", who)])
                acknowledged += 1

        with pytest.raises(NotStoredError, match="disk is full"):
            fill()
        assert opened.value("SELECT count(*) FROM request") == acknowledged
        assert opened.value("PRAGMA integrity_check") == "ok"
        opened.connection.execute("PRAGMA max_page_count=100000")
        with opened.transaction():
            opened.insert("request", ("id", "annotator"), [("room again", who)])


def test_a_backup_is_consistent_while_answers_are_written(folder):
    with open_store(folder) as opened:
        campaign = Campaign(opened)
        stop = threading.Event()

        def write():
            with Store(opened.path) as other:
                number = 0
                while not stop.wait(0.001):  # or nobody else is ever let in
                    with other.transaction():  # the two belong together
                        other.set_about("one", number)
                        other.set_about("two", number)
                    number += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            copies = [make_backup(opened) for _ in range(2)]
        finally:
            stop.set()
            thread.join()
    assert campaign.name == "test"
    for copy in copies:
        with Store(copy) as read:
            values = {row["key"]: row["value"] for row in read.rows("SELECT * FROM about WHERE key IN ('one', 'two')")}
            assert len(set(values.values())) <= 1
            assert read.value("PRAGMA integrity_check") == "ok"
        assert path_mode(copy) == 0o600


def test_whoever_withdraws_is_in_no_file_any_more(folder):
    with open_store(folder) as opened:
        token = make_link(opened, ANNOTATOR, 1).removeprefix("/enter/")
        who = link_of_token(opened, token).annotator
        campaign = Campaign(opened)
        steps.consent(campaign, who)
        steps.begin(campaign, who, now())
        work = steps.next_step(campaign, who, now()).work
        answer = {"titles": ["summary"] * len(work.texts), "coherent": True, "note": UNUSUAL}
        steps.save_answer(campaign, who, work.item, answer, "request", now())
        backup = make_backup(opened)
        assert all(UNUSUAL.encode() in file.read_bytes() for file in (opened.path, backup))
        assert withdraw(opened, who) == {}
        for file in (opened.path, backup):
            content = file.read_bytes()
            assert UNUSUAL.encode() not in content
            assert who.encode() not in content
        assert opened.about("withdrawn") == 1
        for table in ("annotator", "link", "assignment", "answer", "request"):
            assert opened.value(f"SELECT count(*) FROM {table}") == 0


def test_withdrawal_on_the_page_reaches_the_backups(folder):
    with serving(folder) as server:
        client = Client(server.port)
        page = client.to_first_text(link(folder))
        answered(client, page)
        with open_store(folder) as opened:
            backup = make_backup(opened)
            who = opened.value("SELECT id FROM annotator")
        assert who.encode() in backup.read_bytes()
        page = client.post("/withdraw", {"token": client.get("/withdraw").token})
        assert page.heading == "You have withdrawn"
        assert client.get("/").status == 403
        files = [file for file in folder.rglob("*") if file.is_file()]
        assert backup in files
        assert not [file for file in files if who.encode() in file.read_bytes()]


def test_a_page_says_that_nothing_was_saved_and_sends_it_again(folder):
    with serving(folder) as server:
        client = Client(server.port)
        page = client.to_first_text(link(folder))
        blocker = sqlite3.connect(folder / "results/annotations/test/campaign.sqlite", isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")  # as busy as a full disk is full
        fields = filled(page)
        refused = client.post("/answer", fields)
        assert (refused.status, refused.heading) == (503, "Not saved")
        assert all(f'name="{name}" value="{value}"' in refused.text for name, value in fields.items())
        blocker.execute("ROLLBACK")
        blocker.close()
        assert client.post("/answer", fields).heading.startswith("Training 1 of 2: ")
        with open_store(folder) as opened:
            assert opened.value("SELECT count(*) FROM answer") == 1


def signed(opened):
    return "/enter/" + signer(opened, "link").dumps("x")


def damage(path, table):
    """Zeros in place of the first page of a table or an index."""
    with closing(sqlite3.connect(path)) as opened:
        (page,) = opened.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        (size,) = opened.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(size))


@pytest.mark.parametrize("fault", ["empty", "annotator", "about", "assignment"])
def test_a_damaged_database_is_one_line_for_every_command(fault, folder, path, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    if fault == "empty":
        path.write_bytes(b"")
    else:
        damage(path, fault)
    before = path.read_bytes()
    faults = 0
    for words in (["export"], ["revoke", "nobody"], ["backup"], ["invite"], ["serve", "--port", "1"]):
        if fault == "empty" or words != ["serve", "--port", "1"]:
            code, line = main(["annotate", words[0], "test", *words[1:]]), capsys.readouterr().err
            faults += code == 2
            assert (line.count("\n"), line.startswith("textcritic: ")) == (code // 2, code == 2)
    assert faults >= (5 if fault == "empty" else 2)
    assert fault != "empty" or path.read_bytes() == before


def test_a_page_that_cannot_be_read_says_so(folder, path, capsys):
    with (
        open_store(folder) as opened,
        TestClient(make_app(opened, Settings()), raise_server_exceptions=False) as client,
    ):
        assert client.get(link(folder)).status_code == 200
        known = signed(opened)
        opened.connection.execute("PRAGMA busy_timeout=50")
        with closing(sqlite3.connect(path, isolation_level=None)) as blocker:
            blocker.execute("BEGIN EXCLUSIVE")
            for page in ("/", "/withdraw", known):
                assert "The server is busy. Please open this page again." in client.get(page).text
        assert client.get("/").status_code == 200
    damage(path, "sqlite_autoindex_link_1")
    with open_store(folder) as opened, TestClient(make_app(opened, Settings())) as client:
        broken = client.get(signed(opened))
        assert (broken.status_code, "Please write to us" in broken.text) == (500, True)
    assert "campaign.sqlite: is damaged" in capsys.readouterr().err


def test_a_server_that_was_stopped_begins_again_where_it_was(folder):
    server = Server(folder)
    try:
        client = Client(server.port)
        page = answered(client, client.to_first_text(link(folder)))
        assert page.heading == "Training 2 of 2"
        server.stop()
        server.start()
        assert client.get("/").heading == "Training 2 of 2"
    finally:
        server.kill()
