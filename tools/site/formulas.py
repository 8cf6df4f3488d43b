"""Formulas as MathML: TeX in Markdown and in docstrings is converted when the site is built."""

import html
import re

from latex2mathml.converter import convert

# What pymdownx.arithmatex makes of $...$ and of $$...$$ on lines of their own.
WITHIN = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
BLOCK = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)
# In a docstring a formula stands in the line of the directive or below it.
DIRECTIVE = re.compile(r"^( *)\.\. math::(?: +(.*)| *\n)((?:\n?\1 +\S.*)*)", re.MULTILINE)


def tex(found: re.Match[str]) -> str:
    """The formula of a directive in one line."""
    return " ".join(f"{found[2] or ''} {found[3]}".split())


def as_mathml(page: str) -> str:
    """The HTML of a page with every formula as MathML, which browsers show without a script."""
    page = BLOCK.sub(lambda f: f'<div class="math">{converted(f[1], "block")}</div>', page)
    return WITHIN.sub(lambda f: converted(f[1], "inline"), page)


def converted(formula: str, display: str) -> str:
    """The MathML of a TeX formula; the converter does not know the operator arg."""
    found = convert(" ".join(html.unescape(formula).split()), display=display)
    return found.replace(r"<mi>\arg</mi>", '<mi>arg</mi><mspace width="0.167em" />')
