"""The tables as files."""

import pandas as pd
import pytest
from report_jobs import Made

from textcritic.errors import TextcriticError
from textcritic.experiments.coherence.plan import Coherence
from textcritic.report.tables import read_rows


def test_every_table_is_written_three_times_and_read_back(files, published, rows, tmp_path):
    made = Made("coherence", files, published=published).tables(tmp_path)
    assert {path.stem for path in made} == set(Coherence.tables)
    for name in Coherence.tables:
        assert all((tmp_path / f"{name}.{suffix}").stat().st_size for suffix in ("csv", "tex", "html"))
    again = read_rows(tmp_path, "coherence")
    pd.testing.assert_series_equal(again["latent_ppl"], rows["latent_ppl"], rtol=0)
    assert again["seed"].isna().tolist() == rows["seed"].isna().tolist()
    assert again["setting"].tolist() == rows["setting"].tolist()
    latex = (tmp_path / "coherence.tex").read_text()
    assert latex.count("{") == latex.count("}")
    columns = [len(line.split(" & ")) for line in latex.splitlines() if line.startswith(("Metric", " & small"))]
    assert columns == [4, 4]
    with pytest.raises(TextcriticError, match=r"nothing\.csv: no such file; make the tables of the experiment first"):
        read_rows(tmp_path, "nothing")
