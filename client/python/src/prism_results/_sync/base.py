# Written by generate.py; do not edit.
"""How calls are made, repeated and bounded."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Iterator, Callable, Mapping
from types import TracebackType
from typing import Any, Generic, TypeVar

import httpx

from prism_results import _core
from prism_results._sync.concurrency import sleep
from prism_results._core import Call, Pauses
from prism_results.errors import PrismError, TimedOutError
from prism_results.models import Page

T = TypeVar("T")
C = TypeVar("C", bound="Base")


class Base:
    """The part of a client that makes calls."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float | None = None,
        attempts: int = 4,
        user_agent: str = "prism-results-python",
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Make a client. It makes no request.

        url is the address of the API without /v1, such as "https://prism.example.com", and key the API key. timeout and
        attempts are those of with_options. user_agent names the program in the server's logs. transport makes the
        requests, such as httpx.HTTPTransport(verify=…).
        """
        header = _core.authorization(key)
        self._base = _core.base_url(url)
        self._pause = Pauses(first=0.2, most=10.0)
        self._poll = Pauses(first=0.1, most=2.0)
        self._until: float | None = None
        self._options(timeout, attempts)
        self._http = httpx.Client(
            headers={"Authorization": header, "User-Agent": user_agent, "Accept-Encoding": "identity"},
            transport=transport,
            follow_redirects=False,  # Prism does not redirect calls. Another server that does must not get the key.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=30),
        )

    @classmethod
    def from_environment(cls: type[C], environment: Mapping[str, str] = os.environ) -> C:
        """A client of the address in PRISM_URL, which is http://127.0.0.1:8080 if not set, and the key in PRISM_API_KEY."""
        key = environment.get("PRISM_API_KEY")
        if not key:
            raise ValueError("PRISM_API_KEY is not set")
        return cls(environment.get("PRISM_URL") or _core.DEFAULT_URL, key)

    def _options(self, timeout: float | None, attempts: int) -> None:
        if timeout is not None and not timeout > 0:
            raise ValueError("timeout is not above zero")
        if attempts < 1:
            raise ValueError("attempts is below one")
        self._timeout, self._attempts = timeout, attempts

    def with_options(self: C, *, timeout: float | None = None, attempts: int | None = None) -> C:
        """A client with other options for one call or several, over the same connections.

        timeout bounds a call in seconds, with all its attempts and pauses, or a whole upload or run; None bounds the
        attempts alone. attempts is the most attempts of a call whose repeat is safe; 1 never repeats.
        """
        other = copy.copy(self)
        other._options(timeout, self._attempts if attempts is None else attempts)
        return other

    def _bounded(self: C) -> C:
        """A client for the calls of one operation that takes several: the timeout bounds them together."""
        other = copy.copy(self)
        other._until = self._deadline()
        return other

    def _deadline(self) -> float | None:
        if self._until is not None or self._timeout is None:
            return self._until
        return time.monotonic() + self._timeout

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self: C) -> C:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._base}>"

    def _fetch(self, kind: type[T], one: Call) -> T:
        """Make a call and read its JSON."""

        def use(response: httpx.Response) -> T:
            return _core.read(one, kind, response, self._all(one, response, until))

        until = self._deadline()
        return self._repeat(one, until, use)

    def _content(self, one: Call) -> bytes:
        """Make a call and return the whole body."""
        until = self._deadline()
        return self._repeat(one, until, lambda response: self._all(one, response, until))

    def _repeat(self, one: Call, until: float | None, use: Callable[[httpx.Response], T]) -> T:
        """Make a call, repeat it while that is safe, and pass the response of a success to use, which closes it."""
        payload = one.payload()
        n = 0
        while True:
            n += 1
            try:
                return use(self._attempt(one, payload, until))
            except PrismError as err:
                pause = None
                if n < self._attempts and _core.safe_to_repeat(one, err):
                    pause = self._pause.after(n, err, until)
                if pause is None:
                    raise
            sleep(pause)

    def _attempt(self, one: Call, payload: bytes | None, until: float | None) -> httpx.Response:
        """One attempt of a call. The body of a success is unread."""
        limit = one.timeout if until is None else min(one.timeout, until - time.monotonic())
        if limit <= 0:
            raise TimedOutError(one.operation, "it took too long", sent=False)
        request = self._http.build_request(
            one.method,
            self._base + "/v1" + one.path,
            params=one.query or None,
            content=payload,
            headers=_core.headers(one),
            timeout=httpx.Timeout(limit, connect=min(10.0, limit)),
        )
        try:
            response = self._http.send(request, stream=True)
        except (httpx.HTTPError, httpx.StreamError) as err:
            raise _core.no_response(one.operation, err) from err
        if response.status_code == one.want:
            try:
                _core.check_type(one, response)
            except PrismError:
                response.close()
                raise
            return response
        raise _core.refusal(one, response, self._all(one, response, until))

    def _all(self, one: Call, response: httpx.Response, until: float | None) -> bytes:
        """Read a body and close the response."""
        try:
            return b"".join([piece for piece in self._pieces(one, response, until)])
        finally:
            response.close()

    def _pieces(self, one: Call, response: httpx.Response, until: float | None) -> Iterator[bytes]:
        """The pieces of a body. Each may take TIMEOUT, and all together as long as the call may."""
        now = time.monotonic()
        limit = _core.TIMEOUT if until is None else max(0.001, min(_core.TIMEOUT, until - now))
        # httpx looks it up when it begins to read the body.
        response.request.extensions["timeout"]["read"] = limit
        try:
            for piece in response.iter_bytes():
                if until is not None and time.monotonic() > until:
                    raise TimedOutError(one.operation, "it took too long", sent=True)
                yield piece
        except (httpx.HTTPError, httpx.StreamError) as err:
            lost = _core.no_response(one.operation, err)
            lost.sent = True
            raise lost from err

    def _patiently(self, step: Callable[[], T], progress: Callable[[], int] = lambda: 0) -> T:
        """Repeat a step that fails for a reason that may pass, until it succeeds. progress grows when a step that failed
        has done something.
        """
        n, before = 0, progress()
        while True:
            try:
                return step()
            except PrismError as err:
                n = 1 if progress() > before else n + 1
                before = progress()
                pause = None
                if n < _core.PATIENCE and _core.may_pass(err):
                    pause = self._pause.after(n, err, self._until)
                if pause is None:
                    raise
            sleep(pause)

    def _wait(self, operation: str, n: int) -> None:
        """Make the pause before the next question whether something has ended."""
        pause = self._poll.after(n, None, self._until)
        if pause is None:
            raise TimedOutError(operation, "it took too long", sent=True)
        sleep(pause)


class Pages(Generic[T]):
    """A list. Iterate over it for all items: pages are read as they are needed. page reads a single one."""

    def __init__(self, client: Base, kind: type[T], one: Call) -> None:
        self._client = client
        self._kind = kind
        self._call = one

    def page(self, *, limit: int | None = None, cursor: str | None = None) -> Page[T]:
        """One page: at most limit items, 1 to 100, or 50. cursor is the next_cursor of the page before."""
        wanted = _core.with_query(self._call, limit=limit, cursor=cursor)
        return self._client._fetch(Page[self._kind], wanted)  # type: ignore[name-defined] # a type at run time

    def __iter__(self) -> Iterator[T]:
        cursor: str | None = None
        while True:
            page = self.page(limit=_core.PAGE, cursor=cursor)
            for one in page.data:
                yield one
            cursor = page.next_cursor
            if cursor is None:
                return


class Stream:
    """A response body that is read as it comes. The request is made at the begin of a with statement, which closes it.

    Iterate over it for its bytes in pieces. A stream whose connection is lost ends with a NoResponseError.
    """

    def __init__(self, client: Base, one: Call) -> None:
        self._client = client
        self._call = one
        self._response: httpx.Response | None = None

    def __enter__(self: S) -> S:
        self._client = self._client._bounded()
        self._response = self._client._repeat(self._call, self._client._until, opened)
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None) -> None:
        if self._response is not None:
            self._response.close()

    @property
    def request_id(self) -> str:
        """Names the request in the server's logs."""
        return str(self._open().headers.get("X-Request-Id", ""))

    def _open(self) -> httpx.Response:
        if self._response is None:
            raise RuntimeError(f"{self._call.operation}: the stream is not open: use it in a with statement")
        return self._response

    def _pieces(self) -> Iterator[bytes]:
        return self._client._pieces(self._call, self._open(), self._client._until)

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces():
            yield piece

    def read(self) -> bytes:
        """All of the body."""
        return b"".join([piece for piece in self])

    def lines(self) -> Iterator[str]:
        """The lines of the body without their ends. A csv cell may hold line breaks: use csv.reader for csv."""
        rest = b""
        for piece in self:
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                yield line.decode().removesuffix("\r")
        if rest:
            yield rest.decode()

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of a stream of jsonl by their columns."""
        if (self._call.query.get("format") or _core.row_format(self._open())) != "jsonl":
            raise ValueError(f"{self._call.operation}: rows are read from the format jsonl")
        for line in self.lines():
            yield _core.row(self._call, self._open(), line)


S = TypeVar("S", bound=Stream)


def opened(response: httpx.Response) -> httpx.Response:
    """The response of a stream, which is read later."""
    return response
