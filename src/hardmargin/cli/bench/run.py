"""``hardmargin bench run``: a campaign."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hardmargin.cli.bench.selection import add_selection_arguments, chosen_pairs, chosen_source, words
from hardmargin.cli.output import check_target
from hardmargin.cli.parser import Commands, Parser
from hardmargin.cli.search_arguments import add_option_argument
from hardmargin.cli.status import CLAIM_FAILED, DONE, INTERRUPTED
from hardmargin.units import GIGABYTE

if TYPE_CHECKING:
    from hardmargin.bench.running.campaign import Campaign, Runner
    from hardmargin.bench.running.plan import Job


def add_to(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "run",
        help="run a campaign",
        description="Solve instances with methods, one process per run, and append a record of each to a file. "
        "Every answer is checked first; a wrong claim is an error (exit status 1), not a record. Runs that the "
        "file has are skipped: after Ctrl-C, the same command continues.",
    )
    parser.add_argument("--out", metavar="FILE", required=True, help="the records, JSON lines; extended if present")
    _add_variant_arguments(parser)
    add_selection_arguments(parser)
    _add_limit_arguments(parser)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at a time (default 1)")
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="run on the Dask cluster there; 'local:N' starts one with N workers"
    )
    parser.add_argument(
        "--best-known",
        metavar="FILE",
        help="a .solu file that no record may contradict; what the campaign finds is added to it",
    )
    parser.add_argument("--retry-failed", action="store_true", help="repeat runs that ended without an answer")
    parser.add_argument(
        "--dry-run", action="store_true", help="print the runs that would be made and the longest time, and stop"
    )
    parser.add_argument("--verbose", action="store_true", help="print progress lines even without a terminal")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Plan, run, summarise."""
    # A campaign that writes proofs to the file that selects its pairs could not be resumed.
    check_target(arguments.out, "--out", sources=arguments.unproven_in)
    if arguments.best_known is not None:
        check_target(arguments.best_known, "--best-known", sources=[arguments.out])
    campaign = _campaign(arguments)
    missing = campaign.missing()
    if arguments.dry_run:
        _show_plan(missing, arguments)
        return DONE
    from hardmargin.bench.running.progress import CampaignProgress

    runner = _runner(arguments, nothing_to_do=not missing)
    progress = CampaignProgress(arguments.verbose)
    contradictions = 0
    interrupted = False
    try:
        with progress:
            contradictions = campaign.run(runner, progress)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        runner.close()
    if arguments.best_known is not None:
        _extend(arguments)
    print(f"{arguments.out}: {progress.tally.counts()}; {progress.made} made now", flush=True)
    if interrupted:
        print("interrupted; the same command makes the missing runs", flush=True)
        return INTERRUPTED
    if contradictions:
        print(f"{contradictions} contradictions; see {campaign.contradictions_path}", flush=True)
        return CLAIM_FAILED
    return DONE


def _campaign(arguments: argparse.Namespace) -> Campaign:
    from hardmargin.bench.instances.source import PublishedFiles
    from hardmargin.bench.records.best_known import best_known_table, read_solu
    from hardmargin.bench.running.campaign import Campaign

    # The selection is checked first: it may be wrong, whether or not there are data.
    jobs = _jobs(arguments)
    source = chosen_source(arguments)
    known = [best_known_table(source.folder)] if isinstance(source, PublishedFiles) else []
    if arguments.best_known is not None and Path(arguments.best_known).exists():
        known.append(read_solu(arguments.best_known))
    return Campaign(Path(arguments.out), jobs, source, known, arguments.retry_failed)


def _jobs(arguments: argparse.Namespace) -> list[Job]:
    from hardmargin.bench.running.configurations import DEFAULT, PAPER
    from hardmargin.bench.running.plan import RunLimits, jobs_for

    asked: list[str] | None = arguments.configurations
    configurations = [DEFAULT] if asked is None else words(asked) or list(PAPER)
    methods = words(arguments.methods or ["auto" if asked is None else "benders"])
    memory = None if arguments.memory is None else int(arguments.memory * GIGABYTE)
    return jobs_for(
        chosen_pairs(arguments),
        methods=methods,
        configurations=configurations,
        options=dict(arguments.option),
        seeds=arguments.seeds,
        limits=RunLimits(arguments.time_limit, arguments.gap, arguments.threads, memory),
    )


def _show_plan(jobs: Sequence[Job], arguments: argparse.Namespace) -> None:
    """Print one line per run, then how many there are and how long they take at most."""
    from hardmargin.bench.running.execution import wall_limit
    from hardmargin.bench.running.progress import duration
    from hardmargin.cluster.connection import local_workers
    from hardmargin.cores import available_cores

    for job in jobs:
        options = " ".join(f"{key}={value}" for key, value in job.options.items())
        words = (job.instance.name, f"C={job.C:g}", job.method, job.configuration, f"seed={job.seed}", options)
        print(" ".join(filter(None, words)))
    limit: float = arguments.time_limit
    at_once: int = max(1, arguments.jobs)
    if arguments.cluster is not None:
        # A plan does not ask how many workers another machine has; it assumes one.
        at_once = local_workers(arguments.cluster, max(1, len(available_cores()) // arguments.threads)) or 1
    rounds = math.ceil(len(jobs) / at_once)
    print(
        f"{len(jobs)} run{'s' if len(jobs) != 1 else ''}, {at_once} at a time: {duration(rounds * limit)} if each "
        f"takes its {limit:g} s, {duration(rounds * wall_limit(limit))} if each has to be ended from outside"
    )


def _runner(arguments: argparse.Namespace, *, nothing_to_do: bool) -> Runner:
    from hardmargin.bench.running.local import LocalRunner

    if arguments.cluster is None:
        return LocalRunner(arguments.jobs, arguments.threads)
    if arguments.jobs != 1:
        raise ValueError(
            "--jobs and --cluster were both given; the cluster's workers say how many runs go at a time."
        )
    if nothing_to_do:
        # There is nothing to start a cluster for.
        return LocalRunner(1, 1)
    from hardmargin.bench.running.cluster import ClusterRunner

    return ClusterRunner(arguments.cluster, arguments.threads)


def _extend(arguments: argparse.Namespace) -> None:
    from hardmargin.bench.records.best_known import extend_solu
    from hardmargin.bench.records.record import read_records

    extend_solu(arguments.best_known, read_records(arguments.out))


def _add_variant_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--methods", nargs="+", metavar="NAME", help="default auto; benders if --configurations is given"
    )
    parser.add_argument(
        "--configurations",
        nargs="*",
        metavar="NAME",
        help="default, cb_S_B (T_S and T_B in percent), scip, cplex, stock, the presets paper, "
        "code and best, or several joined by '+'; a method runs with those that it accepts. Without a name: the "
        "eight of the paper",
    )
    add_option_argument(parser, "for methods that have it")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], metavar="N", help="default 0")


def _add_limit_arguments(parser: Parser) -> None:
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="SECONDS", help="of a run (default 60)")
    parser.add_argument("--gap", type=float, default=1e-6, help="relative gap to prove (default 1e-6)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="cores of a run (default 1)")
    parser.add_argument("--memory", type=float, metavar="GB", help="of a run; default: no limit")
