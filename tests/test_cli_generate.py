"""``hardmargin generate``: the same instance on standard output, in a file and from the library."""

from __future__ import annotations

import numpy as np
import pytest

from hardmargin import data
from hardmargin.cli import main

SIZES = ["--n", "40", "--d", "3", "--seed", "5"]


@pytest.mark.parametrize("kind", ["A", "B"])
@pytest.mark.parametrize("format", data.FORMATS)
def test_files_and_standard_output_hold_what_the_library_draws(kind, format, tmp_path, capsys):
    file = tmp_path / "data"
    words = ["generate", "--type", kind, *SIZES, "--format", format]
    assert main([*words, "--output", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    assert main([*words, "--output", str(file), "--quiet"]) == 0
    assert main(words) == 0
    assert capsys.readouterr().out == file.read_text()
    read, drawn = data.load(file), data.generate(kind, 40, 3, 5)
    assert read.format == format
    assert np.array_equal(read.X, drawn.X)
    assert np.array_equal(read.y, drawn.y)


def test_brooks_format_is_the_default(capsys):
    assert main(["generate", "--type", "A", *SIZES]) == 0
    assert capsys.readouterr().out.startswith("40\n3\n")


def test_a_missing_folder_is_refused(tmp_path, capsys):
    target = tmp_path / "missing" / "data"
    assert main(["generate", "--type", "A", *SIZES, "--output", str(target)]) == 2
    assert "there is no folder" in capsys.readouterr().err
