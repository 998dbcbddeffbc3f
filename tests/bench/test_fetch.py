"""``bench fetch``, from a file server on this machine."""

from __future__ import annotations

import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hardmargin.bench.instances import catalogue, fetch
from hardmargin.bench.instances.catalogue import DataFile
from hardmargin.cli import main

CONTENT = {"n60d2ATj0": b"1\n1\n1 2\n", "adult5f1i1.train": b"2\n1\n1 2\n-1 3\n", "adult5f1i1.test": b"1 2\n"}


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder, records the requests, and fails at first if told to."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.server.failures > 0:
            self.server.failures -= 1
            self.send_error(503)
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    folder = tmp_path / "served"
    folder.mkdir()
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    files = {
        name: DataFile(name, 1, 1, len(content), hashlib.sha256(content).hexdigest())
        for name, content in CONTENT.items()
    }
    monkeypatch.setattr(fetch, "data_files", lambda: files)
    monkeypatch.setattr(fetch, "_PAUSE", 0.0)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as http:
        http.asked, http.failures, http.folder = [], 0, folder
        http.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield http
        http.shutdown()
        thread.join()


def fetched(tmp_path, url):
    return main(["bench", "fetch", "--data", str(tmp_path / "data"), "--url", url])


def test_all_files_come_and_only_once(server, tmp_path, capsys):
    assert fetched(tmp_path, server.url + "/") == 0
    assert "3 files downloaded, 0 already there" in capsys.readouterr().out
    target = tmp_path / "data" / "brooks"
    assert {path.name: path.read_bytes() for path in target.iterdir()} == CONTENT
    (target / "n60d2ATj0").write_bytes(b"damaged")
    server.asked.clear()
    assert fetched(tmp_path, server.url) == 0
    assert server.asked == ["/n60d2ATj0"]
    assert (target / "n60d2ATj0").read_bytes() == CONTENT["n60d2ATj0"]


def test_the_folders_of_the_authors_are_found(server, tmp_path):
    for name in CONTENT:
        folder = server.folder / catalogue.data_files()[name].folder
        folder.mkdir(exist_ok=True)
        (server.folder / name).rename(folder / name)
    assert fetched(tmp_path, server.url) == 0
    assert "/Brooks_SVM_Data/n60d2ATj0" in server.asked
    assert "/Brooks_RealWorldData/adult5f1i1.test" in server.asked


@pytest.mark.parametrize("content", [b"something else", CONTENT["adult5f1i1.train"] + b"1 4\n"])
def test_another_file_is_refused_and_the_rest_comes_later(server, tmp_path, capsys, content):
    (server.folder / "adult5f1i1.train").write_bytes(content)
    assert fetched(tmp_path, server.url) == 2
    assert "adult5f1i1.train is not the published file" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "data" / "brooks").iterdir()] == ["n60d2ATj0"]
    (server.folder / "adult5f1i1.train").write_bytes(CONTENT["adult5f1i1.train"])
    assert fetched(tmp_path, server.url) == 0
    assert "2 files downloaded, 1 already there" in capsys.readouterr().out


def test_a_missing_file_is_named(server, tmp_path, capsys):
    (server.folder / "adult5f1i1.test").unlink()
    assert fetched(tmp_path, server.url) == 2
    assert f"there is no adult5f1i1.test at {server.url}" in capsys.readouterr().err


def test_a_server_that_recovers_is_asked_again(server, tmp_path):
    server.failures = 2
    assert fetched(tmp_path, server.url) == 0


@pytest.mark.parametrize("url", ["nowhere", "http://127.0.0.1:1"])
def test_an_address_without_a_server_is_an_error_in_one_line(url, server, tmp_path, capsys):
    assert fetched(tmp_path, url) == 2
    error = capsys.readouterr().err
    assert "cannot be downloaded" in error
    assert error.count("\n") == 1


def test_a_folder_must_be_named(monkeypatch, capsys):
    monkeypatch.delenv("HARDMARGIN_DATA", raising=False)
    assert main(["bench", "fetch"]) == 2
    assert "--data" in capsys.readouterr().err
