"""A card as a web page, as pictures, as a table for LaTeX, and as files of all of these."""

from pathlib import Path

from gpbandits_env.files import write_text
from gpbandits_env.scenarios.reporting.html import render
from gpbandits_env.scenarios.reporting.style import inline, write
from gpbandits_env.scenarios.reporting.tables import booktabs
from gpbandits_env.scenarios.suite.card import COLUMNS, Card
from gpbandits_env.scenarios.suite.card_figure import figure, single_figures

LEGENDS = {
    "performance profiles": "The share of trials with at most a score; the bands cover 95%.",
    "runtime profiles": "Targets lie between the regret of random and that of the best agent, "
    "evenly in their logarithms. A target is reached when the regret stays at or below it.",
    "scores by tag": "What the problems ask of an agent. Farther out is better: the outer "
    "circle is a score of 0, and the centre one of 1 or above.",
    "score against time": "Every agent with its time per round; those that nobody beats in both "
    "score and time are named. Lower is better.",
    "critical differences": "Friedman's test, then Wilcoxon's signed-rank test over problems "
    "with Holm's adjustment for all pairs. Agents that a bar joins do not differ clearly.",
}


def latex(card: Card) -> str:
    """The agents of a card as a table for LaTeX, with a caption that says how it was made."""
    head, rows = card.standings()
    # Short words, so that the table is not wider than a page.
    short = {f"{word} than {card.newcomer}": word for word in ("lower", "higher")}
    short |= {"no clear difference": "unclear"}
    rows = [[short.get(word, word) for word in row] for row in rows]
    notes = [card.method, *(about for word, about in COLUMNS.items() if word in head)]
    if card.newcomer:
        notes.append(f"Regret: that of the agent of the row, against that of {card.newcomer}.")
    return booktabs(card.sentence, head, rows, f"card-{card.newcomer or 'all'}", " ".join(notes))


def page(card: Card) -> str:
    """A card as one web page that needs no other file."""
    pictures = {name: inline(made) for name, made in single_figures(card).items()}
    about = {"legends": LEGENDS, "latex": latex(card), "columns": COLUMNS}
    return render("card.html", card=card, pictures=pictures, **about)


def save_card(card: Card, stem: Path) -> list[Path]:
    """Write a card as STEM.html, .txt, .tex, .png and .svg, and return these paths.

    Raises:
        InvalidInput: a file of another kind has one of these names.
    """
    kinds = (("html", "html", page), ("txt", "text", str), ("tex", "text", latex))
    texts = [
        write_text(stem.with_name(f"{stem.name}.{suffix}"), f"{made(card)}\n", kind)
        for suffix, kind, made in kinds
    ]
    return texts + write(figure(card), stem)
