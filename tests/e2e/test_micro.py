"""The whole workflow on a study of seconds: from JSONL to the report, by Snakemake, as a user runs it."""

import csv
import json
import math
import os
import re
import shutil
import sys
from collections import Counter
from functools import partial
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import snake
import yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "micro"))

from recipes import write  # noqa: E402

from textcritic.inference import bootstrap_interval, exp_ratio_of_sums, unit_sums  # noqa: E402
from textcritic.report.verify import verify_study  # noqa: E402

CONFIG = "tests/micro/config.yaml"
INTRUDER_TABLES = ("detectors", "pairs", "difficulty", "probe-effects", "votes", "generated", "corpora-held")
TENDENCY_TABLES = ("values", "distances", "means", "audit", "sizes")
snakemake = partial(snake.snakemake, configfile=CONFIG)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("micro")
    write(folder)
    run = snakemake(folder)
    assert run.returncode == 0, run.stderr
    return folder


@pytest.fixture
def copy(study, tmp_path):
    """The finished study in a folder that a test may spoil."""
    shutil.copytree(study, tmp_path / "copy", symlinks=True)
    return tmp_path / "copy"


def rows(folder, table="coherence", experiment="coherence"):
    path = folder / f"results/studies/micro/{experiment}/tables/{table}.csv"
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def row(folder, **wanted):
    (found,) = [r for r in rows(folder) if all(r[key] == value for key, value in wanted.items())]
    return found


def test_the_gold_row_equals_a_plain_loop_over_the_articles(study):
    """An independent computation from the Parquet files: counts, delta on tenths of train, Latent PPL on test."""

    def chains(split):
        table = pq.read_table(study / f"results/corpora/recipes/{split}.parquet")
        return [[s["title"] for s in sections] for sections in table["sections"].to_pylist()]

    def counted(documents):
        counts, totals = Counter(), Counter()
        for chain in documents:
            for i, j in zip(["^", *chain], [*chain, "$"], strict=True):
                counts[i, j] += 1
                totals[i] += 1
        return counts, totals

    train = chains("train")
    num_titles = len({title for chain in train for title in chain})

    def nll(fitted_on, delta, documents):
        counts, totals = counted(fitted_on)
        steps = [step for chain in documents for step in zip(["^", *chain], [*chain, "$"], strict=True)]
        width = num_titles + 1
        return [-math.log((counts[i, j] + delta) / (totals[i] + delta * width)) for i, j in steps]

    def held_out(delta):
        folds = np.random.default_rng(1).permutation(len(train)) % 10
        parts = [
            [[c for c, f in zip(train, folds, strict=True) if (f == n) == own] for own in (False, True)]
            for n in range(10)
        ]
        return sum(sum(nll(others, delta, own)) for others, own in parts)

    delta = min([0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0], key=held_out)
    expected = math.exp(np.mean(nll(train, delta, chains("test"))))
    assert float(row(study, source="data-gold")["latent_ppl"]) == pytest.approx(expected, rel=1e-12)


def test_articles_of_one_book_are_in_one_split_and_are_one_unit(study):
    read = {
        split: pq.read_table(study / f"results/corpora/recipes/{split}.parquet")
        for split in ("train", "validation", "test")
    }
    books = {split: set(table["group"].to_pylist()) for split, table in read.items()}
    assert not books["train"] & books["test"] | books["validation"] & (books["train"] | books["test"])
    real, test = row(study, source="data-gold"), read["test"]
    groups = dict(zip(test["id"].to_pylist(), test["group"].to_pylist(), strict=True))
    assert int(float(real["documents"])) == len(groups)
    assert int(float(real["groups"])) == len(books["test"]) < len(groups)
    scores = pq.read_table(study / "results/scores/transitions-micro/recipes/data/test-gold.parquet")
    assert dict(zip(scores["id"].to_pylist(), scores["group"].to_pylist(), strict=True)) == groups
    columns = np.column_stack([scores["nll"], scores["steps"]])
    interval = bootstrap_interval(unit_sums(columns, scores["group"].to_pylist()), exp_ratio_of_sums, 500)
    assert (float(real["ci_low"]), float(real["ci_high"])) == pytest.approx((interval.low, interval.high))


def test_spoilt_order_is_told_from_real_order(study):
    real, theirs = row(study, source="data-inferred"), row(study, generator="theirs")
    assert float(theirs["ci_low"]) > float(real["ci_high"])
    assert float(theirs["p_value"]) <= 2 / 501


def test_every_drawn_article_is_scored_or_rejected_for_a_reason(study):
    for entry in rows(study):
        if not entry["source"].startswith("data") and entry["generator"] != "theirs":
            model = study / "results/samples/recipes" / entry["setting"] / entry["generator"] / "seed1"
            counts = json.loads((model / entry["decoding"] / "draw1.json").read_text())
            assert counts["drawn"] == 80
            assert counts["kept"] + sum(counts["rejected"].values()) == 80
            assert int(float(entry["documents"])) + int(float(entry["rejected"])) == 80


def test_samples_of_latent_models_have_their_mentions_and_lengths_of_real_texts(study):
    lengths = pq.read_table(study / "results/corpora/mentions-micro/train.parquet")["tokens"].to_pylist()
    for model, marked in (("entitynlm-micro", True), ("lstm-entities-micro", False)):
        sample = study / f"results/samples/mentions-micro/wo-title/{model}/seed1/entities-micro"
        texts = pq.read_table(sample / "draw1.parquet")
        assert any(texts["mentions"].to_pylist()) is marked
        assert {len(text) for text in texts["tokens"].to_pylist()} <= {min(len(text), 40) for text in lengths}
        counts = json.loads((sample / "draw1.json").read_text())
        assert (counts["drawn"], counts["kept"], counts["rejected"]) == (30, 30, {})
    judged = {entry["generator"]: entry for entry in rows(study, "coreference", "entities")}
    assert {name: int(float(entry["documents"]) + float(entry["rejected"])) for name, entry in judged.items()} == {
        "data": 20, "entitynlm-micro": 30, "lstm-entities-micro": 30,
    }  # fmt: skip


def test_estimates_have_a_mixture_of_temperatures_and_a_particle_filter(study):
    entries = [entry for entry in rows(study, "estimates", "importance") if entry["proposal"]]
    own = {entry["generator"]: float(entry["gap"]) for entry in entries if entry["gap_sign"]}
    assert {*own} == {"rnng-micro", "entitynlm-micro", "kglm-micro", "hsmm-micro"}
    assert own["hsmm-micro"] > 10  # of the last of its proposals, which reads nothing of the text
    mixed = {entry["generator"] for entry in entries if float(entry["temperature"]) == 0}
    assert mixed == {"rnng-micro", "entitynlm-micro", "kglm-micro", "hsmm-micro"}
    assert {float(entry["draws"]) for entry in entries if float(entry["temperature"]) == 0} == {20}
    filtered = [(e["generator"], e["proposal"], float(e["temperature"])) for e in entries if e["smc"]]
    assert filtered == [
        ("entitynlm-micro", "entity-disc-micro", 1),
        ("kglm-micro", "kglm-disc-micro", 1),
        ("hsmm-micro", "noisy-micro", 1),
        ("hsmm-micro", "blind-micro", 1),
    ]
    for entry in entries:
        if entry["smc"] and entry["exact"]:
            assert float(entry["smc"]) > 0.9 * float(entry["exact"])


def test_outputs_are_all_there(study):
    folder = study / "results/studies/micro"
    names = {
        "coherence": ("coherence", "perplexity", "decomposition", "transition-errors", "repetitions", "power", "audit"),
        "given-titles": ("coherence", "perplexity", "decomposition", "transition-errors", "repetitions", "audit"),
        "corpora": ("statistics", "left-out", "shared-text", "extraction-audit"),
        "process": ("process", "parsing", "table1"),
        "topics": ("topics", "topic-words", "topic-outliers", "topic-power", "table14"),
        "coreference": ("coreference", "coreference-shares", "table6", "table7"),
        "mixing": ("mixing", "mixing-pairs", "mixing-languages", "mixing-power", "table10"),
        "tendencies": ("tendencies", *(f"tendencies-{name}" for name in TENDENCY_TABLES), "table4"),
        "recitation": ("recitation", "recitation-lengths", "recitation-passages", "table2"),
        "order": ("order", "order-pairs"),
        "metrics": ("metrics", "metrics-documents", "table3"),
        "importance": ("estimates", "bounds", "curves", "texts", "settings", "table21", "table22"),
        "intruders": (*INTRUDER_TABLES, "table31", "table33"),
        "entities": ("coreference", "coreference-shares"),
        "people": ("people-metrics", "people-correlations", "people-planning", "table41", "table42"),
    }
    undrawn = {"people"}  # nobody was asked, and there are too few documents for MAUVE
    numbered = {
        "topics": ("figure6",),
        "coreference": ("figure12",),
        "mixing": ("figure7",),
        "tendencies": ("figure3",),
        "importance": ("figure21", "figure22", "figure24"),
    }
    for experiment, tables in names.items():
        for name, suffix in product(tables, ("csv", "tex", "html")):
            assert (folder / experiment / "tables" / f"{name}.{suffix}").stat().st_size > 0
        for figures in (*["figures"] * (experiment not in undrawn), *numbered.get(experiment, ())):
            assert list((folder / experiment / figures).glob("*.svg"))
            assert not list((folder / experiment / figures).glob("*.pdf"))  # the configuration wants none
        assert (folder / experiment / "section.html").stat().st_size > 0
        assert json.loads((folder / experiment / "section.json").read_text())["title"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["packages"]["torch"].startswith("2.13.0")
    assert manifest["configuration"]["registry"]["generators"]["gpt2-micro"]["training"]["steps"] == 60
    assert manifest["configuration"]["registry"]["critics"]["ctm-micro"]["topics"] == 3
    assert manifest["configuration"]["experiments"] == list(names)
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")[:500]


def test_readers_see_labels_and_no_keys(study):
    text = (study / "results/studies/micro/report.html").read_text(encoding="utf-8")
    # Configuration, commands and names of files may have keys.
    shown = re.sub(r"<(script|style|pre|code|title)\b.*?</\1>|<ul class=\"files\">.*?</ul>", " ", text, flags=re.S)
    words = " ".join(re.findall(r">([^<]+)<", shown))
    for registry in ("corpora", "decodings"):
        keys = yaml.safe_load((ROOT / f"tests/micro/registry/{registry}.yaml").read_text())
        # Words of English, the study's own name, and names in two wide tables of details.
        plain = {"micro", "given", "sentences", "stories", "micro-top-k"}
        plain |= {f"{name}-micro" for name in ("links", "mentions", "process", "trees")}
        found = [key for key in set(keys) - plain if re.search(rf"(?<![\w-]){key}(?![\w-])", words)]
        assert not found, found
    assert "Made-up cookery" in words


def test_snakemake_s_own_report_lists_tables_figures_and_reports(study, tmp_path):
    run = snakemake(study, "--report", tmp_path / "all.html")
    assert run.returncode == 0, run.stderr
    text = (tmp_path / "all.html").read_text(encoding="utf-8")
    for path in (
        "results/studies/micro/report.html",
        "results/studies/micro/coherence/tables/coherence.html",
        "results/studies/micro/topics/tables/table14.html",
        "results/studies/micro/coherence/figures/latent-ppl.svg",
        "results/studies/micro/topics/figure6",
    ):
        assert path in text
    assert "latent-ppl.narrow" not in text
    assert "its scorecard first" in text  # a caption


# Scripts that no study of seconds runs, and why.
NOT_RUN = {
    **dict.fromkeys(
        ("download_file.py", "download_model.py", "download_dataset.py", "extract_dataset.py", "unpack_member.py"),
        "needs a server; test_rehearsals runs it",
    ),
    "extract_wikipedia.py": "needs a dump; test_wikipedia_corpora runs it",
    "join_wikipedia.py": "the same",
    "build_lines.py": "the same",
    "audit_extraction.py": "the same",
    **dict.fromkeys(
        ("make_subwords.py", "encode_parallel.py", "train_fairseq.py", "measure_fairseq.py", "sample_fairseq.py"),
        "needs fairseq, or is for it; test_mixing runs it",
    ),
    "collect_translations.py": "the same",
    "merge_tendencies.py": "is for corpora of several shards; test_tendency_jobs puts shards together",
}


def scripts_by_rule():
    """The script of every rule; a rule made of another by `use rule` has that one's."""
    scripts, parents = {}, {}
    for path in (ROOT / "rules").glob("*.smk"):
        for body in re.split(r"\n(?=rule |use rule )", path.read_text())[1:]:
            if parent := re.match(r"use rule (\w+) as (\w+)", body):
                parents[parent[2]] = parent[1]
            elif script := re.search(r'script:\s+f?"[^"]*/workflow/scripts/(\w+\.py)"', body):
                scripts[re.match(r"rule (\w+)", body)[1]] = script[1]
    for rule in parents:
        ancestor = rule
        while ancestor in parents:
            ancestor = parents[ancestor]
        scripts[rule] = scripts[ancestor]
    return scripts


def test_every_script_that_a_study_can_reach_was_run(study):
    scripts = scripts_by_rule()
    ran = {path.name for path in (study / "results/benchmarks").iterdir()}
    assert ran <= set(scripts)
    everything = {path.name for path in (ROOT / "workflow/scripts").glob("*.py")}
    assert set(scripts.values()) == everything
    assert everything - {scripts[rule] for rule in ran} == set(NOT_RUN)


def test_sequences_of_a_known_process_are_scored_by_it(study):
    """An independent computation from the files: a chain of states that starts as if after state 0."""
    found = {(row["generator"], row["decoding"]): row for row in rows(study, "process", "process")}
    samples = {("transformer-micro", "sequences-micro"), ("hsmm-micro", "sequences-micro")}
    samples |= {("hsmm-micro", "sequences-micro-given")}
    real = [row for row in rows(study, "process", "process") if row["source"] == "process-test"]
    assert set(found) - {("data", "")} == samples
    with np.load(study / "results/corpora/process-micro/process.npz") as process:
        transition = process["transition"]
    tails = {
        f"wo-title/{generator}/seed1/{decoding}/draw1": found[generator, decoding] for generator, decoding in samples
    }
    scored = study / "results/scores/known-micro/process-micro"
    for tail, row in {"data": real[0], **tails}.items():
        articles = study / "results" / ("samples" if tail in tails else "corpora") / "process-micro"
        texts = pq.read_table(articles / (f"{tail}.parquet" if tail in tails else "test.parquet")).to_pylist()
        scores = pq.read_table(
            scored / (f"samples/{tail}.parquet" if tail in tails else "data/test.parquet")
        ).to_pylist()
        by_id = {score["id"]: score for score in scores}
        assert len(by_id) == len(scores) == 60
        for article in texts:
            states = [int(section["title"]) for section in article["sections"]]
            expected = -sum(math.log(transition[i, j]) for i, j in pairwise([0, *states]))
            assert by_id[article["id"]]["nll"] == pytest.approx(expected, rel=1e-6)
        assert sum(not score["rejected"] for score in scores) == len(texts) == int(float(row["documents"]))
        assert int(float(row["rejected"] or 0)) == 60 - len(texts)
    # Given its length, a sequence of the HSMM has that length; by itself few have.
    given = found["hsmm-micro", "sequences-micro-given"]
    assert int(float(given["documents"])) > int(float(found["hsmm-micro", "sequences-micro"]["documents"]))
    one = {row["generator"] for row in rows(study, "table1", "process")} - {"data"}
    assert one == {"hsmm-micro"}


def test_titles_that_come_with_the_text_need_no_classifier(study):
    """The second experiment of one kind: its gold titles, and its critic, are those of the first."""
    given, inferred = rows(study, experiment="given-titles"), rows(study)
    assert {row["generator"] for row in given} == {"data", "ngram-2"}
    (real,) = {row["latent_ppl"] for row in given if row["source"].startswith("data")}
    (gold,) = {row["latent_ppl"] for row in inferred if row["source"] == "data-gold"}
    assert real == gold
    critics = (study / f"results/critics/{name}/recipes/critic.json" for name in ("given-micro", "transitions-micro"))
    assert len({path.read_text() for path in critics}) == 1


def test_latent_nll_of_topics_equals_a_plain_computation_from_the_files(study):
    """An independent computation: the density of each posterior mean under the fitted prior, by the definition."""
    with np.load(study / "results/critics/ctm-micro/recipes/critic.npz") as critic:
        mean, covariance = critic["mean"], critic["covariance"]
    log_det = np.linalg.slogdet(covariance)[1]
    for tail in (
        "data/test",
        "samples/wo-title/gpt2-micro/seed1/micro/draw1",
        "samples/wo-title/shuffled/seed1/micro/draw1",
    ):
        topics = pq.read_table(study / f"results/topics/ctm-micro/recipes/{tail}.parquet").to_pylist()
        scores = pq.read_table(study / f"results/scores/ctm-micro/recipes/{tail}.parquet").to_pylist()
        by_id = {score["id"]: score for score in scores}
        values = []
        for document in topics:
            score = by_id[document["id"]]
            assert score["rejected"] is (document["words"] == 0)
            if score["rejected"]:
                assert document["mean"] is document["variance"] is None
                continue
            away = np.array(document["mean"]) - mean
            squared = away @ np.linalg.solve(covariance, away)
            at_mean = (len(mean) * math.log(2 * math.pi) + log_det + squared) / 2
            spread = np.trace(np.linalg.solve(covariance, np.diag(document["variance"]))) / 2
            assert score["nll_at_mean"] == pytest.approx(at_mean, rel=1e-9)
            assert score["nll"] == pytest.approx(at_mean + spread, rel=1e-9)
            values.append(score["nll"])
        (entry,) = [
            row
            for row in rows(study, "topics", "topics")
            if (row["generator"] in tail.split("/") if "/seed" in tail else row["source"].startswith("data"))
        ]
        assert float(entry["latent_nll"]) == pytest.approx(np.mean(values), rel=1e-9)
        assert int(float(entry["documents"])) == len(values)
        assert len(by_id) == len(scores) >= len(topics)


def test_contributions_of_windows_add_up_to_the_difference_of_latent_ppl(study):
    by_sample = {}
    for row in rows(study, "coreference-ngrams", "coreference"):
        by_sample.setdefault((row["generator"], row["setting"]), []).append((row["window"], float(row["contribution"])))
    assert {generator for generator, _ in by_sample} == {"gpt2-micro", "ngram-2"}
    ppl = {(r["generator"], r["setting"]): float(r["latent_ppl"]) for r in rows(study, "coreference", "coreference")}
    for sample, found in by_sample.items():
        whole = math.log(ppl[sample] / ppl["data", ""])
        assert dict(found)["(all)"] == pytest.approx(whole, abs=1e-12)
        assert math.fsum(value for window, value in found if window != "(all)") == pytest.approx(whole, abs=1e-12)


def test_every_drawn_article_has_its_topics_or_a_reason_for_none(study):
    for generator in ("gpt2-micro", "shuffled"):
        tail = f"wo-title/{generator}/seed1/micro/draw1"
        counts = json.loads((study / f"results/samples/recipes/{tail}.json").read_text())
        scores = pq.read_table(study / f"results/scores/ctm-micro/recipes/samples/{tail}.parquet")
        assert scores.num_rows == counts["drawn"] == 80
        reasons = Counter(why for why in scores["why"].to_pylist() if why is not None)
        assert reasons - Counter({"no word of the vocabulary": 80}) == Counter(counts["rejected"])


# The storage plugin calls rsync, for copies alone; where there is none, cp makes them.
RSYNC = """#!/bin/sh
for path do from=$to; to=$path; done
[ -d "$from" ] && from=$from/. && mkdir -p "$to"
cp -rL --preserve=timestamps "$from" "$to"
"""


def test_jobs_that_share_no_folder_make_the_same(study, tmp_path):
    """What a job reads without its rule saying so is not there: files come from a storage, inputs alone."""
    pytest.importorskip("snakemake_storage_plugin_fs")
    here, store, programs = (tmp_path / name for name in ("here", "store", "programs"))
    for folder in (here, store, programs):
        folder.mkdir()
    write(store)
    (programs / "rsync").write_text(RSYNC)
    (programs / "rsync").chmod(0o700)
    storage = ("--default-storage-provider", "fs", "--default-storage-prefix", store, "--shared-fs-usage", "none")
    experiments = [f"results/studies/micro/{name}" for name in ("given-titles", "corpora", "metrics")]
    targets = [f"{experiment}/section.html" for experiment in experiments]
    run = snakemake(here, *storage, "--", *targets, PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    assert run.returncode == 0, run.stderr
    tables = [path.relative_to(study) for name in experiments for path in (study / name).glob("tables/*.csv")]
    assert len(tables) > 10
    for table in tables:
        assert (store / table).read_bytes() == (study / table).read_bytes(), table
    assert not [*here.glob("results/corpora")]
    assert (store / targets[0]).read_text() == (study / targets[0]).read_text()


def test_a_second_run_has_nothing_to_do(study):
    run = snakemake(study)
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout + run.stderr


def test_damage_of_a_finished_study_is_named_and_refused(study, copy):
    """Flips with the old times: `Nothing to be done` for Snakemake, and other numbers from the next job."""
    whole = verify_study(study / "results/studies/micro")
    assert (whole.differences, whole.other_code) == ({}, {})
    folder = copy / "results/generators/recipes"
    weights = folder / "w-title/gpt2-micro/seed1/model/model.safetensors"
    spoilt = [weights, *(folder / "w-title/ngram-2/seed1/model" / f"{name}.npy" for name in ("words", "cumulative2"))]
    for path in spoilt:
        about, content = path.stat(), bytearray(path.read_bytes())
        content[-9] ^= 1
        path.write_bytes(content)
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert {*verify_study(copy / "results/studies/micro").differences} == {str(p.relative_to(copy)) for p in spoilt}
    perplexity = folder / "w-title/gpt2-micro/seed1/perplexity.json"
    perplexity.unlink()
    run = snakemake(copy, "--", str(perplexity.relative_to(copy)))
    assert run.returncode != 0
    assert f"error: {weights.relative_to(copy)}: has other bytes, as many as before; it is not what" in run.stderr
    assert not perplexity.exists()


def registry_with(folder, kind, change):
    """A config whose registry of one kind is changed; returns its path."""
    registry = folder / "registry"
    shutil.copytree(ROOT / "tests/micro/registry", registry)
    path = registry / f"{kind}.yaml"
    entries = yaml.safe_load(path.read_text())
    change(entries)
    path.write_text(yaml.safe_dump(entries))
    config = yaml.safe_load((ROOT / "tests/micro/config.yaml").read_text())
    config["registry_folders"] = [str(registry)]
    (folder / "changed.yaml").write_text(yaml.safe_dump(config))
    return folder / "changed.yaml"


def test_a_changed_critic_reruns_from_the_critic_on_and_a_label_nothing(copy):
    changed = registry_with(copy, "critics", lambda e: e["transitions-micro"].update(smoothing=[0.5]))
    run = snake.dry_run(copy, "--dry-run", "--quiet", "rules", configfile=changed)
    assert "fit_transitions" in run.stdout + run.stderr
    assert "train_c" not in run.stdout + run.stderr
    shutil.rmtree(copy / "registry")
    labelled = registry_with(copy, "generators", lambda e: e["gpt2-micro"].update(label="another", threads=2))
    run = snake.dry_run(copy, "--dry-run", configfile=labelled)
    assert "train_causal" not in run.stdout + run.stderr


def test_another_number_of_topics_counts_no_words_again_and_another_vocabulary_does(copy):
    for changes, counts in (({"topics": 4}, False), ({"vocabulary": {"minimum_count": 4}}, True)):
        changed = registry_with(copy, "critics", lambda e, changes=changes: e["ctm-micro"].update(changes))
        run = snake.dry_run(copy, "--dry-run", "--quiet", "rules", configfile=changed)
        assert {"fit_topics", "infer_data_topics", "infer_sample_topics"} <= set(re.findall(r"\w+", run.stdout))
        assert ("count_words" in run.stdout) is counts
        assert "train_c" not in run.stdout
        assert "score_samples" not in run.stdout
        shutil.rmtree(copy / "registry")


def test_no_samples_left_is_one_clear_line(copy):
    changed = registry_with(copy, "decodings", lambda e: e["micro"].update(max_tokens=1))
    sample = "results/samples/recipes/w-title/gpt2-micro/seed1/micro/draw1.parquet"
    run = snakemake(copy, "--", sample, configfile=changed)
    assert run.returncode != 0
    assert "error: " in run.stderr
    (line,) = {line for line in run.stderr.splitlines() if "gpt2-micro w-title micro] error:" in line}
    assert "of 80 articles none can be used (no end within 1 tokens: " in line
    assert not (copy / sample).exists()


def test_a_bad_line_of_a_corpus_is_named_and_leaves_nothing(tmp_path):
    write(tmp_path)
    lines = (tmp_path / "recipes.jsonl").read_text().splitlines()
    lines[2] = '{"id": "x", "text": "no sections"}'
    (tmp_path / "recipes.jsonl").write_text("\n".join(lines))
    run = snakemake(tmp_path, "data")
    assert run.returncode != 0
    assert "error: recipes.jsonl:3: " in run.stderr
    assert "Traceback" not in run.stderr
    assert list((tmp_path / "results/corpora/recipes").rglob("*.parquet")) == []


def test_a_missing_file_is_named(tmp_path):
    def named(*more):
        run = snake.dry_run(tmp_path, "--dry-run", *more, configfile=CONFIG)
        return run.returncode, run.stdout + run.stderr

    code, said = named("--config", "missing=refuse")
    assert code != 0
    assert "people-micro: there is no annotated.conll" in said
    assert "recipes: there is no recipes.jsonl" in said
    (tmp_path / "annotated.conll").touch()
    assert "people-micro: nothing is in annotated.conll (put it there)" in named()[1]
    (tmp_path / "annotated.conll").write_text("#begin document (x);\n")
    code, said = named()
    assert code == 0
    assert "in annotated.conll (put" not in said
    assert "no annotated.conll" not in said
    assert "recipes: there is no recipes.jsonl (put it there): left out of table" in said
