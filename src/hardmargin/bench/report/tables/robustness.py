"""The tables of a study: accuracies, and paired differences."""

from __future__ import annotations

from collections.abc import Sequence

from hardmargin.bench.report.tables.table import Column, Share, Table, Value
from hardmargin.bench.robustness.protocol import HARD_MARGIN, MODELS
from hardmargin.bench.robustness.records import RobustnessRecord
from hardmargin.bench.robustness.summary import Difference, Row, paired_differences, summarise

_ACCURACY_CAPTION = (
    "Mean test accuracy in percent and its standard error (s.e.) over the repetitions; test data are clean. "
    "bad %: share of bad training samples. Proven: share of the hard-margin fits, those of the cross-validation "
    "included, that are proven optimal; gap: mean gap of the final hard-margin fits. "
    "warned: fits with a ConvergenceWarning, of all fits."
)
_DIFFERENCE_CAPTION = (
    "Test accuracy of the hard-margin loss minus that of the other model on the same draws, in percentage points, "
    "and its standard error (s.e.); better, equal and worse count the draws from the hard-margin loss's side."
)


def study_tables(records: Sequence[RobustnessRecord]) -> list[Table]:
    """The accuracies of all models, and the hard-margin loss against each other model.

    Parameters
    ----------
    records : sequence of RobustnessRecord
        The records of one study.

    Returns
    -------
    list of Table
        Tables without rows are left out.
    """
    rows, differences = summarise(records), paired_differences(records)
    found = [accuracy_table(rows)] if rows else []
    return [*found, difference_table(differences)] if differences else found


def accuracy_table(rows: Sequence[Row]) -> Table:
    """One row per setting and share, with the models side by side."""
    models = [model for model in MODELS if any(row.model == model for row in rows)]
    columns = [Column("setting", numeric=False), Column("bad %", format="g"), Column("n")]
    for model in models:
        columns += [Column("mean", model), Column("s.e.", model), Column("warned", model)]
        if model == HARD_MARGIN:
            columns += [Column("proven %", model, ".1f"), Column("gap %", model)]
    lines: dict[tuple[str, float], dict[str, Row]] = {}
    for row in rows:
        lines.setdefault((row.setting, row.share), {})[row.model] = row
    cells = [_accuracy_cells(setting, share, line, models) for (setting, share), line in lines.items()]
    return Table("robustness", "Test accuracy with bad training samples", _ACCURACY_CAPTION, columns, cells)


def difference_table(differences: Sequence[Difference]) -> Table:
    """One row per setting, share and other model."""
    columns = [
        Column("setting", numeric=False),
        Column("bad %", format="g"),
        Column("compared with", numeric=False),
        Column("n"),
        Column("difference", format="+.2f"),
        Column("s.e."),
        Column("better"),
        Column("equal"),
        Column("worse"),
    ]
    cells = [
        [
            one.setting,
            100 * one.share,
            one.other,
            one.n,
            100 * one.mean,
            _percent(one.standard_error),
            one.better,
            one.equal,
            one.worse,
        ]
        for one in differences
    ]
    title = "Hard-margin loss against the other models"
    return Table("robustness-differences", title, _DIFFERENCE_CAPTION, columns, cells)


def _accuracy_cells(setting: str, share: float, line: dict[str, Row], models: Sequence[str]) -> list[Value]:
    cells: list[Value] = [setting, 100 * share, max(row.n for row in line.values())]
    for model in models:
        row = line.get(model)
        if row is None:
            cells += [None] * (5 if model == HARD_MARGIN else 3)
            continue
        cells += [100 * row.mean, _percent(row.standard_error), Share(row.warnings, row.fits)]
        if model == HARD_MARGIN:
            cells += [_percent(row.proven), _percent(row.gap)]
    return cells


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction
