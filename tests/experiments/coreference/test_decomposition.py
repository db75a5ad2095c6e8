"""Entropy and divergence of chains of mentions, anew with plain critics of all documents but those of one fold."""

import numpy as np
import pytest
from mention_oracle import KneserNey
from report_jobs import Made

from experiments.by_hand import check, interval, printed, ratio
from experiments.coreference.test_ngrams import lists
from experiments.coreference.tiny import build_coreference
from textcritic.experiments.coreference.decomposition import decomposition_rows, decomposition_sheet
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.report.sheet import to_html

RESAMPLES, DOCUMENTS, FOLDS = 49, 12, 10


def test_the_parts_equal_a_plain_computation_and_add_up(tmp_path):
    files = build_coreference(tmp_path / "files", documents=DOCUMENTS, generators=("ngram-3",), resamples=RESAMPLES)
    Made("coreference", files).tables(tmp_path / "tables")
    rows = printed(tmp_path / "tables", "coreference-decomposition")
    (data,), (sample,) = files.data, files.samples
    critic = KneserNey(lists(data.critic.with_name("train.parquet")), 5, False)
    fold = np.random.default_rng(1).permutation(DOCUMENTS) % FOLDS
    for row, path in zip(rows, (data.mentions, sample.mentions), strict=True):
        chains = lists(path)
        assert len(chains) == DOCUMENTS
        others = [
            KneserNey([chain for chain, f in zip(chains, fold, strict=True) if f != left_out], 5, False)
            for left_out in range(FOLDS)
        ]
        lengths = [len(chain) for chain in chains]
        whole = [-critic.log_prob([chain]).sum() for chain in chains]
        own = [-others[f].log_prob([chain]).sum() for chain, f in zip(chains, fold, strict=True)]
        expected = {"documents": DOCUMENTS, "tokens": sum(lengths)}
        parts = {"cross_entropy": whole, "entropy": own, "kl": [a - b for a, b in zip(whole, own, strict=True)]}
        for name, values in parts.items():
            columns = list(zip(values, lengths, strict=True))
            ends = interval(columns, ratio, RESAMPLES)
            expected |= dict(zip((name, f"{name}_low", f"{name}_high"), (ratio(columns), *ends), strict=True))
        check(row, expected)
        assert float(row["entropy"]) + float(row["kl"]) == pytest.approx(float(row["cross_entropy"]), abs=1e-12)


def test_one_document_has_no_parts(tmp_path):
    files = build_coreference(tmp_path, documents=6, drawn=1, generators=("ngram-3",), resamples=RESAMPLES)
    rows = decomposition_rows(Material(files))
    assert rows["documents"].tolist() == [6, 1]
    assert rows.iloc[1][["cross_entropy", "entropy", "kl"]].isna().all()
    html = to_html(decomposition_sheet(rows, Names.of(files.samples)))
    assert html.count('<td class="number">\N{EM DASH}</td>') == 3
