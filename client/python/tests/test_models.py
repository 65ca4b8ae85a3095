"""Models, and what they read and write."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from prism_results import (
    AnswerError,
    Answers,
    ChoiceAnswer,
    Column,
    CreatedAPIKey,
    LabelledResult,
    Lens,
    Option,
    OtherAnswer,
    Page,
    Prism,
    Question,
    RecordUsage,
    Result,
    ResultRow,
    Row,
    Secret,
    Usage,
    YesNoAnswer,
    _json,
)
from tests.samples import FAILED, ROW, TRIAGE, result


def test_a_result_is_read_and_written() -> None:
    read = Result.from_dict(result())
    assert read.answers == {"z": YesNoAnswer(0.75), "a": YesNoAnswer(0)}
    assert list(read.answers) == ["z", "a"], "the order is that of the version"
    assert read.created_at == datetime(2026, 11, 21, 10, 0, 0, 120_000, timezone.utc)
    assert Result.from_dict(read.to_dict()) == read
    assert pickle.loads(pickle.dumps(read)) == read
    shown = ResultRow.from_dict(ROW)
    assert shown.row == {"z": "yes", "a": 0.5, "n": None}
    assert list(shown.row) == ["z", "a", "n"], "the order is that of the Lens"
    assert shown.to_dict()["answers"] == ROW["answers"], "as Prism writes it"
    assert ResultRow.from_dict(shown.to_dict()) == shown
    assert pickle.loads(pickle.dumps(shown)) == shown
    failed = Result.from_dict(FAILED)
    assert not failed.answers
    assert Result.from_dict(failed.to_dict()) == failed


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [("2026-11-21T10:00:00Z", 0), ("2026-11-21T10:00:00.1Z", 100_000), ("2026-11-21T10:00:00.123456Z", 123_456)],
)
def test_times_of_any_precision_are_read(text: str, microseconds: int) -> None:
    assert Result.from_dict(result(created_at=text)).created_at.microsecond == microseconds


def test_times_are_written_in_utc() -> None:
    east = timezone(timedelta(hours=2))
    assert _json.time_text(datetime(2026, 11, 21, 12, 0, 0, 5000, east)) == "2026-11-21T10:00:00.005000Z"
    with pytest.raises(ValueError, match="no time zone"):
        _json.time_text(datetime(2026, 11, 21))


def test_members_of_a_newer_prism_are_kept() -> None:
    sent = {"columns": [{"name": "a", "question": "a", "show": "new", "rounding": 2}], "order": [1.5]}
    lens = Lens.from_dict(sent)
    assert lens.columns[0].extra == {"rounding": 2}
    assert lens.extra == {"order": [1.5]}
    assert lens.to_dict() == sent, "what was read is written again"
    assert lens == Lens((Column("a", "a", "new"),)), "they are no part of what is compared"  # type: ignore[arg-type]
    assert "rounding" not in repr(lens)


def test_members_that_an_older_prism_lacks_are_none() -> None:
    old = result()
    del old["ref"]
    assert Result.from_dict(old).ref is None
    del old["prism"]
    with pytest.raises(ValueError, match="without prism"):
        Result.from_dict(old)


VERSION: dict[str, Any] = {
    "version": 1,
    "instructions": None,
    "model": None,
    "escalate": None,
    "fields": [],
    "questions": [],
    "created_at": "2026-11-21T10:00:00.120Z",
}
PRISM: dict[str, Any] = {
    "id": "p",
    "slug": "a",
    "created_at": "2026-11-21T10:00:00.120Z",
    "latest_version": 1,
    "lens": {"columns": []},
    "version": VERSION,
}


@pytest.mark.parametrize(
    ("kind", "data", "lacking"),
    [
        pytest.param(Prism, {}, "id, slug, created_at, latest_version, lens and 1 more", id="many"),
        pytest.param(Prism, {**PRISM, "latest_version": None}, "latest_version", id="a null where there is none"),
        pytest.param(Prism, {**PRISM, "lens": {}}, "lens.columns", id="a member of an object"),
        pytest.param(Page[Prism], {"next_cursor": None}, "data", id="a list"),
        pytest.param(Page[Prism], {"data": [PRISM, {**PRISM, "slug": None}]}, "data.1.slug", id="a member of an item"),
        pytest.param(
            LabelledResult, {"result_id": "a", "version": 1, "labels": {"q": {"value": "x"}}}, "labels.q.origin", id="of a map"
        ),
        pytest.param(Result, result(answers={"y": {"type": "yes_no"}}), "answers.y.probability", id="a member of an answer"),
        pytest.param(Result, result(answers={"y": {}}), "answers.y.type", id="the type of an answer"),
    ],
)
def test_what_is_lacking_is_named(kind: Any, data: dict[str, Any], lacking: str) -> None:
    with pytest.raises(ValueError, match=f"^without {lacking}"):
        _json.decode(kind, data)


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": 1},
        {"version": "1"},
        {"version": True},
        {"version": 1.5},
        {"created_at": "yesterday"},
        {"answers": []},
        {"answers": {"a": True}},
    ],
)
def test_another_shape_is_malformed(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not a"):
        Result.from_dict(result(**wrong))
    with pytest.raises(ValueError, match="not a"):
        ResultRow.from_dict({**ROW, **wrong})


# spec: cost-is-exact
def test_costs_keep_their_digits() -> None:
    content = '{"input_tokens":1,"output_tokens":2,"cached_input_tokens":null,"cost":123456789.123456789012,"currency":"USD"}'
    assert RecordUsage.from_dict(_json.loads(content)).cost == Decimal("123456789.123456789012")
    assert _json.decode(RecordUsage, _json.loads(content.replace("123456789.123456789012", "2"))).cost == Decimal(2)


def test_probabilities_are_the_nearest_floats() -> None:
    row = Row.from_json(_json.loads('{"a":0.1,"b":1e-7,"c":1,"d":0.30000000000000004}'))
    assert dict(row) == {"a": 0.1, "b": 1e-7, "c": 1.0, "d": 0.30000000000000004}
    assert all(type(value) is float for value in row.values())


def test_the_days_of_usage_are_dates() -> None:
    usage = Usage.from_dict({"data": [], "from": "2026-11-01", "to": "2026-11-02", "more": True})
    assert (usage.from_.day, usage.to.day) == (1, 2)
    assert usage.to_dict() == {"data": [], "from": "2026-11-01", "to": "2026-11-02", "more": True}


def test_columns_have_types() -> None:
    row = Row(
        {
            "topic": "billing",
            "urgent": "unsure",
            "anger": "low",
            "anger_average": 1.5,
            "old": None,
            "about": "refund; vip",
            "empty": "",
        }
    )
    assert (row.text("topic"), row.text("anger")) == ("billing", "low")
    assert row.yes_no("urgent") == "unsure"
    assert [row.tags("about"), row.tags("empty"), row.tags("topic")] == [["refund", "vip"], [], ["billing"]]
    assert row.number("anger_average") == 1.5
    assert row["old"] is None
    assert row.get("none", 7) == 7


@pytest.mark.parametrize(
    ("method", "column", "message"),
    [
        ("text", "topics", "there is no column topics; there are topic, share, old"),
        ("text", "share", "the column share is a number"),
        ("yes_no", "topic", "no answer to a yes_no question"),
        ("number", "topic", "the column topic is a text"),
        ("number", "old", "no value for the column old"),
    ],
)
def test_a_column_of_another_type_is_an_error(method: str, column: str, message: str) -> None:
    with pytest.raises(AnswerError, match=message):
        getattr(Row({"topic": "billing", "share": 0.5, "old": None}), method)(column)


def test_the_answers_of_a_failed_result_say_so() -> None:
    with pytest.raises(AnswerError, match="as the result failed"):
        Result.from_dict(FAILED).answers.choice("topic")


def test_answers_have_the_type_of_their_question() -> None:
    sent = {
        "topic": {"type": "choice", "value": "z", "probabilities": {"z": 0.75, "a": 0.25}, "confidence": 0.5},
        "upset": {"type": "yes_no", "probability": 0},
        "urgency": {"type": "scale", "level": "low", "probabilities": {"low": 1, "high": 0}},
        "about": {"type": "tags", "values": ["refund", "vip"], "probabilities": {"vip": 0.5, "late": 0.25, "refund": 1}},
        "new": {"type": "rank", "order": ["a"]},
    }
    answers = Answers.from_json(sent)
    topic = answers.choice("topic")
    assert (topic.value, list(topic.probabilities), topic.probability, topic.confidence) == ("z", ["z", "a"], 0.75, 0.5)
    assert answers.yes_no("upset").probability == 0
    assert (answers.scale("urgency").level, answers.scale("urgency").probability) == ("low", 1)
    about = answers.tags("about")
    assert (about.values, dict(about.probabilities)) == (("refund", "vip"), {"vip": 0.5, "late": 0.25, "refund": 1})
    assert answers["new"] == OtherAnswer("rank")
    assert answers["new"].extra == {"order": ["a"]}
    assert answers.to_json() == sent
    with pytest.raises(AnswerError, match="the question upset is of the type yes_no, not choice"):
        answers.choice("upset")
    with pytest.raises(AnswerError, match="there is no question mood; there are topic, upset, urgency, about, new"):
        answers.scale("mood")
    assert isinstance(answers["topic"], ChoiceAnswer)


def test_a_definition_is_written_without_what_it_lacks() -> None:
    topic, upset, _ = TRIAGE.to_dict()["questions"]
    assert upset == {"key": "upset", "type": "yes_no", "text": "Is the customer upset?"}
    assert topic["options"][1] == {"key": "billing", "label": "Billing", "description": "charges and invoices"}


def test_a_label_of_tags_is_a_list() -> None:
    sent = {"value": ["vip", "refund"], "origin": "call", "key_id": "k", "labelled_at": "2026-11-21T10:00:00.120Z"}
    labels = {"about": sent, "none": {**sent, "value": []}}
    read = LabelledResult.from_dict({"result_id": "a", "version": 1, "labels": labels})
    assert (read.labels["about"].value, read.labels["none"].value) == (("vip", "refund"), ())
    assert read.to_dict()["labels"]["about"]["value"] == ["vip", "refund"]
    with pytest.raises(ValueError, match="not a string"):
        LabelledResult.from_dict({"result_id": "a", "version": 1, "labels": {"about": {**sent, "value": [1]}}})


def test_a_question_of_tags_is_written() -> None:
    about = Question.tags("about", "What is it about?", [Option("vip", "VIP")])
    options = [{"key": "vip", "label": "VIP"}]
    assert about.to_dict() == {"key": "about", "type": "tags", "text": "What is it about?", "options": options}


def test_secrets_are_not_shown() -> None:
    key = "prism_0123456789abcdefghijklmnopqrstuvABCDEF"
    times = {"created_at": "2026-11-21T10:00:00.120Z", "expires_at": None, "last_used_at": None, "revoked_at": None}
    made = CreatedAPIKey.from_dict({"id": "a", "name": "n", "prefix": "prism_01", "role": "owner", "key": key, **times})
    assert made.key.reveal() == key
    shown = f"{made} {made!r} {made.key} {made.key!r} {Secret(key)!s:>3} {made.to_dict()}"
    assert key[9:] not in shown
