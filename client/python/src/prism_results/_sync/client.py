# Written by generate.py; do not edit.
"""The client."""

from __future__ import annotations

from prism_results._sync.events import Events
from prism_results._sync.labels import Labels
from prism_results._sync.prisms import Prisms
from prism_results._sync.results import Results
from prism_results._sync.runs import Runs


class Client(Results, Labels, Prisms, Events, Runs):
    """Calls one Prism with one key. It is safe for concurrent use.

    Use it in a with statement, or close it, to close its connections. Each operation of the OpenAPI document is a method
    of the same name.

    A call is repeated, with growing and jittered pauses, only if the API promises that a repeat is safe: a call that Prism
    refused with its own 503, and one that was never sent; reads, creates with an idempotency key, and idempotent changes
    also after a lost response or a 5xx. Uploads, runs and their rows go on for about half a minute without a server.
    """
