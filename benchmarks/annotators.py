"""Is what annotators are promised kept? Withdrawals with faults put in, or many annotators and a server that is killed.

    python benchmarks/annotators.py withdrawals --number 200
    python benchmarks/annotators.py load --annotators 200 --texts 6 --thought 20 --kills 4

Withdrawals: a campaign with copies of several days, one of before a migration, and an export. One annotator after the
other withdraws in a process of their own, while a fault is there: a file is locked, damaged or a folder, there is no
room (a limit on the size of files stands in for it), or the process is killed. All files of the campaign's folder are
searched for three ids: the annotator's code, their link and their forms. Each one that is found is a trace. Then the
fault is removed and the server is started. Whoever got no answer, because the process was killed, withdraws again.

Load: real servers and HTTP; answers that were acknowledged are compared with those in the database.
"""

import argparse
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from annotation.campaigns import made_campaign, open_store
from annotation.test_load import Load, crowded

from textcritic.annotation import backups, steps
from textcritic.annotation.backups import make_backup, owing, settle, withdraw
from textcritic.annotation.export import write_export
from textcritic.annotation.links import ANNOTATOR, check_annotator, link_of_token, make_link
from textcritic.annotation.steps import Campaign
from textcritic.annotation.store import NotStoredError, now

DONE, OWED, NOT_SAVED = "done", "owed", "not saved"
TOLD = {0: DONE, 3: OWED, 4: NOT_SAVED}


def main() -> None:
    """Read the command line and print what was seen."""
    parser = argparse.ArgumentParser()
    parts = parser.add_subparsers(dest="part", required=True)
    of_withdrawals, of_load = parts.add_parser("withdrawals"), parts.add_parser("load")
    of_withdrawals.add_argument("--number", type=int, default=200)
    for name, default in (("annotators", 200), ("texts", 6), ("thought", 20.0), ("kills", 4)):
        of_load.add_argument(f"--{name}", type=type(default), default=default)
    said = vars(parser.parse_args())
    with tempfile.TemporaryDirectory() as folder:
        if said.pop("part") == "withdrawals":
            withdrawals(Path(folder), said["number"])
        else:
            seen = crowded(Path(folder), Load(**said))
            lost = len(seen.saved.keys() - seen.stored.keys())
            changed = sum(seen.saved[place] != answer for place, answer in seen.stored.items() if place in seen.saved)
            doubled = seen.rows - len(seen.stored)
            print(f"{seen.summary}; acknowledged {len(seen.saved)}, lost {lost}, doubled {doubled}, changed {changed}")


class Study:
    """A campaign with people's answers in its database, copies of it, and an export."""

    def __init__(self, folder: Path, people: int) -> None:
        made_campaign(folder, training={"texts": 0, "pass": 0, "rounds": 1}, attention=0)
        self.folder, self.traces = folder, {}
        with open_store(folder) as store:
            store.connection.execute("PRAGMA synchronous=OFF")
            self.database, campaign = store.path, Campaign(store)
            for number in range(people):
                link = link_of_token(store, make_link(store, ANNOTATOR, 1).removeprefix("/enter/"))
                who = str(link.annotator)
                steps.consent(campaign, who)
                steps.begin(campaign, who, now())
                forms = [f"request-{number}-{place}-{'x' * (97 * number % 700)}" for place in range(2)]
                for form in forms:
                    work = steps.next_step(campaign, who, now()).work
                    assert work is not None
                    said = {"titles": ["summary"] * len(work.texts), "coherent": True}
                    steps.save_answer(campaign, who, work.item, said, form, now())
                self.traces[who] = [trace.encode() for trace in (who, link.id, *forms)]
                if number % (people // 3) == 0:
                    make_backup(store)
            shutil.copy(make_backup(store), self.database.with_name("campaign.version1.sqlite"))
            write_export(store, self.database.with_name("answers.jsonl"))
            self.copies = backups.backups_of(store)

    def left_of(self, who: str) -> set[str]:
        """The files with a trace of somebody, by their paths in the campaign's folder."""
        files = [file for file in self.database.parent.rglob("*") if file.is_file()]
        with_trace = [file for file in files if any(trace in file.read_bytes() for trace in self.traces[who])]
        return {str(file.relative_to(self.database.parent)) for file in with_trace}


@contextmanager
def locked(path):
    """Another program writes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def read(path):
    """Another program reads, which stops whoever wants to finish writing."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM item").fetchone()
        yield


@contextmanager
def damaged(path):
    """The beginning of the file is lost."""
    whole = path.read_bytes()
    path.write_bytes(b"no database" * 100 + whole[1100:])
    yield
    path.write_bytes(whole)


@contextmanager
def a_folder(path):
    """There is a folder of that name; the file is kept elsewhere."""
    kept = path.rename(path.parents[4] / "kept")
    path.mkdir()
    yield
    path.rmdir()
    kept.rename(path)


def told(study, who, room=None, patience=None):
    """What an annotator is told who withdraws in a process of their own; "killed" after so many seconds."""
    if not (child := os.fork()):
        if room is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        backups.SECONDS = 0.2
        try:
            store = open_store(study.folder)
            store.connection.execute("PRAGMA busy_timeout=200")
            os._exit(3 if withdraw(store, who) else 0)
        except NotStoredError:
            os._exit(4)
        finally:
            os._exit(5)
    if patience is not None:
        time.sleep(patience)
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return TOLD.get(code, "killed" if code == -signal.SIGKILL else f"code {code}")


def is_there(study, who):
    """Whether an annotator can still open their page, and so withdraw."""
    with open_store(study.folder) as store:
        try:
            check_annotator(store, who)
        except Exception:
            return False
        return True


def withdrawals(folder, number):
    """Let annotators withdraw while there are faults, and print a row for each kind of fault."""
    study, rng, counts = Study(folder, number + 10), random.Random(1), defaultdict(Counter)
    usual = []
    faults = {
        "none": lambda: (nullcontext(), {}),
        "a copy locked": lambda: (locked(rng.choice(study.copies)), {}),
        "a copy damaged": lambda: (damaged(rng.choice(study.copies)), {}),
        "a copy a folder": lambda: (a_folder(rng.choice(study.copies)), {}),
        "the database locked": lambda: (locked(study.database), {}),
        "the database read": lambda: (read(study.database), {}),
        "no room": lambda: (nullcontext(), {"room": rng.randrange(2 * study.database.stat().st_size)}),
        "killed": lambda: (nullcontext(), {"patience": rng.random() * sorted(usual)[len(usual) // 2]}),
        "killed, a copy locked": lambda: (locked(rng.choice(study.copies)), {"patience": rng.random() * 0.5}),
    }
    for place, who in enumerate([*study.traces][:number]):
        name = [*faults][place % len(faults)]
        fault, options = faults[name]()
        begun = time.perf_counter()
        with fault:
            said, count = told(study, who, **options), counts[name]
            left = study.left_of(who)
        if name == "none":
            usual.append(time.perf_counter() - begun)
        count["n"] += 1
        count[said] += 1
        count["a trace though told done"] += said == DONE and bool(left)
        with open_store(study.folder) as store:
            count["a trace in a file not named"] += said == OWED and bool(left - {*owing(store)})
            settle(store)  # the next start
            count["owed after it"] += bool(owing(store))
        if said == NOT_SAVED or (said == "killed" and is_there(study, who)):
            count["again"] += 1
            count["again: done"] += told(study, who) == DONE
        count["a trace after it"] += bool(study.left_of(who))
    heads = ["n", DONE, "a trace though told done", OWED, "a trace in a file not named", NOT_SAVED, "killed", "code 5"]
    heads += ["again", "again: done", "owed after it", "a trace after it"]
    print(f"| fault | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}")
    counts["all"] = sum(counts.values(), Counter())
    for name, count in counts.items():
        print(f"| {name} | {' | '.join(str(count[head]) for head in heads)} |")
    with open_store(study.folder) as store:
        kept = store.value("SELECT count(*) FROM annotator"), store.value("PRAGMA integrity_check")
    print(f"\nstill there: {kept[0]} annotators of {number + 10}; integrity {kept[1]}")


if __name__ == "__main__":
    main()
