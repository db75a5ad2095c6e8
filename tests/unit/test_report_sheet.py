"""Tables as LaTeX and HTML."""

from textcritic.report.sheet import Cell, Sheet, latex_escape, to_html, to_latex


def test_latex_escapes():
    assert latex_escape(r"50% of a_b & {c} \d #1 ~ ^ $ <x>") == (
        r"50\% of a\_b \& \{c\} \textbackslash{}d \#1 \textasciitilde{} \textasciicircum{} \$ "
        r"\textless{}x\textgreater{}"
    )
    sheet = Sheet("t", "50% & more", [[Cell("a_b"), Cell("∞")]], [[Cell("<b>", heading=True), Cell("1", ("2–3",))]])
    latex = to_latex(sheet)
    assert r"\caption{50\% \& more}" in latex
    assert r"a\_b & $\infty$ \\" in latex
    assert r"\shortstack[r]{1\\{\scriptsize 2--3}}" in latex
    assert "&lt;b&gt;" in to_html(sheet)
    assert "<b>" not in to_html(sheet)


def test_latex_rows_that_begin_with_a_bracket_or_a_star_are_no_arguments():
    rows = [[Cell("[1] a"), Cell("x")], [Cell("\n* b"), Cell("y")], [Cell("c"), Cell("z")]]
    lines = to_latex(Sheet("t", "", [[Cell("a"), Cell("b")]], rows, prose=True)).splitlines()
    assert lines[lines.index(r"\endhead") + 1 :][:3] == [r"{}[1] a & x \\", r"{} * b & y \\", r"c & z \\"]
    assert "XeLaTeX" in lines[1]
    assert lines.count(r"\midrule") == lines.count(r"\toprule") == 2
    assert lines.index(r"\endfirsthead") < lines.index(r"\endhead")


def test_what_a_table_lacks_is_a_row_across_it_with_the_reason():
    body = [[Cell("a", heading=True), Cell("1"), Cell("2")]]
    sheet = Sheet(
        "t", "c", [[Cell(""), Cell("x", span=2)]], body, left_out=[("BERT & co", "there is no models/bert_1")]
    )
    assert (
        '<tr class="left-out"><th scope="row">BERT &amp; co</th>'
        '<td class="words" colspan="2">left out: there is no models/bert_1</td></tr></tbody>'
    ) in to_html(sheet).replace("\n", "")
    assert r"Left out: BERT \& co: there is no models/bert\_1." in to_latex(sheet)
