"""Waiting and threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

Lock = threading.Lock
sleep = time.sleep


def blocking(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function that reads a file."""
    return function(*args, **kwargs)


def each(items: Iterable[T], at_once: int, work: Callable[[T], None]) -> None:
    """Work on every item, several at a time. The first error, once the items under way have ended, is raised."""
    left, lock = iter(items), threading.Lock()
    errors: list[BaseException] = []

    def worker() -> None:
        while not errors:
            with lock:
                item = next(left, end)
            if item is end:
                return
            try:
                work(item)  # type: ignore[arg-type] # item is not end
            except BaseException as err:
                errors.append(err)

    end = object()
    with ThreadPoolExecutor(at_once, thread_name_prefix="prism") as pool:
        workers = [pool.submit(worker) for _ in range(at_once)]
        try:
            for one in workers:
                one.result()
        except BaseException as err:  # a KeyboardInterrupt of the calling thread
            errors.append(err)
    if errors:
        raise errors[0]
