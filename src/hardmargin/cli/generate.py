"""``hardmargin generate``: random instances like those of the benchmark."""

from __future__ import annotations

import argparse

from hardmargin import data
from hardmargin.cli.output import STDOUT, check_target
from hardmargin.cli.parser import Commands, add_quiet_argument
from hardmargin.cli.status import DONE


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "generate",
        help="draw a random instance",
        description="Draw two Gaussian classes of which a tenth are outliers: spread widely (type A) or in a "
        "cluster behind the other class (type B). The same seed gives the same data.",
    )
    parser.add_argument("--type", required=True, choices=("A", "B"), help="kind of outliers")
    parser.add_argument("--n", type=int, required=True, help="number of samples")
    parser.add_argument("--d", type=int, required=True, help="number of features")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random numbers (default 0)")
    parser.add_argument("--format", metavar="F", default="brooks", help="brooks (default), libsvm or csv")
    parser.add_argument("--output", metavar="FILE", default=STDOUT, help="default: standard output")
    add_quiet_argument(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Draw the instance and write it."""
    check_target(arguments.output, "--output")
    dataset = data.generate(arguments.type, arguments.n, arguments.d, arguments.seed)
    if arguments.output != STDOUT:
        data.save(dataset, arguments.output, arguments.format)
        if not arguments.quiet:
            print(arguments.output)
    else:
        print(data.dumps(dataset, arguments.format), end="")
    return DONE
