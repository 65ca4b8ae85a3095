"""The asynchronous client behind the methods of the blocking one, so that each test holds both."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import TracebackType
from typing import Any, cast

from anyio.from_thread import BlockingPortal

from prism_results import AsyncClient, AsyncPages, AsyncStream, Client


def blocking(portal: BlockingPortal, client: AsyncClient) -> Client:
    """The client whose calls are made by the event loop of the portal."""
    return cast(Client, _Blocking(portal, client))


class _Blocking:
    def __init__(self, portal: BlockingPortal, of: Any) -> None:
        self.__dict__.update(portal=portal, of=of)

    def wrap(self, value: Any) -> Any:
        return _Blocking(self.portal, value) if isinstance(value, AsyncClient | AsyncPages | AsyncStream) else value

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.of, {"close": "aclose"}.get(name, name))
        if inspect.isasyncgenfunction(found):
            return lambda *args, **kwargs: self.iterate(found(*args, **kwargs))
        if inspect.iscoroutinefunction(found):
            return lambda *args, **kwargs: self.wrap(self.portal.call(lambda: found(*args, **kwargs)))
        return (lambda *args, **kwargs: self.wrap(found(*args, **kwargs))) if inspect.ismethod(found) else found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.of, name, value)

    def iterate(self, items: Any) -> Iterator[Any]:
        while True:
            try:
                yield self.portal.call(items.__anext__)
            except StopAsyncIteration:
                return

    def __iter__(self) -> Iterator[Any]:
        return self.iterate(self.of.__aiter__())

    def __enter__(self) -> Any:
        return self.wrap(self.portal.call(self.of.__aenter__))

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None) -> None:
        self.portal.call(self.of.__aexit__, kind, err, trace)

    def __repr__(self) -> str:
        return repr(self.of)
