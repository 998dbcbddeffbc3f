"""``hardmargin export-proof``: a proof as lemmas and a refutation of a pseudo-Boolean problem."""

from __future__ import annotations

import argparse

import hardmargin
from hardmargin import model_json
from hardmargin.cli.output import STDOUT, check_different, check_target
from hardmargin.cli.parser import Commands, add_column_arguments, add_data_arguments, add_model_argument
from hardmargin.cli.samples import labelled_samples_for, reading_arguments
from hardmargin.cli.status import DONE


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "export-proof",
        help="write a proof in the format of pseudo-Boolean proof checkers",
        description="Write a proof of a model's bound as three files: lemmas, which 'hardmargin check-lemmas' "
        "checks against the data; a pseudo-Boolean problem over these lemmas in OPB format; and a proof in the "
        "format of VeriPB that this problem has no solution. The proof must be one of the method 'packing', with "
        "costs that are equal or small multiples of each other. It is checked first.",
    )
    add_model_argument(parser)
    add_data_arguments(parser, "the training data")
    add_column_arguments(parser)
    parser.add_argument("--proof", metavar="FILE", required=True, help="a proof of 'hardmargin solve --proof'")
    parser.add_argument("--lemmas", metavar="FILE", required=True, help="write the lemmas")
    parser.add_argument("--opb", metavar="FILE", required=True, help="write the pseudo-Boolean problem")
    parser.add_argument("--veripb", metavar="FILE", required=True, help="write its refutation")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the files, and print what they prove."""
    written = {f"--{name}": getattr(arguments, name) for name in ("lemmas", "opb", "veripb")}
    for flag, path in written.items():
        if path == STDOUT:
            raise ValueError(f"{flag} is '-'; the three files cannot be written to standard output: name a file.")
        check_target(path, flag, [arguments.model, arguments.data, arguments.proof])
    check_different(written)
    model = hardmargin.Result.from_dict(model_json.read_values(arguments.model))
    samples = labelled_samples_for(model, arguments.data, **reading_arguments(arguments))
    assert samples.y is not None
    files = {name: getattr(arguments, name) for name in ("proof", "lemmas", "opb", "veripb")}
    print(hardmargin.export_proof(model, samples.X, samples.y, **files).summary())
    return DONE
