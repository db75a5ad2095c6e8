"""Whoever withdraws is in no file any more; what a file refuses is said, owed, and done at the next start."""

import os
import shutil
import signal
import sqlite3
from contextlib import closing, contextmanager
from copy import copy

import pytest

from annotation.campaigns import Client, answered, link, made_campaign, open_store, serving
from textcritic.annotation import backups, steps
from textcritic.annotation.backups import make_backup, owing, settle, withdraw
from textcritic.annotation.export import write_export
from textcritic.annotation.links import ANNOTATOR, link_of_token, make_link
from textcritic.annotation.steps import Campaign
from textcritic.annotation.store import NotStoredError, now
from textcritic.errors import TextcriticError

pytestmark = pytest.mark.annotation
FREE = {"training": {"texts": 0, "pass": 0, "rounds": 1}, "attention": 0}
PEOPLE = 12


class Study:
    """A campaign with people's answers in its database, its export, and copies of many kinds."""

    def __init__(self, folder):
        self.folder = folder
        made_campaign(folder, **FREE)
        self.store = open_store(folder)
        self.place, self.traces = self.store.path.parent, {}
        campaign = Campaign(self.store)
        for number in range(PEOPLE):
            id_ = make_link(self.store, ANNOTATOR, 1).removeprefix("/enter/")
            found = link_of_token(self.store, id_)
            who = found.annotator
            self.traces[who] = [who, found.id, *self._answers(campaign, who, number)]
            if number == PEOPLE // 2:
                self.copies = [make_backup(self.store)]
        self.copies += [make_backup(self.store) for _ in range(2)]
        write_export(self.store, self.place / "answers.jsonl")

    @staticmethod
    def _answers(campaign, who, number):
        steps.consent(campaign, who)
        steps.begin(campaign, who, now())
        for place in range(4):
            work = steps.next_step(campaign, who, now()).work
            said = {"titles": ["summary"] * len(work.texts), "coherent": True}
            request = f"request-{number}-{place}-{'x' * (97 * number % 700)}"  # of many lengths: rows move
            steps.save_answer(campaign, who, work.item, said, request, now())
            yield request

    def left_of(self, who):
        """Every file of the campaign with a trace of somebody: journals, free pages and all."""
        files = [file for file in self.place.rglob("*") if file.is_file()]
        traces = [trace.encode() for trace in self.traces[who]]
        return sorted(file.name for file in files if any(trace in file.read_bytes() for trace in traces))

    def someone(self):
        return next(who for who in self.traces if self.store.row("SELECT 1 FROM annotator WHERE id = ?", who))

    def copied_to(self, folder):
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        other = copy(self)
        other.folder, other.store = folder, open_store(folder)
        other.place = other.store.path.parent
        other.copies = sorted((other.place / "backups").iterdir())
        return other


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    made = Study(tmp_path_factory.mktemp("study"))
    made.store.close()
    return made


@pytest.fixture
def study(made, tmp_path):
    study = made.copied_to(tmp_path)
    yield study
    study.store.close()


def test_no_file_of_the_campaign_has_a_trace(study):
    shutil.copy(study.copies[1], study.place / "campaign.version1.sqlite")
    shutil.copy(study.copies[2], study.place / "backups/.campaign-killed.sqlite.99999.tmp")
    with closing(sqlite3.connect(study.store.path, isolation_level=None)) as other:
        other.execute("PRAGMA secure_delete=OFF")  # another program left pieces in free pages
        other.execute("CREATE TABLE other AS SELECT * FROM request")
        other.execute("DROP TABLE other")
    with closing(sqlite3.connect(study.copies[2], isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("PRAGMA secure_delete=OFF")
        other.execute("UPDATE request SET id = 'changed' || id")
        files = {end: study.copies[2].with_name(study.copies[2].name + end) for end in ("", "-wal")}
        left = {end: file.read_bytes() for end, file in files.items()}
    for end, content in left.items():  # as of a program that was killed
        files[end].write_bytes(content)
    first, *others = study.traces
    assert len(study.left_of(first)) == 8
    for number, who in enumerate((first, *others[: PEOPLE - 2]), 1):
        assert withdraw(study.store, who) == {}
        assert study.left_of(who) == []
        assert study.store.about("withdrawn") == number
    (last,) = others[PEOPLE - 2 :]
    assert len(study.left_of(last)) == 5  # the database, two whole copies and that of a version, the export
    assert len((study.place / "answers.jsonl").read_text().splitlines()) == 1 + 4
    assert study.store.value("SELECT count(*) FROM annotator") == 1
    assert study.store.value("PRAGMA integrity_check") == "ok"


@contextmanager
def locked(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def damaged(path):
    whole = path.read_bytes()
    path.write_bytes(b"no database" * 100 + whole[1100:])
    yield
    path.write_bytes(whole)


@contextmanager
def a_folder(path):
    kept = path.rename(path.with_name("kept"))
    path.mkdir()
    yield
    path.rmdir()
    kept.rename(path)


@pytest.mark.parametrize("fault", [locked, damaged, a_folder])
def test_a_file_that_refuses_is_named_and_owed_and_the_others_are_clean(fault, study, monkeypatch):
    monkeypatch.setattr(backups, "SECONDS", 0.05)
    who, bad = study.someone(), study.copies[1]
    with fault(bad):
        assert [*withdraw(study.store, who)] == [f"backups/{bad.name}"]
        assert set(study.left_of(who)) <= {bad.name, "kept"}
        assert owing(study.store) == [f"backups/{bad.name}"]
        assert [*settle(study.store)] == [f"backups/{bad.name}"]
        assert who.encode() not in study.store.path.read_bytes()  # what is owed is kept without the code
    assert study.left_of(who) == [bad.name]
    assert settle(study.store) == {}
    assert (study.left_of(who), owing(study.store)) == ([], [])
    assert study.store.about("withdrawn") == 1


def test_a_copy_that_cannot_be_mended_is_owed_until_it_is_deleted(study):
    who, bad = study.someone(), study.place / "backups/campaign-2020-broken.sqlite"
    bad.write_bytes(b"no database" * 100)
    assert [*withdraw(study.store, who)] == ["backups/campaign-2020-broken.sqlite"]
    bad.unlink()
    assert settle(study.store) == {}
    assert owing(study.store) == []


@pytest.mark.parametrize("files", [0, 1, 2])
def test_a_server_that_is_killed_between_files_goes_on_at_the_next_start(files, study):
    who = study.someone()
    if not (child := os.fork()):
        clean, cleaned = backups._clean_copy, []

        def killed(*given):
            if len(cleaned) == files:
                os.kill(os.getpid(), signal.SIGKILL)
            cleaned.append(clean(*given))

        backups._clean_copy = killed
        withdraw(open_store(study.folder), who)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert len(study.left_of(who)) == 4 - files
    assert settle(study.store) == {}
    assert (study.left_of(who), owing(study.store)) == ([], [])


def test_nothing_is_deleted_and_nothing_owed_where_the_database_refuses(study):
    who = study.someone()
    study.store.connection.execute("PRAGMA busy_timeout=50")
    with locked(study.store.path), pytest.raises(NotStoredError):
        withdraw(study.store, who)
    assert owing(study.store) == []
    assert len(study.left_of(who)) == 5
    assert withdraw(study.store, who) == {}
    assert study.left_of(who) == []


def test_a_code_is_deleted_wherever_it_is(study):
    """Also that of somebody who is only in a copy: as after a withdrawal that an earlier version left undone."""
    who = study.someone()
    with study.store.transaction():
        study.store.change("DELETE FROM annotator WHERE id = ?", who)
    assert len(study.left_of(who)) >= 3
    assert withdraw(study.store, who) == {}
    assert study.left_of(who) == []
    for _ in range(2):
        with pytest.raises(TextcriticError, match=r"^there is no annotator with this code$"):
            withdraw(study.store, "nobody")
    (study.place / "backups/campaign-2020-broken.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(TextcriticError, match=r"could not be read: campaign-2020-broken\.sqlite"):
        withdraw(study.store, "nobody")
    assert owing(study.store) == []


def test_the_pages_say_what_is_owed_and_the_next_start_does_it(tmp_path):
    made_campaign(tmp_path, **FREE)
    with serving(tmp_path) as server:
        client, admin = Client(server.port), Client(server.port)
        answered(client, client.to_first_text(link(tmp_path)))
        with open_store(tmp_path) as opened:
            kept = make_backup(opened)
            who = opened.value("SELECT id FROM annotator")
        page = admin.get(link(tmp_path, "admin"))
        with damaged(kept):
            gone = client.post("/withdraw", {"token": client.get("/withdraw").token})
            assert "A copy of them could not be deleted yet" in gone.text
            assert f"may still be in backups/{kept.name}" in admin.get("/admin").text
            again = admin.post("/admin/withdraw", {"token": page.token, "annotator": who})
            assert f"but not from backups/{kept.name} (file is not a database)" in again.text
            server.stop()
            server.start()
            assert f"{kept.name}: somebody who withdrew may still be in it" in (tmp_path / "server.log").read_text()
        assert who.encode() in kept.read_bytes()
        server.stop()
        server.start()
        assert who.encode() not in kept.read_bytes()
        assert "may still be in" not in admin.get("/admin").text
