"""What can go wrong. No error holds the API key, an address with its query, or a value that was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from prism_results.models import File, Result, Try


class PrismError(Exception):
    """Every error of a call."""

    operation = ""
    """The operation of the OpenAPI document, such as createResult."""
    request_id = ""
    """Names the request in the server's logs. Empty if there was no response."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Without it, pickle would call the class with the message alone, in multiprocessing for example.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[PrismError], args: tuple[Any, ...], members: dict[str, Any]) -> PrismError:
    """The error that was pickled."""
    err = kind.__new__(kind)
    err.args = args
    err.__dict__.update(members)
    return err


class APIError(PrismError):
    """A call that Prism refused. Its subclasses are the codes."""

    def __init__(self, operation: str, status: int, code: str, message: str, request_id: str, retry_after: float = 0) -> None:
        super().__init__(f"{operation}: {status} {code}: {message}")
        self.operation = operation
        self.request_id = request_id
        self.status = status
        self.code = code
        self.message = message
        """For people, not for branching."""
        self.retry_after = retry_after
        """The seconds that the server asks to wait before a repeat, or 0."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a request."""

    path: str
    """Such as fields.message or questions.0.options.1.key."""
    message: str


class ValidationError(APIError):
    """The request is invalid. problems names every path, and is empty where the message is about the whole."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every problem with its path."""
        found, listed = self.message.removeprefix("Invalid request: "), self.message.startswith("Invalid request: ")
        problems: list[Problem] = []
        for one in found.split("; ") if listed else []:
            path, colon, message = one.partition(": ")
            problems.append(Problem(path, message) if colon else Problem("", one))
        return tuple(problems)


class BadRequestError(APIError):
    """The request cannot be read: malformed, too large, or of another content type."""


class UnauthorizedError(APIError):
    """The key is missing, unknown, revoked or expired, or its role does not allow the call."""


class NotFoundError(APIError):
    """It does not exist, or the prism is archived."""


class ConflictError(APIError):
    """It was done already, or the state does not allow it."""


class InternalError(APIError):
    """A bug of the server."""


class UnavailableError(APIError):
    """The server is busy, stopping, or the account is over a limit: retry_after says when to repeat. Nothing was done."""


class UnexpectedResponseError(APIError):
    """Not a response of Prism: a proxy's page, a redirect, or JSON of another shape."""


CODES: dict[str, type[APIError]] = {
    "validation_failed": ValidationError,
    "bad_request": BadRequestError,
    "unauthorized": UnauthorizedError,
    "not_found": NotFoundError,
    "conflict": ConflictError,
    "internal_error": InternalError,
    "unavailable": UnavailableError,
    "unexpected": UnexpectedResponseError,
}
"""The codes of the API, and two of the client for responses without a code."""


class FailedError(PrismError):
    """The model gave no usable answer. The result is saved, and can be retried once. Of a try, nothing is saved."""

    def __init__(self, operation: str, body: bytes, request_id: str, result: Result | None, tried: Try | None) -> None:
        outcome = result or tried
        what = f"result {result.id} failed" if result else "the model failed"
        super().__init__(f"{operation}: {what}: {outcome.error if outcome and outcome.error else 'no usable answer'}")
        self.operation = operation
        self.request_id = request_id
        self.result = result
        """The failed result. None if the format was csv, tsv or jsonl, and for a try."""
        self.tried = tried
        """The failed try. None for a result."""
        self.body = body
        """The failed result in the requested format."""


class NoResponseError(PrismError):
    """A call without a complete response."""

    def __init__(self, operation: str, reason: str, *, sent: bool) -> None:
        super().__init__(f"{operation}: no response: {reason}")
        self.operation = operation
        self.sent = sent
        """Whether Prism may have received the request. A create may then have saved a result."""


class TimedOutError(NoResponseError, TimeoutError):
    """A call that took too long."""


class UnusableFileError(PrismError):
    """A file that Prism cannot read."""

    def __init__(self, file: File) -> None:
        super().__init__(f"the file is unusable: {file.error or 'without a reason'}")
        self.file = file


class ColumnsChangedError(PrismError):
    """The Lens of the prism changed during a download that had to be continued, and with it the columns."""
