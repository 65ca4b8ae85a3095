"""DataFrames whose rows are answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from prism_results import Client, Column, Definition, Field, Lens, Question, UnauthorizedError
from prism_results.pandas import answer_frame
from tests.conftest import SOON, Prism
from tests.samples import TRIAGE, result
from tests.serving import Request, serving
from tests.test_e2e import BROKEN


@pytest.fixture
def client(prism: Prism, request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client of an account of its own, with the prism triage."""
    with Client(prism.url, prism.account(request.node.name)) as one:
        one.create_prism("triage", TRIAGE)
        yield one


FRAME = pd.DataFrame(
    {"message": ["where is my parcel", "charges and invoices", None], "id": [7, 8, 9], "note": ["It snows.", None, None]},
    index=["x", "y", "z"],
)


def test_the_rows_of_a_frame_are_answered(client: Client) -> None:
    told: list[tuple[int, int]] = []
    got = answer_frame(client, "triage", FRAME, text="message", ref="id", context="note", progress=lambda *of: told.append(of))
    assert list(got.columns[:6]) == ["message", "id", "note", "prism_result_id", "prism_status", "prism_error"]
    assert (list(got.index), list(got["id"])) == (["x", "y", "z"], [7, 8, 9])
    assert list(got["topic"])[:2] == ["delivery", "billing"]
    assert got["topic_probability"].dtype == float
    assert list(got["prism_status"]) == ["ok", "ok", "ok"]
    assert told == [(1, 3), (2, 3), (3, 3)]
    record = client.read_record(got["prism_result_id"]["x"])
    assert (record.ref, record.context, record.fields) == ("7", "It snows.", {"message": "where is my parcel"})
    missing = client.read_record(got["prism_result_id"]["z"])
    assert (missing.context, missing.fields) == (None, {"message": ""})
    assert list(FRAME.columns) == ["message", "id", "note"], "the frame is not changed"


# spec: repeat-of-an-ok-result
def test_a_frame_with_a_key_is_answered_once(client: Client) -> None:
    first = answer_frame(client, "triage", FRAME[:2], text="message", key="may", progress=False)
    again = answer_frame(client, "triage", FRAME, text="message", key="may", progress=False)
    assert list(again["prism_result_id"])[:2] == list(first["prism_result_id"])
    other = answer_frame(client, "triage", FRAME[:2], text="message", progress=False)
    assert set(other["prism_result_id"]).isdisjoint(again["prism_result_id"])


def test_rows_that_fail_say_why(client: Client) -> None:
    client.create_prism("broken", BROKEN)
    got = answer_frame(client, "broken", FRAME, text="message", progress=False)
    assert list(got["prism_status"]) == ["failed"] * 3
    assert all(got["prism_error"].str.contains("refused the call"))
    assert got["glad"].isna().all()
    assert client.read_result(got["prism_result_id"]["x"]).status == "failed"
    long = pd.DataFrame({"message": ["fine", "x" * 100_001]})
    got = answer_frame(client, "triage", long, text="message", progress=False)
    assert list(got["prism_status"]) == ["ok", "invalid"]
    assert "at most 100000" in got["prism_error"][1]
    assert pd.isna(got["prism_result_id"][1])


def test_an_error_of_the_account_ends_the_call(client: Client) -> None:
    calls: list[Request] = []
    prism = client.read_prism("triage").to_dict()

    def handle(request: Request) -> None:
        if request.method == "GET":
            request.value(200, prism)
            return
        calls.append(request)
        request.error(401, "unauthorized", "Invalid API key")

    frame = pd.DataFrame({"message": ["x"] * 100})
    with serving(handle) as url, Client(url, "k") as other, pytest.raises(UnauthorizedError):
        answer_frame(other, "triage", frame, text="message", concurrency=2, progress=False)
    assert len(calls) < 100


def test_a_server_that_is_away_for_a_while_is_waited_for(client: Client) -> None:
    prism, calls = client.read_prism("triage").to_dict(), list[dict[str, Any]]()

    def handle(request: Request) -> None:
        if request.method == "GET":
            request.value(200, prism)
            return
        calls.append(request.json())
        if len(calls) > 9:
            request.value(200, result(answers={"topic": "billing", "new": 1}))

    with serving(handle) as url, Client(url, "k") as other:
        other._pause = SOON
        got = answer_frame(other, "triage", FRAME[:1], text="message", progress=False)
    assert (got["prism_status"]["x"], got["topic"]["x"], got["new"]["x"]) == ("ok", "billing", 1)
    assert len({call["idempotency_key"] for call in calls}) == 1


def test_several_fields_and_a_prefix(client: Client) -> None:
    client.create_prism("two", Definition([Field("a"), Field("b")], [Question.yes_no("glad", "?")]))
    frame = pd.DataFrame({"first": ["x"], "second": [2], "glad": ["?"]})
    fields = {"a": "first", "b": "second"}
    with pytest.raises(ValueError, match="has a column glad already"):
        answer_frame(client, "two", frame, fields=fields)
    got = answer_frame(client, "two", frame, fields=fields, prefix="is_", version=1, progress=False)
    assert list(got.columns)[-2:] == ["is_glad", "is_glad_probability"]
    assert client.read_record(got["prism_result_id"][0]).fields == {"a": "x", "b": "2"}
    client.replace_lens("two", Lens([Column("is it", "glad")]))
    assert list(answer_frame(client, "two", frame, fields=fields, progress=False).columns)[-1] == "is it"


def test_an_empty_frame_has_the_columns(client: Client) -> None:
    got = answer_frame(client, "triage", FRAME[:0], text="message")
    assert list(got.columns)[3:7] == ["prism_result_id", "prism_status", "prism_error", "topic"]
    assert len(got) == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "give either text or fields; the fields of the prism are message"),
        ({"text": "message", "fields": {"message": "message"}}, "give either text or fields"),
        ({"text": "text"}, "the frame has 0 columns text, not one"),
        ({"text": "message", "ref": "ref"}, "the frame has 0 columns ref, not one"),
        ({"fields": {"text": "message"}}, "the fields of the prism are message, not text"),
    ],
)
def test_arguments_that_cannot_be_are_refused(client: Client, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        answer_frame(client, "triage", FRAME, **wrong)
    with pytest.raises(ValueError, match="labels of the frame's index are not unique"):
        answer_frame(client, "triage", pd.concat([FRAME, FRAME]), text="message", key="k")


def test_progress_is_a_line(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    answer_frame(client, "triage", FRAME, text="message")
    assert capsys.readouterr().err.endswith("\r3 of 3 rows\n")
