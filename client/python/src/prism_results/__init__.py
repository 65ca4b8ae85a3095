"""Calls a Prism: it answers texts through prisms, reads, retries, lists and exports results, runs whole files, and manages
prisms and API keys.

    with Client.from_environment() as prism:
        result = prism.create_result("tickets", "I was charged twice for my order.")
        print(result.answers.choice("topic").value)

AsyncClient is the same for asyncio and trio.
"""

from prism_results import models
from prism_results._async.base import AsyncPages, AsyncStream
from prism_results._async.client import AsyncClient
from prism_results._async.labels import AsyncLabelQueue
from prism_results._async.results import AsyncFoundResults, AsyncFoundRows
from prism_results._core import new_idempotency_key
from prism_results._sync.base import Pages, Stream
from prism_results._sync.client import Client
from prism_results._sync.labels import LabelQueue
from prism_results._sync.results import FoundResults, FoundRows
from prism_results.errors import (
    APIError,
    BadRequestError,
    ColumnsChangedError,
    ConflictError,
    FailedError,
    InternalError,
    NoResponseError,
    NotFoundError,
    PrismError,
    Problem,
    TimedOutError,
    UnauthorizedError,
    UnavailableError,
    UnexpectedResponseError,
    UnusableFileError,
    ValidationError,
)
from prism_results.models import *  # noqa: F403 # every model

__all__ = [
    "APIError",
    "AsyncClient",
    "AsyncFoundResults",
    "AsyncFoundRows",
    "AsyncLabelQueue",
    "AsyncPages",
    "AsyncStream",
    "BadRequestError",
    "Client",
    "ColumnsChangedError",
    "ConflictError",
    "FailedError",
    "FoundResults",
    "FoundRows",
    "InternalError",
    "LabelQueue",
    "NoResponseError",
    "NotFoundError",
    "Pages",
    "PrismError",
    "Problem",
    "Stream",
    "TimedOutError",
    "UnauthorizedError",
    "UnavailableError",
    "UnexpectedResponseError",
    "UnusableFileError",
    "ValidationError",
    "new_idempotency_key",
]
__all__ += models.__all__
