"""The arguments that select instances and say where their data are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hardmargin.cli.bench.records import warnings_told
from hardmargin.cli.parser import Parser

if TYPE_CHECKING:
    from hardmargin.bench.instances.catalogue import Instance
    from hardmargin.bench.instances.source import Source
    from hardmargin.bench.running.plan import Pair

DATA_HELP = "folder with the instances in its subfolder brooks; default: $HARDMARGIN_DATA"


def add_instance_arguments(parser: Parser) -> None:
    """Add the arguments that choose instances."""
    parser.add_argument("--instances", nargs="+", default=[], metavar="PART", help="parts of names, e.g. n60d2 5f1")
    parser.add_argument(
        "--sets", nargs="+", default=[], metavar="SET", help="A, B, UCI, or groups like adult, n60d2A"
    )
    parser.add_argument("--data", metavar="DIR", help=DATA_HELP)
    parser.add_argument("--generated", action="store_true", help="random instances instead of published ones")


def add_selection_arguments(parser: Parser) -> None:
    """Add the arguments that choose instances and penalties."""
    add_instance_arguments(parser)
    parser.add_argument("--C", type=float, nargs="+", metavar="C", help="penalties (default 1 10 100 1000 10000)")
    parser.add_argument(
        "--every", type=int, metavar="K", help="one pair of instance and C in K, spread over all groups"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="N pairs of instance and C, spread over all groups")
    parser.add_argument(
        "--unproven-in",
        nargs="+",
        default=[],
        metavar="RECORDS",
        help="only pairs that no run of these files has proven to this gap; --every and --sample count those",
    )


def chosen_source(arguments: argparse.Namespace) -> Source:
    """Where the samples come from.

    Raises
    ------
    ValueError
        If there are no data.
    """
    from hardmargin.bench.instances.data_folder import find_data
    from hardmargin.bench.instances.source import GeneratedData, PublishedFiles

    if arguments.generated and arguments.data:
        raise ValueError("--generated and --data were both given; expected one of them.")
    return GeneratedData() if arguments.generated else PublishedFiles(find_data(arguments.data))


def chosen_instances(arguments: argparse.Namespace) -> list[Instance]:
    """The selected instances, whether or not their samples are available."""
    from hardmargin.bench.instances.catalogue import generated_instances, published_instances, selected

    instances = generated_instances() if arguments.generated else published_instances()
    return selected(instances, words(arguments.instances), words(arguments.sets))


def chosen_pairs(arguments: argparse.Namespace) -> list[Pair]:
    """The selected pairs of instance and penalty, in the order of the campaign.

    Raises
    ------
    ValueError
        If there are none.
    """
    from hardmargin.bench.instances.catalogue import PENALTIES
    from hardmargin.bench.records.record import read_records
    from hardmargin.bench.running.plan import interleaved, sample_size, unproven

    pairs = interleaved(chosen_instances(arguments), arguments.C or PENALTIES)
    if arguments.unproven_in:
        with warnings_told():
            records = [record for path in arguments.unproven_in for record in read_records(path)]
        pairs = unproven(pairs, records, arguments.gap)
        if not pairs:
            raise ValueError(
                f"all selected pairs are proven in {', '.join(arguments.unproven_in)}; choose other "
                "instances or penalties, or a smaller gap."
            )
    return pairs[: sample_size(len(pairs), arguments.every, arguments.sample)]


def words(values: list[str]) -> list[str]:
    """Words separated by blanks or commas.

    Examples
    --------
    >>> words(["auto,benders", "packing"])
    ['auto', 'benders', 'packing']
    """
    return [word for value in values for word in value.split(",") if word]
