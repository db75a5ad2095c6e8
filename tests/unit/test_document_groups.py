"""The key `group` on its way: from users' documents and corpora to scores, intervals, tests and tables."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import textcritic
from textcritic.api.criticise import held_out_of
from textcritic.api.documents import documents_of
from textcritic.api.options import CriticiseOptions
from textcritic.corpora import Article, Section, article_groups, write_articles
from textcritic.corpora.readers.values import group_of
from textcritic.critics import TransitionCritic, document_columns, groups_of, score_chains, with_groups
from textcritic.errors import TextcriticError
from textcritic.inference import (
    bootstrap_interval,
    cluster_test,
    exp_ratio_of_sums,
    ratio_of_sums,
    unit_sums,
    with_ones,
)
from textcritic.measures.material import Material
from textcritic.measures.measure import Measure, Scored
from textcritic.measures.rows import in_groups, source_rows
from textcritic.plan.sources import data_keys

CHAINS = [["a", "b"], ["a"], [], ["b", "b", "a"], ["a", "a"]] * 40
GROUPS = [None if n % 4 == 3 else f"book {n // 5}" for n in range(200)]


def jsonl(path, chains, groups):
    lines = [{"chain": chain} | ({} if group is None else {"group": group}) for chain, group in zip(chains, groups)]  # noqa: B905
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_scores_get_the_groups_of_their_documents(tmp_path):
    articles = [Article(f"d{n}", None, (Section("0", "x"),), "s", GROUPS[n]) for n in range(9)]
    write_articles(tmp_path / "a.parquet", articles)
    critic = TransitionCritic.fit(CHAINS, grid=[0.3])
    scores = score_chains(critic, [f"d{n}" for n in range(8, -1, -1)], CHAINS[:9], [("parsed not", "empty")])
    assert scores["group"].null_count == 10
    found = with_groups(scores, article_groups(tmp_path / "a.parquet"))
    assert found.schema == scores.schema
    assert found["group"].to_pylist() == [*GROUPS[8::-1], None]
    assert len(groups_of(found)) == len(document_columns(found)) == 7
    assert groups_of(scores) is None
    assert with_groups(scores.slice(0, 0), article_groups(tmp_path / "a.parquet")).num_rows == 0


def test_interval_and_test_of_a_measure_take_groups_as_one():
    columns = {"real": with_ones(np.random.default_rng(1).normal(size=200)), "model": with_ones(np.arange(60) % 7)}
    groups = {"real": GROUPS, "model": None}

    @dataclass(frozen=True)
    class Source:
        name: str

        @property
        def keys(self) -> dict[str, Any]:
            sample = {"source": "sample", "setting": "", "generator": self.name, "decoding": "", "seed": 1}
            return data_keys("docs") | (sample if self.name == "model" else {})

    class Files:
        samples, resamples = (), 299

        def groups(self) -> Any:
            real = Source("real")
            return [(real, [real, Source("model")])]

    def read(source: Source, _: Scored | None) -> Scored:
        return Scored({"mean": columns[source.name]}, len(columns[source.name]), groups=groups[source.name])

    measure = Measure(name="Mean", value="mean", statistic=ratio_of_sums)
    material = Material(Files(), names=type("Names", (), {"source": lambda _, row, **kw: "name"})())
    real, model = source_rows(material, read, [measure])
    interval = bootstrap_interval(unit_sums(columns["real"], GROUPS), ratio_of_sums, 299)
    assert (real["mean"], real["ci_low"], real["ci_high"]) == (interval.estimate, interval.low, interval.high)
    assert (real["documents"], real["groups"]) == (200, 90)
    assert "groups" not in model
    test = cluster_test(columns["model"], columns["real"], ratio_of_sums, (None, GROUPS))
    assert model["p_value"] == test.p
    assert in_groups(pd.DataFrame([real])) == " in 90 groups"
    assert in_groups(pd.DataFrame([model])) == in_groups(pd.DataFrame([{"groups": pd.NA}])) == ""


def test_groups_of_a_file_and_of_a_data_frame_give_the_same(tmp_path):
    path = jsonl(tmp_path / "real.jsonl", CHAINS, GROUPS)
    frame = pd.DataFrame({"chain": CHAINS, "group": GROUPS})
    plain = jsonl(tmp_path / "plain.jsonl", CHAINS, [None] * 200)
    one, two, alone = (textcritic.chains(plain, given, resamples=299, smoothing=0.3) for given in (path, frame, plain))
    assert one.to_json() == two.to_json()
    assert one.latent_ppl == pytest.approx(alone.latent_ppl, rel=1e-14)
    assert one.ci95 != alone.ci95
    critic = TransitionCritic.fit(CHAINS, grid=[0.3])
    kept = [group for chain, group in zip(CHAINS, GROUPS, strict=True) if chain]
    columns = document_columns(score_chains(critic, [str(n) for n in range(200)], CHAINS))
    interval = bootstrap_interval(unit_sums(columns, kept), exp_ratio_of_sums, 299)
    assert one.ci95 == pytest.approx((interval.low, interval.high))
    units = len({group for group in kept if group} | {n for n, group in enumerate(kept) if not group})
    says = f"test: 160 documents in {units} groups; documents of a group count as one, and the test is Student's"
    assert any(fact[1].startswith(says) for fact in one.facts)


def test_a_reference_is_parted_in_whole_groups_and_tested_so(tmp_path):
    groups = [f"book {n // 5}" for n in range(200)]
    path = jsonl(tmp_path / "real.jsonl", CHAINS, groups)
    result = textcritic.criticise(path, {"model": CHAINS[:60]}, held_out=0.5, resamples=99, smoothing=0.3)
    real = result["real text"]["latent_ppl"]
    assert real.n == 80
    assert dict(result.facts)["Real text"].startswith("parted at random, whole groups of documents")
    assert "real text: 80 documents in 20 groups" in dict(result.facts)["Groups"]
    assert result["model"]["latent_ppl"].p is not None
    few = textcritic.criticise(path, {"model": CHAINS[:60]}, held_out=0.3, resamples=99, smoothing=0.3)
    assert few["model"]["latent_ppl"].p is None
    assert dict(few.facts)["Groups"].endswith("fewer than 20 groups have no test")


def test_held_out_documents_are_whole_groups():
    options = CriticiseOptions(held_out=0.3, seed=4)
    held = held_out_of(GROUPS, options, "reference")
    assert {GROUPS[n] for n in held} & {GROUPS[n] for n in range(200) if n not in held} <= {None}
    assert held_out_of([None] * 50, options, "reference") == set(np.random.default_rng(4).permutation(50)[:15].tolist())
    with pytest.raises(TextcriticError, match=r"reference: documents of a group stay together, and no group is small"):
        held_out_of(["a"] * 100, options, "reference")


@pytest.mark.parametrize("bad", [["a"], 1.5, True, {}])
def test_a_bad_group_is_one_line(tmp_path, bad):
    path = tmp_path / "real.jsonl"
    path.write_text(json.dumps({"chain": ["a"]}) + "\n" + json.dumps({"chain": ["a"], "group": bad}) + "\n")
    with pytest.raises(TextcriticError, match=r"real\.jsonl:2: `group` is .*; it should be a string or be left out"):
        textcritic.chains(path, path)


def test_groups_are_noted_whenever_documents_are_read():
    groups: list[str | None] = []
    given = pa.table({"text": ["x", "y", "z"], "group": [3, None, 4]})
    documents = documents_of(given, "real", "texts").noting(groups)
    assert groups == []
    for _ in range(2):
        assert [text for (text,) in documents.texts()] == ["x", "y", "z"]
        assert groups == ["3", None, "4"]


def test_topics_and_mixing_take_groups_as_one():
    rng = np.random.default_rng(2)
    words = [["sun", "rain", "cloud"], ["goal", "match", "team"], ["vote", "party", "seat"]]
    kinds = (np.arange(30) % 3).repeat(4)
    texts = [{"text": " ".join(rng.choice(words[kind], 12)), "group": f"site {n // 4}"} for n, kind in enumerate(kinds)]
    alone = [{"text": row["text"]} for row in texts]
    options: dict[str, Any] = {"num_topics": 2, "minimum_count": 1, "starts": 1, "iterations": 5, "resamples": 99}
    one, two = (textcritic.topics(alone, given, **options) for given in (texts, alone))
    means = [result.latent_nll["in_expectation"] for result in (one, two)]
    assert means[0].value == pytest.approx(means[1].value)
    assert means[0].low != pytest.approx(means[1].low)
    assert "documents in 30 groups" in dict(one.facts)["Groups"]
    mixed = {"topics": 2, "starts": 1, "iterations": 20, "draws": 2, "resamples": 99, "held_out": 0.7}
    first, second = (textcritic.mixing(given, alone[:40], **mixed) for given in (texts, alone))
    assert "real text: 84 documents in 21 groups" in dict(first.facts)["Groups"]
    assert "Groups" not in dict(second.facts)
    assert first.real.n == second.real.n == 84


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"group": "g", "pair": "a"}, {"group": "g", "pair": "b"}),
        ({"group": 1}, {"group": "1"}),  # keys may differ in type
        ({"pair": 7}, {"pair": "7", "prompt": "Write.", "doc_id": 1}),
        ({"doc_id": 3, "prompt": "Write."}, {"doc_id": "3", "prompt": "Write.", "id": "other"}),
        ({"doc_id": 3, "prompt": [{"role": "user", "content": "Write."}]},) * 2,
    ],
)
def test_documents_with_one_key_belong_together(one, other):
    groups = [group_of(value, "line 1") for value in (one, other)]
    assert groups[0] == groups[1] is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"doc_id": 3, "prompt": "Write."}, {"doc_id": 3, "prompt": "Read."}),  # one line of two tasks
        ({"doc_id": 3, "prompt": "Write."}, {"doc_id": 4, "prompt": "Write."}),
    ],
)
def test_documents_with_other_keys_do_not_belong_together(one, other):
    assert group_of(one, "line 1") != group_of(other, "line 1")


@pytest.mark.parametrize("alone", [{}, {"doc_id": 3}, {"doc_id": 3, "prompt": ""}, {"prompt": "Write."}, {"pair": ""}])
def test_documents_without_a_whole_key_are_alone(alone):
    assert group_of(alone, "line 1") is None


def test_answers_to_the_prompts_of_real_texts_are_pairs():
    """Chains of both sides with a `pair`; as many exchanges, and the same numbers, as with a `group` of that name."""
    chains = [{"chain": chain} for chain in CHAINS[:60]]
    found = []
    for key in ("pair", "group"):
        real, drawn = (
            [one | {key: f"{n}"} for n, one in enumerate(some)] for some in (chains, chains[1:] + chains[:1])
        )
        found.append(textcritic.criticise(real, {"m": drawn}, unpaired=False))
    assert "share 60 groups" in str(found[0].page) + " ".join(str(fact) for fact in found[0].facts)
    pd.testing.assert_frame_equal(found[0].table, found[1].table)
