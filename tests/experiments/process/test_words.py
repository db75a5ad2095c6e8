"""What is said of known processes at the top of a report."""

from experiments.process.conftest import sentences
from textcritic.experiments.process.names import EXACT
from textcritic.report.scored import reasons_in_words


def test_findings_tell_the_furthest_model_and_the_nearest(files, rows):
    told = rows[rows["generator"] != "transformer-untrained"].copy()
    for generator, values in (("transformer-released", (2.28, 64.8, 0.0001)), ("hsmm-800", (2.0, 44.4, 0.7))):
        told.loc[told["generator"] == generator, ["ppl_body", "latent_ppl", "p_value"]] = values
    told.loc[told["source"] == EXACT, ["ppl_body", "latent_ppl"]] = 2.0, 44.3
    words = sentences(told, files)
    assert words.startswith(
        "transformer: word-level perplexity 2.28, 14% above the process's own 2.00; Latent PPL 64.8, 46% above the "
        "process's own 44.3 (p < 0.001); 12% of its sequences could not be read."
    )
    assert (
        "HSMM, ends by itself: word-level perplexity 2.00, that of the process itself; Latent PPL 44.4, that of"
        in words
    )
    assert "which is within what chance explains (p = 0.70)" in words
    assert "transformer" not in words.split("could not be read.")[1]


def test_a_model_of_which_most_is_lost_is_not_ranked(files, rows):
    words = sentences(rows, files)
    assert words.startswith("transformer: word-level perplexity")
    assert words.endswith(
        "300 of its 300 sequences could not be read, most often for the reason “fewer than 9 sub-sequences”, so it "
        "has no Latent PPL."
    )
    told = rows[rows["generator"] != "transformer-untrained"].copy()
    lost = told["decoding"] == "sequences-given"
    told.loc[told["source"] == EXACT, ["ppl_body", "latent_ppl"]] = 2.0, 44.3
    told.loc[lost, ["ppl_body", "latent_ppl", "p_value"]] = 2.0, 44.3, 0.2
    reasons = {"empty": 4, "no end within 400 tokens": 276}
    told.loc[lost, ["documents", "rejected", "rejected_by_reason"]] = 20, 280, reasons_in_words(reasons)
    few = sentences(told, files).split("could not be read. ")[-1]
    assert few == (
        "HSMM, length given: word-level perplexity 2.00, that of the process itself; 280 of its 300 sequences could "
        "not be read, most often for the reason “no end within 400 tokens”; the other 20 are too few sequences to tell."
    )
    told.loc[lost, ["documents", "rejected"]] = 120, 180
    assert "; Latent PPL of the rest 44.3, that of the process itself." in sentences(told, files)
    told.loc[lost, ["documents", "rejected"]] = 150, 150
    assert "(p = 0.20); 50% of its sequences could not be read." in sentences(told, files)


def test_findings_never_call_chance_what_few_sequences_cannot_tell(files, rows):
    told = rows[rows["generator"].isin(["data", "transformer-released"])].copy()
    told.loc[told["source"] == "sample", ["documents", "rejected", "p_value"]] = 90, 10, 0.2
    words = sentences(told, files)
    assert ", of too few sequences to tell (p = 0.20); 10% of its sequences could not be read." in words
    assert "chance" not in words
    told.loc[told["source"] == "sample", "p_value"] = 0.01
    assert "few" not in sentences(told, files)


def test_a_latent_ppl_below_the_processs_own_is_away_from_it_too(files, rows):
    told = rows[rows["generator"] != "transformer-untrained"].copy()
    told.loc[told["source"] == EXACT, "latent_ppl"] = 44.3
    told.loc[told["generator"] == "transformer-released", "latent_ppl"] = 20.0
    told.loc[told["decoding"] == "sequences-given", "latent_ppl"] = 45.0
    told.loc[(told["generator"] == "hsmm-800") & (told["decoding"] == "sequences"), "latent_ppl"] = 50.0
    words = sentences(told, files)
    assert words.startswith("transformer: ")
    assert "HSMM, length given: " in words
    assert "ends by itself" not in words
