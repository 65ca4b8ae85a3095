"""Reads models from JSON by their types, and writes them."""

from __future__ import annotations

import functools
import json
import types
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
Decoder = Callable[[Any], Any]

OWN = frozenset({"extra", "request_id", "etag"})
"""Fields of models that are no members of JSON."""


def member(name: str) -> str:
    """The member of JSON that a field of a model is: from_ is from, which is a word of Python."""
    return name.removesuffix("_")


def member_of(field: Field[Any]) -> str:
    """The member of JSON that a field of a model is, which may have a name of its own here."""
    return str(field.metadata.get("member", member(field.name)))


class MalformedError(ValueError):
    """JSON of another shape than the type says."""


class LackingError(MalformedError):
    """JSON without members that every Prism sends."""

    def __init__(self, members: list[str]) -> None:
        more = f" and {len(members) - MOST} more" if len(members) > MOST else ""
        super().__init__("without " + ", ".join(members[:MOST]) + more)
        self.members = members


MOST = 5
"""How many members a LackingError names at most."""


def loads(content: bytes | str) -> Any:
    """Parse JSON. Numbers with a point or an exponent become Decimals, which keep their digits."""
    try:
        return json.loads(content, parse_float=Decimal)
    except (ValueError, RecursionError) as err:
        raise MalformedError("not JSON") from err


def decode(kind: type[T], data: Any) -> T:
    """Read a value of a type from parsed JSON. Raises MalformedError for another shape."""
    return cast(T, _decoder(cast(Hashable, kind))(data))


def text(value: Any) -> str:
    """Read a string."""
    if not isinstance(value, str):
        raise MalformedError("not a string")
    return value


def number(value: Any) -> float:
    """Read a number as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise MalformedError("not a number")
    return float(value)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise MalformedError("not an integer")
    return value


def _exact(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise MalformedError("not a number")
    return value if isinstance(value, Decimal) else Decimal(str(value))


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise MalformedError("not a boolean")
    return value


def _label(value: Any) -> str | bool | Sequence[str]:
    if isinstance(value, list | tuple):
        return tuple(text(one) for one in value)
    return value if isinstance(value, bool) else text(value)


def _cell(value: Any) -> str | float | None:
    if isinstance(value, Decimal | int) and not isinstance(value, bool):
        return float(value)
    return None if value is None else text(value)


def _time(value: Any) -> datetime:
    # Before Python 3.11, fromisoformat reads neither Z nor fewer than six digits of a fraction.
    moment, point, fraction = text(value).removesuffix("Z").partition(".")
    try:
        read = datetime.fromisoformat(f"{moment}.{fraction:0<6}" if point else moment)
    except ValueError as err:
        raise MalformedError("not a time in UTC") from err
    return read.replace(tzinfo=timezone.utc)


def _date(value: Any) -> date:
    try:
        return date.fromisoformat(text(value))
    except ValueError as err:
        raise MalformedError("not a date") from err


def plain(value: Any) -> Any:
    """A value of JSON of any shape, whose Decimals become floats."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


_SCALARS: dict[Any, Decoder] = {
    str: text,
    int: _integer,
    float: number,
    bool: _boolean,
    Decimal: _exact,
    datetime: _time,
    date: _date,
    Any: plain,
    str | bool | Sequence[str]: _label,
    str | float | None: _cell,
}


def objects(value: Any) -> Mapping[str, Any]:
    """Read an object, whose members keep their order."""
    if not isinstance(value, Mapping):
        raise MalformedError("not an object")
    return value


@functools.cache
def _decoder(kind: Any) -> Decoder:
    """The function that reads values of a type."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    if hasattr(kind, "from_json"):
        return cast(Decoder, kind.from_json)
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return text  # a newer Prism may have more values
    if origin in (Union, types.UnionType):
        (some,) = (_decoder(one) for one in args if one is not type(None))
        return lambda value: None if value is None else some(value)
    if origin is Sequence:
        item = _decoder(args[0])
        return lambda value: tuple(each(item, enumerate(_array(value))).values())
    if origin is Mapping:
        member = _decoder(args[1])
        return lambda value: each(member, objects(value).items())
    if is_dataclass(origin or kind):
        return _model(origin or kind, args)
    raise TypeError(f"no value of JSON is a {kind}")


def each(decoder: Decoder, values: Iterable[tuple[Hashable, Any]]) -> dict[Any, Any]:
    """Read named values. Raises a LackingError with what all of them lack."""
    read: dict[Any, Any] = {}
    lacking: list[str] = []
    for name, value in values:
        try:
            read[name] = decoder(value)
        except LackingError as err:
            lacking += [f"{name}.{member}" for member in err.members]
    if lacking:
        raise LackingError(lacking)
    return read


def _array(value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise MalformedError("not an array")
    return value


def _model(kind: Any, args: tuple[Any, ...]) -> Decoder:
    hints = get_type_hints(kind)
    decoders: dict[str, tuple[Field[Any], Decoder]] = {}
    for f in fields(kind):
        hint = hints[f.name]
        if args and getattr(hint, "__parameters__", ()):
            hint = hint[args]  # the items of a Page
        if f.name not in OWN:
            decoders[member_of(f)] = f, _decoder(hint)

    def read(value: Any) -> Any:
        members = objects(value)
        known: dict[str, Any] = {}
        lacking: list[str] = []
        for name, (f, decoder) in decoders.items():
            if name not in members and f.default is not MISSING:
                continue
            try:
                # An older Prism may not send what can be None.
                known[f.name] = decoder(members.get(name))
            except LackingError as err:
                lacking += [f"{name}.{member}" for member in err.members]
            except MalformedError:
                if members.get(name) is not None:
                    raise
                lacking.append(name)
        if lacking:
            raise LackingError(lacking)
        extra = {name: plain(one) for name, one in members.items() if name not in decoders}
        return kind(**known, extra=extra)

    return read


def encode(value: Any) -> Any:
    """The value of JSON for a model or for what a call sends."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {name: encode(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [encode(one) for one in value]
    return value


def time_text(value: datetime) -> str:
    """A time as the API reads it. Raises ValueError for a time without a time zone."""
    if value.tzinfo is None:
        raise ValueError(f"the time {value.isoformat()} has no time zone; datetime.now(timezone.utc) has one")
    return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def dumps(operation: str, body: Any) -> bytes:
    """The bytes of a body. Raises ValueError with the path of a text that cannot be UTF-8, or of a number that JSON lacks."""
    encoded = encode(body)
    try:
        return json.dumps(encoded, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{operation}: {_not_text(encoded)} holds half of a surrogate pair, which is not UTF-8") from None
    except ValueError as err:
        raise ValueError(f"{operation}: {err}") from None


def _not_text(value: Any, path: str = "") -> str | None:
    """The path of the first text that cannot be UTF-8."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return path or "a text"
        return None
    if isinstance(value, Mapping):
        items = list(value.items())
        if any(_not_text(name) for name in value):
            return f"a name in {path or 'the body'}"
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return None
    found = (_not_text(one, f"{path}.{name}" if path else str(name)) for name, one in items)
    return next((one for one in found if one), None)
