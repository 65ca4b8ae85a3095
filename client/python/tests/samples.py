"""Calls of every operation, and objects of the API."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timezone
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from prism_results import (
    Claim,
    Client,
    Column,
    Definition,
    DriftPeriod,
    Escalate,
    EventCondition,
    Example,
    ExamplesFromLabels,
    Field,
    Lens,
    Level,
    NewLabel,
    Option,
    Question,
    ResultsOfRun,
    ViewFilters,
)
from prism_results._async.operations import AsyncOperations

Act = Callable[[Client], Any]
RESULT_ID = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"
AT = datetime(2026, 11, 21, 10, tzinfo=timezone.utc)
LATER = datetime(2026, 11, 22, 10, tzinfo=timezone.utc)
LENS = Lens([Column("q", "q", "answer")])
TAKEN = ExamplesFromLabels("q", 2, 1)
EXAMPLE = Example({"f": "v"}, {"q": True}, RESULT_ID)
DEFINITION = Definition([Field("f", "F")], [Question.yes_no("q", "?")], "i", "m", Escalate("n", 0.5, ["q"]), [EXAMPLE])

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
    **dict.fromkeys(["raw", "json", "model", "usage", "label_mass", "absent", "order_disagreement", "rounds", "escalation"]),
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
    "from_results": ResultsOfRun(["i"], "ok", 1, AT, LATER, "w", ["q:labelled"]),
}

SEARCH: Any = {"q": "a", "where": ["q:labelled", "q:is:a"]}

DELETION: dict[str, Any] = {
    "ref": "",
    "from_": AT,
    "before": AT,
    "status": "ok",
    "version": 1,
    "model": "m",
    "key_id": "k",
    "run": "a",
    "assignee": "me",
    "ids": ["b"],
    "expect": 1,
    **SEARCH,
}

ASSIGNED: dict[str, Any] = {
    "ref": "",
    "from_": AT,
    "to": LATER,
    "status": "ok",
    "version": 1,
    "model": "m",
    "key_id": "k",
    "run": "a",
    "assignee": "me",
    "ids": ["b"],
    **SEARCH,
}

BY_HAND: dict[str, Act] = {
    "createResult": lambda c: c.create_result("a", "t", fields={"a": "b"}, version=1, idempotency_key="k", ref="r", context="c"),
    "readResult": lambda c: c.read_result("a"),
    "retryResult": lambda c: c.retry_result("a"),
    "listResults": lambda c: c.list_results(
        prism="a",
        status="ok",
        ref="r",
        version=1,
        from_=AT,
        to=LATER,
        model="m",
        key_id="k",
        assignee="me",
        run="a",
        fields=True,
        sort="-q",
        **SEARCH,
    ).page(limit=1, cursor="c"),
    "countResults": lambda c: c.count_results(
        ["q"],
        prism="a",
        status="ok",
        ref="r",
        version=1,
        from_=AT,
        to=LATER,
        model="m",
        key_id="k",
        assignee="me",
        run="a",
        **SEARCH,
    ),
    "exportSelected": lambda c: opened(c.export_selected("a", ["b"])),
    "exportResults": lambda c: opened(
        c.export_results(
            "a",
            format="csv",
            status="ok",
            ref="r",
            version=1,
            from_=AT,
            to=LATER,
            model="m",
            key_id="k",
            assignee="me",
            run="a",
            after="a",
            bom=True,
            delimiter=";",
            safe=True,
            raw=True,
            **SEARCH,
        )
    ),
    "createPrism": lambda c: c.create_prism("a", DEFINITION, name="n", lens=LENS, searchable=False),
    "listPrisms": lambda c: c.list_prisms(archived=True, kind="adhoc").page(limit=1, cursor="c"),
    "createVersion": lambda c: c.create_version(
        "a", DEFINITION, lens=LENS, if_latest=1, examples_from_labels=TAKEN, if_match='"e"'
    ),
    "replaceLens": lambda c: c.replace_lens("a", LENS, if_match='"e"'),
    "previewLens": lambda c: c.preview_lens("a", LENS, [RESULT_ID]),
    "tryDefinition": lambda c: c.try_definition(DEFINITION, "t", fields={"a": "b"}, lens=LENS, context="c"),
    "listChanges": lambda c: c.list_changes(after=1, prism="a", limit=2, wait=3),
    "deleteResults": lambda c: c.delete_results("a", **DELETION),
    "retryResults": lambda c: c.retry_results("a", 1, from_=AT, to=LATER, **SEARCH),
    "assignResults": lambda c: c.assign_results("a", "m", 1, **ASSIGNED),
    "listLabelQueue": lambda c: c.list_label_queue("a", "q", order="uncertain", version=1, assignee="me", **SEARCH).page(
        limit=1, cursor="c"
    ),
    "createCalibration": lambda c: c.create_calibration("a", 1, "q", option="o"),
    "readRecord": lambda c: c.read_record("a"),
    "putPart": lambda c: c.put_part("a", 1, b"b"),
    "createRun": lambda c: c.create_run("a", "f", {"a": "b"}, idempotency_key="k", **RUN),  # type: ignore[arg-type]
    "listRuns": lambda c: c.list_runs(prism="a", status="paused").page(limit=1, cursor="c"),
    "readRun": lambda c: c.read_run("a"),
    "pauseRun": lambda c: c.pause_run("a"),
    "resumeRun": lambda c: c.resume_run("a"),
    "cancelRun": lambda c: c.cancel_run("a"),
    "retryRun": lambda c: c.retry_run("a"),
    "setRunLimits": lambda c: c.set_run_limits("a", rows_per_second=1, concurrency=None),
    "listRunRows": lambda c: opened(
        c.list_run_rows("a", format="tsv", only="ok", after=1, bom=True, delimiter=";", safe=True, raw=True)
    ),
    "followEvents": lambda c: opened(c.follow_events(event=["run.paused"], prism="a", answers=True, run_rows=True, after="1.1")),
    "followRun": lambda c: opened(c.follow_run("a")),
}
"""Calls the operations whose methods are written by hand, each with all that it can send."""


def plain(method: str) -> Act:
    """A call of a method that is generated, with a value for each parameter."""
    made = getattr(AsyncOperations, method)
    hints = get_type_hints(made)
    parameters = list(inspect.signature(made).parameters.values())[1:]

    def act(client: Client) -> Any:
        values = {one.name: sample(hints[one.name]) for one in parameters}
        positional = [values.pop(one.name) for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
        got = getattr(client, method)(*positional, **values)
        return got.page(limit=1, cursor="c") if hasattr(got, "page") else got

    return act


MODELS: dict[Any, Any] = {
    Claim: Claim("n", "v"),
    DriftPeriod: DriftPeriod(AT, LATER),
    EventCondition: EventCondition("c", "is", "v"),
    NewLabel: NewLabel("q", "b", ref="r"),
    ViewFilters: ViewFilters(prism="a", from_=AT, where=["q:labelled"]),
}


def sample(kind: Any) -> Any:
    """A value of a type."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return args[0]
    if origin is Sequence:
        return [sample(args[0])]
    if origin is Mapping:
        return {"q": sample(args[1])}
    if origin in (Union, types.UnionType):
        return sample(args[0])
    return MODELS.get(kind) or {str: "a", int: 1, float: 0.5, bool: True, datetime: AT, date: AT.date()}[kind]


def camel(method: str) -> str:
    """The name of the operation of a method."""
    return re.sub("_([a-z])", lambda m: m[1].upper(), method)


EVERYTHING = BY_HAND | {camel(name): plain(name) for name in vars(AsyncOperations) if not name.startswith("_")}
"""Calls each operation with all that it can send."""

DRY_RUNS: dict[str, Act] = {
    "createPrism": lambda c: c.create_prism("a", DEFINITION, name="n", lens=LENS, searchable=False, dry_run=True),
    "createVersion": lambda c: c.create_version(
        "a", DEFINITION, lens=LENS, if_latest=1, examples_from_labels=TAKEN, dry_run=True
    ),
    "replaceLens": lambda c: c.replace_lens("a", LENS, dry_run=True),
    "createRun": lambda c: c.check_run("a", "f", {"a": "b"}, **RUN),  # type: ignore[arg-type]
    "deleteResults": lambda c: c.delete_results("a", **DELETION, dry_run=True),
    "retryResults": lambda c: c.retry_results("a", 1, from_=AT, to=LATER, **SEARCH, dry_run=True),
    "assignResults": lambda c: c.assign_results("a", "m", 1, **ASSIGNED, dry_run=True),
}
"""Send an operation's dry_run too."""
