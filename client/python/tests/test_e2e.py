"""Every operation of a real Prism, with both clients."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Literal

import pytest

from prism_results import (
    BadRequestError,
    Claim,
    Client,
    Column,
    ConflictError,
    Definition,
    DriftPeriod,
    Escalate,
    ExportFormat,
    FailedError,
    Field,
    Format,
    Lens,
    NewLabel,
    NotFoundError,
    Prism,
    Question,
    ResultsOfRun,
    UnauthorizedError,
    ValidationError,
    ViewFilters,
    new_idempotency_key,
)
from tests.conftest import Connect
from tests.conftest import Prism as Server
from tests.samples import TRIAGE

UNKNOWN = "00000000-0000-7000-8000-000000000000"
TEXT = "where is my parcel"
BROKEN = Definition([Field("text")], [Question.yes_no("glad", "Is the writer glad?")], model="broken")


def now() -> datetime:
    return datetime.now(timezone.utc)


def slugs(client: Client, archived: bool | Literal["all"] = False) -> list[str]:
    return [one.slug for one in client.list_prisms(archived=archived)]


# spec: dry-run, prism-etag
def test_prisms(account: Client) -> None:
    checked = account.create_prism("triage", TRIAGE, name="Triage", dry_run=True)
    assert (checked.slug, slugs(account)) == ("triage", [])
    prism = account.create_prism("triage", TRIAGE, name="Triage")
    assert (prism.slug, prism.name, prism.latest_version, prism.retention_days) == ("triage", "Triage", 1, None)
    assert [one.key for one in prism.version.questions] == ["topic", "upset", "urgency"]
    assert [level.value for level in prism.version.questions[2].levels or ()] == [1, 2]
    assert prism.etag
    assert prism.request_id
    with pytest.raises(ConflictError):
        account.create_prism("triage", TRIAGE, dry_run=True)
    assert account.read_prism(prism.id) == prism

    assert account.create_version("triage", TRIAGE, dry_run=True).version == 2
    version = account.create_version("triage", TRIAGE, if_latest=1, if_match=prism.etag)
    assert account.read_version("triage", 2) == version
    assert [one.version for one in account.list_versions("triage")] == [2, 1]
    with pytest.raises(ConflictError):
        account.create_version("triage", TRIAGE, if_match=prism.etag)

    lens = Lens([Column("Upset", "upset", yes_at=0.9, no_at=0.1)])
    assert len(account.replace_lens("triage", lens, dry_run=True).lens.columns) == 1
    assert len(account.read_prism("triage").lens.columns) == 6
    assert account.replace_lens("triage", lens).lens.to_dict() == lens.to_dict()
    with pytest.raises(ConflictError):
        account.replace_lens("triage", lens, if_match=prism.etag)

    assert account.rename_prism("triage", None).name is None
    assert account.rename_prism("triage", "T").name == "T"
    assert account.set_retention("triage", 30).retention_days == 30
    assert account.set_retention("triage", None).retention_days is None
    assert account.set_searchable("triage", False).searchable is False
    assert account.set_searchable("triage", True).searchable is None
    assert account.archive_prism("triage").archived_at is not None
    assert (slugs(account), slugs(account, archived=True), slugs(account, archived="all")) == ([], ["triage"], ["triage"])
    assert account.unarchive_prism("triage").archived_at is None
    assert slugs(account) == ["triage"]


# spec: repeat-of-an-ok-result
def test_results(account: Client) -> None:
    account.create_prism("triage", TRIAGE)
    key = new_idempotency_key()
    result = account.create_result(
        "triage", fields={"message": TEXT}, ref="r-1", context="It snows.", version=1, idempotency_key=key
    )
    topic = result.answers.choice("topic")
    assert (topic.value, result.ref, result.status, result.version) == ("delivery", "r-1", "ok", 1)
    assert list(topic.probabilities) == ["delivery", "billing", "insufficient_information"]
    assert abs(sum(topic.probabilities.values()) - 1) < 1e-9
    assert 0 < topic.confidence <= 1
    assert abs(now() - result.created_at) < timedelta(hours=1)
    assert account.create_result("triage", "another", idempotency_key=key) == result, "a repeat is the same result"
    assert account.create_result("triage", "another").id != result.id, "another call has another key"
    assert account.read_result(result.id) == result

    row = account.read_result_json(result.id).row
    assert (row.text("topic"), row.text("urgency")) == ("delivery", result.answers.scale("urgency").level)
    assert row.yes_no("upset") in ("yes", "no", "unsure")
    assert row.number("topic_probability") == topic.probability, "every digit is kept"
    assert row.number("upset_probability") == result.answers.yes_no("upset").probability
    assert account.create_result_json("triage", "x", idempotency_key=key).row == row
    assert {one.id: one.row for one in account.list_results_json(ref="r-1")} == {result.id: row}

    shown: dict[Format, str] = {
        "json": '"topic":"delivery"',
        "raw": '"probabilities":{',
        "csv": "Delivery,",
        "tsv": "Delivery\t",
        "jsonl": '"topic":"delivery"',
    }
    for kind, want in shown.items():
        content = account.read_result_as(kind, result.id)
        assert want in content.decode()
        assert account.create_result_as(kind, "triage", "x", idempotency_key=key) == content

    record = account.read_record(result.id)
    assert (record.idempotency_key, record.context, record.fields) == (key, "It snows.", {"message": TEXT})
    assert record.model is not None
    assert (record.model.name, record.retry_of) == ("offline", None)

    account.delete_result(result.id)
    with pytest.raises(NotFoundError):
        account.read_result(result.id)
    with pytest.raises(NotFoundError):
        account.delete_result(result.id)


# spec: failed-result-is-not-an-error
def test_failed_results(account: Client) -> None:
    account.create_prism("broken", BROKEN)
    with pytest.raises(FailedError, match="refused the call") as err:
        account.create_result("broken", "t")
    first = err.value.result
    assert first is not None
    assert (first.status, dict(first.answers), bool(first.error)) == ("failed", {}, True)
    assert account.read_result(first.id) == first
    assert account.read_record(first.id).error_code == "parameter"
    with pytest.raises(FailedError) as err:
        account.retry_result(first.id)
    second = err.value.result
    assert second is not None
    assert second.id != first.id
    assert account.read_record(second.id).retry_of == first.id
    with pytest.raises(ConflictError):
        account.retry_result(first.id)
    with pytest.raises(FailedError) as err:
        account.create_result_as("csv", "broken", "t")
    assert err.value.body.startswith(b"result_id,")
    with pytest.raises(FailedError):
        account.retry_result_json(second.id)

    counted = account.retry_results("broken", dry_run=True).retrying
    assert counted == 2
    assert account.retry_results("broken", counted, to=now() + timedelta(hours=1)).retrying == 2
    assert account.delete_results("broken", status="failed", dry_run=True).deleting >= 2
    assert account.delete_results("broken", before=now() - timedelta(days=1)).deleting == 0
    with pytest.raises(FailedError) as tried:
        account.try_definition(BROKEN, "t")
    assert tried.value.tried is not None
    assert tried.value.tried.error_code == "parameter"


def test_tries_and_previews(account: Client) -> None:
    tried = account.try_definition(TRIAGE, TEXT, lens=Lens([Column("about", "topic")]))
    assert (tried.status, dict(tried.row), tried.answers.choice("topic").value) == ("ok", {"about": "delivery"}, "delivery")
    account.create_prism("triage", TRIAGE)
    result = account.create_result("triage", TEXT)
    preview = account.preview_lens("triage", Lens([Column("about", "topic")]), [result.id, UNKNOWN])
    assert list(preview.columns) == ["about"]
    assert [(one.result.id, dict(one.result.row), dict(one.missing)) for one in preview.data] == [
        (result.id, {"about": "delivery"}, {})
    ]


# spec: escalation
def test_a_doubtful_answer_has_a_second_model(account: Client) -> None:
    account.create_prism("triage", dataclasses.replace(TRIAGE, escalate=Escalate("broken", 1, ["upset"])))
    result = account.create_result("triage", TEXT)
    escalation = account.read_record(result.id).escalation
    assert escalation is not None
    assert (list(escalation.questions), escalation.error_code, dict(escalation.second.answers)) == (["upset"], "parameter", {})
    assert escalation.first.answers == result.answers


def test_labels_and_what_they_measure(account: Client) -> None:
    account.create_prism("triage", TRIAGE)
    refs = [f"p-{n}" for n in range(36)]
    for ref in refs:
        account.create_result("triage", f"where is parcel {ref}", ref=ref)
    page = account.list_label_queue("triage", "topic").page(limit=2)
    first = page.data[0]
    assert (page.sample, len(page.data), first.answers.choice("topic").value) == ("random", 2, "delivery")
    put = account.put_labels(first.result_id, {"topic": "Billing", "upset": False}, sample=page.sample, annotator="Ada")
    label = put.labels["topic"]
    assert (label.value, label.sample, label.annotator, label.origin) == ("billing", "random", "Ada", "call")
    assert "topic" not in account.put_labels(first.result_id, {"topic": None}).labels
    assert account.read_labels(first.result_id).labels["upset"].value is False
    assert account.read_record(first.result_id).labels["upset"].value is False
    labels = [NewLabel("topic", "delivery", ref=ref) for ref in [*refs, "none"]]
    added = account.add_labels("triage", [*labels, NewLabel("topic", "lost", first.result_id)], sample="random")
    assert (added.labelled, list(added.not_found), [one.index for one in added.invalid]) == (36, [36], [37])
    assert {one.ref for one in account.list_labels("triage", question="topic")} == set(refs)
    left = [one.result_id for one in account.list_label_queue("triage", "upset", order="uncertain")]
    assert (len(left), first.result_id in left) == (35, False)

    topic, upset, _ = account.read_quality("triage", 1).questions
    assert (topic.labels, topic.counted, topic.accuracy and topic.accuracy.value) == (36, 36, 1)
    assert topic.confusion is not None
    assert topic.confusion.values[0] == "delivery"
    assert (upset.labels, upset.accuracy, upset.calibration) == (1, None, None)
    account.create_version("triage", TRIAGE)
    few: list[Callable[[], object]] = [
        lambda: account.read_quality("triage", 1, question="upset", calibrated=True),
        lambda: account.read_thresholds("triage", 1, "upset", false_yes=5, false_no=1, unsure=0.5),
        lambda: account.compare_versions("triage", 1, 2, "topic"),
        lambda: account.create_calibration("triage", 1, "topic"),
    ]
    for act in few:
        with pytest.raises(ConflictError, match="labels"):
            act()
    assert list(account.list_calibrations("triage", 1)) == []
    with pytest.raises(NotFoundError):
        account.read_calibration("triage", 1, UNKNOWN)
    assert account.pin_calibrations("triage", 1, {"topic": None}).questions["topic"] is None
    assert account.read_pinned_calibrations("triage", 1).questions == dict.fromkeys(["topic", "upset", "urgency"])


def test_labelled_inputs_of_a_version_are_answered_by_the_next(account: Client) -> None:
    account.create_prism("triage", TRIAGE)
    result = account.create_result("triage", TEXT)
    account.put_labels(result.id, {"topic": "billing"}, sample="random")
    account.create_version("triage", TRIAGE)
    assert account.check_run("triage", from_labels_of=1).rows == 1
    assert account.check_run("triage", from_results=ResultsOfRun(ids=[result.id], version=1)).rows == 1
    run = account.watch_run(account.create_run("triage", from_labels_of=1).id)
    assert (run.status, run.version, run.ok, run.labels and run.labels.stored) == ("finished", 2, 1, 1)


def test_drift(account: Client) -> None:
    account.create_prism("triage", TRIAGE)
    assert not account.read_drift("triage").watched
    to = now().replace(minute=0, second=0, microsecond=0)
    drift = account.set_drift("triage", True, version=1, reference=DriftPeriod(to - timedelta(hours=1), to))
    assert drift.reference is not None
    assert (drift.watched, drift.reference.kind, drift.reference.to) == (True, "set", to)
    assert [one.question for one in drift.questions] == ["topic", "upset", "urgency"]
    assert account.read_drift("triage", version=1).questions[0].day.probability is None
    assert account.set_drift("triage", False).questions == ()


def test_lists_and_exports(account: Client) -> None:
    for slug in ("one", "two"):
        account.create_prism(slug, TRIAGE)
    many = 105  # more than a page
    made = [account.create_result("one", "x", ref=f"r{i % 2}") for i in range(many)]
    ids = {one.id for one in made}
    assert {one.id for one in account.list_results()} == ids
    assert {one.id for one in account.list_results_json(prism="one")} == ids
    for want, count in (
        (many, account.list_results(prism="one")),
        (0, account.list_results(prism="two")),
        (53, account.list_results(ref="r0")),
        (52, account.list_results(prism="one", ref="r1", status="ok", version=1, model="offline")),
        (0, account.list_results(ref="")),
        (0, account.list_results(status="failed")),
        (0, account.list_results(to=made[0].created_at - timedelta(hours=1))),
        (many, account.list_results(from_=made[0].created_at - timedelta(hours=1))),
    ):
        assert len(list(count)) == want
    first = next(iter(account.list_results()))  # a loop may end early
    assert first.id in ids
    with pytest.raises(NotFoundError):
        list(account.list_results(prism="none"))
    page = account.list_prisms().page(limit=1)
    after = account.list_prisms().page(limit=1, cursor=page.next_cursor)
    assert ({page.data[0].slug, after.data[0].slug}, after.next_cursor) == ({"one", "two"}, None)
    assert page.request_id

    exported: dict[ExportFormat, int] = {"csv": many + 1, "tsv": many + 1, "jsonl": many}
    for kind, lines in exported.items():
        with account.export_results("one", format=kind, status="ok") as stream:
            assert stream.read().count(b"\n") == lines
    with account.export_results("one", format="jsonl", after=sorted(ids)[-2]) as stream:
        assert [row["result_id"] for row in stream.rows()] == sorted(ids)[-1:]


def test_keys_members_models_usage_and_the_audit(prism: Server, account: Client, connect: Connect) -> None:
    made = account.create_key("another", role="caller", expires_at=now() + timedelta(days=1))
    assert (made.name, made.role, made.key.reveal().startswith(made.prefix)) == ("another", "caller", True)
    other = connect(prism.url, made.key.reveal())
    with pytest.raises(UnauthorizedError):
        other.list_keys().page()
    assert next(iter(account.list_keys())).id == made.id
    assert account.revoke_key(made.id).revoked_at is not None
    with pytest.raises(UnauthorizedError):
        other.list_prisms().page()

    view = account.create_view(
        "Sure", ViewFilters(from_=datetime(2026, 11, 1, tzinfo=timezone.utc), q="refund"), columns=["topic"]
    )
    assert list(account.list_views()) == [view]
    assert (view.filters.q, view.columns, view.default) == ("refund", ("topic",), False)
    assert account.replace_view(view.id, "All", ViewFilters(), default=True).default
    account.delete_view(view.id)
    assert list(account.list_views()) == []

    ada = account.add_member("Ada", "editor", email="ada@example.com")
    assert ada.link is not None
    assert ada.expires_at is not None
    assert "/" in ada.link.reveal()
    rule = account.add_member("Staff", "reader", claim=Claim("groups", "staff"))
    assert (rule.link, rule.claim) == (None, Claim("groups", "staff"))
    assert account.change_member(ada.id, role="owner").role == "owner"
    again = account.link_member(ada.id)
    assert again.link is not None
    assert again.link.reveal() != ada.link.reveal()
    assert {one.name for one in account.list_members()} == {"Ada", "Staff"}
    account.remove_member(rule.id)
    assert {one.name for one in account.list_members()} == {"Ada"}

    (model, broken) = account.list_models().data
    assert (model.name, model.default, model.probabilities, broken.default) == ("offline", True, "simulated", False)
    assert model.price is not None
    assert (model.price.input, model.price.currency) == (Decimal(1), "USD")

    account.create_prism("triage", TRIAGE)
    account.create_result("triage", TEXT)
    (usage,) = account.read_usage(by="prism").data
    assert (usage.prism, usage.results, usage.failed) == ("triage", 1, 0)
    today = account.read_usage(from_=now().replace(hour=0, minute=0, second=0, microsecond=0))
    assert [one.results for one in today.data] == [1]

    change = next(iter(account.changes(prism="triage", wait=5)))
    assert (change.seq, change.type, change.prism) == (1, "created", "triage")
    assert list(account.changes(after=change.seq)) == []
    assert account.list_changes(after=0, limit=1).next == 1

    actions = [one.action for one in account.list_audit(from_=now() - timedelta(hours=1))]
    assert {"key.create", "key.revoke", "member.add", "member.link", "prism.create"} <= set(actions)
    assert all(one.actor.kind == "operator" for one in account.list_audit(actor="operator"))


@pytest.fixture
def triage(account: Client) -> tuple[Client, Prism]:
    return account, account.create_prism("triage", TRIAGE)


# spec: error-unknown-fields, fields-or-text, invalid-uuid, error-malformed-request
def test_refusals(prism: Server, triage: tuple[Client, Prism], connect: Connect) -> None:
    client, _ = triage
    ok = client.create_result("triage", TEXT)
    with pytest.raises(ValidationError) as err:
        client.read_result("x")
    assert [(one.path, one.message) for one in err.value.problems] == [("result_id", "Invalid uuid")]
    assert err.value.request_id
    with pytest.raises(ValidationError, match="Unknown fields"):
        client.create_result("triage", fields={"message": "x", "b": "x"})
    with pytest.raises(ValidationError, match="send either"):
        client.create_result("triage")
    with pytest.raises(BadRequestError) as large:
        client.create_result("triage", fields={f"f{i}": "x" * 99_999 for i in range(12)})
    assert large.value.status == 413
    with pytest.raises(UnauthorizedError):
        connect(prism.url, "prism_x").list_keys().page()
    with pytest.raises(NotFoundError, match="Prism not found"):
        client.read_prism("none")
    with pytest.raises(NotFoundError, match="Result not found"):
        client.retry_result(UNKNOWN)
    with pytest.raises(ConflictError, match="Only a failed result"):
        client.retry_result(ok.id)
