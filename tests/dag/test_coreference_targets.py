"""The paper's coreference tables: what each asks for."""

from plan import jobs, planned, snakemake

SIZES = {"gpt2-small", "gpt2-medium", "gpt2-large", "gpt2-xl"}


def test_tables_need_the_samples_that_they_compare_and_the_films_of_one_corpus(paper):
    wanted = {
        "table6": {"gpt2-small"},
        "table7": {"gpt2-small", "gpt-neo-125m"},
        "table8": SIZES,
        "table15": {"gpt2-small"},
    }
    for table, generators in wanted.items():
        found, plan = paper.of(table)
        assert {w["corpus"] for _, w, _ in plan if "corpus" in w} == {"wiki"}
        samples = {(w["generator"], w["setting"]) for rule, w, _ in plan if rule == "infer_sample_mentions"}
        assert samples == {(generator, setting) for generator in generators for setting in ("w-title", "wo-title")}
        assert found["train_causal"] == found["score_sample_mentions"] == len(samples)
        # Train and test split, by a pretrained resolver.
        assert (found["infer_data_mentions"], found["fit_mentions"], found["score_data_mentions"]) == (2, 1, 1)
        assert {w["resolver"] for rule, w, _ in plan if "infer" in rule} == {"f-coref-films"}
        others = ("train_classifier", "measure_perplexity", "fit_topics", "make_coreference_tables")
        assert not {*others, "resolve_data_mentions", "resolve_sample_mentions"} & set(found)


def test_the_paper_s_four_tables_of_n_grams_share_all_but_the_last_job(tmp_path):
    targets = ("table6", "table15", "table16", "table17")
    run = snakemake(tmp_path, "--dry-run", "--config", "studies=['model-criticism']", "--", *targets)
    assert run.returncode == 0, run.stderr + run.stdout
    found, plan = jobs(run.stdout), planned(run.stdout)
    assert {w["part"] for rule, w, _ in plan if rule == "make_part_table"} == {
        "table6",
        "table15",
        "table16",
        "table17",
    }
    assert (found["infer_sample_mentions"], found["fit_mentions"], found["make_part_table"]) == (2, 1, 4)


def test_the_whole_study_draws_nothing_more_for_coreference(paper):
    found, plan = paper.of("all")
    assert (found["collect_samples"], found["train_causal"]) == (22, 24)
    # Two experiments of 10 samples each, real text of two splits each.
    assert (found["infer_sample_mentions"], found["infer_data_mentions"], found["fit_mentions"]) == (20, 4, 2)
    names = {w["experiment"] for rule, w, _ in plan if rule == "make_coreference_tables"}
    assert names == {"coreference", "coreference-released"}
