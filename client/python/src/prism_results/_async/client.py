"""The client."""

from __future__ import annotations

from prism_results._async.events import AsyncEvents
from prism_results._async.labels import AsyncLabels
from prism_results._async.prisms import AsyncPrisms
from prism_results._async.results import AsyncResults
from prism_results._async.runs import AsyncRuns


class AsyncClient(AsyncResults, AsyncLabels, AsyncPrisms, AsyncEvents, AsyncRuns):
    """Calls one Prism with one key. It is safe for concurrent use.

    Use it in a with statement, or close it, to close its connections. Each operation of the OpenAPI document is a method
    of the same name.

    A call is repeated, with growing and jittered pauses, only if the API promises that a repeat is safe: a call that Prism
    refused with its own 503, and one that was never sent; reads, creates with an idempotency key, and idempotent changes
    also after a lost response or a 5xx. Uploads, runs and their rows go on for about half a minute without a server.
    """
