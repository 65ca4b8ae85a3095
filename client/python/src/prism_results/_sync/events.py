# Written by generate.py; do not edit.
"""What happens, as webhooks are told."""

from __future__ import annotations

from collections.abc import Sequence

from prism_results._sync.base import Base, Stream
from prism_results._core import call, query
from prism_results.models import EventType


class Events(Base):
    """The stream of events."""

    def follow_events(
        self,
        *,
        event: Sequence[EventType] | None = None,
        prism: str | None = None,
        answers: bool = False,
        run_rows: bool = False,
        after: str | None = None,
    ) -> Stream:
        """Stream what happens as server-sent events, in the bodies that webhooks are sent.

        event selects events, and prism those of a prism. With answers, events of ok results have the columns of the Lens.
        With run_rows, rows of runs are told too.
        The stream begins with what happens from now on, or behind the event whose id is after.
        """
        wanted = query(
            event=event,
            prism=prism,
            answers="true" if answers else None,
            run_rows="true" if run_rows else None,
            after=after,
        )
        return Stream(self, call("followEvents", "GET", "events", "stream", query=wanted))
