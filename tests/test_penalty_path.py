"""What a path knows, and its file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hardmargin import Path, Result, Status, path, verify
from hardmargin.penalty_path import line_of


@pytest.fixture(scope="module")
def found() -> Path:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 2))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(30) > 0, "up", "down")
    return path(X, y, (0.1, 100), sample_weight=np.where(np.arange(30) % 3, 1.0, 2.5))


def test_segments_cover_the_range(found) -> None:
    parts = found.segments
    assert [part.low for part in parts] == [0.1, *found.breakpoints]
    assert [part.high for part in parts] == [*found.breakpoints, 100.0]
    for part in parts:
        middle = found.at((part.low * part.high) ** 0.5)
        assert (middle.coef, middle.violations) == (part.coef, part.violations)
        assert line_of(middle) == (part.norm, part.given_up)
    assert [part.given_up for part in parts] == sorted((part.given_up for part in parts), reverse=True)
    assert max(part.gap for part in parts) == found.gap <= found.target_gap


def test_both_sides_of_a_breakpoint_cost_the_same_there(found) -> None:
    for C, left, right in zip(found.breakpoints, found.segments, found.segments[1:], strict=False):
        assert left.norm + C * left.given_up == pytest.approx(right.norm + C * right.given_up)


def test_json_round_trip(found, tmp_path) -> None:
    again = Path.from_json(found.to_json())
    assert again == found
    found.save(tmp_path / "path.json")
    assert Path.load(tmp_path / "path.json").to_json() == found.to_json()


def test_the_file_has_the_weights_once(found) -> None:
    values = json.loads(found.to_json())
    assert len(values["weights"]) == 30
    assert "weights" not in values["hyperplanes"][0]


@pytest.mark.parametrize(
    "change",
    [
        {"format": "hardmargin"},
        {"hyperplanes": []},
        {"hyperplanes": [{}]},
        {"hyperplanes": 3},
        {"proven": [[1.0]]},
        {"proven": [[1.0, None]]},
        {"proven": [[1.0, "2"]]},
        {"C": {}},
        {"C": {"values": []}},
        {"C": {"low": -1.0, "high": 2.0}},
        {"status": "done"},
        {"weights": [1.0]},
        {"data": None, "C": 3},
    ],
)
def test_other_files_are_refused(found, tmp_path, change) -> None:
    file = tmp_path / "path.json"
    file.write_text(json.dumps({**found.to_dict(), **change}))
    with pytest.raises(ValueError, match=r"path\.json: not a hardmargin"):
        Path.load(file)


def test_files_without_json_are_refused(tmp_path) -> None:
    for content in (b"\xff\xfe", b"[]", b"C,norm\n"):
        (tmp_path / "path.json").write_bytes(content)
        with pytest.raises(ValueError, match=r"path\.json: not a hardmargin"):
            Path.load(tmp_path / "path.json")


def test_values_outside_of_the_range_are_refused(found) -> None:
    for C in (0.05, 100.1, float("nan"), "10"):
        with pytest.raises(ValueError, match=r"expected a number from 0\.1 to 100, as in the path"):
            found.at(C)


def test_models_of_a_path(found, tmp_path) -> None:
    model = found.at(found.breakpoints[0])
    assert isinstance(model, Result)
    assert (model.status, model.target_gap) == (Status.OPTIMAL, 1e-6)
    model.save(tmp_path / "model.json")
    assert Result.load(tmp_path / "model.json") == model


def test_frame(found, line) -> None:
    frame = found.to_frame()
    assert frame["C_from"].tolist() == [part.low for part in found.segments]
    assert (frame["lower_bound_to"] <= frame["objective_to"]).all()
    values = path(*line, [2.0, 0.25]).to_frame()
    assert values["C_from"].tolist() == values["C_to"].tolist() == [0.25, 2.0]
    assert values["n_violations"].tolist() == [2, 1]


def test_plot(found) -> None:
    ax = found.plot()
    assert ax.get_xscale() == "log"
    assert len(ax.figure.axes) == 1
    heights = ax.patches[0].get_path().vertices[:, 1]
    assert set(heights) == {part.given_up for part in found.segments}
    assert found.plot(ax) is ax


@pytest.mark.parametrize("C", [[5.0], [0.1], (7.0, float(np.nextafter(7.0, 8.0)))])
def test_a_path_of_one_value_can_be_plotted(line, C) -> None:
    assert path(*line, C=C).plot().get_xscale() == "log"


def test_summary(found) -> None:
    lines = str(found).splitlines()
    assert len(lines) == 3 + len(found.segments)
    assert "proven" in lines[0]


def test_claims_can_be_verified(line) -> None:
    found = path(*line, (0.1, 1000))
    for C in (0.1, 0.5, 3.0, 1000.0):
        assert verify(found.at(C), *line)
