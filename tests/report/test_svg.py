"""A figure as part of a page."""

from __future__ import annotations

import xml.etree.ElementTree

from pondering.report.pages.svg import inline


def test_a_svg_becomes_an_element_whose_style_stays_its_own() -> None:
    svg = (
        '<?xml version="1.0"?><!DOCTYPE svg><svg xmlns:xlink="x" width="360pt" height="2pt" '
        'viewBox="0 0 3 2" xmlns="http://www.w3.org/2000/svg" version="1.1"><metadata>1</metadata>'
        '<defs><style type="text/css">*{stroke-linejoin: round}</style></defs>'
        '<g id="a"><use xlink:href="#a" clip-path="url(#b)"/></g></svg>'
    )
    found = inline(svg, "fig", "Alt <b>")
    element = xml.etree.ElementTree.fromstring(found)
    assert element.get("viewBox") == "0 0 3 2" and element.get("aria-label") == "Alt <b>"
    assert 'id="fig-a"' in found and '"#fig-a"' in found and "url(#fig-b)" in found
    assert "<style>#fig * {" in found and "metadata" not in found and "width=" not in found
