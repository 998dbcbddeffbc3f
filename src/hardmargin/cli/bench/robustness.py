"""``hardmargin bench robustness``: test accuracy as training data get worse."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from hardmargin.cli.bench.records import warnings_told
from hardmargin.cli.bench.study_progress import study_progress
from hardmargin.cli.output import check_target
from hardmargin.cli.parser import Commands, Parser
from hardmargin.cli.status import DONE

if TYPE_CHECKING:
    from hardmargin.bench.robustness import RobustnessRecord, Setting, Study


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "robustness",
        help="test accuracy of three losses as training data get worse",
        description="Train with hard-margin, hinge and logistic loss on data of which a share is bad, choose C by "
        "cross-validation, and test on clean data. May be interrupted and run again: finished evaluations stay.",
    )
    parser.add_argument("--out", metavar="FILE", required=True, help="the records, one line of JSON each")
    _add_data_arguments(parser)
    _add_protocol_arguments(parser)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes at a time (default 1)")
    parser.add_argument("--show-only", action="store_true", help="evaluate nothing, only show the file")
    parser.add_argument(
        "--format", choices=("text", "csv", "latex", "markdown"), default="text", help="of the tables"
    )
    parser.add_argument(
        "--figure", metavar="FILE", help="draw accuracy over the share of bad samples, e.g. robustness.svg"
    )
    parser.add_argument("--verbose", action="store_true", help="print progress lines even without a terminal")
    parser.set_defaults(run=run)


def _add_data_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--settings",
        nargs="+",
        metavar="NAME",
        help="A or B (outliers of that type), flips (wrong labels), uci (UCI folds with wrong labels); "
        "default: A B flips",
    )
    parser.add_argument("--n", type=int, default=100, help="training samples of generated data (default 100)")
    parser.add_argument("--d", type=int, nargs="+", default=[2], help="features of generated data (default 2)")
    parser.add_argument("--uci", nargs="+", metavar="NAME", help="UCI data sets, e.g. heart (default: all)")
    parser.add_argument("--data", metavar="DIR", help="where the UCI folds are (default: $HARDMARGIN_DATA)")
    parser.add_argument(
        "--shares",
        type=float,
        nargs="+",
        default=[0.0, 5.0, 10.0, 20.0],
        metavar="PERCENT",
        help="shares of bad training samples in percent, 0 to 50 (default 0 5 10 20)",
    )
    parser.add_argument("--repetitions", type=int, default=10, metavar="N", help="draws per share (default 10)")
    parser.add_argument("--test-samples", type=int, default=5000, metavar="N", help="default 5000")
    parser.add_argument("--seed", type=int, default=0, help="seed of data and folds (default 0)")


def _add_protocol_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--models", nargs="+", metavar="NAME", help="hard-margin, hinge, logistic (default: all three)"
    )
    parser.add_argument(
        "--C",
        type=float,
        nargs="+",
        default=[0.01, 0.1, 1.0, 10.0, 100.0],
        help="values of C for the cross-validation (default 0.01 0.1 1 10 100)",
    )
    parser.add_argument("--folds", type=int, default=5, help="of the cross-validation (default 5)")
    parser.add_argument(
        "--fit-seconds",
        type=float,
        default=2.0,
        metavar="SECONDS",
        help="time limit of a hard-margin fit in the cross-validation (default 2)",
    )
    parser.add_argument(
        "--final-seconds",
        type=float,
        default=20.0,
        metavar="SECONDS",
        help="time limit of the final hard-margin fit (default 20)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the missing evaluations, then show all of them."""
    _check_files(arguments)
    from hardmargin.bench.report.figures.robustness import robustness_figure
    from hardmargin.bench.report.tables.robustness import study_tables
    from hardmargin.bench.report.tables.table import WRITERS

    records = _read(arguments.out) if arguments.show_only else _evaluated(arguments)
    print("\n".join(WRITERS[arguments.format](table) for table in study_tables(records)), end="")
    _refuse_failures(records)
    if arguments.figure is not None:
        robustness_figure(records).savefig(arguments.figure, dpi=120)
        # Standard output is reserved for the tables, which may go to a file.
        print(arguments.figure, file=sys.stderr)
    return DONE


def _check_files(arguments: argparse.Namespace) -> None:
    if not arguments.show_only:
        check_target(arguments.out, "--out")
    if arguments.figure is not None:
        from hardmargin.bench.report.figures.robustness import check_figure_name

        check_target(arguments.figure, "--figure", sources=[arguments.out])
        check_figure_name(arguments.figure)


def _read(path: str) -> list[RobustnessRecord]:
    """The records of a study; an incomplete last line is reported on standard error."""
    from hardmargin.bench.robustness import read_records

    with warnings_told():
        records = read_records(path)
    if not records:
        raise ValueError(f"there are no evaluations in {path}; leave --show-only out to make them.")
    return records


def _evaluated(arguments: argparse.Namespace) -> list[RobustnessRecord]:
    """The records of the study, after the missing evaluations have been run."""
    from hardmargin.bench.robustness import run_study

    study = _study(arguments)
    with study_progress(arguments.out, verbose=arguments.verbose) as report:
        return run_study(study, arguments.out, jobs=arguments.jobs, report=report)


def _study(arguments: argparse.Namespace) -> Study:
    from hardmargin.bench.robustness import MODELS, Protocol, Study

    protocol = Protocol(
        C=tuple(sorted(arguments.C)),
        folds=arguments.folds,
        fit_seconds=arguments.fit_seconds,
        final_seconds=arguments.final_seconds,
        n_test=arguments.test_samples,
        seed=arguments.seed,
    )
    return Study(
        settings=_settings(arguments),
        shares=sorted({share / 100 for share in arguments.shares}),
        repetitions=arguments.repetitions,
        models=list(dict.fromkeys(arguments.models or MODELS)),
        protocol=protocol,
    )


def _settings(arguments: argparse.Namespace) -> list[Setting]:
    from hardmargin.bench.instances.data_folder import named_folder
    from hardmargin.bench.robustness import KINDS, UCI, Generated, uci_settings

    kinds = list(dict.fromkeys(arguments.settings or KINDS))
    for kind in kinds:
        if kind not in (*KINDS, UCI):
            raise ValueError(f"--settings has {kind!r}; expected some of {', '.join((*KINDS, UCI))}.")
    found: list[Setting] = [
        Generated(kind, arguments.n, d) for d in dict.fromkeys(arguments.d) for kind in kinds if kind != UCI
    ]
    if UCI not in kinds:
        return found
    folder = named_folder(arguments.data)
    try:
        if folder is None:
            raise FileNotFoundError("no data folder is named; give --data DIR or set HARDMARGIN_DATA.")
        folds = uci_settings(folder, arguments.uci)
    except FileNotFoundError as error:
        if not found:
            raise
        # The generated settings need no files, so the study continues without these.
        print(f"hardmargin: the UCI folds are left out: {error}", file=sys.stderr)
        return found
    return [*found, *folds]


def _refuse_failures(records: list[RobustnessRecord]) -> None:
    errors = [record.error for record in records if record.error is not None]
    if errors:
        raise ValueError(f"{len(errors)} of {len(records)} evaluations failed, the first with: {errors[0]}")
