"""Tables in Markdown and in LaTeX."""

import re
from collections.abc import Container, Iterable, Sequence


def markdown(
    head: Sequence[str], rows: Iterable[Sequence[object]], right: Container[int] = ()
) -> str:
    """A Markdown table; the columns in ``right``, counted from 0, are aligned to the right."""
    rule = ["---:" if i in right else "---" for i in range(len(head))]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in (head, rule, *rows))


def booktabs(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], label: str, notes: str
) -> str:
    """A table for LaTeX, which needs the package booktabs; the first column is on the left.

    Notes stand below it. It is set small, so that the card of a suite, with all agents, fits on a
    page.
    """
    lines = [" & ".join(map(_in_latex, row)) + r" \\" for row in (head, *rows)]
    table = [
        *(r"\begin{table}", r"\centering", rf"\caption{{{_in_latex(caption)}}}"),
        rf"\label{{tab:{re.sub(r'[^A-Za-z0-9-]+', '-', label)}}}",
        r"\footnotesize\setlength{\tabcolsep}{3pt}\renewcommand{\arraystretch}{0.95}",
        *(rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule", lines[0], r"\midrule"),
        *(*lines[1:], r"\bottomrule", r"\end{tabular}", r"\par\smallskip"),
        *(rf"{{\scriptsize\raggedright {_in_latex(notes)}\par}}", r"\end{table}"),
    ]
    return "\n".join(table)


def _in_latex(words: str) -> str:
    """Words in which no character has a meaning in LaTeX."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    safe = "".join(special.get(c, f"\\{c}" if c in "_&%#${}" else c) for c in words)
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", safe)
