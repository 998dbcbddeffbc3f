"""The study: every model on every draw, in several processes, with each record written as soon as it is known."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

from hardmargin.bench.records.files import RecordFile
from hardmargin.bench.records.machine import machine, utc_now
from hardmargin.bench.robustness.draws import Setting, count_of
from hardmargin.bench.robustness.protocol import MODELS, Protocol, Trial
from hardmargin.bench.robustness.records import Key, RobustnessRecord, check_protocol, whole_records
from hardmargin.signals import HeldSignals
from hardmargin.versions import installed_versions

#: The default shares of bad samples.
SHARES = (0.0, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Study:
    """What to evaluate.

    Parameters
    ----------
    settings : sequence of Setting
        Where the data come from.
    shares : sequence of float
        Shares of bad training samples, fractions from 0 to 0.5.
    repetitions : int
        Draws per setting and share; a UCI data set has as many as it has folds, at most this number.
    models : sequence of str
        Some of :data:`MODELS`.
    protocol : Protocol
        How C is chosen.
    """

    settings: Sequence[Setting]
    shares: Sequence[float] = SHARES
    repetitions: int = 10
    models: Sequence[str] = MODELS
    protocol: Protocol = field(default_factory=Protocol)

    def __post_init__(self) -> None:
        for share in self.shares:
            if not 0 <= share <= 0.5:
                raise ValueError(f"a share of bad samples is {100 * share:g} %; expected 0 to 50 %.")
            for setting in self.settings if share > 0 else ():
                self._refuse_no_sample(setting, share)
        if self.repetitions < 1:
            raise ValueError(f"the number of repetitions is {self.repetitions}; expected at least 1.")
        for model in self.models:
            if model not in MODELS:
                raise ValueError(f"the model is {model!r}; expected one of {', '.join(MODELS)}.")

    def _refuse_no_sample(self, setting: Setting, share: float) -> None:
        """Refuse shares of less than one sample: a curve over them would look robust."""
        n = setting.n_train()
        if count_of(share, n) == 0:
            raise ValueError(
                f"a share of bad samples is {100 * share:g} %, which is less than one of the {n} training samples "
                f"of {setting.name}; expected 0 %, or enough for one sample. Note that --shares are percent: 10 is "
                "a tenth."
            )

    def evaluations(self) -> Iterator[Task]:
        """All evaluations, repetition by repetition, so that an interrupted study has complete repetitions."""
        for repetition in range(self.repetitions):
            for setting in self.settings:
                if repetition < setting.repetitions(self.repetitions):
                    for share in self.shares:
                        for model in self.models:
                            yield Task(setting, share, repetition, model, self.protocol)


class Task(NamedTuple):
    """One evaluation to be made."""

    setting: Setting
    share: float
    repetition: int
    model: str
    protocol: Protocol

    @property
    def key(self) -> Key:
        """The same as that of its record."""
        return self.setting.name, self.share, self.repetition, self.model


def run_study(
    study: Study,
    path: str | os.PathLike[str],
    *,
    jobs: int = 1,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> list[RobustnessRecord]:
    """Make the evaluations that are missing in the file, and append their records to it.

    It may be interrupted at any time and called again: finished evaluations are kept and not repeated. Failed
    evaluations are tried again.

    Parameters
    ----------
    study : Study
        What to evaluate.
    path : str or path-like
        A file of JSON lines; created if missing.
    jobs : int
        Number of processes. Time limits count wall time, so more processes than cores make fits worse.
    report : callable
        Called with the number of evaluations done and their total, once at the start and after each.

    Returns
    -------
    list of RobustnessRecord
        All records of the file, in the order of the study.

    Raises
    ------
    ValueError
        If the file belongs to a study with another protocol, or jobs is not positive.
    """
    if jobs < 1:
        raise ValueError(f"jobs is {jobs}; expected at least 1.")
    tasks = list(study.evaluations())
    if os.path.exists(path):
        # Before it is opened for appending, which removes an incomplete last line of a file of any kind.
        _known(study, path)
    with RecordFile(path) as file:
        known = _known(study, path)
        todo = [task for task in tasks if task.key not in known or known[task.key].error is not None]
        report(len(tasks) - len(todo), len(tasks))
        with _records_of(todo, jobs) as records:
            for count, record in enumerate(records, start=len(tasks) - len(todo) + 1):
                # Ctrl-C never falls between writing a record and reporting it.
                with HeldSignals():
                    file.append(record.to_json())
                    known[record.key] = record
                    report(count, len(tasks))
    order = {task.key: place for place, task in enumerate(tasks)}
    return sorted(known.values(), key=lambda record: order.get(record.key, len(order)))


def _known(study: Study, path: str | os.PathLike[str]) -> dict[Key, RobustnessRecord]:
    """The records that the file already contains; ValueError if it belongs to another study."""
    records, _ = whole_records(path)
    check_protocol(records, protocol_values(study.protocol), path)
    return {record.key: record for record in records}


def protocol_values(protocol: Protocol) -> dict[str, Any]:
    """The protocol in the form of the records."""
    return {**asdict(protocol), "C": list(protocol.C)}


@contextmanager
def _records_of(tasks: Sequence[Task], jobs: int) -> Iterator[Iterator[RobustnessRecord]]:
    """The records of the tasks, as they arrive; nothing keeps running afterwards."""
    if jobs == 1 or len(tasks) < 2:
        yield map(make_record, tasks)
        return
    # Fresh interpreters: a fork would copy the threads of numerical libraries in an undefined state.
    context = multiprocessing.get_context("spawn")
    strangers = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=context, initializer=_leave_signals_to_parent)
    try:
        futures = [pool.submit(make_record, task) for task in tasks]
        yield (future.result() for future in as_completed(futures))
    except BaseException:
        # Waiting for running fits would delay Ctrl-C by minutes.
        workers = set(multiprocessing.active_children()) - strangers
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_signals_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def make_record(task: Task) -> RobustnessRecord:
    """Make one evaluation; an error is recorded instead of raised, so that the others continue."""
    # Imported here, because scikit-learn takes long to import, and not every study has something to evaluate.
    from hardmargin.bench.robustness.models import evaluate

    started = utc_now()
    protocol = task.protocol
    draw = task.setting.draw(task.share, task.repetition, protocol.seed, protocol.n_test)
    outcome: dict[str, Any]
    try:
        outcome = {**asdict(evaluate(task.model, draw, protocol, task.repetition)), "error": None}
    except (ValueError, ArithmeticError, MemoryError) as error:
        outcome = {
            **dict.fromkeys(item.name for item in fields(Trial)),
            "error": " ".join(f"{type(error).__name__}: {error}".split()),
        }
    return RobustnessRecord(
        setting=task.setting.name,
        share=task.share,
        repetition=task.repetition,
        model=task.model,
        n=draw.train.n,
        m=draw.train.m,
        n_bad=len(draw.bad),
        n_test=draw.test.n,
        protocol=protocol_values(protocol),
        best_possible=task.setting.best_possible,
        machine=machine(),
        versions=installed_versions(),
        started=started,
        **outcome,
    )
