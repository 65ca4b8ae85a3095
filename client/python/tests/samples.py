"""Calls of every operation, and objects of the API."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from prism_results import Claim, Client, Column, Definition, DriftPeriod, Escalate, Field, Lens, Level, NewLabel, Option, Question

Act = Callable[[Client], Any]
RESULT_ID = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"
AT = datetime(2026, 11, 21, 10, tzinfo=timezone.utc)
LATER = datetime(2026, 11, 22, 10, tzinfo=timezone.utc)
LENS = Lens([Column("q", "q", "answer")])
DEFINITION = Definition([Field("f", "F")], [Question.yes_no("q", "?")], "i", "m", Escalate("n", 0.5, ["q"]))

TRIAGE = Definition(
    instructions="A message from a customer.",
    fields=[Field("message", "Message")],
    questions=[
        Question.choice(
            "topic",
            "What is it about?",
            [Option("delivery", "Delivery", "where the parcel is"), Option("billing", "Billing", "charges and invoices")],
            insufficient_information=True,
        ),
        Question.yes_no("upset", "Is the customer upset?"),
        Question.scale("urgency", "How soon?", [Level("low", "Low"), Level("high", "High")]),
    ],
)
"""A question of each type."""


def result(**members: Any) -> dict[str, Any]:
    return {
        "id": RESULT_ID,
        "ref": None,
        "prism": "a",
        "version": 1,
        "status": "ok",
        "error": None,
        "took_ms": 5,
        "created_at": "2026-11-21T10:00:00.120Z",
        "answers": {"z": {"type": "yes_no", "probability": 0.75}, "a": {"type": "yes_no", "probability": 0}},
        **members,
    }


ROW = result(answers={"z": "yes", "a": 0.5, "n": None})
"""A result in the format json."""
FAILED = result(status="failed", error="The model did not answer within 15 seconds.", answers=None)
FAILED_TRY = {
    **dict.fromkeys(["raw", "json", "model", "usage", "label_mass", "absent", "order_disagreement", "escalation"]),
    "status": "failed",
    "error": "The model did not answer within 15 seconds.",
    "error_code": "timeout",
    "took_ms": 15000,
}
UNAVAILABLE = {"error": "Service Unavailable", "message": "Service Unavailable", "statusCode": 503}


def file(**members: Any) -> dict[str, Any]:
    return {
        **dict.fromkeys(["sha256", "error", "missing", "rows", "columns", "delimiter"]),
        "id": "file-1",
        "name": "tickets.csv",
        "format": "csv",
        "bytes": 25,
        "status": "ready",
        "part_bytes": 8,
        "parts": 4,
        "created_at": "2026-11-21T10:00:00.120Z",
        "expires_at": "2026-11-28T10:00:00.120Z",
        **members,
    }


def run(status: str = "running", done: int = 0, **members: Any) -> dict[str, Any]:
    """A run of ten rows of which some are done."""
    return {
        **dict.fromkeys(["name", "reason", "eta_seconds", "started_at", "finished_at", "labels"]),
        "id": "r",
        "prism": "tickets",
        "version": 1,
        "file_id": "file-1",
        "status": status,
        "rows": 10,
        "ok": done,
        "failed": 0,
        "invalid": 0,
        "cancelled": 0,
        "pending": 10 - done,
        "rows_per_second_now": 0,
        "usage": {"input_tokens": 0, "output_tokens": 0, "cost": None, "currency": None},
        "created_at": "2026-11-21T10:00:00.120Z",
        **members,
    }


def opened(stream: Any) -> None:
    """Open and close a stream."""
    with stream:
        pass


RUN = {
    "ref": "r",
    "context": "c",
    "version": 1,
    "name": "n",
    "rows_per_second": 1.5,
    "concurrency": 1,
    "pause_at_failures": 0.5,
    "labels": {"q": "l"},
    "from_labels_of": 1,
}

EVERYTHING: dict[str, Act] = {
    "createResult": lambda c: c.create_result("a", "t", fields={"a": "b"}, version=1, idempotency_key="k", ref="r", context="c"),
    "readResult": lambda c: c.read_result("a"),
    "retryResult": lambda c: c.retry_result("a"),
    "listResults": lambda c: c.list_results(
        prism="a", status="ok", ref="r", version=1, from_=AT, to=LATER, model="m", key_id="k", run="a"
    ).page(limit=1, cursor="c"),
    "exportResults": lambda c: opened(
        c.export_results("a", format="csv", status="ok", from_=AT, to=LATER, model="m", key_id="k", after="a")
    ),
    "createPrism": lambda c: c.create_prism("a", DEFINITION, name="n", lens=LENS),
    "readPrism": lambda c: c.read_prism("a"),
    "listPrisms": lambda c: c.list_prisms(archived=True).page(limit=1, cursor="c"),
    "createVersion": lambda c: c.create_version("a", DEFINITION, lens=LENS, if_latest=1, if_match='"e"'),
    "listVersions": lambda c: c.list_versions("a").page(limit=1, cursor="c"),
    "renamePrism": lambda c: c.rename_prism("a", "n"),
    "readVersion": lambda c: c.read_version("a", 1),
    "replaceLens": lambda c: c.replace_lens("a", LENS, if_match='"e"'),
    "previewLens": lambda c: c.preview_lens("a", LENS, [RESULT_ID]),
    "tryDefinition": lambda c: c.try_definition(DEFINITION, "t", fields={"a": "b"}, lens=LENS, context="c"),
    "archivePrism": lambda c: c.archive_prism("a"),
    "unarchivePrism": lambda c: c.unarchive_prism("a"),
    "createKey": lambda c: c.create_key("n", role="reader", expires_at=AT),
    "listKeys": lambda c: c.list_keys().page(limit=1, cursor="c"),
    "revokeKey": lambda c: c.revoke_key("a"),
    "deleteResult": lambda c: c.delete_result("a"),
    "deleteResults": lambda c: c.delete_results("a", ref="", before=AT, status="ok"),
    "retryResults": lambda c: c.retry_results("a", 1, from_=AT, to=LATER),
    "setRetention": lambda c: c.set_retention("a", None),
    "putLabels": lambda c: c.put_labels("a", {"q": True, "r": None}, sample="random", annotator="n"),
    "readLabels": lambda c: c.read_labels("a"),
    "addLabels": lambda c: c.add_labels("a", [NewLabel("q", "b", ref="r")], sample="uncertain", annotator="n", version=1),
    "listLabels": lambda c: c.list_labels("a", version=1, question="q").page(limit=1, cursor="c"),
    "listLabelQueue": lambda c: c.list_label_queue("a", "q", order="uncertain", version=1).page(limit=1, cursor="c"),
    "createCalibration": lambda c: c.create_calibration("a", 1, "q"),
    "listCalibrations": lambda c: c.list_calibrations("a", 1, question="q").page(limit=1, cursor="c"),
    "readCalibration": lambda c: c.read_calibration("a", 1, "a"),
    "pinCalibrations": lambda c: c.pin_calibrations("a", 1, {"q": None}),
    "readPinnedCalibrations": lambda c: c.read_pinned_calibrations("a", 1),
    "readQuality": lambda c: c.read_quality("a", 1, question="q", model="m", calibrated=True),
    "readThresholds": lambda c: c.read_thresholds("a", 1, "q", false_yes=5, false_no=1, unsure=0.5, model="m", calibrated=True),
    "compareVersions": lambda c: c.compare_versions("a", 1, 2, "q"),
    "readDrift": lambda c: c.read_drift("a", version=1),
    "setDrift": lambda c: c.set_drift("a", True, version=1, reference=DriftPeriod(AT, LATER)),
    "listAudit": lambda c: c.list_audit(from_=AT, to=LATER, actor="operator").page(limit=1, cursor="c"),
    "addMember": lambda c: c.add_member("n", "reader", email="e", claim=Claim("n", "v")),
    "listMembers": lambda c: c.list_members().page(limit=1, cursor="c"),
    "changeMember": lambda c: c.change_member("a", name="n", role="reader"),
    "removeMember": lambda c: c.remove_member("a"),
    "linkMember": lambda c: c.link_member("a"),
    "listModels": lambda c: c.list_models(),
    "readRecord": lambda c: c.read_record("a"),
    "readUsage": lambda c: c.read_usage(from_=AT, to=LATER, by="model", prism="a", model="m", key_id="k"),
    "createFile": lambda c: c.create_file("n", "csv", 1, sha256="s"),
    "putPart": lambda c: c.put_part("a", 1, b"b"),
    "completeFile": lambda c: c.complete_file("a"),
    "listFiles": lambda c: c.list_files().page(limit=1, cursor="c"),
    "readFile": lambda c: c.read_file("a"),
    "listFileRows": lambda c: c.list_file_rows("a", offset=1, limit=2),
    "deleteFile": lambda c: c.delete_file("a"),
    "createRun": lambda c: c.create_run("a", "f", {"a": "b"}, idempotency_key="k", **RUN),  # type: ignore[arg-type]
    "listRuns": lambda c: c.list_runs(prism="a", status="paused").page(limit=1, cursor="c"),
    "readRun": lambda c: c.read_run("a"),
    "pauseRun": lambda c: c.pause_run("a"),
    "resumeRun": lambda c: c.resume_run("a"),
    "cancelRun": lambda c: c.cancel_run("a"),
    "retryRun": lambda c: c.retry_run("a"),
    "setRunLimits": lambda c: c.set_run_limits("a", rows_per_second=1, concurrency=None),
    "listRunRows": lambda c: opened(c.list_run_rows("a", format="tsv", only="ok", after=1)),
    "followRun": lambda c: opened(c.follow_run("a")),
}
"""Calls each operation with all that it can send."""

DRY_RUNS: dict[str, Act] = {
    "createPrism": lambda c: c.create_prism("a", DEFINITION, name="n", lens=LENS, dry_run=True),
    "createVersion": lambda c: c.create_version("a", DEFINITION, lens=LENS, if_latest=1, dry_run=True),
    "replaceLens": lambda c: c.replace_lens("a", LENS, dry_run=True),
    "createRun": lambda c: c.check_run("a", "f", {"a": "b"}, **RUN),  # type: ignore[arg-type]
    "deleteResults": lambda c: c.delete_results("a", ref="", before=AT, status="ok", dry_run=True),
    "retryResults": lambda c: c.retry_results("a", 1, from_=AT, to=LATER, dry_run=True),
}
"""Send an operation's dry_run too."""
