"""`textcritic criticise`: what it decides about files, what it calls them, and the configuration that it writes."""

import gzip
import json
import os
import shlex
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import textcritic
from textcritic.api.articles.configure import Sample, Wanted, corpus_template, labels_of, names_of, write_configuration
from textcritic.api.articles.decide import Compared, _mode, _title_count, _titled, checked
from textcritic.api.articles.files import Outline, outlines
from textcritic.api.criticise import labelled
from textcritic.api.options import CriticiseOptions
from textcritic.cli import main
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.measures.card_file import card_to_json
from textcritic.measures.score import Number, Score
from textcritic.plan.entries.corpora import TitleOptions
from textcritic.plan.project import Project
from textcritic.plan.sources import Source
from textcritic.plan.spec import load_yaml
from textcritic.workflow import alone, workflow_folder
from textcritic.workflow.run import _causes, _run

ROOT = workflow_folder()
TITLES = TitleOptions(drop=[])


def jsonl(path, *articles):
    """A file of articles, each a list of titles."""
    lines = [{"sections": [{"title": title, "text": "x"} for title in titles]} for titles in articles]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def outline(**changes):
    return Outline(
        **{"path": Path("/data/m.jsonl"), "articles": 4, "titled": 4, "sections": 9, "untitled": 0} | changes
    )


def wanted(**changes):
    paths = [Path("/data/a b/Model 1.jsonl"), Path("/data/2.jsonl")]
    samples = tuple(Sample(path, label) for path, label in zip(paths, labels_of(paths), strict=True))
    files = {"reference": Path("/data/real.jsonl"), "samples": samples}
    numbers = {"minimum_title_count": 4, "minimum_sections": None}
    return Wanted(**{**files, **numbers, "given": True, "command": "textcritic criticise"} | changes)


def decided(real, *samples, out, **options):
    """What is decided about files of articles."""
    named = tuple(Sample(path, path.name) for path in samples)
    return checked(Compared(folder=out, reference=real, samples=named), CriticiseOptions(**options))[0]


def test_a_file_is_outlined(tmp_path):
    path = jsonl(tmp_path / "a.jsonl", ["One", "two"], ["one", None], [], ["1.", " "])
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    expected = {"articles": 4, "titled": 1, "sections": 6, "untitled": 3, "longest": 2, "words": 6}
    found = outlines([path, packed], TITLES)
    assert [replace(one, digests={}) for one in found] == [Outline(p, **expected) for p in (path, packed)]
    # Three articles have two sections of the same text, whatever their titles are; one has no text.
    assert [list(one.digests.values()) for one in found] == [[3], [3]]
    assert found[0].digests == found[1].digests


def test_articles_that_are_copies_of_real_ones_are_warned_of(tmp_path, capsys):
    real = jsonl(tmp_path / "real.jsonl", *[["a", "b"]] * 20)
    texts = [json.dumps({"sections": [{"title": "a", "text": f"own  {n}"}]}) for n in range(3)]
    real.write_text(real.read_text() + "\n".join(texts) + "\n")
    mine = tmp_path / "mine.jsonl"
    mine.write_text(
        texts[0].replace("  ", " ") + "\n" + texts[2] + '\n{"sections": [{"title": "a", "text": "mine"}]}\n'
    )
    decided(real, mine, out=tmp_path / "out")
    assert "warning: 2 of 3 documents of mine.jsonl are copies of documents of the reference" in capsys.readouterr().err
    mine.write_text('{"sections": [{"title": "a", "text": "mine"}]}\n')
    decided(real, mine, out=tmp_path / "out")
    assert "warning" not in capsys.readouterr().err


def test_faults_of_all_files_are_told_at_once(tmp_path, capsys):
    good = jsonl(tmp_path / "good.jsonl", ["a"])
    bad, gone = tmp_path / "bad.jsonl", tmp_path / "gone.jsonl"
    bad.write_text('{"sections": []}\n{"sections": 1}\n')
    assert main(["criticise", str(good), str(bad), str(gone), "--output", str(tmp_path / "out")]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith(f"textcritic: {bad}:2: `sections` is a number; ")
    assert line.endswith(f" | {gone}: no such file")
    assert not (tmp_path / "out").exists()


def test_the_same_file_twice_is_refused(tmp_path):
    path = jsonl(tmp_path / "a.jsonl", ["a"])
    (tmp_path / "b.jsonl").symlink_to(path)
    with pytest.raises(TextcriticError, match=r"b.jsonl: the same file twice"):
        outlines([path, tmp_path / "b.jsonl"], TITLES)


def test_a_file_of_samples_twice_is_refused_also_without_a_workflow(tmp_path):
    path = tmp_path / "chains.jsonl"
    path.write_text('["a", "b"]\n' * 3)
    with pytest.raises(TextcriticError, match=r"chains.jsonl: the same file twice; name each file of samples once"):
        list(labelled([path, tmp_path / "other.jsonl", path]))


def test_real_articles_alone_are_told_what_is_lacking(tmp_path, monkeypatch, capsys):
    """Of articles a model may be named instead, of chains not; nothing is read or written first."""
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "real.jsonl", ["a", "b"])
    (tmp_path / "chains.jsonl").write_text('{"chain": ["a"]}\n' * 3)
    lacking = "textcritic: samples: none given; give what a model wrote, to compare with"
    for name, more in (("real.jsonl", ", or a --model to draw articles from"), ("chains.jsonl", "")):
        assert main(["criticise", name]) == 2
        assert capsys.readouterr().err == f"{lacking} {name}{more}\n"
    assert not (tmp_path / "own-text").exists()


def test_a_path_that_snakemake_would_not_read_is_refused(tmp_path):
    with pytest.raises(TextcriticError, match=r"\{x\}.jsonl: a path with \{ or \} in it"):
        outlines([jsonl(tmp_path / "{x}.jsonl", ["a"])], TITLES)


@pytest.mark.parametrize(
    ("untitled", "asked", "mode", "words"),
    [
        ([0, 0], None, "given", "every section of the samples has one"),
        ([0, 2], None, "inferred", "2 of 9 sections of m.jsonl have none (--titles given"),
        ([0, 1], None, "given", "left out (1 of 9 sections of m.jsonl; --titles inferred infers all)"),
        ([0, 0], "inferred", "inferred", "as asked"),
        ([0, 2], "given", "given", "articles with an untitled section are rejected (2 of 9 sections of m.jsonl)"),
    ],
)
def test_titles_are_given_if_nine_of_ten_articles_have_one_on_every_section(untitled, asked, mode, words, capsys):
    """Each section without a title is in an article of its own, of ten."""
    assert _mode([outline(articles=10, titled=10 - n, untitled=n) for n in untitled], asked) == mode
    assert words in capsys.readouterr().err


def test_titles_that_are_nowhere_cannot_be_given():
    with pytest.raises(TextcriticError, match=r"m.jsonl: no article has a title for every section; --titles inferred"):
        _mode([outline(), outline(titled=0, untitled=9)], "given")


@pytest.mark.parametrize("option", [["--titles", "given"], ["--minimum-title-count", "2"], ["--minimum-sections", "3"]])
def test_a_reference_without_titles_has_no_options_about_them(tmp_path, capsys, option):
    bare, titled = jsonl(tmp_path / "bare.jsonl", [None, "a"], [None]), jsonl(tmp_path / "titled.jsonl", ["a"])
    assert main(["criticise", str(bare), str(titled), *option, "--output", str(tmp_path / "out")]) == 2
    line = f"{bare}: no article has a title for every section, and {option[0]} needs titles; give every section of"
    assert line in capsys.readouterr().err


def test_a_reference_without_titles_is_said_once(capsys):
    assert not _titled(outline(titled=0), CriticiseOptions())
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("/data/m.jsonl: no article has a title for every section: the order of sections is not")
    assert _titled(outline(titled=3), CriticiseOptions())
    assert "1 of 4 articles lack a title: left out" in capsys.readouterr().err
    assert _titled(outline(), CriticiseOptions())
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("articles", "asked", "count"), [(20, None, 2), (240, None, 4), (500, None, 10), (9000, None, 10), (20, 7, 7)]
)
def test_what_is_rare_depends_on_how_much_there_is(articles, asked, count, capsys):
    assert corpus_template().sections.minimum_title_count == 10
    assert _title_count(outline(articles=articles), asked) == count
    assert f"fewer than {count} training sections" in capsys.readouterr().err


def test_names_are_wildcards_and_labels_tell_files_apart():
    paths = [
        Path(p) for p in ("/x/My Model (v2).jsonl", "/x/b/out.jsonl.gz", "/x/c/out.jsonl", "/x/data.jsonl", "/x/---")
    ]
    assert names_of(paths, {"out"}) == ["my-model-v2", "out-2", "out-3", "data-2", "file"]
    assert names_of([Path("/x/2024.jsonl"), Path("/x/Übersicht_1.jsonl")], ()) == ["2024", "übersicht-1"]
    assert len(names_of([Path(f"/x/{'long' * 60}.jsonl")], ())[0]) == 40
    assert labels_of(paths)[:3] == ["My Model (v2).jsonl", "out.jsonl.gz", "out.jsonl"]
    same = [Path("/x/b/run/out.jsonl"), Path("/x/c/run/out.jsonl"), Path("/x/d.jsonl")]
    assert labels_of(same) == ["b/run/out.jsonl", "c/run/out.jsonl", "d.jsonl"]


@pytest.mark.parametrize("given", [True, False])
def test_what_is_written_is_a_valid_study(tmp_path, given):
    assert write_configuration(tmp_path, wanted(given=given, minimum_sections=3)) == []
    project = Project(load_yaml(tmp_path / "config.yaml"), ROOT, tmp_path)
    setting = "w-title" if given else "wo-title"
    expected = [Source("real", setting, "model-1", "given", 1), Source("real", setting, "2", "given", 1)]
    found = project.studies["own-text"]
    kinds = ["coherence", "tendencies", "topics", "coreference", "recitation", "order", "form", "corpora"]
    assert list(found.experiments) == kinds
    coherence, *others, corpora = found.experiments.values()
    assert all(one.sources() == expected for one in (coherence, *others, found))
    assert corpora.corpora() == coherence.corpora() == ["real"]
    assert project.registries.entry("generators", "2").label == "2.jsonl"
    # The template with what was asked for, and nothing else.
    shipped = Project({"studies": ["demo"]}, ROOT).registries.entry("corpora", "my-articles").plain()
    corpus = project.registries.entry("corpora", "real").plain()
    assert corpus["options"] == {**shipped["options"], "paths": ["/data/real.jsonl"]}
    assert corpus["sections"] == {**shipped["sections"], "minimum": 3, "minimum_title_count": 4}
    assert (corpus["splits"], corpus["titles"]) == (shipped["splits"], shipped["titles"])
    made_of = coherence.files()
    assert made_of.titles_given is given
    assert (made_of.data[0].accuracy is None) is given
    assert ("results/latents/given/" in str(made_of.samples[0].latents)) is given
    assert project.describe("own-text")["study"]["command"] == "textcritic criticise"


def test_without_titles_the_order_is_not_judged_and_every_article_with_text_is_kept(tmp_path):
    measures = ("tendencies", "form")
    write_configuration(tmp_path, wanted(given=False, titled=False, minimum_title_count=1, measures=measures))
    project = Project(load_yaml(tmp_path / "config.yaml"), ROOT, tmp_path)
    study = project.studies["own-text"]
    assert list(study.experiments) == ["tendencies", "form", "corpora"]
    assert study.sources() == [Source("real", "wo-title", name, "given", 1) for name in ("model-1", "2")]
    corpus = project.registries.entry("corpora", "real").plain()
    assert corpus["options"]["only_title"] == "text"
    assert (corpus["sections"]["minimum"], corpus["sections"]["minimum_title_count"]) == (1, 1)


def test_an_edited_file_is_kept_as_long_as_it_is_for_the_same(tmp_path):
    write_configuration(tmp_path, wanted())
    path = tmp_path / "registry/corpora.yaml"
    before = (path.stat().st_mtime_ns, path.read_text())
    assert write_configuration(tmp_path, wanted()) == []
    assert (path.stat().st_mtime_ns, path.read_text()) == before
    edited = before[1].replace("minimum: 2", "minimum: 5") + "# mine\n"
    path.write_text(edited)
    assert write_configuration(tmp_path, wanted()) == [path]
    assert path.read_text() == edited
    with pytest.raises(
        TextcriticError, match=r"corpora.yaml: you edited this file, and it is for other files or options"
    ):
        write_configuration(tmp_path, wanted(minimum_title_count=9))
    assert "minimum_title_count: 4" in path.read_text()
    path.unlink()
    assert write_configuration(tmp_path, wanted(minimum_title_count=9)) == []
    assert yaml.safe_load(path.read_text())["real"]["sections"]["minimum_title_count"] == 9


@pytest.mark.parametrize("content", [b"studies: [mine]\n", b"\xff"])
def test_a_file_of_somebody_else_is_left_alone(tmp_path, content):
    (tmp_path / "config.yaml").write_bytes(content)
    with pytest.raises(TextcriticError, match=r"config.yaml: .*choose another --output"):
        write_configuration(tmp_path, wanted())
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


def test_paths_of_the_users_own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    path = jsonl(tmp_path / "a.jsonl", ["a"])
    assert outlines(["~/a.jsonl"], TITLES)[0].path == path


def make(*arguments):
    """What `make criticise` would run, without the installation."""
    command = ["make", "--no-print-directory", "-n", "-o", ".venv/installed", "criticise", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_criticise_takes_paths_with_quotes_and_spaces():
    run = make("REFERENCE=it's real.jsonl", 'SAMPLES="a b.jsonl" c.jsonl', "OUTPUT=it's")
    assert run.returncode == 0, run.stderr
    expected = ["textcritic", "criticise", "it's real.jsonl", "a b.jsonl", "c.jsonl", "--output", "it's"]
    assert shlex.split(run.stdout) == expected


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("arguments", [[], ["REFERENCE=a"], ["SAMPLES=b"], ["REFERENCE=", "SAMPLES=b"]])
def test_make_criticise_says_what_it_lacks(arguments):
    run = make(*arguments)
    assert run.returncode == 2
    assert 'usage: make criticise REFERENCE=real.jsonl SAMPLES="model.jsonl other.jsonl"' in run.stderr


def test_a_workflow_is_stopped_by_a_signal_and_runs_in_any_thread(tmp_path):
    with alone(tmp_path) as lock, ThreadPoolExecutor(1) as pool:
        assert pool.submit(_run, tmp_path, ["true"], lock).result() == 0
        before = signal.getsignal(signal.SIGTERM)
        stop = ["sh", "-c", f"kill -TERM {os.getpid()}; exec sleep 60"]
        assert _run(tmp_path, stop, lock) == -signal.SIGTERM
        assert signal.getsignal(signal.SIGTERM) is before


def test_one_run_at_a_time_in_a_folder(tmp_path):
    with alone(tmp_path / "out"), pytest.raises(TextcriticError, match=r"out: another run is at work here"):
        alone(tmp_path / "out").__enter__()
    with alone(tmp_path / "out"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(TextcriticError, match=r"file: cannot be used for results"):
        alone(tmp_path / "file").__enter__()


def test_titles_that_are_given_need_a_setting_with_titles(tmp_path):
    write_configuration(tmp_path, wanted())
    path = tmp_path / "studies/own-text.yaml"
    path.write_text(path.read_text().replace("w-title", "wo-title"))
    with pytest.raises(TextcriticError, match=r"model-1 wo-title has no titles in its text, .* must be w-title"):
        Project(load_yaml(tmp_path / "config.yaml"), ROOT, tmp_path)


def test_a_result_has_the_labels_and_the_numbers_of_the_study(tmp_path, monkeypatch):
    """In the order of the samples; the study is made up, and not run."""
    study = tmp_path / "study"
    about = {"corpus": "mine", "measure": "Latent PPL", "section": "values", "n": 8}
    card = [
        Score(**about, label="real text", number=Number(4.0, 3.5, 4.5)),
        Score(**about, label="Zoe", generator="zoe", number=Number(5.0, 4.5, 6.0), p=0.01, left_out=3),
        Score(**about, label="Abe", generator="abe", number=Number(6.0, 5.5, 7.0), p=0.02),
    ]
    asked = []

    def run(compared, options):
        (study / "own").mkdir(parents=True)
        write_json(study / "own/section.json", {"title": "T", "lines": [], "card": card_to_json(card)})
        write_json(study / "manifest.json", {"experiments": ["own"]})
        asked.extend((sample.label, sample.path) for sample in compared.samples)
        return study

    monkeypatch.setattr("textcritic.api.articles.result.criticise", run)
    monkeypatch.setattr("textcritic.report.show.show_study", str)
    articles = [{"sections": [{"title": "a", "text": "x"}]}]
    samples = {"Zoe": [*articles, *articles], "Abe": jsonl(tmp_path / "abe.jsonl", ["a"])}
    result = textcritic.criticise(articles, samples, output=tmp_path / "out")
    assert [label for label, _ in asked] == ["Zoe", "Abe"]
    assert [len(path.read_text().splitlines()) for _, path in asked] == [2, 1]
    found = [(score.source, score.value, score.p, score.n, score.rejected) for score in result.scores]
    assert found == [("real text", 4.0, None, 8, 0), ("Zoe", 5.0, 0.01, 8, 3), ("Abe", 6.0, 0.02, 8, 0)]


def test_the_causes_of_a_failure_are_read_from_the_logs_of_this_run(tmp_path):
    """Each once, the first three; those of an earlier run are not said again."""
    old, new = tmp_path / "old.log", tmp_path / "rule/new.log"
    old.write_text("2026-11-24 10:00:00,1 ERROR error: long ago\n")
    os.utime(old, (1, 1))
    new.parent.mkdir()
    new.write_text(
        "2026-11-24 10:00:00,1 INFO error: none\n2026-11-24 10:00:00,2 ERROR error: real.jsonl: no article is left\n"
        "2026-11-24 10:00:00,3 ERROR unexpected KeyError\nTraceback: ERROR error: no\n"
    )
    (tmp_path / "rule/copy.log").write_text("2026-11-24 10:00:00,2 ERROR error: real.jsonl: no article is left\n")
    said = _causes(tmp_path, since=2.0)
    assert said == ["real.jsonl: no article is left", f"unexpected KeyError; the traceback is in {new}"]
    assert _causes(tmp_path / "none", since=0.0) == []
