"""The style of the figures: colours, lines and markers that all readers can tell apart, on screen and in grey."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hardmargin.bench.analysis import published
from hardmargin.extras import how_to_install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: The colour of lines and letters; in a page it becomes the colour of the page's text.
INK = "#222222"

#: The palette of Okabe and Ito, which can be told apart with any colour vision; neighbours also differ in grey.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#B8A800", "#CC79A7", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", (0, (4, 1, 1, 1, 1, 1)))

_PUBLISHED_COLOURS = {published.NAMES[published.BROOKS]: "#999999", published.NAMES[published.REFERENCE]: "#CC79A7"}

# If the ratio of the ends of a logarithmic axis is below this, powers of ten give too few labels.
_SHORT_SPAN = 100.0


class Look(NamedTuple):
    """How one system is drawn."""

    colour: str
    marker: str
    dashes: str | tuple[int, tuple[int, ...]]


def looks(systems: Sequence[str]) -> dict[str, Look]:
    """A look for each system; the published ones always look the same."""
    own = [system for system in systems if system not in _PUBLISHED_COLOURS]
    found = {
        system: Look(PALETTE[i % len(PALETTE)], MARKERS[i % len(MARKERS)], DASHES[i % len(DASHES)])
        for i, system in enumerate(own)
    }
    return found | {system: Look(colour, ".", ":") for system, colour in _PUBLISHED_COLOURS.items()}


def new_figure(width: float = 8.0, height: float = 4.2) -> Figure:
    """A new empty figure, without pyplot and its global state.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(f"figures need matplotlib; {how_to_install('bench')}.") from None
    return Figure(figsize=(width, height), layout="constrained")


def tidy(ax: Axes, *, title: str = "", x: str = "", y: str = "") -> None:
    """Label the axes and remove what does not inform."""
    ax.spines[["top", "right"]].set_visible(False)
    for spine in ("left", "bottom"):
        ax.spines[spine].set_color(INK)
    ax.tick_params(colors=INK, which="both")
    ax.grid(axis="y", color="#888888", alpha=0.25, lw=0.6)
    ax.set_axisbelow(True)
    for axis, text in ((ax.xaxis, x), (ax.yaxis, y)):
        axis.label.set_color(INK)
        if text:
            axis.set_label_text(text)
    if title:
        ax.set_title(title, color=INK, fontsize=11)


def plain_log(axis: Axis) -> None:
    """A logarithmic axis with plain labels, such as 0.1, and with 2 and 5 in between if there is space."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    lowest, highest = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if highest < _SHORT_SPAN * lowest else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def whole_decades(lowest: float, highest: float) -> tuple[float, float]:
    """Limits of a logarithmic axis that always has at least two labels.

    Examples
    --------
    >>> whole_decades(0.2, 0.8)
    (0.1, 1.0)
    """
    return 10.0 ** math.floor(math.log10(0.9 * lowest)), 10.0 ** math.ceil(math.log10(1.1 * highest))


def add_legend(figure: Figure, *axes: Axes, most: int = 5) -> None:
    """One legend for the whole figure, below it, for everything drawn in these axes."""
    unique: dict[str, Any] = {}
    for ax in axes:
        handles, names = ax.get_legend_handles_labels()
        unique = dict(zip(names, handles, strict=True)) | unique
    if unique:
        # Inches per entry, so that none is cut off at the sides.
        width = 0.7 + 0.085 * max(map(len, unique))
        figure.legend(
            unique.values(),
            unique.keys(),
            loc="outside lower center",
            ncols=max(1, min(most, len(unique), int(figure.get_figwidth() / width))),
            frameon=False,
            labelcolor=INK,
        )


def inline_svg(figure: Figure, name: str) -> str:
    """The figure as an ``<svg>`` element for a page: text stays text, and lines have the colour of the text.

    Parameters
    ----------
    figure : matplotlib Figure
    name : str
        Prefix for the names of its parts, which must differ from those of the page's other figures.
    """
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    svg = text[text.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # A page needs no namespaces.
    svg = re.sub(r' xmlns(?::\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = re.sub(r'(<svg\b[^>]*?) (?:width|height)="[^"]*"', r"\1", svg)
    svg = re.sub(r'(<svg\b[^>]*?) (?:width|height)="[^"]*"', r"\1", svg)
    # Text without a colour is black in SVG.
    svg = re.sub(r'<text style="(?![^"]*fill)', '<text style="fill: currentColor; ', svg)
    return svg.replace(INK, "currentColor").rstrip()
