"""A table as people read it, written as LaTeX (booktabs) and as an HTML fragment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

LATEX = {
    **{"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}"},
    **{"∞": r"$\infty$", "−": "$-$", "±": r"$\pm$", "→": r"$\rightarrow$", "–": "--", "—": "---", "×": r"$\times$"},
    **{"|": r"\textbar{}", "≥": r"$\geq$", "…": r"\ldots{}", "\n": " "},
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its value, smaller lines under it, the columns it spans, and whether it heads a row."""

    text: str
    notes: tuple[str, ...] = ()
    span: int = 1
    heading: bool = False
    words: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: caption, header rows, body rows (each as wide as the header), and remarks under it.

    `stubs` is the number of leading columns that hold words and are set flush left.
    """

    name: str
    caption: str
    header: Sequence[Sequence[Cell]]
    body: Sequence[Sequence[Cell]]
    stubs: int = 1
    remarks: Sequence[str] = field(default_factory=tuple)


def to_html(sheet: Sheet) -> str:
    """An HTML fragment: a figure with the table in a region that scrolls sideways where the page is narrow."""
    parts = [
        f'<figure class="table" id="table-{escape(sheet.name)}">',
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(sheet.caption)}"><table>',
        f"<caption><span>{escape(sheet.caption)}</span></caption><thead>",
        *(_html_row(row, sheet.stubs, header=True) for row in sheet.header),
        "</thead><tbody>",
        *(_html_row(row, sheet.stubs, header=False) for row in sheet.body),
        "</tbody></table></div>",
    ]
    if sheet.remarks:
        parts.append(f"<figcaption>{' '.join(escape(remark) for remark in sheet.remarks)}</figcaption>")
    return "\n".join([*parts, "</figure>"]) + "\n"


def to_latex(sheet: Sheet) -> str:
    """A LaTeX table that needs the package booktabs; values carry their notes in a smaller size below them."""
    columns = sum(cell.span for cell in sheet.header[-1])
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{latex_escape(sheet.caption)}}}",
        f"\\label{{tab:{sheet.name}}}",
        f"\\begin{{tabular}}{{{'l' * sheet.stubs}{'r' * (columns - sheet.stubs)}}}",
        "\\toprule",
    ]
    for number, row in enumerate(sheet.header):
        lines.append(_latex_row(row))
        if number + 1 < len(sheet.header):
            lines += _cmidrules(row)
    lines.append("\\midrule")
    for number, row in enumerate(sheet.body):
        if number and sheet.stubs > 1 and row[0].text:
            lines.append("\\midrule")
        lines.append(_latex_row(row))
    lines += ["\\bottomrule", "\\end{tabular}"]
    if sheet.remarks:
        lines.append(f"\\par\\smallskip{{\\footnotesize {latex_escape(' '.join(sheet.remarks))}}}")
    return "\n".join([*lines, "\\end{table}"]) + "\n"


def latex_escape(text: str) -> str:
    """Text with LaTeX's special characters made harmless."""
    return "".join(LATEX.get(character, character) for character in text)


def _html_row(row: Sequence[Cell], stubs: int, header: bool) -> str:
    cells, column = [], 0
    for cell in row:
        tag = "th" if header or cell.heading else "td"
        scope = ' scope="col"' if header else ' scope="row"' if cell.heading else ""
        if header and cell.span > 1:
            scope = ' scope="colgroup"'
        span = f' colspan="{cell.span}"' if cell.span > 1 else ""
        kind = "words" if column < stubs or cell.words else "centre" if cell.span > 1 else "number"
        notes = "".join(f"<small>{escape(note)}</small>" for note in cell.notes)
        if header and not cell.text:
            tag, scope = "td", ""
        cells.append(f'<{tag}{scope}{span} class="{kind}">{escape(cell.text)}{notes}</{tag}>')
        column += cell.span
    return f"<tr>{''.join(cells)}</tr>"


def _latex_row(row: Sequence[Cell]) -> str:
    return " & ".join(_latex_cell(cell) for cell in row) + r" \\"


def _latex_cell(cell: Cell) -> str:
    text = latex_escape(cell.text)
    if cell.notes:
        notes = r"\\".join(rf"{{\scriptsize {latex_escape(note)}}}" for note in cell.notes)
        text = rf"\shortstack[r]{{{text}\\{notes}}}"
    return rf"\multicolumn{{{cell.span}}}{{c}}{{{text}}}" if cell.span > 1 else text


def _cmidrules(row: Sequence[Cell]) -> list[str]:
    rules, column = [], 1
    for cell in row:
        if cell.text and cell.span > 1:
            rules.append(f"\\cmidrule(lr){{{column}-{column + cell.span - 1}}}")
        column += cell.span
    return rules
