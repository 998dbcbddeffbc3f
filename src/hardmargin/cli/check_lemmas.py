"""``hardmargin check-lemmas``: lemmas of an exported proof, against the data."""

from __future__ import annotations

import argparse

import hardmargin
from hardmargin import model_json
from hardmargin.checker import ProofError, UnreadableProofError
from hardmargin.cli.parser import Commands, add_column_arguments, add_data_arguments, add_model_argument
from hardmargin.cli.samples import labelled_samples_for, reading_arguments
from hardmargin.cli.status import CLAIM_FAILED, DONE
from hardmargin.refutation import check_lemmas
from hardmargin.verification import training_problem


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "check-lemmas",
        help="check the lemmas of an exported proof against the data",
        description="Check the lemmas that 'hardmargin export-proof' wrote, in exact arithmetic, and that the OPB "
        "file states them and nothing else. The costs of the samples are those of the model. A checker of "
        "pseudo-Boolean proofs does the rest. The exit status is 1 if a lemma does not hold.",
    )
    add_model_argument(parser)
    add_data_arguments(parser, "the training data")
    add_column_arguments(parser)
    parser.add_argument("--lemmas", metavar="FILE", required=True, help="the lemmas")
    parser.add_argument("--opb", metavar="FILE", required=True, help="the pseudo-Boolean problem over them")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print what was checked, or what does not hold."""
    model = hardmargin.Result.from_dict(model_json.read_values(arguments.model))
    samples = labelled_samples_for(model, arguments.data, **reading_arguments(arguments))
    assert samples.y is not None
    problem = training_problem(model, samples.X, samples.y)
    if problem.budget is not None:
        raise ValueError(
            "the model has limits on violations; expected one in which every violation costs something."
        )
    try:
        verdict = check_lemmas(arguments.lemmas, arguments.opb, problem.X, problem.y, problem.costs)
    except UnreadableProofError as error:
        raise ValueError(f"{arguments.lemmas}: not a file of lemmas: {error}") from None
    except ProofError as error:
        print(f"DOES NOT HOLD: {error}")
        return CLAIM_FAILED
    print(verdict.summary())
    return DONE
