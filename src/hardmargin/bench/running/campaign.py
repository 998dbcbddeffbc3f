"""A campaign: makes the missing runs, checks each of them and appends it to the file."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from hardmargin.bench.instances.source import Source
from hardmargin.bench.records.best_known import Key, Known
from hardmargin.bench.records.files import RecordFile, latest_records
from hardmargin.bench.records.record import Record, read_records
from hardmargin.bench.running.checking import Contradiction, Knowledge, record_of, withdrawn
from hardmargin.bench.running.execution import RunOutcome, task_of
from hardmargin.bench.running.plan import Job
from hardmargin.data import Dataset
from hardmargin.signals import HeldSignals

# Consecutive runs often use the same instance.
_KEPT_DATASETS = 16


class Runner(Protocol):
    """Makes the runs: this machine, or a cluster."""

    at_once: int

    def outcomes(
        self, jobs: Iterable[Job], task_of: Callable[[Job], dict[str, Any]]
    ) -> Generator[tuple[Job, RunOutcome], None, None]:
        """Make the runs, and yield each with its outcome as it ends; if this is stopped, all of them are ended."""

    def close(self) -> None:
        """Release its resources."""


class Watcher(Protocol):
    """Is informed about the progress of a campaign."""

    def begin(self, total: int, skipped: Sequence[Record], at_once: int) -> None:
        """The campaign starts: ``total`` runs belong to it, and ``skipped`` are already done."""

    def ended(self, record: Record) -> None:
        """A run has ended."""

    def contradiction(self, contradiction: Contradiction) -> None:
        """A claim has turned out to be wrong."""


@dataclass
class Campaign:
    """Runs to be made, and the file for their records.

    Parameters
    ----------
    path : Path
        The file. Runs that have a record in it are skipped.
    jobs : sequence of Job
    source : Source
        Where the samples come from.
    known : sequence of mappings
        Best known values, which no record may contradict.
    retry_failed : bool
        Whether to repeat runs that ended without an answer.
    """

    path: Path
    jobs: Sequence[Job]
    source: Source
    known: Sequence[Mapping[Key, Known]] = ()
    retry_failed: bool = False
    _datasets: OrderedDict[str, Dataset] = field(default_factory=OrderedDict, repr=False)

    @property
    def contradictions_path(self) -> Path:
        """The file for contradictions."""
        return self.path.with_name(f"{self.path.stem}.contradictions.jsonl")

    def run(self, runner: Runner, watcher: Watcher) -> int:
        """Make the missing runs.

        Parameters
        ----------
        runner : Runner
            Makes them.
        watcher : Watcher
            Informed about the progress.

        Returns
        -------
        contradictions : int
            How many claims have turned out to be wrong.

        Raises
        ------
        ValueError
            If the file or the samples cannot be used.
        KeyboardInterrupt
            After Ctrl-C, when all runs have ended; the file has the records of all finished ones.
        """
        self.source.check({job.instance: None for job in self.jobs})
        with RecordFile(self.path) as file:
            present = read_records(self.path)
            knowledge = Knowledge(self.known)
            for record in present:
                knowledge.add(record)
            done = self._done(present)
            waiting = [job for job in self.jobs if job.key not in done]
            watcher.begin(len(self.jobs), [done[job.key] for job in self.jobs if job.key in done], runner.at_once)
            contradictions = 0
            outcomes = runner.outcomes(waiting, lambda job: task_of(job, self._samples(job.instance.name)))
            # Whatever happens in between, the current runs are ended before the file is closed.
            with closing(outcomes):
                for job, outcome in outcomes:
                    # Ctrl-C never falls between writing a record and reporting it.
                    with HeldSignals():
                        contradictions += self._take(job, outcome, file, knowledge, watcher)
            return contradictions

    def missing(self) -> list[Job]:
        """The runs that are still missing.

        Raises
        ------
        ValueError
            If the file of records is a file of another kind.
        """
        if not self.path.exists():
            return list(self.jobs)
        done = self._done(latest_records(self.path, Record)[0])
        return [job for job in self.jobs if job.key not in done]

    def _done(self, present: Iterable[Record]) -> dict[str, Record]:
        return {record.key: record for record in present if record.answered or not self.retry_failed}

    def _take(self, job: Job, outcome: RunOutcome, file: RecordFile, knowledge: Knowledge, watcher: Watcher) -> int:
        """Check an outcome and append it, or report what is wrong with it; return how many claims are wrong."""
        record, complaint = record_of(job, outcome, self._samples(job.instance.name))
        complaint = complaint or knowledge.against_files(record)
        found = [Contradiction(record, complaint)] if complaint else knowledge.against_records(record)
        for contradiction in found:
            with RecordFile(self.contradictions_path) as contradictions:
                contradictions.append(contradiction.to_json())
            if contradiction.record.key != record.key:
                # It is already in the file; the appended record replaces it.
                replacement = withdrawn(contradiction.record, contradiction.reason)
                file.append(replacement.to_json())
                knowledge.add(replacement)
            watcher.contradiction(contradiction)
        if all(contradiction.record.key != record.key for contradiction in found):
            file.append(record.to_json())
            knowledge.add(record)
            watcher.ended(record)
        return len(found)

    def _samples(self, name: str) -> Dataset:
        if name not in self._datasets:
            self._datasets[name] = self.source.load(name)
            while len(self._datasets) > _KEPT_DATASETS:
                self._datasets.popitem(last=False)
        return self._datasets[name]
