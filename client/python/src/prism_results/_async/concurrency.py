"""Waiting, threads and tasks. The one module that _sync has in a version of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import ParamSpec, TypeVar

import anyio
from anyio.to_thread import run_sync

T = TypeVar("T")
P = ParamSpec("P")

Lock = anyio.Lock
sleep = anyio.sleep


async def blocking(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function that reads a file, without holding up other tasks."""
    return await run_sync(lambda: function(*args, **kwargs))


async def each(items: Iterable[T], at_once: int, work: Callable[[T], Awaitable[None]]) -> None:
    """Work on every item, several at a time. The first error ends the others and is raised."""
    left = iter(items)
    errors: list[Exception] = []

    async def worker() -> None:
        for item in left:
            try:
                await work(item)
            except Exception as err:
                errors.append(err)
                tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for _ in range(at_once):
            tasks.start_soon(worker)
    if errors:
        raise errors[0]
