"""The robustness study: its data, its protocol, its file, its tables, figure and command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hardmargin import HardMarginSVC, data
from hardmargin.bench.report.figures.robustness import robustness_figure
from hardmargin.bench.report.tables.robustness import study_tables
from hardmargin.bench.robustness import (
    BEST_POSSIBLE,
    MODELS,
    Folds,
    Generated,
    Protocol,
    Study,
    paired_differences,
    read_records,
    run_study,
    summarise,
    uci_settings,
)
from hardmargin.bench.robustness import models as models_module
from hardmargin.bench.robustness.models import evaluate
from hardmargin.cli import main
from waiting import NEVER, has_a_line, until

QUICK = Protocol(C=(0.1, 1.0), folds=2, fit_seconds=NEVER, final_seconds=NEVER, n_test=200)
UNHURRIED = ["--fit-seconds", str(NEVER), "--final-seconds", str(NEVER)]
SMALL = ["--n", "30", "--C", "0.1", "1", "--folds", "2", "--test-samples", "200", "--repetitions", "2", *UNHURRIED]


def small_study(**changes):
    settings = [Generated("A", 30, 2), Generated("flips", 30, 2)]
    return replace(Study(settings, shares=(0.0, 0.2), repetitions=2, protocol=QUICK), **changes)


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """The file of a small study, and its records."""
    path = tmp_path_factory.mktemp("robustness") / "robustness.jsonl"
    return path, run_study(small_study(), path)


@pytest.fixture
def folds(tmp_path):
    """A folder with two folds of a data set of two separable clouds."""
    folder = tmp_path / "brooks"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for fold in (1, 2):
        y = np.repeat([-1, 1], 10)
        X = y[:, None] * 3.0 + rng.standard_normal((20, 2))
        data.save(data.Dataset(X, y), folder / f"clouds5f{fold}i1.train", "brooks")
        lines = [" ".join(map(str, [label, *row])) for label, row in zip(y, X.tolist(), strict=True)]
        (folder / f"clouds5f{fold}i1.test").write_text("\n".join(lines) + "\n")
    return tmp_path


class TestData:
    @pytest.mark.parametrize("kind", ["A", "B", "flips"])
    def test_only_the_bad_training_samples_differ_from_clean_data(self, kind):
        setting = Generated(kind, 60, 3)
        clean, spoilt = (setting.draw(share, 4, seed=1, n_test=500) for share in (0.0, 0.2))
        assert len(clean.bad) == 0
        assert len(spoilt.bad) == 12
        good = np.setdiff1d(np.arange(60), spoilt.bad)
        np.testing.assert_array_equal(clean.train.X[good], spoilt.train.X[good])
        np.testing.assert_array_equal(clean.train.y[good], spoilt.train.y[good])
        np.testing.assert_array_equal(clean.test.X, spoilt.test.X)

    def test_bad_samples_stay_bad_as_the_share_grows(self):
        few, many = (Generated("flips", 60, 2).draw(share, 0, 0, 10).bad for share in (0.1, 0.3))
        assert set(few) < set(many)

    def test_outliers_are_those_of_the_benchmark(self):
        spread = Generated("A", 100, 2).draw(0.4, 0, 0, 10)
        assert np.abs(spread.train.X[spread.bad]).mean() > 4
        assert spread.train.y[spread.bad].tolist() == [1, -1] * 20
        cluster = Generated("B", 100, 2).draw(0.4, 0, 0, 10)
        assert cluster.train.y[cluster.bad].tolist() == [1] * 40
        np.testing.assert_allclose(cluster.train.X[cluster.bad], 10 / np.sqrt(2), atol=0.5)

    def test_test_data_are_clean(self):
        test = Generated("B", 20, 4).draw(0.5, 0, 0, 5000).test
        sides = np.where(test.X.sum(axis=1) < 2.0, 1, -1)
        assert np.mean(sides == test.y) == pytest.approx(BEST_POSSIBLE, abs=0.02)
        assert test.n == 5000

    def test_repetitions_and_seeds_give_other_samples(self):
        setting = Generated("A", 20, 2)
        first = setting.draw(0.0, 0, 0, 10).train.X
        assert not np.array_equal(first, setting.draw(0.0, 1, 0, 10).train.X)
        assert not np.array_equal(first, setting.draw(0.0, 0, 1, 10).train.X)

    def test_folds_flip_training_labels_only(self, folds):
        (setting,) = uci_settings(folds)
        assert setting.name == "uci-clouds"
        assert setting.repetitions(10) == 2
        draw = setting.draw(0.2, 1, 0, 999)
        assert np.mean(draw.train.y != np.repeat([-1, 1], 10)) == 0.2
        assert draw.test.y.tolist() == [-1] * 10 + [1] * 10

    def test_an_unknown_data_set_is_refused(self, folds):
        with pytest.raises(ValueError, match=r"no folds of 'wine'.*clouds"):
            uci_settings(folds, ["wine"])

    def test_the_published_folds_are_found(self, data_directory):
        found = uci_settings(data_directory)
        assert len(found) == 11
        assert all(setting.repetitions(10) == 5 for setting in found)
        heart = next(setting for setting in found if setting.source == "heart").draw(0.1, 0, 0, 0)
        assert (heart.train.n, heart.train.m, heart.test.n) == (152, 20, 37)


class TestEvaluation:
    @pytest.mark.parametrize("model", MODELS)
    def test_accuracy_is_that_of_the_recorded_hyperplane(self, model):
        draw = Generated("flips", 40, 2).draw(0.1, 0, 0, 500)
        found = evaluate(model, draw, QUICK, repetition=0)
        sides = np.where(draw.test.X @ found.coef + found.intercept > 0, 1, -1)
        assert found.accuracy == pytest.approx(np.mean(sides == draw.test.y))
        assert QUICK.C[int(np.argmax(found.cv_accuracy))] == found.C
        assert found.fits == 4

    def test_only_hard_margin_fits_have_proofs(self):
        draw = Generated("A", 30, 2).draw(0.1, 0, 0, 100)
        ours, hinge = (evaluate(model, draw, QUICK, 0) for model in ("hard-margin", "hinge"))
        assert (ours.fits_proven, ours.proven) == (4, True)
        assert ours.gap == pytest.approx(0, abs=1e-5)
        assert (hinge.fits_proven, hinge.fits_gap, hinge.proven, hinge.gap) == (None, None, None, None)

    def test_unfinished_fits_are_counted_and_not_shouted(self):
        draw = Generated("A", 300, 8).draw(0.2, 0, 0, 100)
        # Less than the time until the first check of the clock.
        hurried = Protocol(C=(1.0,), folds=2, fit_seconds=1e-9, final_seconds=1e-9, n_test=100)
        found = evaluate("hard-margin", draw, hurried, 0)
        assert found.warnings == 3
        assert (found.fits_proven, found.proven) == (0, False)
        assert found.gap > 0

    def test_other_warnings_are_passed_on(self, monkeypatch):
        class Chatty(HardMarginSVC):
            def fit(self, X, y):
                warnings.warn("the end is near", UserWarning, stacklevel=1)
                warnings.warn("not there yet", ConvergenceWarning, stacklevel=1)
                return super().fit(X, y)

        monkeypatch.setattr(models_module, "HardMarginSVC", Chatty)
        draw = Generated("A", 30, 2).draw(0.0, 0, 0, 100)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = evaluate("hard-margin", draw, QUICK, 0)
        assert {str(warning.message) for warning in caught} == {"the end is near"}
        assert found.warnings == 5


class TestStudy:
    def test_one_record_an_evaluation(self, studied):
        path, records = studied
        assert len(records) == 2 * 2 * 2 * 3
        assert len(path.read_text().splitlines()) == len(records)
        assert {record.key for record in read_records(path)} == {record.key for record in records}
        first = records[0]
        assert first.protocol["C"] == [0.1, 1.0]
        assert "hardmargin" in first.versions
        assert first.machine
        assert first.seconds > 0
        assert first.error is None

    def test_what_is_done_is_not_repeated(self, studied, tmp_path):
        path = tmp_path / "robustness.jsonl"
        lines = studied[0].read_text().splitlines(keepends=True)
        # As if the process was killed while writing.
        path.write_text("".join(lines[:20]) + lines[20][:30])
        reports = []
        records = run_study(small_study(), path, report=lambda *counts: reports.append(counts))
        assert reports == [(20, 24), (21, 24), (22, 24), (23, 24), (24, 24)]
        assert path.read_text().startswith("".join(lines[:20]))
        assert [record.accuracy for record in records] == [record.accuracy for record in studied[1]]

    def test_a_study_can_grow(self, studied, tmp_path):
        path = tmp_path / "robustness.jsonl"
        path.write_bytes(studied[0].read_bytes())
        records = run_study(small_study(shares=(0.0, 0.1, 0.2), models=["hinge"]), path)
        assert len(records) == 24 + 4

    def test_records_of_another_protocol_are_refused(self, studied):
        with pytest.raises(ValueError, match="folds = 2, but now it is 3"):
            run_study(small_study(protocol=replace(QUICK, folds=3)), studied[0])

    def test_processes_find_the_same(self, studied, tmp_path):
        study = small_study(shares=(0.2,), models=["hinge", "logistic"])
        records = run_study(study, tmp_path / "robustness.jsonl", jobs=2)
        expected = {record.key: record.accuracy for record in studied[1]}
        assert len(records) == 8
        assert all(record.accuracy == expected[record.key] for record in records)

    def test_failures_are_recorded_and_tried_again(self, tmp_path):
        path = tmp_path / "robustness.jsonl"
        tiny = Study([Generated("A", 2, 2)], (0.0,), 1, ["hinge"], QUICK)
        (record,) = run_study(tiny, path)
        assert "expected at least 2 in each class, one per fold" in record.error
        assert record.accuracy is None
        run_study(tiny, path)
        assert len(path.read_text().splitlines()) == 2
        assert len(read_records(path)) == 1

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"shares": (0.6,)}, "60 %"),
            ({"shares": (0.0, 0.01)}, "1 %, which is less than one of the 30 training samples of A-n30-d2"),
            ({"repetitions": 0}, "repetitions is 0"),
            ({"models": ["tree"]}, "'tree'"),
        ],
    )
    def test_unusable_studies_are_refused(self, changes, message):
        with pytest.raises(ValueError, match=message):
            small_study(**changes)

    def test_a_line_that_is_no_record_is_named(self, tmp_path):
        path = tmp_path / "robustness.jsonl"
        path.write_text('{"setting": "A"}\n')
        with pytest.raises(ValueError, match=r"robustness.jsonl:1: .*'share' is missing"):
            read_records(path)


class TestSummary:
    def test_means_and_standard_errors(self, studied):
        accuracies = (0.5, 0.7)
        record = studied[1][0]
        rows = summarise(replace(record, repetition=i, accuracy=a) for i, a in enumerate(accuracies))
        assert len(rows) == 1
        assert rows[0].n == 2
        assert rows[0].mean == pytest.approx(np.mean(accuracies))
        assert rows[0].standard_error == pytest.approx(np.std(accuracies, ddof=1) / np.sqrt(2))

    def test_shares_of_proofs(self, studied):
        ours = next(record for record in studied[1] if record.model == "hard-margin")
        pair = [replace(ours, fits_proven=1, proven=False, gap=0.5), replace(ours, repetition=1)]
        (row,) = summarise(pair)
        assert row.proven == 6 / 10
        assert row.gap == pytest.approx(0.25, abs=1e-6)

    def test_differences_are_paired_and_failures_left_out(self, studied):
        ours = next(record for record in studied[1] if record.model == "hard-margin")
        records = [
            *(replace(ours, repetition=i, accuracy=a) for i, a in enumerate([0.9, 0.8, 0.7, 0.6])),
            *(replace(ours, repetition=i, accuracy=0.8, model="hinge") for i in range(3)),
            replace(ours, repetition=3, accuracy=None, error="lost", model="hinge"),
        ]
        (difference,) = paired_differences(records)
        assert difference.n == 3
        assert difference.mean == pytest.approx(0)
        assert (difference.better, difference.equal, difference.worse) == (1, 1, 1)

    def test_tables_have_a_line_a_setting_and_share(self, studied):
        accuracy, difference = study_tables(studied[1])
        assert [row[:3] for row in accuracy.rows] == [
            ["A-n30-d2", 0.0, 2],
            ["A-n30-d2", 20.0, 2],
            ["flips-n30-d2", 0.0, 2],
            ["flips-n30-d2", 20.0, 2],
        ]
        assert len(difference.rows) == 8
        mean = np.mean([r.accuracy for r in studied[1] if r.key[:2] == ("A-n30-d2", 0.0) and r.model == "hinge"])
        assert 100 * mean in accuracy.rows[0]

    def test_figure_has_a_panel_a_setting(self, studied):
        pytest.importorskip("matplotlib")
        figure = robustness_figure(studied[1])
        assert [ax.get_title() for ax in figure.axes] == ["A-n30-d2", "flips-n30-d2"]


class TestCommand:
    def test_runs_shows_and_draws(self, tmp_path, capsys):
        pytest.importorskip("matplotlib")
        out, figure = str(tmp_path / "robustness.jsonl"), tmp_path / "robustness.svg"
        words = ["bench", "robustness", "--out", out]
        assert main([*words, "--settings", "B", "--shares", "0", "10", *SMALL, "--figure", str(figure)]) == 0
        shown = capsys.readouterr()
        assert "B-n30-d2" in shown.out
        assert shown.err == f"{figure}\n"
        assert figure.read_text().startswith("<?xml")
        assert main([*words, "--show-only"]) == 0
        assert capsys.readouterr().out == shown.out
        assert main([*words, "--show-only", "--format", "csv"]) == 0
        assert "B-n30-d2,10.0,hinge,2," in capsys.readouterr().out
        assert main([*words, "--show-only", "--format", "latex"]) == 0
        assert "\\toprule" in capsys.readouterr().out

    def test_a_torn_line_is_told_and_left_out(self, studied, tmp_path, capsys):
        path = tmp_path / "robustness.jsonl"
        path.write_bytes(studied[0].read_bytes()[:-10])
        assert main(["bench", "robustness", "--out", str(path), "--show-only"]) == 0
        shown = capsys.readouterr()
        assert "A-n30-d2" in shown.out
        assert "the last line is incomplete" in shown.err
        path.write_text("")
        assert main(["bench", "robustness", "--out", str(path), "--show-only"]) == 2
        assert "no evaluations" in capsys.readouterr().err

    def test_a_file_of_another_kind_is_left_alone(self, tmp_path, capsys):
        path = tmp_path / "notes.txt"
        path.write_text("first line\nlast line")
        assert main(["bench", "robustness", "--out", str(path)]) == 2
        assert "not a record" in capsys.readouterr().err
        assert path.read_text() == "first line\nlast line"

    def test_folds_from_files(self, folds, tmp_path, capsys):
        out = tmp_path / "robustness.jsonl"
        words = ["bench", "robustness", "--out", str(out), "--settings", "uci", "--data", str(folds), *SMALL]
        assert main([*words, "--shares", "0"]) == 0
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        assert len(lines) == 6
        assert all(line["accuracy"] == 1.0 for line in lines if line["model"] == "hard-margin")

    def test_missing_folds_are_left_out_with_a_word(self, tmp_path, capsys):
        out = str(tmp_path / "robustness.jsonl")
        words = ["bench", "robustness", "--out", out, "--data", str(tmp_path), "--shares", "0", *SMALL]
        assert main([*words, "--settings", "flips", "uci", "--models", "hinge"]) == 0
        assert "the UCI folds are left out" in capsys.readouterr().err
        assert main([*words, "--settings", "uci"]) == 2
        assert "bench fetch" in capsys.readouterr().err

    def test_a_data_set_that_is_not_there_is_refused(self, folds, tmp_path, capsys):
        words = ["bench", "robustness", "--out", str(tmp_path / "robustness.jsonl"), "--data", str(folds)]
        assert main([*words, "--settings", "flips", "uci", "--uci", "wine"]) == 2
        assert "expected some of clouds" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--shares", "80"], "80 %; expected 0 to 50 %"),
            (["--shares", "0.1"], "--shares are percent"),
            (["--settings", "A", "moons"], "'moons'; expected some of A, B, flips, uci"),
            (["--models", "tree"], "expected one of hard-margin, hinge, logistic"),
            (["--figure", "robustness.xyz"], "expected a name that ends in .avif"),
            (["--figure", "robustness"], "expected a name that ends in .avif"),
            (["--C", "-1"], "expected positive values"),
            (["--C", "1", "nan"], "expected positive values"),
            (["--C", "1", "inf"], "expected positive values"),
            (["--fit-seconds", "0"], "expected more than 0"),
            (["--jobs", "0"], "jobs is 0"),
            (["--n", "4", "--shares", "0"], "evaluations failed"),
        ],
    )
    def test_bad_input_is_told_in_one_line(self, words, message, tmp_path, capsys):
        out = str(tmp_path / "robustness.jsonl")
        command = [
            "bench",
            "robustness",
            "--out",
            out,
            "--repetitions",
            "1",
            "--settings",
            "A",
            "--models",
            "hinge",
        ]
        assert main([*command, *words]) == 2
        err = capsys.readouterr().err
        assert message in err
        assert err.count("\n") == 1

    def test_scikit_learn_is_not_imported_for_nothing(self, studied):
        """One process checks all commands; it must not import scikit-learn for any of them."""
        program = """
import json, sys
from hardmargin.cli import main
for words in json.load(sys.stdin):
    main(words)
    print("after", *words, "sklearn" in sys.modules)
"""
        command = ["bench", "robustness", "--out", str(studied[0]), "--n", "30", "--settings", "A"]
        further = [["--show-only"], ["--shares", "0.1"], ["--settings", "moons"], ["--data", "."], ["--C", "-1"]]
        done = subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps([[*command, *words] for words in further]),
            capture_output=True,
            text=True,
            timeout=NEVER,
            check=True,
        )
        told = [line for line in done.stdout.splitlines() if line.startswith("after")]
        assert len(told) == len(further)
        assert all(line.endswith("False") for line in told), told

    def test_missing_matplotlib_is_told_before_the_study(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        out = tmp_path / "robustness.jsonl"
        assert main(["bench", "robustness", "--out", str(out), "--figure", str(tmp_path / "f.svg"), *SMALL]) == 2
        assert "figures need matplotlib" in capsys.readouterr().err
        assert not out.exists()

    def test_progress_is_told_if_asked(self, tmp_path, capsys):
        words = ["bench", "robustness", "--out", str(tmp_path / "r.jsonl"), "--settings", "A", "--shares", "0"]
        assert main([*words, *SMALL, "--models", "hinge", "--verbose"]) == 0
        lines = capsys.readouterr().err.splitlines()
        assert lines == ["0 of 2 evaluations", "1 of 2 evaluations", "2 of 2 evaluations"]

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_ctrl_c_keeps_what_is_done_and_says_so(self, jobs, tmp_path):
        out = tmp_path / "robustness.jsonl"
        # The hard-margin fits never end, so that it is known when Ctrl-C arrives.
        words = ["bench", "robustness", "--out", str(out), "--n", "400", "--d", "10", "--repetitions", "500"]
        words += ["--models", "hinge", "hard-margin", "--C", "1", "--test-samples", "200", *UNHURRIED]
        program = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from hardmargin.cli import main
if __name__ == "__main__":
    sys.exit(main())
"""
        script = tmp_path / "study.py"
        script.write_text(program)
        with subprocess.Popen(
            [sys.executable, str(script), *words, "--jobs", jobs], stderr=subprocess.PIPE, text=True
        ) as process:
            until(lambda: has_a_line(out))
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=NEVER)
        assert process.returncode == 130
        kept = len(out.read_text().splitlines())
        assert told.splitlines() == [
            f"{out}: {kept} of 12000 evaluations are kept; the same command makes the rest",
            "hardmargin: interrupted",
        ]


def test_folds_name_their_setting():
    assert Folds("heart", ()).name == "uci-heart"
