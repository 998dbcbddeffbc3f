"""``hardmargin predict``: labels for files with and without labels."""

from __future__ import annotations

import pytest

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
    assert err.startswith("accuracy unknown: there are as many columns as features")


@pytest.mark.parametrize(
    "samples",
    [
        "length,label\n0.5,1\n9.0,2\n",
        "length,kind\n0.5,no\n9.0,yes\n",
        "length,age,size,kind\n0.5,4,1,no\n9.0,4,1,yes\n",
    ],
)
def test_other_features_than_in_training_are_refused(trained, predict, samples):
    status, labels, err = predict(trained(), samples)
    assert (status, labels) == (2, [])
    assert "but the model has 2; expected the same features as in training" in err


def test_a_given_label_column_is_believed(trained, predict):
    status, labels, err = predict(trained(), "kind,length,age\nno,0.5,4\nyes,9.0,4\n", "--label", "kind")
    assert (status, labels, err) == (0, ["no", "yes"], "accuracy 1 (2 of 2)\n")


@pytest.mark.parametrize(
    "samples", ["age,length,kind\n4,0.5,no\n4,9.0,yes\n", "age,length\n4,0.5\n4,9.0\n"], ids=["labels", "none"]
)
def test_columns_may_come_in_another_order(trained, predict, samples):
    status, labels, _ = predict(trained(), samples)
    assert (status, labels) == (0, ["no", "yes"])


@pytest.mark.parametrize(
    "samples", ["length,size,kind\n4,0.5,no\n4,9.0,yes\n", "length,size\n4,0.5\n4,9.0\n"], ids=["labels", "none"]
)
def test_features_of_other_names_are_refused(trained, predict, samples):
    status, labels, err = predict(trained(), samples)
    assert (status, labels) == (2, [])
    assert "has the features length, size but the model was trained on length, age; expected the same names" in err


def test_features_that_share_a_name_are_known_by_their_order(trained, predict):
    model = trained("length,x,x,kind\n0.0,5,0,no\n1.0,3,0,no\n3.0,5,0,yes\n4.0,3,0,yes\n")
    assert predict(model, "length,x,x,kind\n0.5,4,0,no\n9.0,4,0,yes\n")[:2] == (0, ["no", "yes"])
    status, labels, err = predict(model, "x,x,length,kind\n4,0,0.5,no\n4,0,9.0,yes\n")
    assert (status, labels) == (2, [])
    assert "some share a name; expected the order of training, length, x, x" in err


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


def test_features_that_the_model_does_not_know_are_refused(trained, predict):
    model = trained("-1 1:0.5\n-1 1:1.0 2:0.1\n1 1:3.0\n1 1:4.0 2:0.1\n")
    status, labels, err = predict(model, "-1 1:0.5 3:2\n1 1:9.0\n")
    assert (status, labels) == (2, [])
    assert "has 3 features" in err
