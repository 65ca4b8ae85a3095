"""What is repeated, what never, and for how long."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

import httpx
import pytest

from prism_results import (
    APIError,
    BadRequestError,
    Client,
    FailedError,
    NoResponseError,
    PrismError,
    TimedOutError,
    UnavailableError,
    UnexpectedResponseError,
)
from prism_results._core import Pauses
from tests.conftest import Connect
from tests.samples import DRY_RUNS, EVERYTHING, FAILED, UNAVAILABLE, Act, result
from tests.serving import Handler, Request

Serve = Callable[[Handler], Client]

UNKEYED: dict[str, Act] = {
    "an unkeyed create": lambda c: c.create_result("a", "t", idempotency_key=""),
    "an unkeyed run": lambda c: c.create_run("a", "f", {}, idempotency_key=""),
}
ONCE = {
    "retryResult",
    "createPrism",
    "createVersion",
    "createCalibration",
    "createKey",
    "deleteResults",
    "retryResults",
    "createFile",
    "retryRun",
    "tryDefinition",
    "checkModel",
    "addMember",
    "linkMember",
    "createView",
    "createComment",
    "assignResults",
    "createWebhook",
    "testWebhook",
    "rotateWebhook",
    "resendDelivery",
}
"""What may not be made twice."""
ALL = {**EVERYTHING, **UNKEYED, "a create": lambda c: c.create_result("a", "t"), "a run": lambda c: c.create_run("a", "f", {})}
NEVER = {name: act for name, act in ALL.items() if name in ONCE or name in UNKEYED}
TWICE = {name: act for name, act in ALL.items() if name not in NEVER} | {f"check {n}": act for n, act in DRY_RUNS.items()}


def page(status: int) -> Handler:
    return lambda request: request.reply(status, "text/html", "<h1>proxy</h1>")


def document(status: int, value: object) -> Handler:
    return lambda request: request.value(status, value)


def cut(request: Request) -> None:
    pass


# spec: idempotency-key, error-service-unavailable
@pytest.mark.parametrize(
    ("acts", "first", "repeated"),
    [
        pytest.param(ALL, document(503, UNAVAILABLE), True, id="Prism's own 503 took nothing"),
        pytest.param(NEVER, cut, False, id="a lost answer may have been taken"),
        pytest.param(TWICE, cut, True, id="a lost answer of what may happen twice"),
        pytest.param(NEVER, document(500, {"error": {"code": "internal_error", "message": "m"}}), False, id="a 500"),
        pytest.param(TWICE, document(500, {"error": {"code": "internal_error", "message": "m"}}), True, id="a 500 twice"),
        pytest.param(NEVER, page(503), False, id="a proxy's 503 may have been taken"),
        pytest.param(NEVER, document(503, {"message": "no healthy upstream"}), False, id="a proxy's 503 in JSON"),
        pytest.param(NEVER, document(503, {**UNAVAILABLE, "message": "queue full"}), False, id="another server's 503"),
        pytest.param(TWICE, page(503), True, id="a proxy's 503 of what may happen twice"),
        pytest.param(NEVER, page(502), False, id="a proxy's 502 is no failed result"),
        pytest.param(TWICE, page(504), True, id="a proxy's 504 of what may happen twice"),
        pytest.param(ALL, page(429), False, id="a proxy's 429 is an answer"),
        pytest.param(ALL, document(409, {"error": {"code": "conflict", "message": "no"}}), False, id="a conflict"),
        pytest.param(ALL, page(302), False, id="a redirect is an answer"),
    ],
)
def test_what_is_repeated(serve: Serve, acts: dict[str, Act], first: Handler, repeated: bool) -> None:
    requests: list[Request] = []

    def handle(request: Request) -> None:
        requests.append(request)
        if len(requests) == 1:
            first(request)
        else:
            request.error(400, "bad_request", "the second")

    client = serve(handle)
    for name, act in acts.items():
        requests.clear()
        with pytest.raises(PrismError) as err:
            act(client)
        assert (isinstance(err.value, BadRequestError), len(requests)) == ((True, 2) if repeated else (False, 1)), name
        assert len({request.body for request in requests}) == 1, f"{name}: the repeat is another request"


def test_a_failed_result_is_an_answer(serve: Serve) -> None:
    requests: list[Request] = []

    def handle(request: Request) -> None:
        requests.append(request)
        request.value(502, FAILED)

    client = serve(handle)
    for act in (ALL["a create"], UNKEYED["an unkeyed create"], EVERYTHING["retryResult"]):
        requests.clear()
        with pytest.raises(FailedError):
            act(client)
        assert len(requests) == 1


# spec: idempotency-key
def test_a_create_has_one_key_for_all_its_attempts(serve: Serve) -> None:
    keys: list[str] = []

    def handle(request: Request) -> None:
        keys.append(request.json()["idempotency_key"])
        if len(keys) % 2 == 0:
            request.value(200, result())  # the answer to the first attempt is lost

    client = serve(handle)
    client.create_result("a", "t")
    client.create_result("a", "t")
    assert keys[0] == keys[1] != keys[2] == keys[3]
    assert 20 <= len(keys[0]) <= 200
    client.create_result("a", "t", idempotency_key="mine")
    assert keys[4:] == ["mine", "mine"]


def test_a_call_that_was_never_sent_is_repeated(connect: Connect) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
    client = connect(f"http://127.0.0.1:{address[1]}")
    pauses: list[int] = []

    class Counted(Pauses):
        def after(self, n: int, _err: PrismError | None, _until: float | None) -> float | None:
            pauses.append(n)
            return 0.0

    client._pause = Counted(first=0, most=0)
    with pytest.raises(NoResponseError) as err:
        client.create_result("a", "t", idempotency_key="")
    assert not err.value.sent
    assert pauses == [1, 2, 3]


def test_attempts_are_bounded(serve: Serve) -> None:
    requests: list[Request] = []

    def handle(request: Request) -> None:
        requests.append(request)
        request.value(503, UNAVAILABLE)

    client = serve(handle)
    for options, want in ({}, 4), ({"attempts": 1}, 1), ({"attempts": 6}, 6):
        requests.clear()
        with pytest.raises(UnavailableError):
            client.with_options(**options).read_result("a")
        assert len(requests) == want


# spec: retry-after-of-a-503
@pytest.mark.parametrize(("header", "want"), [("7", 7), ("", 0), ("-1", 0), ("soon", 0), ("99999999999", 0), ("٣", 0)])
def test_an_error_tells_when_to_try_again(serve: Serve, header: str, want: float) -> None:
    client = serve(
        lambda request: request.reply(
            503,
            "application/json",
            '{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}',
            Retry_After=header.encode().decode("latin-1"),
        )
    )
    with pytest.raises(UnavailableError) as err:
        client.with_options(attempts=1).read_result("a")
    assert err.value.retry_after == want


def test_a_proxys_429_tells_when_to_try_again(serve: Serve) -> None:
    client = serve(lambda request: request.reply(429, "text/html", "slow down", Retry_After="3"))
    with pytest.raises(UnexpectedResponseError) as err:
        client.read_result("a")
    assert (err.value.status, err.value.retry_after) == (429, 3)


@pytest.mark.parametrize(("n", "most"), [(1, 0.2), (2, 0.4), (3, 0.8), (60, 10)])
def test_pauses_grow_and_differ(n: int, most: float) -> None:
    pauses = [Pauses(first=0.2, most=10).after(n, None, None) for _ in range(100)]
    assert all(pause is not None and most / 2 <= pause <= most for pause in pauses)
    assert len(set(pauses)) > 50


def asking(seconds: float) -> APIError:
    return UnavailableError("readResult", 503, "unavailable", "m", "", seconds)


# spec: retry-after-of-a-503
def test_a_pause_is_as_long_as_the_server_asks() -> None:
    pauses = Pauses(first=0.2, most=10)
    pause = pauses.after(1, asking(7), None)
    assert pause is not None
    assert 7 <= pause <= 7.1
    assert pauses.after(1, asking(61), None) is None, "a pause of more than a minute"
    assert pauses.after(1, asking(7), time.monotonic() + 6) is None, "a pause that the deadline would cut"
    assert pauses.after(1, asking(7), time.monotonic() + 600) is not None


def test_a_timeout_bounds_all_attempts(serve: Serve) -> None:
    requests: list[Request] = []

    def handle(request: Request) -> None:
        requests.append(request)
        request.reply(
            503,
            "application/json",
            '{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}',
            Retry_After="30",
        )

    began = time.monotonic()
    with pytest.raises(UnavailableError):
        serve(handle).with_options(timeout=20).read_result("a")
    assert len(requests) == 1
    assert time.monotonic() - began < 20, "the pause was begun"


def test_an_attempt_that_takes_too_long_says_so(serve: Serve) -> None:
    release = threading.Event()

    def handle(_: Request) -> None:
        release.wait(60)

    client = serve(handle)
    with pytest.raises(TimedOutError, match="too long") as err:
        client.with_options(timeout=0.05).read_result("a")
    release.set()
    assert isinstance(err.value, TimeoutError)


def test_a_body_that_stalls_ends_with_the_timeout(serve: Serve) -> None:
    release = threading.Event()

    def handle(request: Request) -> None:
        request.stream('{"id":', "application/json")
        release.wait(60)

    with pytest.raises(TimedOutError):
        serve(handle).with_options(timeout=0.2).read_result("a")
    release.set()


def test_a_body_that_drips_ends_with_the_timeout(serve: Serve) -> None:
    left = threading.Event()

    def handle(request: Request) -> None:
        while not left.is_set():
            request.stream(" ", "application/json")

    with pytest.raises(TimedOutError):
        serve(handle).with_options(timeout=0.2).read_result("a")
    left.set()


def test_a_document_that_is_cut_is_read_again(serve: Serve) -> None:
    requests: list[Request] = []

    def handle(request: Request) -> None:
        requests.append(request)
        if len(requests) % 2:
            request.stream('{"id":', "application/json")
        else:
            request.value(200, result())

    client = serve(handle)
    assert client.read_result("a").prism == "a"
    assert b'"prism"' in client.read_result_as("json", "a")


def test_options_are_of_their_calls_alone(serve: Serve) -> None:
    client = serve(lambda request: request.value(200, result()))
    other = client.with_options(timeout=5, attempts=2)
    assert (client._timeout, client._attempts, other._timeout, other._attempts) == (None, 4, 5, 2)
    assert other.read_result("a") == client.read_result("a")
    for options in ({"timeout": 0}, {"timeout": -1}, {"attempts": 0}):
        with pytest.raises(ValueError, match=r"timeout|attempts"):
            client.with_options(**options)


def test_redirects_are_not_followed(serve: Serve) -> None:
    for status in (301, 302, 303, 307, 308):
        seen: list[str] = []

        def handle(request: Request, status: int = status, seen: list[str] = seen) -> None:
            seen.append(request.path)
            request.reply(status, "text/html", "", Location="/elsewhere")

        with pytest.raises(UnexpectedResponseError) as err:
            serve(handle).read_result("a")
        assert (err.value.status, seen) == (status, ["/v1/results/a"])


def test_errors_of_httpx_become_those_of_the_client() -> None:
    for kind, sent in (
        (httpx.ConnectTimeout, False),
        (httpx.ReadError, True),
        (httpx.ReadTimeout, True),
        (httpx.RemoteProtocolError, True),
    ):

        def fail(request: httpx.Request, kind: type[httpx.RequestError] = kind) -> httpx.Response:
            raise kind("it broke", request=request)

        client = Client("http://prism.test", "k", transport=httpx.MockTransport(fail), attempts=1)
        with client, pytest.raises(NoResponseError, match="readResult: no response") as err:
            client.read_result("a")
        assert err.value.sent == sent
