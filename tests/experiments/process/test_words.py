"""What makes the scores of models of a known process doubtful, in words."""

from textcritic.experiments.process.names import ProcessNames
from textcritic.experiments.process.words import process_doubts
from textcritic.measures.scored import reasons_in_words


def doubts(rows, files):
    return {found.about: found.says for found in process_doubts(rows, ProcessNames.of(files))}


def test_a_model_of_which_nothing_could_be_read_says_why(files, rows):
    (said,) = doubts(rows, files).values()
    assert said == (
        "300 of its 300 sequences could not be read, most often for the reason “fewer than 9 sub-sequences”; it has no "
        "Latent PPL."
    )


def test_lost_and_few_sequences_are_said_and_no_others(files, rows):
    told = rows[rows["generator"] != "transformer-untrained"].copy()
    assert doubts(told, files) == {}
    lost = told["decoding"] == "sequences-given"
    told.loc[lost, "p_value"] = 0.2
    reasons = {"empty": 4, "no end within 400 tokens": 276}
    told.loc[lost, ["documents", "rejected", "rejected_by_reason"]] = 20, 280, reasons_in_words(reasons)
    assert doubts(told, files) == {
        "HSMM, length given": "280 of its 300 sequences could not be read, most often for the reason “no end within "
        "400 tokens”; 20 sequences are too few to see a difference from the process."
    }
    told.loc[lost, ["documents", "rejected"]] = 120, 180
    assert doubts(told, files)["HSMM, length given"].endswith("“no end within 400 tokens”.")
    told.loc[lost, ["documents", "rejected"]] = 150, 150
    assert doubts(told, files) == {}
    told.loc[lost, ["documents", "rejected"]] = 90, 10
    assert doubts(told, files) == {
        "HSMM, length given": "90 sequences are too few to see a difference from the process."
    }
    told.loc[lost, "p_value"] = 0.01
    assert doubts(told, files) == {}
