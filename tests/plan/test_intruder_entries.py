"""Entries of corpora with intruders: what is refused before a job runs, and which files they are made of."""

import pytest
import yaml

from textcritic.errors import TextcriticError
from textcritic.experiments.intruders.jobs import IntruderPaths
from textcritic.plan.registries import Registries

BASE = {"extractor": "bible"}


def registries(tmp_path, **corpora):
    folder = tmp_path / "registry"
    folder.mkdir(exist_ok=True)
    entries = {"base": BASE, "process": {"extractor": "process"}, "plain": entry(), **corpora}
    (folder / "corpora.yaml").write_text(yaml.safe_dump(entries))
    (folder / "critics.yaml").write_text("looked-up: {kind: recitation}\n")
    return Registries([folder], tmp_path)


def entry(corpus="base", **options):
    named = {} if corpus is None else {"corpus": corpus}
    return {"extractor": "intruders", "options": {**named, "intruders": options}}


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (entry(None), r"options\.corpus is missing; name the corpus that documents are cut out of"),
        (entry("process"), r"options\.corpus: process is not articles of text \(extractor process\)"),
        (entry("plain"), r"options\.corpus: plain has intruders itself"),
        (entry("bass"), r"options\.corpus: .*no entry 'bass'; did you mean 'base'"),
        (entry() | {"splits": {"test": 0.3}}, r"splits: has no effect on documents with intruders"),
        (entry() | {"sections": {"minimum": 1}}, r"sections: has no effect on documents with intruders"),
        (entry(sentences={"least": 5, "most": 4}), r"sentences: least 5 is more than most 4"),
        (entry(sentences={"least": 1}), r"least"),
        (entry(document="passages"), r"sentences\.random: should be true for passages"),
        (entry(candidates={"from": "random", "rank": 2}), r"candidates\.rank: random documents have no rank"),
        (entry(candidates={"rank": 11}), r"candidates\.rank: 11 is more than top, 10; raise top"),
        (entry(later={"corpus": "base"}), r"later\.corpus: is the corpus itself"),
        (entry(later={"corpus": "other"}, document="section"), r"later: needs one document for an article"),
        (
            entry(filter={"detector": "looked-up", "corpus": "plain"}),
            r"looked-up is of kind recitation; name a detector",
        ),
        (entry(official="official_cnn.jsonl"), r"give corpus or intruders\.official, one of the two"),
        (entry(None, official="a.jsonl", attacked=0.4), r"attacked: has no effect on official files"),
        (entry(), None),
        (entry(None, official="official_cnn.jsonl"), None),
        (BASE | {"options": {"intruders": {"seed": 2}}}, r"options\.intruders: is for the extractor intruders"),
        (BASE | {"options": {"corpus": "base"}}, r"options\.corpus: is for the extractor derived or intruders"),
    ],
)
def test_an_entry_that_makes_no_sense_is_refused(tmp_path, one, said):
    if said is None:
        registries(tmp_path, one=one, other=BASE)
        return
    with pytest.raises(TextcriticError, match=said):
        registries(tmp_path, one=one, other=BASE)


def test_files_of_a_corpus(tmp_path):
    changed = entry(later={"corpus": "newer"})
    found = registries(tmp_path, newer=BASE, changed=changed, published=entry(None, official="official_cnn.jsonl"))
    paths = IntruderPaths(found)
    assert paths.base_articles("changed", "train") == "results/corpora/base/train.parquet"
    assert paths.later_articles("changed", "train") == []
    assert paths.later_articles("changed", "test")[0] == "results/corpora/newer/train.parquet"
    assert (
        paths.built_of("changed", "candidates/changed", "json")[2] == "results/intruders/candidates/changed/test.json"
    )
    assert paths.filter_predictions("changed", "test") == []
    assert paths.built_of("published", "candidates/published", "json") == []
    assert (paths.official("published"), paths.official("changed")) == ("official_cnn.jsonl", [])
    with pytest.raises(TextcriticError, match=r"published: is read from official_cnn\.jsonl; it has no base corpus"):
        paths.base("published")
