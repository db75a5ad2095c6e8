"""A table as people read it, written as LaTeX (booktabs) and as an HTML fragment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

LATEX = {
    **{"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}"},
    **{"∞": r"$\infty$", "−": "$-$", "±": r"$\pm$", "→": r"$\rightarrow$", "–": "--", "—": "---", "×": r"$\times$"},
    **{"|": r"\textbar{}", "≥": r"$\geq$", "…": r"\ldots{}", "·": r"$\cdot$", "\n": " "},
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its value, smaller lines under it, the columns it spans, and whether it heads a row.

    `words` sets it flush left; a `narrow` one is flush left too, and its column is no wider than its short words.
    """

    text: str
    notes: tuple[str, ...] = ()
    span: int = 1
    heading: bool = False
    words: bool = False
    narrow: bool = False


Line = list[Cell | str]
"""A row of a table; a text is a plain cell."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: caption, header rows, body rows (each as wide as the header), and remarks under it.

    `stubs` is the number of leading columns that hold words and are set flush left. With `prose`, the last column holds
    running text. `left_out` is what the table lacks, (what, why): a grey row each in HTML, a remark in LaTeX.
    """

    name: str
    caption: str
    header: Sequence[Sequence[Cell]]
    body: Sequence[Sequence[Cell]]
    stubs: int = 1
    remarks: Sequence[str] = field(default_factory=tuple)
    prose: bool = False
    left_out: Sequence[tuple[str, str]] = ()


def plain_sheet(
    name: str,
    caption: str,
    heads: Sequence[Cell | str],
    body: Sequence[Line],
    remarks: Sequence[str] = (),
    stubs: int = 1,
) -> Sheet:
    """A table with one row of heads. A text is a plain cell; the first of a row in the body heads it."""
    rows = [[_cell(cell, heading=not place) for place, cell in enumerate(row)] for row in body]
    return Sheet(name, caption, [[_cell(head) for head in heads]], rows, stubs, remarks)


def unrepeated(body: Sequence[Line]) -> list[Line]:
    """Rows whose first cell is blank where the row above has the same."""
    above = [None, *(row[0] for row in body)]
    return [[Cell("") if row[0] == last else row[0], *row[1:]] for row, last in zip(body, above, strict=False)]


def to_html(sheet: Sheet) -> str:
    """An HTML fragment: a figure with the table in a region that scrolls sideways where the page is narrow."""
    parts = [
        f'<figure class="table" id="table-{escape(sheet.name)}">',
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(sheet.caption)}"><table>',
        f"<caption><span>{escape(sheet.caption)}</span></caption><thead>",
        *(_html_row(row, sheet.stubs, header=True) for row in sheet.header),
        "</thead><tbody>",
        *(_html_row(row, sheet.stubs, header=False) for row in sheet.body),
        *(_html_left_out(sheet, what, why) for what, why in sheet.left_out),
        "</tbody></table></div>",
    ]
    if sheet.remarks:
        parts.append(f"<figcaption>{' '.join(escape(remark) for remark in sheet.remarks)}</figcaption>")
    return "\n".join([*parts, "</figure>"]) + "\n"


def to_latex(sheet: Sheet) -> str:
    """A LaTeX table that needs the package booktabs; values carry their notes in a smaller size below them.

    With running text it may be longer than a page, and needs the package longtable too.
    """
    columns = sum(cell.span for cell in sheet.header[-1])
    kinds = "l" * sheet.stubs + "r" * (columns - sheet.stubs - sheet.prose) + "p{0.62\\linewidth}" * sheet.prose
    caption, label = f"\\caption{{{latex_escape(sheet.caption)}}}", f"\\label{{tab:{sheet.name}}}"
    head = _latex_head(sheet)
    if sheet.prose:
        needs = ["% needs \\usepackage{booktabs,longtable}", "% article texts hold any character: XeLaTeX or LuaLaTeX"]
        lines = [*needs, f"\\begin{{longtable}}{{{kinds}}}", f"{caption}{label}\\\\"]
        lines += [*head, "\\endfirsthead", *head, "\\endhead"]
    else:
        start = ["% needs \\usepackage{booktabs}", "\\begin{table}", "\\centering"]
        lines = [*start, caption, label, f"\\begin{{tabular}}{{{kinds}}}", *head]
    for number, row in enumerate(sheet.body):
        if number and row[0].text and row[0].heading and (sheet.stubs > 1 or row[0].span > 1):
            lines.append("\\midrule")
        lines.append(_latex_row(row, sheet.prose))
    lines += ["\\bottomrule", f"\\end{{{'longtable' if sheet.prose else 'tabular'}}}"]
    remarks = [*sheet.remarks, *(f"Left out: {what}: {why}." for what, why in sheet.left_out)]
    if remarks:
        lines.append(f"\\par\\smallskip{{\\footnotesize {latex_escape(' '.join(remarks))}}}")
    return "\n".join([*lines, *["\\end{table}"] * (not sheet.prose)]) + "\n"


def _html_left_out(sheet: Sheet, what: str, why: str) -> str:
    columns = sum(cell.span for cell in sheet.header[-1])
    return (
        f'<tr class="left-out"><th scope="row">{escape(what)}</th>'
        f'<td class="words" colspan="{max(1, columns - 1)}">left out: {escape(why)}</td></tr>'
    )


def latex_escape(text: str) -> str:
    """Text with LaTeX's special characters made harmless."""
    return "".join(LATEX.get(character, character) for character in text)


def _cell(cell: Cell | str, heading: bool = False) -> Cell:
    return Cell(cell, heading=heading) if isinstance(cell, str) else cell


def _html_row(row: Sequence[Cell], stubs: int, header: bool) -> str:
    cells, column = [], 0
    for cell in row:
        tag = "th" if header or cell.heading else "td"
        scope = ' scope="col"' if header else ' scope="row"' if cell.heading else ""
        if header and cell.span > 1:
            scope = ' scope="colgroup"'
        span = f' colspan="{cell.span}"' if cell.span > 1 else ""
        kind = (
            "token"
            if cell.narrow
            else "words"
            if column < stubs or cell.words
            else "centre"
            if cell.span > 1
            else "number"
        )
        notes = "".join(f"<small>{escape(note)}</small>" for note in cell.notes)
        if not cell.text:
            tag, scope = "td", ""
        cells.append(f'<{tag}{scope}{span} class="{kind}">{escape(cell.text)}{notes}</{tag}>')
        column += cell.span
    return f"<tr>{''.join(cells)}</tr>"


def _latex_head(sheet: Sheet) -> list[str]:
    lines = ["\\toprule"]
    for number, row in enumerate(sheet.header):
        lines.append(_latex_row(row, sheet.prose))
        if number + 1 < len(sheet.header):
            lines += _cmidrules(row)
    return [*lines, "\\midrule"]


def _latex_row(row: Sequence[Cell], prose: bool) -> str:
    text = " & ".join(_latex_cell(cell, prose) for cell in row) + r" \\"
    # After the row above, \\ would take these for its own: an optional length, and the starred form.
    return f"{{}}{text}" if text.lstrip().startswith(("[", "*")) else text


def _latex_cell(cell: Cell, prose: bool) -> str:
    text = latex_escape(cell.text)
    if cell.notes:
        notes = r"\\".join(rf"{{\scriptsize {latex_escape(note)}}}" for note in cell.notes)
        text = rf"\shortstack[r]{{{text}\\{notes}}}"
    kind = r"p{0.95\linewidth}" if prose else "c"
    return rf"\multicolumn{{{cell.span}}}{{{kind}}}{{{text}}}" if cell.span > 1 else text


def _cmidrules(row: Sequence[Cell]) -> list[str]:
    rules, column = [], 1
    for cell in row:
        if cell.text and cell.span > 1:
            rules.append(f"\\cmidrule(lr){{{column}-{column + cell.span - 1}}}")
        column += cell.span
    return rules
