"""The format of model files, and the schema that describes it to other programs."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest

import hardmargin
from hardmargin import Result, model_json
from hardmargin.cli import main

#: Keys of constraints, which only models of constrained problems have.
CONSTRAINTS = {"monotonic_cst", "coef_bounds", "trusted", "max_violations"}


@pytest.fixture(scope="module")
def schema():
    found = json.loads((resources.files("hardmargin") / "model.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(found)
    return found


@pytest.fixture
def is_valid(schema):
    return jsonschema.Draft202012Validator(schema).is_valid


@pytest.fixture
def values():
    result = hardmargin.solve([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"], C=10, sample_weight=[1, 1, 1, 2])
    return json.loads(result.to_json())


def test_the_schema_has_every_key(schema):
    assert set(schema["properties"]) - CONSTRAINTS == model_json.KEYS - CONSTRAINTS
    assert set(schema["required"]) == set(model_json._READERS) - model_json._OPTIONAL
    assert schema["properties"]["schema_version"] == {
        "description": schema["properties"]["schema_version"]["description"],
        "const": model_json.SCHEMA_VERSION,
    }


def test_models_are_as_the_schema_says(values, is_valid):
    assert is_valid(values)
    assert values["schema_version"] == 1
    assert is_valid(
        values | {"monotonic_cst": [1], "coef_bounds": [[0.0], [None]], "trusted": [0], "max_violations": 3}
    )
    assert is_valid(values | {"something": "new"})


def test_models_of_the_command_line_are_as_the_schema_says(tmp_path, is_valid):
    file, model = tmp_path / "data.csv", tmp_path / "model.json"
    file.write_text("length,kind,name\n0.0,no,A\n1.0,no,B\n3.0,yes,C\n4.0,yes,D\n")
    words = ["--label", "kind", "--drop", "name", "--seed", "5", "--quiet", "--json", str(model)]
    assert main(["solve", str(file), *words]) == 0
    found = json.loads(model.read_text())
    assert is_valid(found)
    assert (found["label_column"], found["feature_names"], found["seed"]) == ("kind", ["length"], 5)
    assert found["fingerprint"].startswith("sha256:")


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "solved"},
        {"coef": []},
        {"coef": "1.0"},
        {"classes": ["a", "a"]},
        {"classes": ["a", 1]},
        {"classes": ["a"]},
        {"violations": [-1]},
        {"nodes": 1.5},
        {"schema_version": 2},
        {"trace": [[0.0, 1.0]]},
        {"label_column": -1},
        {"label_column": 1.5},
        {"seed": -1},
        {"fingerprint": 7},
        {"feature_names": [1]},
        {"C": None},
        {"m": "1"},
    ],
    ids=str,
)
def test_what_the_schema_refuses_the_reader_refuses(wrong, values, is_valid):
    assert not is_valid(values | wrong)
    if wrong != {"coef": []}:
        with pytest.raises(ValueError, match=r"not a hardmargin model|schema version 2"):
            Result.from_dict(values | wrong)


@pytest.mark.parametrize("key", sorted(set(model_json._READERS) - model_json._OPTIONAL))
def test_a_missing_key_is_refused_by_both(key, values, is_valid):
    del values[key]
    assert not is_valid(values)
    with pytest.raises(ValueError, match=f"the key '{key}' is missing"):
        Result.from_dict(values)


def test_models_without_a_version_are_still_read(values, is_valid):
    for key in ("schema_version", *model_json._OPTIONAL):
        del values[key]
    assert is_valid(values)
    old = Result.from_dict(values)
    assert (old.label_column, old.seed, old.fingerprint, old.presolve) == (None, None, None, "")


@pytest.mark.parametrize(
    ("writer", "origin"), [("2.0.0", "hardmargin 2.0.0"), (None, "a later version of hardmargin")]
)
def test_a_later_version_says_who_can_read_it(writer, origin, values, tmp_path):
    path = tmp_path / "model.json"
    # Its other keys may have changed their form.
    path.write_text(json.dumps({"schema_version": 2, "version": writer, "coef": {"x": 1}}))
    with pytest.raises(ValueError, match=r"model\.json: the model has schema version 2") as problem:
        Result.load(path)
    assert f"written by {origin}; this is hardmargin {hardmargin.__version__}" in str(problem.value)
    assert str(problem.value).endswith(f"Use {origin}, or one after it.")


def test_a_model_is_written_and_read_unchanged(values, tmp_path):
    result = Result.from_dict(values)
    result.save(tmp_path / "model.json")
    assert Result.load(tmp_path / "model.json") == result
