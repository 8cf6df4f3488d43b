"""Formulas as MathML: written as TeX in Markdown, converted when the site is built."""

import html
import re

from latex2mathml.converter import convert

# What pymdownx.arithmatex makes of $...$ and of $$...$$ on lines of their own.
WITHIN = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
BLOCK = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)


def as_mathml(page: str) -> str:
    """A page's HTML with every formula as MathML, which browsers draw without a script."""
    page = BLOCK.sub(lambda f: f'<div class="math">{_converted(f[1], "block")}</div>', page)
    return WITHIN.sub(lambda f: _converted(f[1], "inline"), page)


def _converted(formula: str, display: str) -> str:
    return str(convert(" ".join(html.unescape(formula).split()), display=display))
