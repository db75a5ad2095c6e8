"""What the tables of windows print, computed anew with the plain critics of `mention_oracle` and scipy's intervals."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from bootstrap_oracle import studentised
from mention_oracle import KneserNey, windows
from report_jobs import Made, make_part
from scipy import stats

from experiments.by_hand import check, interval, percent, printed
from experiments.coreference.tiny import BROKEN, CRITIC, GENERATORS, RESOLVER, build_coreference
from textcritic.critics.mentions.job import chain_options
from textcritic.errors import TextcriticError
from textcritic.experiments.coreference.ngram_sheets import contributions_sheet, ratios_sheet, unlikely_sheet
from textcritic.experiments.coreference.ngrams import contribution_rows, ratio_rows, unlikely_rows
from textcritic.experiments.coreference.tables import CONTRIBUTIONS, PAPER_TABLES, TABLES
from textcritic.inference import document_groups
from textcritic.latents.resolvers import write_mentions
from textcritic.latents.resolvers.chains import read_chains
from textcritic.measures.material import Material
from textcritic.measures.names import Names
from textcritic.measures.published import read_published
from textcritic.plan.experiment import Part
from textcritic.report.sheet import to_html, to_latex
from textcritic.report.tables import read_rows

RESAMPLES = 99
NOT_HERE = "FEMALE:0 . his:1 FEMALE:2 They:3"  # in no text, its symbols in some
HERE = ". . FEMALE:0 MALE:1 ."
PUBLISHED = f"""\
6,stories,,data,,percent: {HERE},0.04,paper,
6,stories,,gpt2-demo,,percent: {HERE},0.05,paper,a note; another
6,stories,,gpt2-demo,,percent: {NOT_HERE},0.00,paper,
15,stories,,gpt2-demo,,log_prob: {NOT_HERE},-13.37,paper,
15,stories,,gpt2-demo,,alternative_log_prob: {NOT_HERE} > MALE:0,-1.22,paper,
16,stories,,data,,probability_more: {NOT_HERE},0.01,paper,
16,stories,,gpt2-demo,,probability_more: {NOT_HERE},0.06,paper,a note
17,stories,,gpt2-demo,,probability_less: {HERE},0.11,paper,
17,stories,,gpt2-demo,,probability_less: he:0 .,0.11,paper,of another order
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files, the folder of their tables, and the published values."""
    root = tmp_path_factory.mktemp("ngrams")
    files = build_coreference(root, documents=30, drawn=24, seeds=(2, 1), resamples=RESAMPLES)
    csv = root / "published.csv"
    csv.write_text("table,corpus,setting,generator,decoding,metric,value,source,note\n" + PUBLISHED)
    Made("coreference", files, published=csv).tables(root / "tables")
    return files, root / "tables", csv


def lists(path):
    """The chains of a file of mentions as lists of tokens."""
    chains = read_chains(path, chain_options(CRITIC, RESOLVER)).chains
    names = [chains.symbols[code] for code in chains.codes]
    tokens = [n if e < 0 else f"{n}:{e}" for n, e in zip(names, chains.entities.tolist(), strict=True)]
    found = [tokens[a:b] for a, b in zip(chains.offsets, chains.offsets[1:], strict=False)]
    return [chain for chain in found if chain]


@pytest.fixture(scope="module")
def plain(made):
    """The critic, the windows of each real document, and those of each document of each shown sample."""
    files, _, _ = made
    (data,) = files.data
    critic = KneserNey(lists(data.critic.with_name("train.parquet")), 5, False)
    of = {s.generator: counted(lists(s.mentions)) for s in files.samples if s.seed == 1}
    return critic, counted(lists(data.mentions)), of


def counted(chains):
    return [Counter(windows(chain, 5)) for chain in chains]


def log_p(critic, window):
    return math.log(critic.p(window[-1], window[:-1]))


def shares(name, documents, chosen):
    """Columns of the tokens of a set that are in some windows."""
    pairs = [(sum(n for w, n in d.items() if chosen(w)), d.total()) for d in documents]
    low, high = interval(pairs, percent, RESAMPLES)
    count, tokens = np.sum(pairs, axis=0)
    row = {"count": count, "tokens": tokens, "percent": percent(pairs), "ci_low": low, "ci_high": high}
    return {f"{name}{column}": value for column, value in row.items()}


def contribution(critic, real, sample, chosen):
    """The difference of the sums of -log P per token over chosen windows, and the interval of two sets."""
    costs = [
        np.array([sum(-n * log_p(critic, w) for w, n in d.items() if chosen(w)) for d in s]) for s in (sample, real)
    ]
    sizes = [np.array([d.total() for d in s]) for s in (sample, real)]

    low, high = studentised(*(np.column_stack(pair) for pair in zip(costs, sizes, strict=True)), resamples=RESAMPLES)
    value = costs[0].sum() / sizes[0].sum() - costs[1].sum() / sizes[1].sum()
    return {"contribution": value, "contribution_low": low, "contribution_high": high}


def of_generator(rows, generator):
    found = [row for row in rows if row["generator"] == generator]
    assert {row["seed"] for row in found} == {"1"}  # of several seeds the first
    return found


@pytest.mark.parametrize("generator", GENERATORS)
def test_contributions(made, plain, generator):
    _, folder, _ = made
    critic, real, of = plain
    rows, sample = of_generator(printed(folder, "coreference-ngrams"), generator), of[generator]
    everything, in_real = sum(sample, Counter()), sum(real, Counter())

    def value(window):
        share = everything[window] / everything.total() - in_real[window] / in_real.total()
        return -share * log_p(critic, window)

    ranked = sorted({*everything, *in_real}, key=value, reverse=True)
    listed = [tuple(row["window"].split()) for row in rows[1:-1]]
    assert [value(w) for w in listed[:10]] == pytest.approx([value(w) for w in ranked[:10]], rel=1e-9)
    printed_there = [HERE, NOT_HERE] if generator == "gpt2-demo" else [HERE]
    assert [" ".join(w) for w in listed[10:]] == [w for w in printed_there if tuple(w.split()) not in listed[:10]]
    whole = contribution(critic, real, sample, lambda _: True)["contribution"]
    for number, row in enumerate(rows):
        window = tuple(row["window"].split())
        chosen = {
            "(all)": lambda _: True,
            "(others)": lambda w: w not in listed,
        }.get(row["window"], lambda w, window=window: w == window)
        expected = shares("", sample, chosen) | shares("real_", real, chosen)
        expected |= contribution(critic, real, sample, chosen)
        expected["of_difference"] = expected["contribution"] / whole
        expected["log_prob"] = None if row["window"].startswith("(") else log_p(critic, window)
        expected["rank"] = number if window in listed[:10] else None
        asked = {HERE: 0.05, NOT_HERE: 0.0} if generator == "gpt2-demo" else {}
        expected |= {"published": asked.get(row["window"]), "real_published": {HERE: 0.04}.get(row["window"])}
        check(row, expected)
        keys = {"corpus", "source", "setting", "generator", "decoding", "seed", "draw", "label", "window"}
        assert set(row) == keys | set(expected)
    # What stands in the file adds up, and to what the table of Latent PPL says.
    assert math.fsum(float(row["contribution"]) for row in rows[1:]) == pytest.approx(whole, abs=1e-12)
    ppl = {(row["generator"], row["seed"]): float(row["latent_ppl"]) for row in printed(folder, "coreference")}
    assert whole == pytest.approx(math.log(ppl[generator, "1"] / ppl["data", ""]), abs=1e-12)


@pytest.mark.parametrize("generator", GENERATORS)
def test_unlikely_windows(made, plain, generator):
    _, folder, _ = made
    critic, real, of = plain
    rows, sample = of_generator(printed(folder, "coreference-unlikely"), generator), of[generator]
    cost = {w: log_p(critic, w) for d in (*real, *sample) for w in d}
    everything = Counter({w: n for w, n in sum(sample, Counter()).items() if cost[w] < -7})
    below = shares("", sample, lambda w: cost[w] < -7) | shares("real_", real, lambda w: cost[w] < -7)
    assert everything
    check(rows[0], below | {"windows": len(everything), "log_prob": None, "alternative": ""})
    commonest = sorted(everything, key=lambda w: (-everything[w], " ".join(w)))[:13]
    expected_windows = [*map(" ".join, commonest), *[NOT_HERE] * (generator == "gpt2-demo")]
    assert [row["window"] for row in rows[1:]] == expected_windows
    symbols = {gram[-1].rpartition(":")[0] for gram in critic.counts[0] if gram[-1] != "."}
    for number, row in enumerate(rows[1:], 1):
        window = tuple(row["window"].split())
        people = len({t.rpartition(":")[2] for t in window[:-1] if ":" in t})
        tokens = [f"{symbol}:{label}" for symbol in symbols for label in range(people + 1)]
        p = {token: critic.p(token, window[:-1]) for token in tokens}
        assert p[row["alternative"]] == pytest.approx(max(p.values()), rel=1e-12)  # there may be others as likely
        is_it = lambda w, window=window: w == window  # noqa: E731
        expected = shares("", sample, is_it) | shares("real_", real, is_it)
        expected |= {"rank": number if number <= len(commonest) else None, "log_prob": log_p(critic, window)}
        expected |= {"alternative_log_prob": math.log(max(p.values()))}
        there = row["window"] == NOT_HERE
        expected |= {
            "published_log_prob": -13.37 if there else None,
            "published_alternative": "MALE:0" if there else "",
        }
        check(row, expected | {"published_alternative_log_prob": -1.22 if there else None})


@pytest.mark.parametrize("generator", GENERATORS)
def test_ratios(made, plain, generator):
    files, folder, _ = made
    _, real, of = plain
    rows = of_generator(printed(folder, "coreference-ratios"), generator)
    (path,) = (s.mentions for s in files.samples if s.generator == generator and s.seed == 1)
    chains = {"real_": lists(files.data[0].mentions), "": lists(path)}
    critics = {name: KneserNey(documents, 5, False) for name, documents in chains.items()}
    counts = {"real_": sum(real, Counter()), "": sum(of[generator], Counter())}
    often = [w for w in counts[""] if counts[""][w] >= 5 and counts["real_"][w] >= 5]
    ratio = {w: log_p(critics[""], w) - log_p(critics["real_"], w) for w in often}
    most = {"more": sorted(often, key=ratio.get, reverse=True)[:5], "less": sorted(often, key=ratio.get)[:5]}
    assert min(ratio[w] for w in most["more"]) > 0 > max(ratio[w] for w in most["less"])
    factor = stats.t.ppf(0.975, 19)
    variances = {name: jackknifed(documents, most["more"] + most["less"]) for name, documents in chains.items()}
    for direction, windows_there in most.items():
        ours = [row for row in rows if row["direction"] == direction]
        found = [tuple(row["window"].split()) for row in ours if row["rank"]]
        assert [ratio[w] for w in found] == pytest.approx([ratio[w] for w in windows_there], rel=1e-9)
        for rank, row in enumerate(ours[: len(found)], 1):
            window = tuple(row["window"].split())
            if window not in variances[""]:
                continue  # as extreme as another one
            expected = {"rank": rank, "windows": len(often), "log_ratio": ratio[window]}
            for name, critic in critics.items():
                middle, width = log_p(critic, window), factor * math.sqrt(variances[name][window])
                ends = {"low": math.exp(middle - width), "high": min(1.0, math.exp(middle + width))}
                values = {"count": counts[name][window], "probability": math.exp(middle), **ends}
                expected |= {f"{name}{column}": value for column, value in values.items()}
            width = factor * math.sqrt(sum(v[window] for v in variances.values()))
            expected |= {"ratio_low": ratio[window] - width, "ratio_high": ratio[window] + width}
            check(row, expected)
    rare = next(row for row in rows if row["window"] == NOT_HERE)
    own = {"published": 0.06} if generator == "gpt2-demo" else {"published": None}
    check(rare, {"direction": "more", "count": 0, "real_count": 0, "probability": None, "real_published": 0.01} | own)
    assert "he:0 ." not in [row["window"] for row in rows]


def jackknifed(documents, wanted):
    """The variance of log P of windows from fits without one of 20 groups of documents."""
    group = document_groups(len(documents))
    rest = [[d for d, g in zip(documents, group, strict=True) if g != out] for out in range(20)]
    values = {w: [] for w in wanted}
    for critic in (KneserNey(chains, 5, False) for chains in rest):
        for window, found in values.items():
            found.append(log_p(critic, window))
    return {w: 19 / 20 * ((np.array(v) - np.mean(v)) ** 2).sum() for w, v in values.items()}


def test_numbered_tables_have_the_papers_columns_and_their_own_published_values(made, tmp_path):
    files, _, csv = made
    for number, of, extra in ((6, "contributions", 4), (15, "unlikely", 5), (16, "more", 3), (17, "less", 3)):
        make_part("coreference", Part(f"table{number}", of, "A caption"), files, tmp_path, csv)
        html, latex = ((tmp_path / f"table{number}.{suffix}").read_text() for suffix in ("html", "tex"))
        head = html[html.index("<thead>") : html.index("</thead>")]
        assert head.count("<th ") == 5 + extra
        assert f"\\begin{{tabular}}{{lllll{'r' * extra}}}" in latex
        assert latex.count("\\midrule") == 1 + 1  # under the head, and before the second sample
        assert f"\\multicolumn{{{5 + extra}}}{{c}}{{small GPT-2}}" in latex
        assert "published" in html
        assert "<bos>" not in html + latex
        assert "&lt;bos&gt;" not in html
    directions = {n: set(read_rows(tmp_path, f"table{n}", ("direction", "window"))["direction"]) for n in (16, 17)}
    assert directions == {16: {"more"}, 17: {"less"}}
    remarks = (tmp_path / "table6.html").read_text().partition("</table>")[2]
    assert "Published values: one run of each" in remarks
    assert "a note; another." in remarks


def test_what_the_tables_show(made):
    files, _, csv = made
    table = CONTRIBUTIONS(Material(files, read_published(csv)))
    html, rows = to_html(table.sheet), table.rows[table.rows["generator"] == "gpt2-demo"].reset_index()
    first = rows.loc[1]
    low, high = (f"{first[f'contribution_{end}']:.4f}" for end in ("low", "high"))
    assert f'<td class="number">{first["contribution"]:.4f}<small>{low} to {high}</small></td>' in html
    assert (
        f'<td class="number">{first["percent"]:.2f}<small>{first["ci_low"]:.2f} to {first["ci_high"]:.2f}</small>'
        in html
    )
    assert f"<small>{first['count']} of {first['tokens']}</small>" in html
    whole, shown = rows.loc[0, "contribution"], rows.loc[1:10, "contribution"].sum()
    assert f"small GPT-2: {whole:.4f} over all windows, {shown:.4f}" in html
    assert "<small>published 0.05</small>" in html
    names = Names.of(files.samples)
    tiny_share = contribution_rows(Material(files, read_published(None))).assign(percent=0.004, real_percent=0.0)
    body = to_html(contributions_sheet(tiny_share, names))
    assert '<td class="number">0.00†<small>' in body
    assert '<td class="number">0.00<small>' in body


def test_windows_with_any_character_and_of_any_order(made):
    files, _, _ = made
    names = Names.of(tuple(replace(s, label=f"<b>{s.generator} & $x_1$</b>") for s in files.samples))
    sheets = (
        (contribution_rows, contributions_sheet),
        (unlikely_rows, unlikely_sheet),
        (ratio_rows, ratios_sheet),
    )
    for rows_of, sheet_of in sheets:
        rows = rows_of(Material(files))
        some = ~rows["window"].str.startswith("(")
        rows.loc[some, "window"] = "<i>:0 a_b&c:1 $:2"
        sheet = sheet_of(rows, names)
        html, latex = to_html(sheet), to_latex(sheet)
        assert "<i>" not in html
        assert "<b>" not in html
        assert '<td class="token">&lt;i&gt;0</td><td class="token">a_b&amp;c1</td><td class="token">$2</td>' in html
        assert r"\textless{}i\textgreater{}0 & a\_b\&c1 & \$2 &" in latex
        widths = {sum(cell.span for cell in row) for row in (*sheet.header, *sheet.body)}
        assert len(widths) == 1


def test_a_sample_without_a_token_stands_there_and_says_so(tmp_path):
    files = build_coreference(tmp_path, documents=8, generators=("ngram-3", BROKEN), resamples=9)
    material = Material(files)
    recipes = (*PAPER_TABLES.values(), TABLES["coreference-ratios"])
    for table in [recipe(material) for recipe in recipes if recipe is not PAPER_TABLES["ppl"]]:
        rows = table.rows[table.rows["generator"] == BROKEN]
        assert len(rows) == 1
        assert rows["count"].fillna(0).tolist() == [0]
        assert rows[["log_ratio" if "log_ratio" in rows else "percent"]].isna().all(axis=None)
        assert "untrained model" in to_html(table.sheet)
    assert "nothing could be scored" in to_html(CONTRIBUTIONS(material).sheet)
    assert "no window is likelier in the sample" in to_html(PAPER_TABLES["more"](material).sheet)


def test_real_text_without_a_token_is_one_line(tmp_path):
    files = build_coreference(tmp_path, documents=4, resamples=9)
    write_mentions(files.data[0].mentions, [])
    for rows in (contribution_rows, unlikely_rows, ratio_rows):
        with pytest.raises(TextcriticError, match=r"mentions\.parquet: no mention and no sentence in it"):
            rows(Material(files))


def test_two_settings_are_two_samples(tmp_path):
    files = build_coreference(tmp_path, documents=8, generators=("gpt2-demo",), resamples=9)
    (sample,) = files.samples
    both = replace(files, samples=(replace(sample, setting="w-title"), sample))
    rows = contribution_rows(Material(both, read_published(None)))
    assert rows["setting"].value_counts().to_dict() == {"w-title": 12, "wo-title": 12}
    html = to_html(contributions_sheet(rows, Names.of(both.samples)))
    assert "small GPT-2, with titles</th>" in html
    assert "small GPT-2, without titles</th>" in html
