"""Uploads in parts, which continue where they were cut."""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import prism_results._async.files as async_files
import prism_results._sync.files as sync_files
from prism_results import Client, TimedOutError, UnauthorizedError, UnavailableError, UnusableFileError
from prism_results._core import PATIENCE
from prism_results._source import Source
from tests.fakefiles import FakeFiles
from tests.samples import UNAVAILABLE, file
from tests.serving import Handler, Request

Serve = Callable[[Handler], Client]
CONTENT = b"id,message\n1,hello\n2,bye\n"


def upload(client: Client, content: bytes = CONTENT, **more: Any) -> Any:
    return client.upload_file(content, **{"name": "tickets.csv", **more})


def test_a_file_is_uploaded_in_parts(serve: Serve) -> None:
    fake, told = FakeFiles(), list[tuple[int, int]]()
    got = upload(serve(fake.handle), progress=lambda *sent: told.append(sent))
    assert (got.status, got.bytes, got.parts) == ("ready", len(CONTENT), 4)
    assert told == sorted(told)
    assert (len(told), told[-1]) == (4, (len(CONTENT), len(CONTENT)))
    fake.has(CONTENT)


def test_parts_are_sent_several_at_a_time(serve: Serve) -> None:
    fake, both = FakeFiles(), threading.Barrier(2)

    def before(request: Request) -> bool:
        if request.method == "PUT":
            both.wait(60)  # no part is stored before the other one is sent
        return True

    fake.before = before
    upload(serve(fake.handle), CONTENT[:16])
    fake.has(CONTENT[:16])


@pytest.mark.parametrize("taken", [False, True], ids=["lost request", "lost answer"])
def test_an_upload_continues_after_each_request_that_is_lost(serve: Serve, taken: bool) -> None:
    """One request after the other is lost, as often as the client repeats a call, so that the upload itself continues."""
    lost, requests = 0, 1
    while lost < requests:
        fake, seen = FakeFiles(), list[Request]()
        paths: dict[str, int] = {}

        def before(
            request: Request, fake: FakeFiles = fake, seen: list[Request] = seen, paths: dict[str, int] = paths, lost: int = lost
        ) -> bool:
            seen.append(request)
            what = f"{request.method} {request.path}"
            paths.setdefault(what, 0)
            if list(paths).index(what) != lost or paths[what] == 4:
                return True
            paths[what] += 1
            if taken:
                fake.before = lambda _: True
                request.chunked = True
                fake.handle(Request(request.method, request.path, request.query, request.headers, request.body, Unsent()))  # type: ignore[arg-type]
                fake.before = before
                request.chunked = False
            return False

        fake.before = before
        upload(serve(fake.handle))
        fake.has(CONTENT)
        requests, lost = len(paths), lost + 1
    assert requests >= 8


class Unsent:
    """Takes an answer that is not sent."""

    wfile = io.BytesIO()

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *words: None


def test_an_upload_continues_in_another_program(serve: Serve) -> None:
    fake = FakeFiles()

    def before(request: Request) -> bool:
        if request.path.endswith("/parts/3"):
            request.error(401, "unauthorized")
            return False
        return True

    fake.before = before
    client = serve(fake.handle)
    with pytest.raises(UnauthorizedError):
        upload(client)
    fake.before = lambda _: True
    upload(client)
    fake.has(CONTENT)
    assert (fake.puts, len(fake.files)) == (4, 1)
    assert upload(client).status == "ready"
    assert (fake.puts, len(fake.files)) == (4, 1), "a file that is there was sent again"
    upload(client, name="other.csv")
    assert (fake.puts, len(fake.files)) == (8, 2)
    upload(client)
    assert (fake.puts, len(fake.files)) == (8, 2), "a file behind the first page was sent again"


def test_an_upload_with_other_content_is_begun_anew(serve: Serve) -> None:
    fake = FakeFiles()
    client = serve(fake.handle)
    stuck = client.create_file("tickets.csv", "csv", len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())
    for n in range(stuck.parts):  # the file was another while these were sent
        client.put_part(stuck.id, n + 1, b"x" * min(stuck.part_bytes, stuck.bytes - n * stuck.part_bytes))
    assert upload(client).id != stuck.id
    fake.has(CONTENT)


def test_a_file_of_many_parts_is_asked_for_in_turns(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (async_files, sync_files):
        monkeypatch.setattr(module, "MOST_MISSING", 20)
    fake, told = FakeFiles(part_bytes=1, most_named=20), list[int]()
    content = b"x" * 45
    upload(serve(fake.handle), content, progress=lambda sent, _: told.append(sent))
    assert told == sorted(told)
    assert told[-1] == len(content)
    fake.has(content)


def test_an_unusable_file_says_why(serve: Serve) -> None:
    fake = FakeFiles()

    def before(request: Request) -> bool:
        if request.method == "GET" and fake.files and fake.files[0]["status"] == "reading":
            request.value(200, file(status="unusable", error="Line 7: not UTF-8."))
            return False
        return True

    fake.before = before
    with pytest.raises(UnusableFileError, match=r"the file is unusable: Line 7: not UTF-8\.") as err:
        upload(serve(fake.handle))
    assert err.value.file.status == "unusable"


def test_a_server_that_stays_away_ends_an_upload(serve: Serve) -> None:
    requests: list[Request] = []

    def handle(request: Request) -> None:
        requests.append(request)
        request.value(503, UNAVAILABLE)

    with pytest.raises(UnavailableError):
        upload(serve(handle))
    assert len(requests) == PATIENCE * 4


def test_a_timeout_bounds_the_whole_upload(serve: Serve) -> None:
    fake = FakeFiles()

    def before(request: Request) -> bool:
        if request.method == "GET" and request.path != "/v1/files":
            request.value(200, {**fake.files[0], "status": "reading"})  # for ever
            return False
        return True

    fake.before = before
    with pytest.raises(TimedOutError):
        upload(serve(fake.handle).with_options(timeout=0.5))


def test_a_refused_key_ends_an_upload(serve: Serve) -> None:
    with pytest.raises(UnauthorizedError):
        upload(serve(lambda request: request.error(401, "unauthorized")))


class Shrinking(io.BytesIO):
    """Is whole until it was read once."""

    whole = True

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size) if self.whole else b""
        self.whole = False
        return data


def test_a_file_that_becomes_shorter_is_not_uploaded(serve: Serve) -> None:
    with pytest.raises(EOFError, match=r"tickets.csv became shorter"):
        serve(FakeFiles().handle).upload_file(Shrinking(CONTENT), name="tickets.csv")


def test_content_is_a_path_or_bytes_or_a_file(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "tickets.csv"
    path.write_bytes(CONTENT)
    with path.open("rb") as opened:
        for content in (path, str(path), opened):
            fake = FakeFiles()
            assert serve(fake.handle).upload_file(content).name == "tickets.csv"
            fake.has(CONTENT)
        assert not opened.closed, "it is the caller's to close"


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.csv", "csv"),
        ("b.TSV", "tsv"),
        ("c.jsonl", "jsonl"),
        ("d.xlsx", "xlsx"),
        ("e.x.parquet", "parquet"),
        ("f.xls", ""),
        ("g", ""),
        ("h.ndjson", "jsonl"),
        ("i.XLSM", "xlsx"),
        ("j.csv.gz", "csv"),
        ("k.ndjson.zst", "jsonl"),
        ("l.xlsm.zip", "xlsx"),
        ("m.ods", ""),
    ],
)
def test_the_extension_says_the_format(name: str, format: str) -> None:
    if format:
        assert Source(b"abc", name, None).format == format
    else:
        with pytest.raises(ValueError, match="give format"):
            Source(b"abc", name, None)
    assert Source(b"abc", name, "tsv").format == "tsv"


def test_content_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="give name"):
        Source(b"abc", None, "csv")


def test_rows_of_a_file_keep_their_order(serve: Serve) -> None:
    def handle(request: Request) -> None:
        assert (request.path, request.query) == ("/v1/files/f/rows", {"offset": "3", "limit": "7"})
        request.value(200, {"data": [{"z": "1", "a": "", "n": None}]})

    (row,) = serve(handle).list_file_rows("f", offset=3, limit=7).data
    assert list(row.items()) == [("z", "1"), ("a", ""), ("n", None)]
