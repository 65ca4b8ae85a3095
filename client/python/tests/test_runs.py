"""Runs that are followed, and downloads of their rows that are cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from prism_results import Client, ColumnsChangedError, NoResponseError, NotFoundError, RowsFormat, TimedOutError
from prism_results._rows import RowSplitter
from tests.fakefiles import FakeFiles
from tests.samples import run
from tests.serving import Handler, Request

Serve = Callable[[Handler], Client]


def event(value: dict[str, Any]) -> str:
    return f": a comment\nevent: run\ndata: {json.dumps(value)}\n\n"


def events(*values: dict[str, Any], rest: str = "", end: bool = True) -> Handler:
    def answer(request: Request) -> None:
        for value in values:
            request.stream(event(value), "text/event-stream")
        request.stream(rest, "text/event-stream")
        if end:
            request.end()

    return answer


@pytest.mark.parametrize(
    ("streams", "reads", "seen", "status"),
    [
        pytest.param(
            [events(run("queued"), run(done=4), run("finished", 10))],
            [],
            [0, 4, 10],
            "finished",
            id="events until it is finished",
        ),
        pytest.param(
            [events(run("pausing", 4), run("paused", 5), run("finished", 10))], [], [4, 5], "paused", id="a pause ends it"
        ),
        pytest.param(
            [events(run(done=1), rest='data: {"id":', end=False), events(run("cancelled", 3))],
            [run(done=2)],
            [1, 2, 3],
            "cancelled",
            id="events that are cut continue",
        ),
        pytest.param([], [run(done=2), run(done=8), run("finished", 10)], [2, 8, 10], "finished", id="without events it asks"),
    ],
)
def test_a_run_is_watched(
    serve: Serve, streams: list[Handler], reads: list[dict[str, Any]], seen: list[int], status: str
) -> None:
    followed: list[Request] = []
    left = list(reads)

    def handle(request: Request) -> None:
        if not request.path.endswith("/events"):
            request.value(200, left.pop(0))
            return
        followed.append(request)
        if len(followed) <= len(streams):
            streams[len(followed) - 1](request)
        else:
            request.reply(404, "text/html", "<h1>proxy</h1>")

    told: list[int] = []
    got = serve(handle).watch_run("r", lambda one: told.append(one.done))
    assert (got.status, told, left) == (status, seen, [])
    assert len(followed) == max(1, len(streams)), "it asked for events that do not arrive"


def test_watching_ends_with_its_timeout(serve: Serve) -> None:
    def handle(request: Request) -> None:
        if request.path.endswith("/events"):
            request.error(404, "not_found")
        else:
            request.value(200, run(done=4))

    told: list[int] = []
    with pytest.raises(TimedOutError):
        serve(handle).with_options(timeout=0.3).watch_run("r", lambda one: told.append(one.done))
    assert set(told) <= {4}


def test_an_error_of_progress_ends_watching(serve: Serve) -> None:
    def broken(_: object) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        serve(events(run(done=1))).watch_run("r", broken)


def test_a_file_is_run(serve: Serve) -> None:
    fake, sent = FakeFiles(), list[dict[str, Any]]()

    def then(request: Request) -> None:
        if (request.method, request.path) == ("POST", "/v1/prisms/tickets/runs"):
            sent.append(request.json())
            if len(sent) > 1:  # the first one is made, and its answer lost
                request.value(201, run("queued"))
        else:
            assert request.path == "/v1/runs/r/events"
            events(run(done=4), run("finished", 10))(request)

    fake.then = then
    told: list[int] = []
    got = serve(fake.handle).run_file(
        "tickets", b"text\na\n", {"message": "text"}, filename="a.csv", progress=lambda one: told.append(one.done), ref="text"
    )
    assert (got.status, told) == ("finished", [4, 10])
    assert sent[0] == sent[1]
    assert sent[0].pop("idempotency_key")
    assert sent[0] == {"file_id": "file-1", "fields": {"message": "text"}, "ref": "text"}
    fake.has(b"text\na\n")


def rows_of(format: RowsFormat, delimiter: str | None = None) -> tuple[str, list[str]]:
    """Rows as Prism writes them, with every text that could be taken for a row's end, of a file that was a download."""
    names = [
        "text",
        "prism_row",
        "prism_result_id",
        "prism_status",
        "prism_error",
        "prism_prism_row",
        "prism_prism_result_id",
        "prism_prism_status",
        "prism_prism_error",
        "prism_prism_prism_row",
        "Topic",
    ]
    rows = []
    for i, cell in enumerate(["plain", "two\r\nlines", 'a "quoted" word', '\r\n\r\n"\r\n', "", '"', "é,\n"]):
        cells = [cell, "99", "an-id", "ok", "", str(i + 1), "id", "ok", "", "98", "é"]
        if format == "jsonl":
            rows.append(json.dumps({**dict(zip(names, cells, strict=True)), names[5]: i + 1}, ensure_ascii=False) + "\n")
        elif format == "tsv" and not delimiter:
            rows.append("\t".join([cell.replace("\n", " ").replace("\r", " "), *cells[1:]]) + "\n")
        else:
            quoted = cell.replace('"', '""')
            rows.append((delimiter or ",").join([f'"{quoted}"', *cells[1:]]) + "\r\n")
    mark = "\ufeff" if delimiter else ""
    header = {"csv": (delimiter or ",").join(names) + "\r\n", "tsv": (delimiter or "\t").join(names) + "\n"}.get(format, "")
    return mark + header, rows


@pytest.mark.parametrize(("format", "delimiter"), [("csv", None), ("tsv", None), ("jsonl", None), ("csv", ";"), ("tsv", "\t")])
def test_rows_continue_behind_a_cut_at_any_byte(format: RowsFormat, delimiter: str | None) -> None:
    """A connection is cut at each byte, and the next one at a byte behind."""
    header, rows = rows_of(format, delimiter)
    whole = header + "".join(rows)
    for first in range(len(whole.encode()) + 1):
        splitter, got, at = RowSplitter(format, 0, delimiter), b"", first
        while True:
            splitter.begin()
            body = (header + "".join(rows[splitter.after() :])).encode()
            got += splitter.take(body[: at // 2]) + splitter.take(body[at // 2 : at])
            if at >= len(body):
                break
            at += len(body) // 2
        splitter.end()
        assert got.decode() == whole, f"cut at {first}"


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_a_download_that_is_cut_continues(serve: Serve, format: RowsFormat) -> None:
    header, rows = rows_of(format)
    asked: list[str] = []

    def handle(request: Request) -> None:
        asked.append(request.query.get("after", "0"))
        body = header + "".join(rows[int(asked[-1]) :])
        if len(asked) > 3:
            request.stream(body)
            request.end()
        else:  # in the third row
            request.stream(body[: len(header) + len("".join(rows[int(asked[-1]) :][:2])) + 3])

    with serve(handle).list_run_rows("r", format=format) as stream:
        assert stream.read().decode() == header + "".join(rows)
    assert asked == ["0", "2", "4", "6"]


def test_a_download_of_pieces_of_any_size_gives_whole_rows(serve: Serve) -> None:
    header, rows = rows_of("csv")
    whole = (header + "".join(rows)).encode()

    def handle(request: Request) -> None:
        for i in range(len(whole)):
            request.stream(whole[i : i + 1])
        request.end()

    with serve(handle).list_run_rows("r") as stream:
        assert [piece.decode() for piece in stream] == [header, *rows]


@pytest.mark.parametrize(
    ("format", "second", "error"),
    [
        ("csv", lambda request: (request.stream("text,Other\r\n"), request.end()), ColumnsChangedError),
        ("csv", lambda request: request.error(404, "not_found", "Run not found"), NotFoundError),
        ("csv", lambda request: None, NoResponseError),
        ("xlsx", None, NoResponseError),
    ],
)
def test_a_download_that_cannot_continue_says_why(
    serve: Serve, format: RowsFormat, second: Handler | None, error: type[Exception]
) -> None:
    header, rows = rows_of("csv")
    requests: list[Request] = []

    def handle(request: Request) -> None:
        requests.append(request)
        if len(requests) == 1:
            request.stream(header + rows[0])
        elif second:
            second(request)

    got: list[bytes] = []
    with serve(handle).list_run_rows("r", format=format, only="ok") as stream, pytest.raises(error):
        got.extend(stream)
    assert b"".join(got).decode() == header + rows[0]
    if second is None:
        assert len(requests) == 1, "it was asked for again"
    else:
        assert (requests[1].query["after"], requests[1].query["only"]) == ("1", "ok")
