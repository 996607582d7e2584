"""Making a matplotlib SVG part of a page: its text selectable, its names apart from the others'.

Its inks become variables of the page, so that one drawing serves a light and a dark ground.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from pondering.report.figures.style import ROLES

VARIABLES = {colour.lower(): f"var(--figure-{role}, {colour})" for role, colour in ROLES.items()}
COLOUR = re.compile("|".join(VARIABLES))


def inline(svg: str, name: str, alternative: str) -> Markup:
    """An SVG document as an element for a page.

    Args:
        svg: the whole document as matplotlib writes it.
        name: goes before every id, which must be unique on the page; letters, digits and hyphens.
        alternative: the figure in words.

    Returns:
        One <svg> element that scales with its container, safe beside others.
    """
    body = svg[svg.index("<svg") :].rstrip()
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", body)
    body = re.sub(r'((?:xlink:)?href)="#([^"]+)"', rf'\1="#{name}-\2"', body)
    # matplotlib styles "*", which would reach every other element of the page
    body = re.sub(
        r"<style[^>]*>\s*\*\s*\{([^}]*)\}\s*</style>", rf"<style>#{name} * {{\1}}</style>", body
    )
    body = COLOUR.sub(lambda found: VARIABLES[found.group()], body)
    head, rest = body.split(">", 1)
    head = re.sub(r'\s(?:width|height|id|version|role|aria-label)="[^"]*"', "", head)
    label = escape(alternative)
    return Markup(f'{head} id="{name}" role="img" aria-label="{label}">{rest}')
