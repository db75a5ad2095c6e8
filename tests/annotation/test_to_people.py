"""What the app exports is what the kind `people` reads."""

import shutil
from dataclasses import asdict, replace

import pytest
from experiments.people.tiny import build_people, source_of

from annotation.campaigns import open_store
from textcritic.annotation import steps
from textcritic.annotation.export import write_export
from textcritic.annotation.links import add_annotator
from textcritic.annotation.make import make_campaign
from textcritic.annotation.steps import Campaign
from textcritic.annotation.store import now
from textcritic.experiments.people.read import collected
from textcritic.measures.material import Material
from textcritic.plan import entries

pytestmark = pytest.mark.annotation


def test_every_answer_arrives_with_its_text_and_its_source(tmp_path):
    files = build_people(tmp_path / "study", documents=12, asked=False)
    (real,) = files.data
    here = tmp_path / "results"
    (here / "corpora" / real.corpus).mkdir(parents=True)
    for split in ("train", "test"):
        shutil.copy(real.articles, here / f"corpora/{real.corpus}/{split}.parquet")
    blocks = []
    for sample in files.samples:
        source = source_of(sample)
        (tmp_path / f"{source.sample}.parquet").parent.mkdir(parents=True)
        shutil.copy(sample.articles, tmp_path / f"{source.sample}.parquet")
        values = asdict(source)
        names = {"corpora": "corpus", "settings": "setting", "generators": "generator", "decodings": "decoding"}
        names |= {"seeds": "seed", "draws": "draw"}
        blocks.append({many: [values[one]] for many, one in names.items()})
    given = {
        "corpus": real.corpus,
        "contact": "Ann",
        "sources": blocks,
        "texts": 3,
        "training": {"texts": 1, "pass": 0},
    }
    make_campaign("test", entries.Campaign.read(given, "test"), tmp_path)
    with open_store(tmp_path) as store:
        campaign = Campaign(store)
        for _ in range(2):
            with store.transaction():
                who = add_annotator(store, False, None)
            steps.consent(campaign, who)
            steps.begin(campaign, who, now())
            while (step := steps.next_step(campaign, who, now())).work is not None:
                if step.page == steps.FEEDBACK:
                    steps.feedback_seen(campaign, who, now())
                    continue
                said = step.work.right or {"titles": [campaign.titles[0]] * len(step.work.texts), "coherent": True}
                steps.save_answer(campaign, who, step.work.item, said, f"{who} {step.work.place}", now())
        write_export(store, tmp_path / "answers.jsonl")
    read = collected(Material(replace(files, annotations=(tmp_path / "answers.jsonl",))))
    texts = 3 * (1 + len(files.samples))
    assert len(read.judged) == 2 * min(texts, 20)
    assert read.elsewhere == 0
    assert [list(passed) for passed in read.attention.values()] == [[True], [True]]
    assert {len(read.of(source)) for source in (real, *files.samples)} == {6}
