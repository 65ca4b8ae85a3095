"""Requests, responses and repeats without input and output, for both clients."""

from __future__ import annotations

import json
import random
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Literal, TypeVar
from urllib.parse import quote, urlsplit

import httpx

from prism_results import _json
from prism_results.errors import (
    CODES,
    APIError,
    FailedError,
    NoResponseError,
    PrismError,
    TimedOutError,
    UnavailableError,
    UnexpectedResponseError,
)
from prism_results.models import Result, Try

T = TypeVar("T")

ANSWER_TIMEOUT = 75.0
"""Seconds of an attempt to create or retry a result: up to 35 for other calls, 15 for the model, and saving."""
TIMEOUT = 30.0
"""Seconds of an attempt of every other call, and of each read of a response body."""
PART_TIMEOUT = 120.0
"""Seconds of an attempt to send a part of a file."""
PLAN_TIMEOUT = 60.0
"""Seconds of an attempt of check_run, which checks rows for 20 s."""
PAGE = 100
"""The most items of a page."""
DEFAULT_URL = "http://127.0.0.1:8080"


def new_idempotency_key() -> str:
    """A key that no other call has."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One operation with its request."""

    operation: str
    method: str
    path: str
    """Below /v1, escaped."""
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    octets: bytes | None = None
    """The body as it is, in place of JSON."""
    if_match: str | None = None
    want: int = 200
    """The status of success."""
    timeout: float = TIMEOUT
    """Of an attempt, in seconds."""
    repeatable: bool
    """Whether the call has the same effect twice as once (spec: idempotency-key)."""
    answers: Literal["", "result", "rows", "try"] = ""
    """What a 502 may hold: a failed result as JSON or as rows (spec: failed-result-is-not-an-error), or a failed try."""

    def of(self, body: Mapping[str, Any], want: int, dry_run: bool) -> Call:
        """The call with a body, or as a dry run, which stores nothing and so has the same effect twice (spec: dry-run)."""
        if not dry_run:
            return replace(self, body=body, want=want)
        return replace(self, body={**body, "dry_run": True}, repeatable=True)

    def payload(self) -> bytes | None:
        """The bytes of the body."""
        return self.octets if self.body is None else _json.dumps(self.operation, self.body)


def call(operation: str, method: str, *segments: str | int, repeatable: bool | None = None, **rest: Any) -> Call:
    """A call of the path with these segments. Only a POST has another effect twice than once."""
    for one in segments:
        if one in ("", ".", ".."):
            raise ValueError(f'{operation}: "{one}" is no id or slug')
    path = "".join("/" + quote(str(one), safe="") for one in segments)
    repeatable = method != "POST" if repeatable is None else repeatable
    return Call(operation=operation, method=method, path=path, repeatable=repeatable, **rest)


def given(**members: Any) -> dict[str, Any]:
    """The members of a body that are not None, by their names in JSON."""
    return {_json.member(name): value for name, value in members.items() if value is not None}


def query(**parameters: str | float | date | Sequence[str] | None) -> dict[str, Any]:
    """The parameters that are not None, by their names in the address. A list is a parameter that is sent several times."""
    return {name: _parameter(value) for name, value in given(**parameters).items()}


def _parameter(value: Any) -> str | list[str]:
    if isinstance(value, datetime):
        return _json.time_text(value)
    return list(value) if isinstance(value, (list, tuple)) else str(value)


def text_style(bom: bool, delimiter: str | None, safe: bool) -> dict[str, str | None]:
    """The parameters of csv and tsv for spreadsheets."""
    return {"bom": "true" if bom else None, "delimiter": delimiter, "safe": "true" if safe else None}


def base_url(url: str) -> str:
    """Check the address that paths are appended to. The errors do not repeat it, as it may hold a password or a key."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid:
        raise ValueError('url is not an address such as "https://prism.example.com"')
    if "@" in parts.netloc:
        raise ValueError("url holds a user or password; Prism takes an API key instead")
    if "?" in url or "#" in url:
        raise ValueError("url ends in a query or fragment")
    return url.rstrip("/")


def authorization(key: str) -> str:
    """Check an API key, and return the header that carries it."""
    if not key or any(not "!" <= c <= "~" for c in key):
        raise ValueError("key is empty or holds characters that no API key has")
    return "Bearer " + key


def headers(one: Call) -> dict[str, str]:
    """The headers of a request but those that every request has."""
    named = {"If-Match": one.if_match} if one.if_match else {}
    if one.octets is not None:
        return {**named, "Content-Type": "application/octet-stream"}
    return {**named, "Content-Type": "application/json"} if one.body is not None else named


NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)
"""The errors of a request that has no connection."""


def no_response(operation: str, err: Exception) -> NoResponseError:
    """The error of a request or a body that ended with an error of httpx."""
    sent = not isinstance(err, NEVER_SENT)
    if isinstance(err, httpx.TimeoutException):
        return TimedOutError(operation, "it took too long", sent=sent)
    return NoResponseError(operation, str(err) or type(err).__name__, sent=sent)


def unexpected(one: Call, response: httpx.Response, what: str = "a response that is not Prism's") -> UnexpectedResponseError:
    """The error of a response that no Prism sends."""
    message = f"{response.url.scheme}://{response.url.netloc.decode()} sent {what}"
    return UnexpectedResponseError(
        one.operation, response.status_code, "unexpected", message, response.headers.get("X-Request-Id", "")
    )


def read(one: Call, kind: type[T], response: httpx.Response, content: bytes) -> T:
    """Read the JSON of a success."""
    request_id = response.headers.get("X-Request-Id", "")
    try:
        value = _json.decode(kind, _json.loads(content))
    except _json.LackingError as err:
        raise unexpected(one, response, f"a response {err}") from None
    except _json.MalformedError as err:
        raise unexpected(one, response, f"a response body that is not the expected JSON: {err}") from None
    object.__setattr__(value, "request_id", request_id)
    if hasattr(value, "etag"):
        object.__setattr__(value, "etag", response.headers.get("ETag"))
    return value


def refusal(one: Call, response: httpx.Response, content: bytes) -> PrismError:
    """The error of a response that is not a success."""
    status, request_id = response.status_code, response.headers.get("X-Request-Id", "")
    if one.answers and status == 502:
        return failed(one, response, content) or unexpected(one, response)
    asked = response.headers.get("Retry-After", "")
    retry_after = float(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0.0
    error = unexpected(one, response)
    error.retry_after = retry_after
    try:
        outer = json.loads(content)
    except (ValueError, RecursionError):
        return error
    if not isinstance(outer, dict):
        return error
    if status == 503 and outer == UNAVAILABLE:
        return UnavailableError(one.operation, status, "unavailable", "Service Unavailable", request_id, retry_after)
    inner = outer.get("error")
    if isinstance(inner, dict) and isinstance(code := inner.get("code"), str) and code:
        return CODES.get(code, APIError)(one.operation, status, code, str(inner.get("message", "")), request_id, retry_after)
    return error


UNAVAILABLE = {"error": "Service Unavailable", "message": "Service Unavailable", "statusCode": 503}
"""Prism's own 503. The 503 of a proxy has another body, and does not mean that Prism did nothing."""

MEDIA_TYPES = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "jsonl": "application/jsonl",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}


def check_type(one: Call, response: httpx.Response) -> None:
    """Raise UnexpectedResponseError for the success of a call for rows or events that is of another media type."""
    if one.operation == "listRunRows" and row_format(response) and "format" not in one.query:
        return  # that of the file
    rows = "csv" if one.operation in ("exportResults", "exportSelected", "listRunRows") else ""
    asked = (one.body or {}) if one.operation == "exportSelected" else one.query
    wanted = "text/event-stream" if one.operation in ("followRun", "followEvents") else MEDIA_TYPES.get(asked.get("format", rows))
    if wanted and media_type(response) != wanted:
        raise unexpected(one, response, f"a response body that is not {wanted}")


def row_format(response: httpx.Response) -> str | None:
    """The format of the rows of a response, or None for another response."""
    return next((name for name, kind in MEDIA_TYPES.items() if kind == media_type(response)), None)


def media_type(response: httpx.Response) -> str:
    """The media type of a response, without its parameters."""
    return str(response.headers.get("Content-Type", "")).partition(";")[0].strip().lower()


def failed(one: Call, response: httpx.Response, content: bytes) -> FailedError | None:
    """Read a 502 of Prism. Returns None for the 502 of a proxy."""
    request_id = response.headers.get("X-Request-Id", "")
    if one.answers == "rows":
        is_ours = media_type(response) == MEDIA_TYPES[one.query["format"]]
        return FailedError(one.operation, content, request_id, None, None) if is_ours else None
    kind: type[Result | Try] = Try if one.answers == "try" else Result
    try:
        outcome: Result | Try = _json.decode(kind, _json.loads(content))
    except _json.MalformedError:
        return None
    if outcome.status != "failed":
        return None
    object.__setattr__(outcome, "request_id", request_id)
    if isinstance(outcome, Try):
        return FailedError(one.operation, content, request_id, None, outcome)
    return FailedError(one.operation, content, request_id, outcome, None) if outcome.id else None


def safe_to_repeat(one: Call, err: PrismError) -> bool:
    """Whether a repeat is safe and may help: Prism did nothing (spec: error-service-unavailable), or the call has the
    same effect twice.
    """
    if isinstance(err, NoResponseError):
        return not err.sent or one.repeatable
    if isinstance(err, APIError):
        return isinstance(err, UnavailableError) or (one.repeatable and err.status >= 500)
    return False  # a failed result is a response


def may_pass(err: PrismError) -> bool:
    """Whether an error may be gone at the next try."""
    return isinstance(err, NoResponseError) or (isinstance(err, APIError) and err.status >= 500)


PATIENCE = 10
"""How often a step of something that takes long may fail in a row without progress: half a minute or more, in which a
server restarts."""

MOST_RETRY_AFTER = 60.0
"""The longest pause, in seconds, that a server can ask for. Beyond it, the caller decides whether to try again."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """The times between attempts: each up to twice the previous one, with a random part so that clients that failed
    together do not return together.
    """

    first: float
    most: float

    def after(self, n: int, err: PrismError | None, until: float | None) -> float | None:
        """The seconds to wait after attempt n. None if they would end after until, or the server asks for too many."""
        asked = err.retry_after if isinstance(err, APIError) else 0.0
        longest = min(self.first * 2.0 ** min(n - 1, 16), self.most)
        pause = max(longest / 2, asked) + random.uniform(0, longest / 2)  # noqa: S311 # jitter needs no secrecy
        if asked > MOST_RETRY_AFTER or (until is not None and time.monotonic() + pause >= until):
            return None
        return pause


def events(lines: str) -> str | None:
    """The data of a line of server-sent events. None for an event's name, a comment, or the empty line behind an event."""
    return lines[len("data:") :] if lines.startswith("data:") else None


def checked_options(options: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Raise TypeError for a keyword that is none."""
    for name in options:
        if name not in known:
            raise TypeError(f"{name} is no option of a run; there are {', '.join(known)}")


def with_query(one: Call, **parameters: str | int | None) -> Call:
    """The call with further parameters."""
    return replace(one, query={**one.query, **query(**parameters)})


def row(one: Call, response: httpx.Response, line: str) -> dict[str, Any]:
    """Read a row of jsonl."""
    try:
        return dict(_json.plain(_json.objects(_json.loads(line))))
    except _json.MalformedError as err:
        raise unexpected(one, response, f"a row that is not the expected JSON: {err}") from None
