"""``hardmargin predict``: labels for files with and without labels."""

from __future__ import annotations

import json

import pytest

from hardmargin import Result
from hardmargin.cli import main

TRAINING = "length,age,kind\n0.0,5,no\n1.0,3,no\n3.0,5,yes\n4.0,3,yes\n"


@pytest.fixture
def trained(tmp_path):
    """Train on a text in any format, and return the model's file."""

    def train(text=TRAINING, *words):
        file, model = tmp_path / "training", tmp_path / "model.json"
        file.write_text(text)
        assert main(["solve", str(file), "--C", "100", "--json", str(model), "--quiet", *words]) == 0
        return str(model)

    return train


@pytest.fixture
def predict(tmp_path, capsys):
    """Predict for a text; return the exit status, the labels and the text on standard error."""

    def run(model, text, *words):
        file = tmp_path / "samples"
        file.write_text(text)
        status = main(["predict", model, str(file), *words])
        out, err = capsys.readouterr()
        return status, out.split(), err

    return run


def test_labelled_samples_give_labels_and_accuracy(trained, predict):
    samples = "length,age,kind\n0.5,4,no\n9.0,4,yes\n8.0,4,no\n"
    status, labels, err = predict(trained(), samples)
    assert (status, labels) == (0, ["no", "yes", "yes"])
    assert err == "accuracy 0.666667 (2 of 3)\n"


@pytest.mark.parametrize("samples", ["length,age\n0.5,4\n9.0,4\n", "0.5,4\n9.0,4\n"])
def test_a_table_of_features_alone_has_no_labels(trained, predict, samples):
    status, labels, err = predict(trained(), samples)
    assert (status, labels) == (0, ["no", "yes"])
    assert err == "accuracy unknown: the file has no labels\n"


@pytest.mark.parametrize("samples", ["length,label\n0.5,1\n9.0,2\n", "length,kind\n0.5,no\n9.0,yes\n"])
def test_a_missing_column_is_named(trained, predict, samples):
    status, labels, err = predict(trained(), samples)
    assert (status, labels) == (2, [])
    assert "samples:1: column 'age' missing; expected every feature of the model, 'length', 'age'." in err


def test_columns_that_the_model_does_not_know_are_ignored_with_a_note(trained, predict):
    samples = "name,length,size,age,kind\nAnn,0.5,?,4,no\nBob,9.0,,4,yes\n"
    status, labels, err = predict(trained(), samples)
    assert (status, labels) == (0, ["no", "yes"])
    note, accuracy = err.splitlines()
    assert note.startswith("hardmargin: note: ")
    assert note.endswith("samples: ignored column 'name', column 'size', not known to the model")
    assert accuracy == "accuracy 1 (2 of 2)"


def test_the_label_column_of_training_is_remembered(trained, predict):
    model = trained("kind,length,age\nno,0.0,5\nno,1.0,3\nyes,3.0,5\nyes,4.0,3\n", "--label", "kind")
    assert predict(model, "kind,length,age\nno,0.5,4\nyes,9.0,4\n")[1:] == (["no", "yes"], "accuracy 1 (2 of 2)\n")
    assert predict(model, "age,length\n4,0.5\n4,9.0\n")[:2] == (0, ["no", "yes"])


def test_a_label_column_without_a_name_is_remembered_by_its_position(trained, predict):
    model = trained("no,0.0,5\nno,1.0,3\nyes,3.0,5\nyes,4.0,3\n", "--label", "0")
    assert predict(model, "no,0.5,4\nyes,9.0,4\n") == (0, ["no", "yes"], "accuracy 1 (2 of 2)\n")
    assert predict(model, "0.5,4\n9.0,4\n")[:2] == (0, ["no", "yes"])


def test_columns_without_names_must_be_as_many_as_in_training(trained, predict):
    model = trained("0.0,5,no\n1.0,3,no\n3.0,5,yes\n4.0,3,yes\n")
    status, labels, err = predict(model, "0.5,4,1,no\n9.0,4,1,yes\n")
    assert (status, labels) == (2, [])
    assert "found 4 columns; expected 2 features, with or without one column of labels" in err


def test_columns_of_files_without_names_are_selected_again(trained, predict):
    model = trained("7,0.0,5,no\n7,1.0,3,no\n8,3.0,5,yes\n8,4.0,3,yes\n", "--drop", "0")
    assert predict(model, "9,0.5,4,no\n9,9.0,4,yes\n")[0] == 2
    assert predict(model, "9,0.5,4,no\n9,9.0,4,yes\n", "--drop", "0") == (0, ["no", "yes"], "accuracy 1 (2 of 2)\n")


def test_a_single_feature_needs_no_delimiter(trained, predict):
    model = trained("length,kind\n0.0,no\n1.0,no\n3.0,yes\n4.0,yes\n")
    assert predict(model, "length\n0.5\n9.0\n")[:2] == (0, ["no", "yes"])
    assert predict(model, "0.5\n9.0\n")[:2] == (0, ["no", "yes"])


def test_decision_values_stand_beside_the_labels(trained, tmp_path, capsys):
    model, file = trained(), tmp_path / "samples.csv"
    file.write_text("length,age\n0.5,4\n9.0,4\n")
    assert main(["predict", model, str(file), "--decision"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [label for label, _ in rows] == ["no", "yes"]
    values = Result.load(model).decision_function([[0.5, 4], [9.0, 4]])
    assert [float(value) for _, value in rows] == values.tolist()


def test_labels_may_go_to_a_file(trained, tmp_path, capsys):
    model, file, output = trained(), tmp_path / "samples.csv", tmp_path / "labels.txt"
    file.write_text("length,age\n0.5,4\n9.0,4\n")
    assert main(["predict", model, str(file), "--output", str(output)]) == 0
    assert output.read_text() == "no\nyes\n"
    assert capsys.readouterr().out == ""


def test_bad_samples_leave_no_output_file(trained, tmp_path, capsys):
    model, file, output = trained(), tmp_path / "samples.csv", tmp_path / "labels.txt"
    file.write_text("length\n0.5\n9.0\n")
    assert main(["predict", model, str(file), "--output", str(output)]) == 2
    assert not output.exists()
    assert main(["predict", model, str(file), "--output", str(file)]) == 2
    assert "which this command reads" in capsys.readouterr().err


def test_a_given_label_column_is_believed(trained, predict):
    status, labels, err = predict(trained(), "kind,length,age\nno,0.5,4\nyes,9.0,4\n", "--label", "kind")
    assert (status, labels, err) == (0, ["no", "yes"], "accuracy 1 (2 of 2)\n")


@pytest.mark.parametrize(
    "samples", ["age,length,kind\n4,0.5,no\n4,9.0,yes\n", "age,length\n4,0.5\n4,9.0\n"], ids=["labels", "none"]
)
def test_columns_may_come_in_another_order(trained, predict, samples):
    status, labels, _ = predict(trained(), samples)
    assert (status, labels) == (0, ["no", "yes"])


def test_features_that_share_a_name_are_known_by_their_order(trained, predict):
    model = trained("length,x,x,kind\n0.0,5,0,no\n1.0,3,0,no\n3.0,5,0,yes\n4.0,3,0,yes\n")
    assert predict(model, "length,x,x,kind\n0.5,4,0,no\n9.0,4,0,yes\n")[:2] == (0, ["no", "yes"])
    status, labels, err = predict(model, "x,x,length,kind\n4,0,0.5,no\n4,0,9.0,yes\n")
    assert (status, labels) == (2, [])
    assert "some share a name; expected the order of training, 'length', 'x', 'x'" in err


def test_foreign_labels_give_no_accuracy(trained, predict):
    status, labels, err = predict(trained(), "length,age,kind\n0.5,4,0\n9.0,4,0\n")
    assert (status, labels) == (0, ["no", "yes"])
    assert err == "accuracy unknown: no label in the data is one of the model's classes, ['no', 'yes']\n"


def test_labels_that_read_as_numbers_in_one_file_only(trained, predict):
    model = trained("0.0,5,1\n1.0,3,1\n3.0,5,no\n4.0,3,no\n")
    assert predict(model, "0.5,4,1\n0.7,4,1\n") == (0, ["1", "1"], "accuracy 1 (2 of 2)\n")


def test_brooks_format_has_labels_and_needs_no_sizes(trained, predict):
    model = trained("4\n2\n-1 0.0 5\n-1 1.0 3\n1 3.0 5\n1 4.0 3\n")
    assert predict(model, "-1 0.5 4\n1 9.0 4\n") == (0, ["-1", "1"], "accuracy 1 (2 of 2)\n")


def test_features_that_a_libsvm_file_never_mentions_are_zero(trained, predict):
    model = trained("-1 1:0.5\n-1 1:1.0 2:0.1\n1 1:3.0\n1 1:4.0 2:0.1\n")
    assert predict(model, "-1 1:0.5\n1 1:9.0\n") == (0, ["-1", "1"], "accuracy 1 (2 of 2)\n")


def test_features_of_a_libsvm_file_that_the_model_does_not_know_are_ignored(trained, predict):
    model = trained("-1 1:0.5\n-1 1:1.0 2:0.1\n1 1:3.0\n1 1:4.0 2:0.1\n")
    status, labels, err = predict(model, "-1 1:0.5 3:2\n1 1:9.0\n")
    assert (status, labels) == (0, ["-1", "1"])
    assert "samples: ignored feature 3, not known to the model\n" in err
    assert "ignored feature 3 to 5, not" in predict(model, "-1 1:0.5 5:2\n1 1:9.0\n")[2]


def test_features_of_a_brooks_file_must_be_as_many_as_in_training(trained, predict):
    status, labels, err = predict(trained("-1 0.0 5\n-1 1.0 3\n1 3.0 5\n1 4.0 3\n"), "-1 0.5 4 1\n1 9.0 4 1\n")
    assert (status, labels) == (2, [])
    assert "found 3 features; expected 2, as in training" in err


def test_models_without_a_label_column_use_the_usual_one(trained, predict, tmp_path):
    model = trained()
    values = json.loads((tmp_path / "model.json").read_text())
    for key in ("label_column", "schema_version", "seed", "fingerprint"):
        del values[key]
    (tmp_path / "model.json").write_text(json.dumps(values))
    assert predict(model, "age,length,kind\n4,0.5,no\n4,9.0,yes\n")[1:] == (["no", "yes"], "accuracy 1 (2 of 2)\n")
    assert predict(model, "label,age,length,size\nno,4,0.5,1\nyes,4,9.0,1\n")[1] == ["no", "yes"]
    assert predict(model, "age,length\n4,0.5\n4,9.0\n")[2] == "accuracy unknown: the file has no labels\n"
