"""Pairs and must-hit sets that share out the costs of the samples of a region."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Cover:
    """Pairs and must-hit sets with their shares, and what they take from each sample; in the unit of the piece."""

    pairs: dict[tuple[int, int], int] = field(default_factory=dict)
    sets: list[tuple[frozenset[int], int]] = field(default_factory=list)
    loads: dict[int, int] = field(default_factory=dict)
    total: int = 0

    def copy(self) -> Cover:
        """The same cover, for changes."""
        return Cover(dict(self.pairs), list(self.sets), dict(self.loads), self.total)

    def load(self, sample: int) -> int:
        """What is taken from a sample."""
        return self.loads.get(sample, 0)

    def _change(self, members: frozenset[int] | tuple[int, int], change: int) -> None:
        self.total += change
        for sample in members:
            self.loads[sample] = self.loads.get(sample, 0) + change

    def set_pair(self, pair: tuple[int, int], share: int) -> None:
        """Give a pair another share; 0 removes it."""
        self._change(pair, share - self.pairs.pop(pair, 0))
        if share:
            self.pairs[pair] = share

    def add_set(self, members: frozenset[int], share: int) -> None:
        """Add a set."""
        self._change(members, share)
        self.sets.append((members, share))

    def drop_sets(self, samples: frozenset[int]) -> None:
        """Remove the sets that contain one of these samples."""
        for members, share in self.sets:
            if members & samples:
                self._change(members, -share)
        self.sets = [entry for entry in self.sets if not entry[0] & samples]

    def without(self, sample: int) -> None:
        """Remove the pairs and sets that contain a sample."""
        for pair in [pair for pair in self.pairs if sample in pair]:
            self.set_pair(pair, 0)
        self.drop_sets(frozenset((sample,)))

    def shared(self, sample: int, other: int) -> int:
        """The shares of pairs and sets that contain both samples."""
        pairs = self.pairs.get((sample, other), 0) + self.pairs.get((other, sample), 0)
        return pairs + sum(share for members, share in self.sets if sample in members and other in members)
