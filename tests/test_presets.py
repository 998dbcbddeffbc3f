"""The literature's settings by one name."""

from dataclasses import fields

import pytest

from hardmargin import solve
from hardmargin.data import generate
from hardmargin.literature.presets import NAMES
from hardmargin.methods import benders, indicator
from hardmargin.methods.base import parse_options


@pytest.mark.parametrize("method", [benders, indicator])
def test_the_best_settings_are_the_defaults(method):
    assert parse_options(method.Options, {"preset": "best"}, "method") == method.Options()


@pytest.mark.parametrize("preset", ["paper", "code"])
@pytest.mark.parametrize("method", [benders, indicator])
def test_published_presets_name_every_option_but_the_back_end(method, preset):
    named = method.Options.preset(preset, {})
    assert set(named) == {item.name for item in fields(method.Options)} - {"backend"}


def test_text_and_code_differ_where_the_documentation_says():
    text, code = (parse_options(benders.Options, {"preset": name}, "benders") for name in ("paper", "code"))
    assert (text.weight_bound, code.weight_bound) == ("text", "code")
    assert (text.sampling_region, code.sampling_region) == ("bounded", "unbounded")
    assert (text.subset_bounds, code.subset_bounds) == (False, True)
    assert (text.stratified, code.stratified) == (False, True)


@pytest.mark.parametrize(("backend", "tuned"), [("scip", False), ("cplex", True)])
def test_published_settings_of_the_solver_depend_on_the_solver(backend, tuned):
    pytest.importorskip("cplex", reason="needs the extra cplex")
    given = {"preset": "paper", "backend": backend}
    assert parse_options(indicator.Options, given, "indicator").tuned is tuned


def test_options_beside_a_preset_take_precedence():
    parsed = parse_options(benders.Options, {"preset": "paper", "T_S": 0.2, "region": "ball"}, "benders")
    assert (parsed.T_S, parsed.region, parsed.weight_bound) == (0.2, "ball", "text")


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValueError, match="preset is 'brooks'; expected one of paper, code, best"):
        solve([[0.0], [1.0]], [0, 1], method="indicator", options={"preset": "brooks"})


def test_other_methods_have_no_presets():
    with pytest.raises(ValueError, match="method 'auto' has no option 'preset'"):
        solve([[0.0], [1.0]], [0, 1], options={"preset": "paper"})


@pytest.mark.parametrize("preset", NAMES)
def test_every_preset_proves_the_same_optimum(preset):
    data = generate("A", 20, 2, seed=2)
    best = solve(data.X, data.y, C=10)
    options = {"preset": preset, "T_S": 0.001, "T_B": 0.001}
    found = solve(data.X, data.y, C=10, method="benders", options=options, time_limit=None, node_limit=2000)
    assert found.lower_bound <= best.objective * (1 + 1e-6)
    assert found.objective >= best.lower_bound
