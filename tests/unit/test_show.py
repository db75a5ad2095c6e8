import pytest

from textcritic.cli import main

HEAD = (
    "corpus,source,setting,generator,decoding,seed,latent_ppl,ci_low,ci_high,documents,rejected,seeds,p_value,ppl_all\n"
)


def test_the_table_and_the_path_are_printed(tmp_path, capsys):
    tables = tmp_path / "demo" / "tables"
    tables.mkdir(parents=True)
    (tables / "coherence.csv").write_text(
        HEAD
        + "docs,data-inferred,,data,,,4.5,4.4,4.6,1200,0,,,\n"
        + "docs,sample,w-title,gpt2,demo,1,5.25,5,5.5,580,20,1,0.0001,36.6\n"
        + "docs,sample,w-title,trigram,demo,1,,,,600,0,1,,inf\n",
        encoding="utf-8",
    )
    assert main(["show", str(tmp_path / "demo")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "real text, inferred titles" in lines[4]
    assert lines[4].split()[4:] == ["4.50", "4.40–4.60", "1,200", "0"]
    assert lines[5].split("titles")[1].split() == ["5.25", "5.00–5.50", "<", "0.001", "580", "20", "36.6"]
    assert lines[6].split("titles")[1].split() == ["∞", "600", "0", "∞"]
    assert lines[-1] == f"report: {tmp_path / 'demo' / 'report.html'}"


def test_a_study_that_was_not_built_is_one_clear_line(tmp_path, capsys):
    assert main(["show", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"textcritic: {tmp_path}: no tables/coherence.csv here; build the study first: snakemake --cores 2\n"
    )


@pytest.mark.parametrize("arguments", [[], ["nonsense"]])
def test_unknown_commands_are_refused(arguments):
    with pytest.raises(SystemExit):
        main(arguments)
