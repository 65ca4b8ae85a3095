"""Files and runs of a real Prism, with both clients."""

from __future__ import annotations

import csv
import io
import json

import pytest

from prism_results import Client, ConflictError, NotFoundError
from tests.samples import TRIAGE


def test_files_and_runs(account: Client) -> None:
    account.create_prism("triage", TRIAGE)
    rows = "id,message\n" + "".join(f"{n},where is parcel {n}\n" for n in range(1, 41)) + "41,\n"
    file = account.upload_file(rows.encode(), name="tickets.csv")
    assert (file.status, file.rows, [one.name for one in file.columns or ()]) == ("ready", 41, ["id", "message"])
    assert account.upload_file(rows.encode(), name="tickets.csv").id == file.id
    assert [one.id for one in account.list_files()] == [file.id]
    assert account.list_file_rows(file.id, offset=1, limit=1).data == ({"id": "2", "message": "where is parcel 2"},)
    plan = account.check_run("triage", file.id, {"message": "message"}, rows_per_second=10)
    assert (plan.rows, plan.rows_checked, plan.seconds) == (41, 41, 4.1)

    run = account.create_run("triage", file.id, {"message": "message"}, ref="id", name="May", concurrency=2)
    assert (run.name, run.rows) == ("May", 41)
    told: list[int] = []
    run = account.watch_run(run.id, lambda one: told.append(one.done))
    assert (run.status, run.done, run.settled, told[-1]) == ("finished", 41, True, 41)
    with account.list_run_rows(run.id) as stream:
        table = list(csv.DictReader(io.StringIO(stream.read().decode(), newline="")))
    assert [row["prism_row"] for row in table] == [str(n) for n in range(1, 42)]
    assert {row["topic"] for row in table[:40]} == {"Delivery"}
    with account.list_run_rows(run.id, format="jsonl", only="ok", after=39) as stream:
        assert next(stream.rows())["prism_row"] == 40
    with account.list_run_rows(run.id, format="xlsx") as stream:
        assert stream.read().startswith(b"PK")
    assert [one.ref for one in account.list_results(run=run.id)][:2] == ["1", "2"]
    with account.follow_run(run.id) as events:
        data = [line for line in events.lines() if line.startswith("data:")]
    assert json.loads(data[-1].removeprefix("data:"))["status"] == "finished"
    with pytest.raises(ConflictError):
        account.retry_run(run.id)

    slow = account.create_run("triage", file.id, {"message": "message"}, rows_per_second=0.01)
    assert account.set_run_limits(slow.id, concurrency=1).id == slow.id
    assert account.set_run_limits(slow.id, rows_per_second=0.02, concurrency=None).id == slow.id
    assert account.pause_run(slow.id).status in ("pausing", "paused")
    assert account.watch_run(slow.id).status == "paused"
    assert account.resume_run(slow.id).status in ("queued", "running")
    assert account.cancel_run(slow.id).status in ("cancelling", "cancelled")
    assert account.watch_run(slow.id).status == "cancelled"
    assert {one.id for one in account.list_runs(prism="triage")} == {run.id, slow.id}
    assert [one.id for one in account.list_runs(status="finished")] == [run.id]
    whole = account.run_file("triage", rows.encode(), {"message": "message"}, filename="tickets.csv")
    assert (whole.status, whole.file_id) == ("finished", file.id)
    account.delete_file(file.id)
    with pytest.raises(NotFoundError):
        account.read_file(file.id)


def test_files_of_several_parts_and_files_that_are_unusable(account: Client) -> None:
    content = b"id,message\n" + b"".join(b"%d,%s\n" % (n, b"x" * 1000) for n in range(2500))
    told: list[int] = []
    file = account.upload_file(content, name="large.csv", progress=lambda sent, _: told.append(sent))
    assert (file.rows, file.parts) == (2500, len(told))
    assert file.parts > 1
    begun = account.create_file("other.csv", "csv", 5)
    assert (begun.status, list(begun.missing or ())) == ("uploading", [1])
    assert account.put_part(begun.id, 1, b"a\nb\n\n").part == 1
    assert account.complete_file(begun.id).status in ("reading", "ready")
