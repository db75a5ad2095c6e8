import pytest

from textcritic.cli import main

HEAD = (
    "corpus,source,setting,generator,decoding,seed,label,latent_ppl,ci_low,ci_high,documents,rejected,p_value,ppl_all,"
    "ppl_unit\n"
)


def test_the_table_and_the_path_are_printed(tmp_path, capsys):
    tables = tmp_path / "demo" / "tables"
    tables.mkdir(parents=True)
    (tables / "coherence.csv").write_text(
        HEAD
        + "docs,data-inferred,,data,,,real text,4.5,4.4,4.6,1200,0,,,\n"
        + 'docs,sample,w-title,gpt2,top-k,2,"small GPT-2, top-k, with titles, seed 2",'
        + "5.25,5,5.5,580,20,0.0001,36.6,tokens\n"
        + 'docs,sample,w-title,ngram-3,demo,1,"trigram, with titles",,,,600,0,,inf,words\n',
        encoding="utf-8",
    )
    assert main(["show", str(tmp_path / "demo")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[4].split() == ["real", "text", "4.50", "4.40–4.60", "1,200", "0"]
    name, values = lines[5].split("seed 2")
    assert name == "small GPT-2, top-k, with titles, "
    assert values.split() == ["5.25", "5.00–5.50", "<", "0.001", "580", "20", "36.6", "/token"]
    assert lines[6].split("titles")[1].split() == ["∞", "600", "0", "∞", "/word"]
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
