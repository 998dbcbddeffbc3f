"""Best known values: their files, and what records add."""

from __future__ import annotations

import pytest

from bench_records import record
from hardmargin.bench.records.best_known import Known, best_known_table, extend_solu, read_solu


def test_records_extend_a_file(tmp_path):
    path = tmp_path / "best.solu"
    path.write_text("# published\n=best= n60d2ATj0_C10 120\n=opt= adult5f1i1.train_C0.5 7.25\n")
    records = [
        record(objective=100.1, gap=0.0),
        record(seed=1, objective=110.0, gap=0.5),
        record(C=1.0, objective=9.0, gap=1e-5),
        record(C=100.0, objective=5.0, gap=0.0, checked=False),
    ]
    extend_solu(path, records)
    assert path.read_text().splitlines() == [
        "=opt= adult5f1i1.train_C0.5 7.25",
        "=best= n60d2ATj0_C1 9.0",
        "=opt= n60d2ATj0_C10 100.1",
    ]
    assert {key: entry.value for key, entry in read_solu(path).items()}["n60d2ATj0", 10.0] == 100.1


def test_a_proof_is_not_lost_to_an_equal_value(tmp_path):
    path = tmp_path / "best.solu"
    extend_solu(path, [record(objective=100.0, gap=0.0), record(seed=1, objective=100.0 - 1e-9, gap=0.1)])
    assert path.read_text() == "=opt= n60d2ATj0_C10 100.0\n"


@pytest.mark.parametrize("line", ["=opt= n60d2ATj0 1", "=inf= n60d2ATj0_C1", "=opt= n60d2ATj0_C1 x", "=opt= _C1 2"])
def test_other_lines_are_refused(line, tmp_path):
    path = tmp_path / "best.solu"
    path.write_text(f"\n{line}\n")
    with pytest.raises(ValueError, match=r"best\.solu:2"):
        read_solu(path)


def test_the_table_of_the_data_folder(tmp_path):
    assert best_known_table(tmp_path) == {}
    table = tmp_path / "best_known.csv"
    table.write_text("instance,C,value,status,source\nn60d2ATj0,10,1.5,proven,x\nn60d2ATj1,10,2.5,best,x\n")
    assert best_known_table(tmp_path) == {
        ("n60d2ATj0", 10.0): Known(1.5, True, 5e-7, str(table)),
        ("n60d2ATj1", 10.0): Known(2.5, False, 5e-7, str(table)),
    }
    table.write_text("name,value\nx,1\n")
    with pytest.raises(ValueError, match="expected the columns"):
        best_known_table(tmp_path)
