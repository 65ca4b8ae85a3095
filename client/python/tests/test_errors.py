"""Errors, and what they hold."""

from __future__ import annotations

import json
import pickle
import traceback
from collections.abc import Callable

import pytest

from prism_results import (
    APIError,
    AsyncClient,
    Client,
    ConflictError,
    FailedError,
    Lens,
    NoResponseError,
    PrismError,
    Problem,
    TimedOutError,
    UnauthorizedError,
    UnavailableError,
    UnexpectedResponseError,
    ValidationError,
    new_idempotency_key,
)
from tests.conftest import KEY, Connect
from tests.samples import DEFINITION, FAILED, FAILED_TRY, UNAVAILABLE, Act, result
from tests.serving import JSON, Handler, Request

Serve = Callable[[Handler], Client]


def replying(status: int, content_type: str, text: str) -> Handler:
    return lambda request: request.reply(status, content_type, text)


def test_an_error_has_the_status_the_code_the_message_and_the_id_of_the_request(serve: Serve) -> None:
    client = serve(lambda request: request.error(409, "conflict", "This prism is archived."))
    with pytest.raises(ConflictError) as err:
        client.replace_lens("a", Lens([]))
    got = err.value
    assert (got.operation, got.status, got.code, got.message) == ("replaceLens", 409, "conflict", "This prism is archived.")
    assert (got.request_id, got.retry_after) == ("r-1", 0)
    assert str(got) == "replaceLens: 409 conflict: This prism is archived."


# spec: validation-message
def test_a_validation_error_has_every_path(serve: Serve) -> None:
    message = (
        "Invalid request: fields.message: Expected string, received number; version: Number must be greater than or equal to 1"
    )
    with pytest.raises(ValidationError) as err:
        serve(lambda request: request.error(400, "validation_failed", message)).create_result("a", "t")
    assert err.value.problems == (
        Problem("fields.message", "Expected string, received number"),
        Problem("version", "Number must be greater than or equal to 1"),
    )
    with pytest.raises(ValidationError) as err:
        serve(lambda request: request.error(400, "validation_failed", "Unknown fields: a")).create_result("a", "t")
    assert err.value.problems == ()


def test_a_code_of_a_newer_prism_is_an_error_of_the_api(serve: Serve) -> None:
    with pytest.raises(APIError) as err:
        serve(lambda request: request.error(402, "payment_required", "m")).read_result("a")
    assert (type(err.value), err.value.code) == (APIError, "payment_required")


def test_prisms_own_503_has_a_class(serve: Serve) -> None:
    with pytest.raises(UnavailableError):
        serve(lambda request: request.value(503, UNAVAILABLE)).with_options(attempts=1).read_prism("a")


# spec: failed-result-is-not-an-error
@pytest.mark.parametrize(
    "act",
    [
        lambda c: c.create_result("a", "t"),
        lambda c: c.create_result_json("a", "t"),
        lambda c: c.create_result_as("json", "a", "t"),
        lambda c: c.retry_result("a"),
        lambda c: c.retry_result_json("a"),
        lambda c: c.retry_result_as("raw", "a"),
    ],
)
def test_a_failed_result_is_carried_by_its_error(serve: Serve, act: Act) -> None:
    with pytest.raises(FailedError, match="failed: The model did not answer within 15 seconds") as err:
        act(serve(lambda request: request.value(502, FAILED)))
    got = err.value
    assert got.result is not None
    assert (got.result.id, got.result.status, dict(got.result.answers)) == (FAILED["id"], "failed", {})
    assert (json.loads(got.body), got.request_id, got.result.request_id, got.tried) == (FAILED, "r-1", "r-1", None)


def test_a_failed_row_is_carried_as_it_is(serve: Serve) -> None:
    row = "result_id\terror\nx\ty\n"
    client = serve(replying(502, "text/tab-separated-values; charset=utf-8", row))
    with pytest.raises(FailedError) as err:
        client.create_result_as("tsv", "a", "t")
    assert (err.value.body.decode(), err.value.result) == (row, None)
    with pytest.raises(UnexpectedResponseError):
        client.retry_result_as("csv", "a")


def test_a_failed_try_is_carried_by_its_error(serve: Serve) -> None:
    with pytest.raises(FailedError) as err:
        serve(lambda request: request.value(502, FAILED_TRY)).try_definition(DEFINITION, "t")
    assert err.value.tried is not None
    assert (err.value.tried.error_code, err.value.result) == ("timeout", None)
    assert str(err.value) == "tryDefinition: the model failed: The model did not answer within 15 seconds."
    for page in ("<h1>proxy</h1>", "null", '{"status":"ok"}', json.dumps({**FAILED_TRY, "status": "ok"})):
        with pytest.raises(UnexpectedResponseError):
            serve(replying(502, JSON, page)).try_definition(DEFINITION, "t")


@pytest.mark.parametrize("status", [301, 403, 429, 502, 504])
def test_a_proxys_page_is_unexpected(serve: Serve, status: int) -> None:
    client = serve(replying(status, "text/html", "<h1>secret stack trace</h1>"))
    with pytest.raises(UnexpectedResponseError) as err:
        client.with_options(attempts=1).create_result("a", "t")
    assert (err.value.status, "secret" in str(err.value)) == (status, False)


@pytest.mark.parametrize(
    "text",
    ["<h1>log in</h1>", "[]", "null", "[" * 100_000],
    ids=["page", "[]", "null", "deep"],
)
def test_a_success_of_another_shape_is_unexpected(serve: Serve, text: str) -> None:
    with pytest.raises(UnexpectedResponseError, match="not the expected JSON") as err:
        serve(replying(200, JSON, text)).read_result("a")
    assert err.value.request_id == "r-1"


def test_a_success_has_the_id_of_its_request(serve: Serve) -> None:
    assert serve(lambda request: request.value(200, result())).read_result("a").request_id == "r-1"


def test_a_timeout_is_a_timeout_of_python() -> None:
    assert issubclass(TimedOutError, TimeoutError)
    assert issubclass(TimedOutError, NoResponseError)
    assert issubclass(NoResponseError, PrismError)


def test_the_key_is_not_shown(serve: Serve, connect: Connect) -> None:
    client = serve(lambda request: request.error(401, "unauthorized", "Invalid API key"))
    shown = [repr(client), str(client)]
    with pytest.raises(UnauthorizedError) as refused:
        client.list_keys().page()
    with pytest.raises(NoResponseError) as lost:
        connect("http://127.0.0.1:1").list_results(ref="private").page()
    for url, key in (f"http://user:{KEY}@host/", KEY), ("http://host", KEY + "\n"):
        with pytest.raises(ValueError, match=r"url|key") as wrong:
            Client(url, key)
        shown.append(str(wrong.value))
    for err in (refused, lost):
        shown += [repr(err.value), *traceback.format_exception(err.value)]
    assert not [text for text in shown if KEY[6:] in text or "private" in text.replace('ref="private"', "")]


@pytest.mark.parametrize("url", ["", "host", "ftp://host", "http://", "http://h?x", "http://h#x", "http://h?", "http://h:x"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="url"):
        Client(url, KEY)


def test_a_key_that_is_none_is_refused() -> None:
    for key in ("", "a b", "a\n", "é"):
        with pytest.raises(ValueError, match="key is empty"):
            Client("http://h", key)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_the_environment_names_the_prism(kind: type[Client]) -> None:
    client = kind.from_environment({"PRISM_URL": "https://prism.example.com/", "PRISM_API_KEY": KEY})
    assert client._base == "https://prism.example.com"
    assert kind.from_environment({"PRISM_API_KEY": KEY})._base == "http://127.0.0.1:8080"
    with pytest.raises(ValueError, match="PRISM_API_KEY is not set"):
        kind.from_environment({"PRISM_URL": "https://prism.example.com"})


def test_requests_have_the_path_of_the_address_and_escaped_parameters(connect: Connect) -> None:
    from tests.serving import serving

    seen: list[Request] = []

    def handle(request: Request) -> None:
        seen.append(request)
        request.value(200, result())

    with serving(handle) as url:
        connect(url + "/some/where/", user_agent="me").read_result("a/b ?c%\u00e9")
    (request,) = seen
    assert request.handler.path == "/some/where/v1/results/a%2Fb%20%3Fc%25%C3%A9?format=raw"
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert (headers["authorization"], headers["user-agent"]) == ("Bearer " + KEY, "me")
    assert "content-type" not in headers


@pytest.mark.parametrize(
    ("act", "path"),
    [
        (lambda c: c.create_result("a", "\ud800"), "text"),
        (lambda c: c.create_result("a", fields={"a": "\ud800"}), "fields.a"),
        (lambda c: c.create_result("a", fields={"\ud800": "a"}), "a name in fields"),
        (lambda c: c.create_run("a", "f", {}, context="\ud800"), "context"),
        (lambda c: c.try_definition(DEFINITION, "\ud800"), "text"),
    ],
)
def test_what_is_not_utf8_is_not_sent(serve: Serve, act: Act, path: str) -> None:
    seen: list[Request] = []
    with pytest.raises(ValueError, match=f": {path} holds half of a surrogate pair"):
        act(serve(seen.append))
    assert seen == []


def test_what_json_lacks_is_not_sent(serve: Serve) -> None:
    seen: list[Request] = []
    client = serve(seen.append)
    with pytest.raises(ValueError, match="createRun"):
        client.create_run("a", "f", {}, rows_per_second=float("nan"))
    with pytest.raises(TypeError, match="rows_per_minute is no option of a run"):
        client.create_run("a", "f", {}, rows_per_minute=1)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="a deletion needs"):
        client.delete_results("a")
    with pytest.raises(ValueError, match="the number to expect"):
        client.retry_results("a")
    assert seen == []


@pytest.mark.parametrize("segment", ["", ".", ".."])
def test_an_id_that_would_be_another_path_is_not_sent(serve: Serve, segment: str) -> None:
    seen: list[Request] = []
    client = serve(seen.append)
    with pytest.raises(ValueError, match="is no id or slug"):
        client.delete_file(segment)
    assert seen == []


def test_errors_can_be_pickled(serve: Serve) -> None:
    with pytest.raises(FailedError) as failed:
        serve(lambda request: request.value(502, FAILED)).create_result("a", "t")
    with pytest.raises(ConflictError) as refused:
        serve(lambda request: request.error(409, "conflict")).create_prism("a", DEFINITION)
    with pytest.raises(NoResponseError) as lost:
        serve(lambda request: None).create_prism("a", DEFINITION)
    for err in (failed.value, refused.value, lost.value):
        again = pickle.loads(pickle.dumps(err))
        assert (type(again), str(again), vars(again)) == (type(err), str(err), vars(err))


def test_idempotency_keys_differ() -> None:
    assert len({new_idempotency_key() for _ in range(100)}) == 100


# spec: prism-etag
def test_a_prism_has_the_etag_of_its_response(serve: Serve) -> None:
    times = {"created_at": "2026-11-21T10:00:00.120Z"}
    version = {"version": 1, "fields": [], "questions": [], **times}
    value = {"id": "a", "slug": "a", "latest_version": 1, "lens": {"columns": []}, "version": version, **times}

    def handle(request: Request) -> None:
        request.value(201 if (request.method, request.path) == ("POST", "/v1/prisms") else 200, value, ETag='"e"')

    client = serve(handle)
    for prism in (
        client.create_prism("a", DEFINITION),
        client.read_prism("a"),
        client.rename_prism("a", "n"),
        client.replace_lens("a", Lens([])),
        client.set_retention("a", None),
        client.set_searchable("a", False),
        client.archive_prism("a"),
        client.unarchive_prism("a"),
    ):
        assert prism.etag == '"e"'


def test_a_stream_that_is_cut_is_not_taken_for_a_whole(serve: Serve) -> None:
    with serve(lambda request: request.stream("result_id\r\n")).export_results("a") as stream:
        pieces = iter(stream)
        assert next(pieces) == b"result_id\r\n"
        with pytest.raises(NoResponseError) as err:
            next(pieces)
    assert (err.value.operation, err.value.sent, stream.request_id) == ("exportResults", True, "r-1")


def test_a_stream_is_used_in_a_with_statement(serve: Serve) -> None:
    stream = serve(lambda request: request.error(404, "not_found")).export_results("a")
    with pytest.raises(RuntimeError, match="with statement"):
        stream.read()


def test_lines_and_rows_of_a_stream(serve: Serve) -> None:
    def handle(request: Request) -> None:
        for piece in ('{"a":1.5,', '"b":"é', '"}\n{"a":nu', 'll}\r\n{"a":[]}'):
            request.stream(piece)
        request.end()

    with serve(handle).export_results("a", format="jsonl") as stream:
        assert list(stream.rows()) == [{"a": 1.5, "b": "é"}, {"a": None}, {"a": []}]
    with serve(handle).export_results("a") as stream, pytest.raises(ValueError, match="format jsonl"):
        list(stream.rows())
