"""`textcritic criticise` as a user runs it: files of articles or texts in, the tables and the report out."""

import csv
import html
import json
import math
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from forks import forking_python
from snake import dry_run

import textcritic
from textcritic.api.articles.configure import Sample, Wanted, write_configuration
from textcritic.corpora import article_groups, gold_chains
from textcritic.critics import TransitionCritic, document_columns, latent_ppl, score_chains
from textcritic.critics.transitions import PAPER_GRID
from textcritic.files import read_json, read_table
from textcritic.inference import unit_of
from textcritic.inference.crossfit import deal
from textcritic.workflow import snakemake_command

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "micro"))

from recipes import write  # noqa: E402

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
PARTS = 3  # labels are exchanged thousands of times, and critics fitted anew: with five parts at three times the cost
TOPICS = {"starts": 1, "splits": 2}  # nothing here is of topics but that they are measured


def criticise(folder, *arguments):
    """The command under way; its processes are forked (tests/forks.py)."""
    files = "real text.jsonl", "theirs.jsonl", "again/theirs.jsonl"
    command = [forking_python(), "-m", "textcritic.cli", "criticise", *files, "--output", "out put"]
    if not {"--held-out", "--workflow"} & {*arguments}:
        command += ["--parts", str(PARTS), *(f"--{name}={value}" for name, value in TOPICS.items())]
    return subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=ENVIRONMENT,
        start_new_session=True,
    )


def finished(process):
    out, err = process.communicate()
    return process.returncode, out, err


def files(folder):
    """Real articles, and two files of samples of the same name; the second has a title that real text does not have."""
    folder.mkdir()
    write(folder)
    (folder / "recipes.jsonl").rename(folder / "real text.jsonl")
    (folder / "again").mkdir()
    spoilt = (folder / "theirs.jsonl").read_text().replace('"title": "tools"', '"title": "Anecdotes"')
    (folder / "again/theirs.jsonl").write_text(spoilt)
    return folder


@dataclass(frozen=True)
class Run:
    folder: Path
    out: str
    err: str
    rows: dict[str, dict[str, str]]
    page: str


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A run that was killed in the middle, and run again to its end."""
    folder = files(tmp_path_factory.mktemp("criticise") / "own text")
    first = criticise(folder)
    for line in first.stderr:
        if "] tendencies" in line:
            os.killpg(first.pid, signal.SIGKILL)
            break
    first.communicate()
    made = read_json(folder / "out put/results/made.json")
    assert "results/critics/transitions-given/real-text/critic.json" in made
    code, out, err = finished(criticise(folder))
    assert "] order of sections" not in err  # that was done
    assert code == 0, err
    study = folder / "out put/results/studies/own-text"
    with (study / "coherence/tables/coherence.csv").open(encoding="utf-8", newline="") as handle:
        rows = {row["label"]: row for row in csv.DictReader(handle)}
    return Run(folder, out, err, rows, (study / "report.html").read_text(encoding="utf-8"))


def test_the_table_and_the_report_are_there(done):
    assert "titles: given, every section of the samples has one" in done.err
    real, first, second = done.rows.values()
    labels = ["own text/theirs.jsonl", "again/theirs.jsonl"]
    assert list(done.rows) == ["real text", *labels]
    assert all(label in done.out for label in labels)
    assert float(first["ci_low"]) > float(real["ci_high"])
    reason, count = second["rejected_by_reason"].rsplit(": ", 1)
    assert reason == "unknown title: anecdotes"
    assert int(count) == int(float(second["rejected"])) == 60 - int(float(second["documents"])) > 0


def test_the_report_says_that_titles_are_given(done):
    report = done.folder / "out put/results/studies/own-text/report.html"
    assert done.out.splitlines()[-1] == f"report: {report}"
    assert "no classifier is needed" in done.page
    assert f"{done.folder}/real text.jsonl" in html.unescape(done.page)
    assert "gold titles" not in done.page
    assert "section classifier" not in done.page


def test_the_tendencies_of_the_text_stand_beside(done):
    """Texts of both are made in the same way: only the order of sections differs."""
    tables = done.folder / "out put/results/studies/own-text/tendencies/tables"
    with (tables / "tendencies.csv").open(encoding="utf-8", newline="") as handle:
        rows = [row for row in csv.DictReader(handle) if row["label"] == "own text/theirs.jsonl"]
    assert len(rows) == 9
    differ = [row for row in rows if row["verdict"] == "differs"]
    assert len(differ) <= 1  # chance marks one of twenty
    assert all(float(row["p_adjusted"]) > 0.05 for row in differ)
    assert "Tendencies that" in done.out
    assert 'id="tendencies-kept"' in done.page


def test_latent_ppl_is_that_of_the_chains(done):
    """An independent path to the numbers of the one split: the titles of the file, by the critic's own class."""
    corpus = done.folder / "out put/results/corpora/real-text"
    train = gold_chains(corpus / "train.parquet")
    lines = (done.folder / "theirs.jsonl").read_text().splitlines()
    chains = [[section["title"] for section in json.loads(line)["sections"]] for line in lines]
    scores = score_chains(TransitionCritic.fit(train), [str(n) for n in range(len(chains))], chains)
    folder = done.folder / "out put/results/scores/transitions-given/real-text/samples/w-title/theirs"
    assert latent_ppl(read_table(folder / "seed1/given/draw1.parquet")) == latent_ppl(scores)


def test_all_real_articles_are_judged_by_critics_that_have_not_seen_them(done):
    """By hand: a critic for each part, of the articles of the other parts, pairs of a group together."""
    whole = done.folder / "out put/results/crossfit/real-text/train.parquet"
    chains, groups = gold_chains(whole), article_groups(whole)["group"].to_pylist()
    units = unit_of(groups, len(groups))
    part = deal(units, units >= 0, np.random.default_rng(1).permutation(max(units) + 1), PARTS)
    total = np.zeros(2)
    for number in range(PARTS):
        # The critic's smoothing is chosen over the other parts: here by trying all of them.
        others = [chain for chain, of in zip(chains, part, strict=True) if of != number]
        fits = {
            delta: sum(
                document_columns(
                    score_chains(
                        TransitionCritic.fit(
                            [c for c, of in zip(chains, part, strict=True) if of not in (number, held)],
                            titles=TransitionCritic.fit(others, grid=[1.0]).titles,
                            grid=[delta],
                        ),
                        *numbered([c for c, of in zip(chains, part, strict=True) if of == held]),
                    )
                )[:, 0].sum()
                for held in range(PARTS)
                if held != number
            )
            for delta in PAPER_GRID
        }
        critic = TransitionCritic.fit(others, grid=[min(fits, key=lambda delta: fits[delta])])
        judged = [chain for chain, of in zip(chains, part, strict=True) if of == number]
        total += document_columns(score_chains(critic, *numbered(judged))).sum(axis=0)
    row = done.rows["real text"]
    assert float(row["latent_ppl"]) == pytest.approx(math.exp(total[0] / total[1]), rel=1e-12)
    assert float(row["documents"]) == len(chains) == 240
    assert "All real documents count" in done.page


def numbered(chains):
    """Ids and chains."""
    return [str(n) for n in range(len(chains))], chains


@pytest.fixture(scope="module")
def split(done):
    """The same with one split: the folder that this process made, and the rows of its table."""
    here = done.folder / "here"
    code, _, err = finished(criticise(done.folder, "--output", str(here), "--num-topics", "3", "--held-out", "0.2"))
    assert code == 0, err
    lines = (here / "results/studies/own-text/coherence/tables/coherence.csv").read_text().splitlines()
    return here, {row["label"]: row for row in csv.DictReader(lines)}


def test_chains_of_the_same_titles_have_the_same_numbers(done, split):
    """Articles and their titles go in by two doors, and the smoothing is chosen by one rule."""
    here, rows = split
    corpus = here / "results/corpora/real-text"
    train, test = (list(gold_chains(corpus / f"{split}.parquet")) for split in ("train", "test"))
    lines = (done.folder / "theirs.jsonl").read_text().splitlines()
    chains = [[section["title"] for section in json.loads(line)["sections"]] for line in lines]
    found = textcritic.criticise(train, {"theirs": chains}, test=test)
    for source, row in (("real text", "real text"), ("theirs", "own text/theirs.jsonl")):
        values = rows[row]
        assert found[source]["latent_ppl"].value == pytest.approx(float(values["latent_ppl"]), rel=1e-12)
        one = textcritic.chains(train, test if source == "real text" else chains)
        assert one.latent_ppl == pytest.approx(float(values["latent_ppl"]), rel=1e-12)
        assert one.smoothing == float(values["smoothing"])
        by_study = [float(values[f"latent_ppl_{way}"]) for way in ("less", "more") if values[f"latent_ppl_{way}"]]
        assert [ppl for _, ppl in one.other_smoothings] == pytest.approx(by_study, rel=1e-12)


def test_python_gives_what_the_command_prints(done, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", forking_python())  # which the study's record of its command depends on
    paths = [done.folder / "theirs.jsonl", done.folder / "again/theirs.jsonl"]
    given = dict(zip(["own text/theirs.jsonl", "again/theirs.jsonl"], paths, strict=True))
    real, output = done.folder / "real text.jsonl", done.folder / "out put"
    found = textcritic.criticise(real, given, output=output, parts=PARTS, **TOPICS)
    assert repr(found) + "\n" == done.out
    for source, row in zip(["real text", *given], done.rows.values(), strict=True):
        score = found[source]["latent_ppl"]
        values = score.value, score.low, score.high, score.p or "", score.n, score.rejected
        columns = ("latent_ppl", "ci_low", "ci_high", "p_value", "documents", "rejected")
        assert [str(value) for value in values] == [row[column].removesuffix(".0") for column in columns]
    page = found.report(tmp_path / "a copy.html").read_text(encoding="utf-8")
    links = [html.unescape(link) for link in re.findall(r'href="([^"#:]+)"', page)]
    assert links
    assert all((tmp_path / link).is_file() for link in links)


def test_again_there_is_nothing_to_do_and_a_changed_file_makes_anew_what_depends_on_it(done):
    folder = done.folder / "out put"
    before = read_json(folder / "results/made.json")
    code, out, err = finished(criticise(done.folder))
    assert (code, out) == (0, done.out), err
    assert re.findall(r"^\[\d+ s\] (.*)$", err, re.MULTILINE) == ["report"]
    assert read_json(folder / "results/made.json") == before
    path = done.folder / "again/theirs.jsonl"
    whole, times = path.read_text(), (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    path.write_text("\n".join(whole.splitlines()[:50]))
    code, _, err = finished(criticise(done.folder))
    assert code == 0, err
    path.write_text(whole)
    os.utime(path, ns=times)
    after = read_json(folder / "results/made.json")
    changed = {path for path in after if after[path] != before[path]}
    made_of_it = {path for path in before if "/theirs-2/" in path}
    assert made_of_it
    crossed = {path for path in before if path.startswith("results/crossfit/") and path.endswith(".json")}
    assert len(crossed) == 3
    assert changed == made_of_it | crossed | {
        path for path in before if "/studies/" in path and "/corpora/" not in path
    }


def tables(folder):
    """Every CSV of a study by its path."""
    study = folder / "results/studies/own-text"
    return {str(path.relative_to(study)): path.read_bytes() for path in study.rglob("*.csv")}


def test_the_workflow_makes_the_same_tables(done, split):
    """To the byte; and where this process has made them, there is nothing to do for it."""
    files = [done.folder / name for name in ("real text.jsonl", "theirs.jsonl", "again/theirs.jsonl")]
    here, there = split[0], done.folder / "there"
    asked = "--num-topics", "3", "--held-out", "0.2", "--workflow"
    code, _, err = finished(criticise(done.folder, "--output", str(there), *asked))
    assert code == 0, err
    assert tables(here) == tables(there)
    assert len(tables(here)) == 30
    command = snakemake_command(here, "--configfile", str(here / "config.yaml"), "--dry-run")
    planned = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Nothing to be done" in planned.stdout + planned.stderr
    assert files[0].is_file()
    (path,) = (there / "results/benchmarks/measure_real_tendencies").rglob("*.tsv")
    (row,) = csv.DictReader(path.read_text().splitlines(), delimiter="\t")
    assert float(row["max_rss"]) > 50  # the job's, though it is forked: a client alone has 12 MB


def test_samples_without_titles_need_a_classifier(tmp_path):
    """The run itself takes minutes; what it would do is in a dry run of the configuration that is written."""
    folder = files(tmp_path / "own text")
    samples = (Sample(folder / "theirs.jsonl", "theirs.jsonl"),)
    numbers = {"given": False, "minimum_title_count": 4, "command": "textcritic criticise"}
    wanted = Wanted(reference=folder / "real text.jsonl", samples=samples, **numbers)
    write_configuration(folder, wanted)
    command = snakemake_command(folder, "--configfile", str(folder / "config.yaml"), "--dry-run")
    run = dry_run(folder, *command[3:])  # after the interpreter, -m and the module
    assert run.returncode == 0, run.stderr
    for rule in ("train_classifier", "infer_data_titles", "infer_sample_titles"):
        assert rule in run.stdout
    assert "take_" not in run.stdout


def test_a_dry_run_says_what_would_be_measured_and_makes_nothing(tmp_path):
    folder = files(tmp_path / "own text")
    code, out, err = finished(criticise(folder, "--dry-run"))
    assert code == 0, err
    measures = "order, tendencies, topics, recitation, form"  # the made-up text has too few function words
    assert re.search(rf"^nothing was run: .* would measure {measures}; about \d+ s \(CPU cores: ", out)
    code, out, err = finished(criticise(folder, "--dry-run", "--workflow"))
    assert re.search(r"^nothing was run: .* would run; about \d+ s \(CPU cores: ", out)
    jobs = dict(re.findall(r"^(\w+) +(\d+)$", err, re.MULTILINE))
    assert jobs["import_samples"] == jobs["compare_tendencies"] == "2"
    assert jobs["make_report"] == "1"
    assert not (folder / "out put/results").exists()


def test_what_leaves_nothing_says_which_thresholds_there_are(tmp_path):
    folder = files(tmp_path / "own text")
    code, out, err = finished(criticise(folder, "--minimum-sections", "9"))
    assert (code, out) == (2, "")
    assert "no article is left in train; articles rejected: too few sections 240; lower" in err
    assert err.splitlines()[-1].endswith("(thresholds: --minimum-title-count, --minimum-sections)")
    assert not list((folder / "out put/results/corpora").rglob("train.parquet"))
