"""Checkpoints with a valid checksum and invalid content: each gives one clear line, or does no harm."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import zipfile

import numpy as np
import pytest

from hardmargin import data, solve, verify
from hardmargin.checkpoint.file import _NAME
from hardmargin.cli import main
from hardmargin.frontier import FORMAT

# Small searches have open subproblems too, and a forged state is not searched for long.
STEPS = {"first_nodes": 8, "slice": 1}
METHODS = ["packing", "directions", "auto"]
# A few hundred subproblems. The last feature depends on others, so that the state has a projection.
SAMPLES = data.generate("B", 80, 5, 3)
X = np.column_stack([SAMPLES.X, SAMPLES.X[:, 0] + SAMPLES.X[:, 1]])
y = SAMPLES.y


@pytest.fixture(autouse=True)
def _quick_writes(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


def state_of(method, path, **settings):
    """The members of the archive of a state with open subproblems."""
    solve(X, y, 10.0, method=method, checkpoint=path, options={"heuristic_effort": 0.01, **STEPS}, **settings)
    with zipfile.ZipFile(io.BytesIO(path.read_bytes().split(b"\n", 2)[2])) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def resumed(path, method):
    """Continue from a state for a while."""
    return solve(X, y, 10.0, method=method, resume=path, node_limit=200, options=STEPS)


def write(path, members, compression=zipfile.ZIP_STORED) -> None:
    """Write a checkpoint with these members and a valid checksum."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    checksum = hashlib.sha256(body.getvalue()).hexdigest()
    path.write_bytes(_NAME + f"{FORMAT}\n{checksum}\n".encode() + body.getvalue())


def content_of(members):
    """The JSON part of the archive."""
    return json.loads(np.load(io.BytesIO(members["content.npy"])).tobytes())


def with_text(members, text):
    """The members with another JSON text."""
    return {**members, "content.npy": saved(np.frombuffer(text.encode(), np.uint8))}


def with_value(members, place, value):
    """The members with another value at this place of the JSON, or without it if the value is ``del``."""
    content = content_of(members)
    *folders, name = place
    inner = content
    for folder in folders:
        inner = inner[folder]
    if value is del_:
        del inner[name]
    else:
        inner[name] = value
    return with_text(members, json.dumps(content))


def saved(array):
    """An array as stored in an archive."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


del_ = object()
SOLVE = ("state", "solve")
PACKING, DIRECTIONS = (*SOLVE, "proofs", "packing"), (*SOLVE, "proofs", "directions")
HUGE = 10**400


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        (("identity",), del_, "does not say which solve it belongs to"),
        (("identity", "colour"), "red", "does not say which solve it belongs to"),
        (("identity", "n"), "many", "has the wrong types"),
        (("identity", "C"), HUGE, "has the wrong types"),
        (("identity", "method"), "x" * 10_000, "resume with method 'xxx"),
        (("state",), [], "it contains no state"),
        (("state", "solve"), del_, "the state has no solve"),
        (("state", "reduced"), None, r"the state.reduced is None"),
        (("state", "projection"), 3, "projection is 3; expected names with values"),
        (("state", "projection", "basis"), del_, "projection has no basis"),
        (("state", "projection", "basis"), {"array of the archive": 0}, "projection.basis is not an array of"),
        (("state", "projection", "bound_factor"), 1.5, "projection.bound_factor is 1.5"),
        ((*SOLVE, "coef"), [1.0, 2.0], "solve.coef is not an array of float64"),
        ((*SOLVE, "intercept"), HUGE, "solve.intercept is 1000"),
        ((*SOLVE, "intercept"), float("nan"), "solve.intercept is nan"),
        ((*SOLVE, "lower_bound"), 1e9, "the bound 1e.09 is above the objective"),
        ((*SOLVE, "nodes"), True, "solve.nodes is True"),
        ((*SOLVE, "proofs"), {"magic": {}}, "proofs has 'magic'; expected packing or directions"),
        (PACKING, del_, "has the proofs directions, but this problem needs directions, packing"),
        ((*PACKING, "nodes"), -1, "packing.nodes is -1"),
        ((*PACKING, "work"), 2**64, "packing.work is 18446744073709551616"),
        ((*PACKING, "stuck"), 0, "packing.stuck is 0"),
        ((*PACKING, "work_rate"), -1.0, "packing.work_rate is -1.0"),
        ((*PACKING, "step"), 1e-300, "packing.step is 1e-300, too short"),
        ((*PACKING, "colour"), 1, r"packing has \['colour'\], which is not known"),
        ((*PACKING, "reduction"), {"given_up": [99], "kept": [], "derived_under": 1.0}, "expected samples from 0"),
        ((*PACKING, "reduction"), {"given_up": [1], "kept": [1], "derived_under": 1.0}, "decides a sample twice"),
        ((*PACKING, "open"), 7, "packing.open is not made of three arrays"),
        ((*DIRECTIONS, "open", 0), {"array of the archive": 99}, "it cannot be unpacked"),
        ((*DIRECTIONS, "open", 0), {"array of the archive": [1]}, "it cannot be unpacked"),
        ((*DIRECTIONS, "axes", "first_axis"), [1.0], r"first_axis is \[1.0\]; expected 5 numbers"),
        ((*DIRECTIONS, "sample_nodes"), 0, "directions.sample_nodes is 0"),
        ((*DIRECTIONS, "open_shares"), [[1, 0.5], [1, 0.4]], r"directions.open_shares is \[\[1, 0.5\], "),
        ((*DIRECTIONS, "open_shares"), [[1, float("nan")]], r"directions.open_shares is \[\[1, nan\]\]"),
        ((*DIRECTIONS, "open_shares"), [[10**18, 0.5]], r"\[\[1000000000000000000, 0.5\]\]; expected no more work"),
        ((*DIRECTIONS, "open_shares"), [[1]], r"directions.open_shares is \[\[1\]\]"),
        ((*DIRECTIONS, "axes", "mirrored"), 5, "mirrored is 5; expected a feature from 0 to 4"),
    ],
)
def test_a_value_that_does_not_fit_is_named(place, value, expected, tmp_path) -> None:
    path = tmp_path / "state"
    write(path, with_value(state_of("auto", path, node_limit=30), place, value))
    forged = path.read_bytes()
    with pytest.raises(ValueError, match=expected) as raised:
        resumed(path, "auto")
    assert len(str(raised.value)) < 500
    assert path.read_bytes() == forged


def arrays_of(members, kind):
    """By name, which members are the arrays of the open subproblems of a proof."""
    places = content_of(members)["state"]["solve"]["proofs"][kind]["open"]
    names = ("integers", "ends", "numbers")
    return {name: f"{place['array of the archive']}.npy" for name, place in zip(names, places, strict=True)}


def swapped(array):
    """The numbers of regions with low and high corners swapped."""
    m = (array.shape[1] - 5) // 2
    return np.column_stack([array[:, :1], array[:, m + 1 : 2 * m + 1], array[:, 1 : m + 1], array[:, 2 * m + 1 :]])


@pytest.mark.parametrize(
    ("kind", "array", "change", "expected"),
    [
        ("packing", "integers", lambda a: a[:-1], "ends does not end with its integers"),
        ("packing", "integers", lambda a: a.astype(np.int64), "integers is not an array of uint32"),
        ("packing", "integers", lambda a: np.full_like(a, 2**32 - 1), "more samples kept than decided"),
        ("packing", "integers", np.zeros_like, "decides a sample twice"),
        ("packing", "ends", lambda a: a[::-1].copy(), "packing.open.ends does not"),
        ("packing", "ends", lambda a: a[:0], "packing.open"),
        ("packing", "numbers", lambda a: a[:, :1], r"numbers is not an array of float64 of shape \("),
        ("packing", "numbers", lambda a: a * np.nan, "values that are not numbers"),
        ("packing", "numbers", np.asfortranarray, "does not have its numbers row by row"),
        ("directions", "integers", lambda a: a + 7, "faces not below 5"),
        ("directions", "numbers", lambda a: a * 2, "not boxes on a face of the cube"),
        ("directions", "numbers", swapped, "not boxes on a face of the cube"),
        ("directions", "numbers", lambda a: a[:, :-1], r"numbers is not an array of float64 of shape \("),
    ],
)
def test_subproblems_that_are_none_are_refused(kind, array, change, expected, tmp_path) -> None:
    path = tmp_path / "state"
    members = state_of(kind, path, node_limit=30)
    name = arrays_of(members, kind)[array]
    before = np.load(io.BytesIO(members[name]))
    assert len(before) > 1
    write(path, {**members, name: saved(change(before))})
    with pytest.raises(ValueError, match=expected):
        resumed(path, kind)


def test_a_search_that_is_under_way_has_something_open(tmp_path) -> None:
    """If nothing was open, everything would count as closed, and so as proven."""
    path = tmp_path / "state"
    members = state_of("packing", path, node_limit=30)
    empty = {"integers": np.empty(0, np.uint32), "ends": np.empty(0, np.uint64), "numbers": np.empty((0, 2))}
    for array, name in arrays_of(members, "packing").items():
        members[name] = saved(empty[array])
    write(path, members)
    with pytest.raises(ValueError, match=r"packing\.open has no subproblem"):
        resumed(path, "packing")


def test_a_search_below_a_target_does_not_begin_anew(tmp_path) -> None:
    path = tmp_path / "state"
    write(path, with_value(state_of("packing", path, node_limit=30), (*PACKING, "open"), None))
    with pytest.raises(ValueError, match="in the middle of a search and has nothing open"):
        resumed(path, "packing")


def test_a_search_over_directions_without_regions_begins_with_all_of_them(tmp_path) -> None:
    path = tmp_path / "state"
    write(path, with_value(state_of("directions", path, node_limit=30), (*DIRECTIONS, "open"), None))
    result = solve(X, y, 10.0, method="directions", resume=path, options=STEPS)
    assert result.optimal
    assert result.objective == pytest.approx(solve(X, y, 10.0).objective, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda header: header.replace(b"(", b"(1000000000000, ", 1), "another size than its header says"),
        (lambda header: header.replace(b"(", b"(-1, ", 1), "something other than numbers"),
        (lambda header: header.replace(b"<f8", b"|O"), "something other than numbers"),
        (lambda header: b"-" * 5000 + b"1\n", "it cannot be unpacked"),
        (lambda header: b"{}\n", "it cannot be unpacked"),
    ],
)
def test_headers_of_arrays_are_not_believed(change, expected, tmp_path) -> None:
    """The first one claims eight terabytes."""
    path = tmp_path / "state"
    members = state_of("packing", path, node_limit=30)
    name = f"{content_of(members)['state']['solve']['coef']['array of the archive']}.npy"
    array = members[name]
    size = int.from_bytes(array[8:10], "little")
    header = change(array[10 : 10 + size])
    write(path, {**members, name: array[:8] + len(header).to_bytes(2, "little") + header + array[10 + size :]})
    with pytest.raises(ValueError, match=expected):
        resumed(path, "packing")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"state": ' * 900 + "1" + "}" * 900,
        '{"identity": 1, "state": {}}',
        "[]",
        "",
        "\x00",
        '{"a": ' + "9" * 5000 + "}",
    ],
    ids=["too deep", "deep", "types", "list", "empty", "zero", "long number"],
)
def test_text_that_is_no_state_is_refused(text, tmp_path) -> None:
    path = tmp_path / "state"
    write(path, with_text(state_of("packing", path, node_limit=30), text))
    with pytest.raises(ValueError, match="though its checksum is right"):
        resumed(path, "packing")


def test_archives_that_grow_when_they_are_unpacked_are_refused(tmp_path) -> None:
    path = tmp_path / "state"
    members = state_of("packing", path, node_limit=30)
    write(path, {**members, "9.npy": saved(np.zeros(10**6))}, zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="its parts are larger than it is"):
        resumed(path, "packing")


def changed(members, rng):
    """The members with a random change."""
    name = rng.choice(list(members))
    kind = rng.randrange(5)
    if kind == 0:
        content = bytearray(members[name])
        for _ in range(rng.choice([1, 3])):
            content[rng.randrange(min(len(content), rng.choice([12, 128, len(content)])))] = rng.randrange(256)
        return {**members, name: bytes(content)}
    if kind == 1:
        array = np.load(io.BytesIO(members[name]))
        forms = [array[:-1], np.concatenate([array, array]), array.astype("f4"), array.ravel(), array[None]]
        return {**members, name: saved(rng.choice(forms))}
    if kind == 2:
        array = np.load(io.BytesIO(members[name])).copy()
        if array.size:
            array.reshape(-1)[rng.randrange(array.size)] = rng.choice([0, 1, 2, 79, 80, 100, 255])
        return {**members, name: saved(array)}
    places, content = [], content_of(members)

    def walk(value, place) -> None:
        if place:
            places.append(place)
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in items:
            walk(inner, (*place, key))

    walk(content, ())
    values = [None, True, -1, 0, 1, 0.5, 2**63, HUGE, 1e308, float("inf"), float("nan"), "", "x", [], [1], {}, del_]
    return with_value(members, rng.choice(places), rng.choice([*values, {"array of the archive": 0}]))


@pytest.mark.parametrize("method", METHODS)
def test_whatever_is_changed_it_is_refused_or_does_no_harm(method, tmp_path) -> None:
    """Neither another exception nor a wrong answer; most of the changes are refused."""
    path, rng, refused = tmp_path / "state", random.Random(5), 0
    reference = solve(X, y, 10.0)
    states = []
    for settings in ({"node_limit": 1}, {"node_limit": 30}, {}):
        states.append(state_of(method, path, **settings))
        path.unlink()
    for _ in range(60):
        write(path, changed(rng.choice(states), rng))
        try:
            result = resumed(path, method)
        except ValueError:
            refused += 1
        else:
            assert verify(result, X, y)
            assert result.objective >= reference.lower_bound
    assert 30 < refused < 60


def test_on_the_command_line_it_is_one_line(tmp_path, capsys) -> None:
    path, table, model = tmp_path / "state", tmp_path / "data.csv", tmp_path / "model.json"
    np.savetxt(table, np.column_stack([X, y]), delimiter=",", fmt="%.17g")
    members = state_of("packing", path, node_limit=30)
    words = ["solve", str(table), "--C", "10", "--method", "packing", "--resume", str(path), "--json", str(model)]
    for forged in (
        with_value(members, (*PACKING, "nodes"), -1),
        with_value(members, (*PACKING, "open"), {}),
        with_text(members, "[" * 100_000),
    ):
        write(path, forged)
        assert main(words) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"hardmargin: error: checkpoint {path} is not one that this version of hardmargin")
        assert err.count("\n") == 1
        assert not model.exists()


def test_a_large_file_that_is_something_else_is_not_read(tmp_path) -> None:
    path = tmp_path / "state"
    with path.open("wb") as file:
        # It consists of holes, which take no space on disk.
        file.truncate(2**43)
    with pytest.raises(ValueError, match="is not a checkpoint"):
        resumed(path, "packing")
