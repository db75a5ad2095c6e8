"""What the report says of a critic's switches, and of the power of its test."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pytest

from experiments.coreference.tiny import CRITIC, RESOLVER, build_coreference
from textcritic.critics.mentions import MENTION_SCORES_SCHEMA
from textcritic.critics.mentions.job import chain_options, fit_on_mentions, score_file
from textcritic.critics.mentions.variants import ITSELF, NOTHING_TO_FIT, variants_of, vary_mentions
from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.audit import WORDS, audit_rows, audit_sentence, audit_sheet
from textcritic.experiments.coreference.power import STUDY, exchange_findings, exchange_rows
from textcritic.experiments.coreference.resolver import (
    error_rows,
    error_sheet,
    resolver_rows,
    resolver_sentences,
    resolver_sheet,
)
from textcritic.experiments.coreference.rows import ppl_rows
from textcritic.files import read_json, read_table, write_json, write_table
from textcritic.latents.resolvers import Mention, Resolved, write_mentions
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.published import Published
from textcritic.plan.entries import Mentions
from textcritic.plan.sources import KEYS
from textcritic.report.power import noticed_from, power_sheet


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return build_coreference(tmp_path_factory.mktemp("checks"), documents=30, of_a_book=8, seeds=(1, 2))


@pytest.fixture(scope="module")
def audit(files):
    return audit_rows(Material(files))


def entry(**keys):
    return Mentions.read({"kind": "mentions", "resolver": "persons", **keys}, "the test")


def test_the_critic_itself_stands_in_the_audit_with_the_numbers_of_the_main_table(files, audit):
    """To the last digit, with documents that belong together."""
    main = ppl_rows(Material(files, Published({})))
    itself = audit[audit["variant"] == ITSELF].reset_index(drop=True)
    shown = ["label", "latent_ppl", "ci_low", "ci_high", "p_value", "latent_nll", "documents", "tokens"]
    pd.testing.assert_frame_equal(itself[[*KEYS, *shown]], main[[*KEYS, *shown]], check_exact=True, check_dtype=False)
    assert not itself["verdict_changes"].any()
    assert not itself["order_changes"].any()


@pytest.mark.parametrize(
    "critic",
    [entry(), entry(order=3, discount="as_released", chains={"gender": "none", "people": "all", "left_out": []})],
)
def test_each_variant_differs_in_one_switch(critic):
    itself, *others = variants_of(critic)
    assert itself == (ITSELF, critic)
    for _, variant in others:
        chains = sum(getattr(variant.chains, key) != value for key, value in critic.chains)
        assert (variant.order != critic.order) + (variant.discount != critic.discount) + chains == 1
    names = [name for name, _ in others]
    assert len(set(names)) == len(names)
    assert set(names) <= set(WORDS)


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("order: 2", {"order": 2}),
        ("discount: modified", {"discount": "modified"}),
        ("gender: none", {"chains": {"gender": "none"}}),
        ("sentence_marks: false", {"chains": {"sentence_marks": False}}),
    ],
)
def test_a_variant_is_scored_as_an_entry_of_its_own_is(files, tmp_path, name, keys):
    [data], critic = files.data, entry(**keys)
    options, paths = (
        chain_options(critic, RESOLVER),
        [tmp_path / name for name in ("critic.npz", "fit.json", "s.parquet")],
    )
    fit_on_mentions(data.critic.parent / "train.parquet", *paths[:2], critic, options)
    score_file(data.mentions, data.articles, paths[0], paths[2], options)
    variants = read_table(data.variants)
    of_variants = [column for column in MENTION_SCORES_SCHEMA.names if column != "group"]  # the audit looks groups up
    ours = variants.filter(pc.equal(variants["variant"], name)).select(of_variants)
    pd.testing.assert_frame_equal(
        ours.to_pandas(), read_table(paths[2]).select(of_variants).to_pandas(), check_exact=True
    )


def test_a_variant_with_nothing_to_be_fitted_on_scores_nothing(tmp_path):
    """Without sentence marks and people no chain is left; with things as people there is one."""
    chair = Resolved("a", "A chair.", ((0, 8),), (Mention(0, 7, 2, 7, 0, 0, False),))
    write_mentions(tmp_path / "m.parquet", [chair])
    vary_mentions(tmp_path / "m.parquet", tmp_path / "m.parquet", tmp_path / "v.parquet", CRITIC, RESOLVER)
    whys = {row["variant"]: row["why"] for row in read_table(tmp_path / "v.parquet").to_pylist()}
    assert whys.pop("sentence_marks: false") == NOTHING_TO_FIT
    assert set(whys.values()) == {None}


def test_what_changes_is_said(files, audit):
    """A generator with four pronouns in ten wrong is told from real text, unless hardly a token is looked back at."""
    rows = audit.copy()
    changed = rows["variant"] == "order: 2"
    trigram = changed & (rows["generator"] == "ngram-3")
    assert (audit.loc[(audit["variant"] == ITSELF) & (audit["generator"] == "ngram-3"), "verdict"] == "higher").all()
    sheet = audit_sheet(audit, Names.of(files.samples))
    assert [row[0].text for row in sheet.body][:2] == ["The critic as it is", "Discounting as released"]
    assert sheet.body[0][-1].text == ""
    rows.loc[changed, "order_changes"], rows.loc[trigram, "verdict_changes"] = True, True
    rows.loc[trigram, "verdict"] = "unclear"
    [line] = [
        row[-1].text for row in audit_sheet(rows, Names.of(files.samples)).body if row[0].text == WORDS["order: 2"]
    ]
    assert line.startswith("order of the sources; ")
    assert "seed 1: unclear" in line
    others = audit["variant"].nunique() - 1
    assert audit_sentence(rows).startswith(f"Of {others} variants of the critic, each with one switch changed, ")
    assert audit_sentence(audit[:0]) == ""


def curve(*detected):
    rows = [{"share": share, "detected": value} for share, value in zip((0, 0.1, 0.2, 0.5), detected, strict=True)]
    return pd.DataFrame(rows)


def test_from_which_share_on_the_test_notices():
    assert noticed_from(curve(0.05, 0.3, 0.8, 1.0), "share") == 0.2
    assert noticed_from(curve(0.05, 0.9, 0.7, 1.0), "share") == 0.5
    assert noticed_from(curve(0.05, 0.1, 0.2, 0.79), "share") is None


def test_power_is_told_for_the_most_articles(files):
    rows = exchange_rows(Material(files))
    rows["detected"] = [float(row["share"] > 0.2 and row["kind"] == "relinked") for row in rows.to_dict("records")]
    [finding] = exchange_findings(rows)
    assert finding.says == (
        "With 8 articles on each side, the test notices relinked pronouns (he is another person) from 40% of the "
        "pronouns on, and does not notice regendered pronouns (he for she) at any share that was tried (it notices "
        "where p < 0.05 in 80% or more of 20 repetitions)."
    )
    [nothing] = exchange_findings(rows.assign(exchanged=0.0))
    assert nothing.says == "The articles of stories have no pronouns that could be exchanged."
    sheet = power_sheet(rows, STUDY)
    assert [cell.text for cell in sheet.header[0]][2:] == [
        "regendered, n = 5",
        "regendered, n = 8",
        "relinked, n = 5",
        "relinked, n = 8",
    ]
    assert [row[0].text for row in sheet.body] == ["0%", "10%", "40%"]
    assert [row[-1].text for row in sheet.body] == ["0%", "0%", "100%"]


def test_files_of_something_else_are_refused(files, tmp_path):
    [data] = files.data
    swapped = type(files).from_json(files.to_json().replace(str(data.power), str(data.scores)))
    with pytest.raises(TextcriticError, match="not a table of power; delete it"):
        exchange_rows(Material(swapped))
    write_table(tmp_path / "wrong.parquet", read_table(data.scores))
    swapped = type(files).from_json(files.to_json().replace(str(data.variants), str(tmp_path / "wrong.parquet")))
    with pytest.raises(TextcriticError, match="not scores of variants; delete it"):
        audit_rows(Material(swapped))


def test_the_resolver_stands_beside_the_baseline(files):
    rows = resolver_rows(Material(files))
    assert set(rows["resolver"]) == {"persons", "nearest"}
    summary = read_json(files.annotated[0].quality)
    [shown] = rows[(rows["resolver"] == "persons") & (rows["metric"] == "third")].to_dict("records")
    said = summary["pronouns"]["third"]
    assert shown["value"] == round(said["value"], 4)
    ends = [np.nan if said[key] is None else round(said[key], 4) for key in ("low", "high")]
    assert [shown["low"], shown["high"]] == pytest.approx(ends, nan_ok=True)
    assert shown["n"] == said["n"]
    [sentence] = resolver_sentences(rows)
    assert sentence.startswith("The resolver (persons) links ")
    assert f"of the {said['n']} pronouns of the third person of annotated to the right person; the nearest" in sentence
    sheet = resolver_sheet(rows)
    assert [row[0].text for row in sheet.body] == [
        f"annotated, {resolver}, {part}" for resolver in ("persons", "nearest") for part in ("whole", "people only")
    ]
    assert sheet.body[0][-1].text == "in this study"


def test_what_was_measured_earlier_stands_where_nothing_is_annotated(files):
    """And nothing of a resolver that nobody measured."""
    earlier = replace(files, annotated=(), measured=Path("config/measured/resolvers.csv"))
    rows = resolver_rows(Material(earlier))
    assert set(rows["resolver"]) == {"persons", "nearest"}
    assert resolver_sheet(rows).body[0][-1].text.startswith("earlier, 20")
    [litbank, _] = resolver_sentences(rows)
    assert "pronouns of the third person of litbank" in litbank
    for resolver in ({"kind": "given"}, {"kind": "persons", "language": "words.yaml"}):
        unknown = resolver_rows(Material(replace(earlier, resolver={"name": "mine", **resolver})))
        assert len(unknown) == 0
        assert resolver_sentences(unknown) == []
        assert resolver_sheet(unknown).remarks == ["There are no measurements of this resolver."]


def test_the_error_of_the_resolver_is_two_by_two(files, tmp_path):
    rows = error_rows(Material(files))
    summary = read_json(files.annotated[0].error)
    cells = {f"{row['fitted']}_{row['scored']}": row["latent_ppl"] for row in rows.to_dict("records")}
    assert cells == {name: cell["value"] for name, cell in summary["latent_ppl"].items()}
    assert [len(row) for row in error_sheet(rows).body] == [3, 3]
    write_json(tmp_path / "wrong.json", {"documents": 3})
    wrong = replace(files, annotated=(replace(files.annotated[0], error=tmp_path / "wrong.json"),))
    with pytest.raises(TextcriticError, match="no latent_ppl in it; delete it"):
        error_rows(Material(wrong))
