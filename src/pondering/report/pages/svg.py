"""Making a matplotlib SVG part of a page: its text selectable, its names apart from the others'."""

from __future__ import annotations

import re


def inline(svg: str, name: str, alternative: str) -> str:
    """An SVG document as an element for a page.

    Args:
        svg: the whole document as matplotlib writes it.
        name: goes before every id, which must be unique on the page; letters, digits and hyphens.
        alternative: the figure in words; must be escaped for use in an attribute.

    Returns:
        One <svg> element that scales with its container, safe beside others.

    Raises:
        ValueError: the text holds no <svg> element.
    """
    match = re.search(r"<svg\b.*</svg>", svg, re.DOTALL)
    if match is None:
        raise ValueError(f"{name}: not an SVG document")
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", match.group(0), flags=re.DOTALL)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", body)
    body = re.sub(r'((?:xlink:)?href)="#([^"]+)"', rf'\1="#{name}-\2"', body)
    # matplotlib styles "*", which would reach every other element of the page
    body = re.sub(
        r"<style[^>]*>\s*\*\s*\{([^}]*)\}\s*</style>", rf"<style>#{name} * {{\1}}</style>", body
    )
    head, rest = body.split(">", 1)
    head = re.sub(r'\s(?:width|height|id|version|role|aria-label)="[^"]*"', "", head)
    return f'{head} id="{name}" role="img" aria-label="{alternative}">{rest}'
