"""What the sources of known processes are called."""

from dataclasses import replace

import pytest
from report_jobs import Made

from experiments.process.tiny import RECIPE, SAMPLES, build_process
from textcritic.experiments.process.names import ProcessNames
from textcritic.experiments.process.rows import perplexity_rows
from textcritic.experiments.process.sheets import perplexity_sheet
from textcritic.measures.material import Material
from textcritic.measures.published import read_published


@pytest.mark.parametrize(
    ("decodings", "names"),
    [
        ({"a": {"stop": "learnt"}, "b": {"stop": "given"}}, ["ends by itself", "length given"]),
        ({"a": {"stop": "learnt", "articles": 5}, "b": {"stop": "given"}}, ["ends by itself", "length given"]),
        (
            {"a": {"stop": "learnt", "top_k": 5}, "b": {"stop": "given", "top_k": None}},
            ["ends by itself, a", "length given, b"],
        ),
        ({"a": {"stop": "learnt"}, "b": {"stop": "learnt", "top_k": 5}}, ["a", "b"]),
        (
            {"a": {"stop": "learnt"}, "b": {"stop": "learnt", "top_k": 5}, "c": {"stop": "given"}},
            ["ends by itself, a", "ends by itself, b", "length given, c"],
        ),
        ({}, ["a", "b"]),
        ({"a": {"stop": "given"}}, ["length given"]),
        ({"a": {"stop": "learnt"}}, [""]),
    ],
)
def test_decodings_are_named_by_what_they_mean(files, decodings, names):
    samples = tuple(
        replace(files.samples[1], decoding=name, seed=seed) for name in decodings or "ab" for seed in (1, 2)
    )
    files = replace(files, samples=samples, decodings=decodings)
    found = [ProcessNames.of(files).source(sample.keys) for sample in files.samples]
    assert found == [", ".join(filter(None, ("HSMM", name, f"seed {n}"))) for name in names for n in (1, 2)]
    keys = files.samples[0].keys
    assert ProcessNames.of(files).source(keys, decoding=False, seed=False) == "HSMM"


def test_two_processes_are_told_apart_by_their_names(files, tmp_path):
    other = build_process(tmp_path, corpus="small", recipe=RECIPE.changed(seed=7), samples=SAMPLES[:1], resamples=50)
    both = replace(files, data=files.data + other.data, samples=files.samples + other.samples)
    rows, names = perplexity_rows(Material(both, read_published(None), ProcessNames.of(both))), ProcessNames.of(both)
    assert not rows["label"].duplicated().any()
    assert rows["label"].tolist()[-3:] == ["small: the process, exactly", "small: test sequences", "small: transformer"]
    shown = [row[0].text for row in perplexity_sheet(rows, names, {}).body]
    assert len(shown) == len(set(shown))
    assert {"process: transformer", "small: transformer"} <= set(shown)
    text = Made("process", both).figures(tmp_path, tmp_path / "figures")[0].read_text()
    assert ">small<" in text
