"""Parallel corpora in the workflow: what they are made from. tests/e2e/test_mixing.py builds and encodes one."""

from plan import jobs, planned, snakemake


def test_europarl_is_fetched_unpacked_and_joined(tmp_path):
    target = "results/encodings/europarl/subwords-2000/pairs/test.npz"
    run = snakemake(tmp_path, "--dry-run", target, "--config", "studies=[]")
    assert run.returncode == 0, run.stderr + run.stdout
    made = {"download_file": 3, "unpack_member": 6, "build_parallel": 1, "make_subwords": 1, "encode_parallel": 1}
    assert jobs(run.stdout) == {**made, "total": 12}
    assert {w["member"] for rule, w, _ in planned(run.stdout) if rule == "unpack_member"} == {
        f"europarl-v7.{language}-en.{side}" for language in ("de", "es", "fr") for side in (language, "en")
    }


def test_a_parallel_corpus_has_no_token_streams_and_text_no_pairs(tmp_path):
    for target in ("languages/subwords-2000/wo-title/test.tokens.npy", "docstrings/bpe-2048/pairs/test.npz"):
        run = snakemake(tmp_path, "--dry-run", f"results/encodings/{target}", "--config", "studies=[]")
        assert run.returncode == 1
        assert "MissingRuleException" in run.stderr + run.stdout
