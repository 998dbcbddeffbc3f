"""Reading files: compression, encodings, and files that are not text."""

import gzip
import io
import itertools
import os
import threading

import pytest

from hardmargin.data import DataError, source


def zipped(content: bytes) -> bytes:
    """Without the time of day, which would become part of a test's name."""
    return gzip.compress(content, mtime=0)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "file"


@pytest.mark.parametrize(
    "content",
    [b"1 2\r\n", b"\xef\xbb\xbf1 2\r\n", zipped(b"1 2\r\n"), zipped(b"\xef\xbb\xbf1 2\r\n")],
    ids=["plain", "byte order mark", "gzip", "both"],
)
def test_text(file, content):
    file.write_bytes(content)
    found = source.read_source(file)
    assert found.text == "1 2\r\n"
    assert found.name == str(file)


def test_lines_are_counted_as_an_editor_does():
    text = "one\r\n\r\ntwo\rthree\x0cstill three\x85and\u2028here\n\n  \nseven"
    assert [number for number, _ in source.Source("file", text).lines()] == [1, 3, 4, 7]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no content; expected samples"),
        (b"\xef\xbb\xbf \r\n\t\n", "has no content; expected samples"),
        (b"1 2\n\0\n", "found binary content; expected text in UTF-8"),
        ("1 2\n".encode("utf-16"), "found binary content; expected text in UTF-8"),
        (zipped(b"\0"), "found binary content; expected text in UTF-8"),
        (zipped(b"1 2 3" * 100)[:-10], "damaged gzip file .*; expected a complete one."),
        (b"\x1f\x8b", "damaged gzip file .*; expected a complete one."),
        (b"\x1f\x8bgarbage" * 9, "damaged gzip file .*; expected a complete one."),
        (zipped(b"1")[:10] + b"\xff" * 20, "damaged gzip file .*; expected a complete one."),
        (zipped(b"1 2") + b"trailing", "damaged gzip file .*; expected a complete one."),
    ],
)
def test_content_that_is_no_text(file, content, message):
    file.write_bytes(content)
    with pytest.raises(DataError, match=f"^{file}: {message}"):
        source.read_source(file)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_line_of_a_byte_that_is_no_utf8(file, mark):
    file.write_bytes(mark + b"1,a\n2,b\n3,\xe9\n")
    with pytest.raises(DataError, match=f"^{file}:3: found the byte 0xe9; expected text in UTF-8."):
        source.read_source(file)


def test_a_directory(tmp_path):
    with pytest.raises(DataError, match=f"^{tmp_path}: is a directory; expected a data file."):
        source.read_source(tmp_path)


def test_no_such_file(file):
    with pytest.raises(FileNotFoundError, match=file.name):
        source.read_source(file)


@pytest.mark.parametrize("pack", [bytes, zipped])
def test_too_much_text(file, monkeypatch, pack):
    monkeypatch.setattr(source, "MAX_BYTES", 1000)
    file.write_bytes(pack(b"1 2\n" * 250))
    assert len(source.read_source(file).text) == 1000
    file.write_bytes(pack(b"1 2\n" * 250 + b"\n"))
    with pytest.raises(DataError, match=r"more than 1000 bytes of text; expected at most that many."):
        source.read_source(file)


def test_an_endless_binary_stream_is_refused_at_once(monkeypatch):
    class Endless(io.RawIOBase):
        reads = itertools.count()

        def readable(self):
            return True

        def readinto(self, buffer):
            assert next(self.reads) < 1000
            buffer[:] = bytes(len(buffer))
            return len(buffer)

    monkeypatch.setattr("builtins.open", lambda *_: io.BufferedReader(Endless()))
    with pytest.raises(DataError, match="found binary content"):
        source.read_source("endless")


def test_long_words_are_shortened():
    assert source.shown("x" * 40) == repr("x" * 40)
    assert source.shown("x" * 41) == repr("x" * 37 + "...")


@pytest.mark.parametrize(
    ("begin", "kind"),
    [(b"PK\x03\x04\x14\x00", "a spreadsheet or a zip archive"), (b"PAR1\x15\x04", "a Parquet file")],
)
def test_other_kinds_of_files_are_named(begin, kind, tmp_path):
    file = tmp_path / "data.xlsx"
    file.write_bytes(begin)
    with pytest.raises(DataError, match=f"data.xlsx: is {kind}; expected text: save or unpack it as CSV first"):
        source.read_source(file)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_like_a_file(packed, tmp_path):
    text = "a,y\n" + "1,2\n" * 100_000
    content = gzip.compress(text.encode(), mtime=0) if packed else text.encode()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[content])
    writer.start()
    assert source.read_source(pipe).text == text
    writer.join()
