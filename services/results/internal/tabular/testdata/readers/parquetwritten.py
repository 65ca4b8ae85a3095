"""pyarrow, DuckDB and pandas read a table of Parquet that Prism wrote, and find the values of its JSON."""

import datetime as dt
import json
import sys
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

MEMBERS = ["type", "value", "values", "level", "probability", "confidence", "probabilities"]
UTC = dt.timezone.utc


def answers(stored: object) -> object:
    """Raw answers as dicts, whatever the reader has for a map."""
    if stored is None or stored is pd.NA:
        return None
    pairs = stored.items() if isinstance(stored, dict) else stored
    found = {}
    for key, answer in pairs:
        found[key] = {name: answer[name] for name in MEMBERS if answer[name] is not None}
        if "probabilities" in found[key]:
            of = found[key]["probabilities"]
            found[key]["probabilities"] = dict(of.items() if isinstance(of, dict) else of)
        if "values" in found[key]:
            found[key]["values"] = list(found[key]["values"])
    return found


def same(rows: list[dict], want: list[dict], reader: str) -> None:
    """Compare rows, whose times are in milliseconds in JSON."""
    assert len(rows) == len(want), (reader, len(rows))
    for number, (row, expected) in enumerate(zip(rows, want, strict=True)):
        assert list(row) == list(expected), (reader, list(row))
        for name, value in row.items():
            wanted = expected[name]
            if name == "raw":
                value = answers(value)
            if wanted is not None and name in ("created_at", "day"):
                wanted = dt.datetime.fromtimestamp(wanted / 1000, UTC)
                value = value.replace(tzinfo=UTC) if name == "day" else value.astimezone(UTC)
            assert value == wanted, (reader, number, name, value, wanted)
            assert isinstance(value, bool) == isinstance(wanted, bool), (reader, number, name, type(value))


def check(path: Path) -> None:
    """Read the table in three ways."""
    want = json.loads(path.with_suffix(".json").read_text("utf-8"))
    file = pq.ParquetFile(path)
    assert file.num_row_groups == 30, file.num_row_groups
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        assert group.total_byte_size <= 8 << 20 and group.column(0).compression == "ZSTD", number
    table = pq.read_table(path)
    kinds = {field.name: field.type for field in table.schema}
    assert kinds["text"] == pa.string() and kinds["number"] == pa.float64() and kinds["flag"] == pa.bool_(), kinds
    assert kinds["created_at"] == pa.timestamp("ms", tz="UTC") and kinds["day"] == pa.timestamp("ms"), kinds
    assert pa.types.is_map(kinds["raw"]), kinds
    same(table.to_pylist(), want, "pyarrow")

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    found = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
    names = [column[0] for column in found.description]
    same([dict(zip(names, row, strict=True)) for row in found.fetchall()], want, "duckdb")
    chosen = connection.execute("SELECT raw['topic'].probabilities['a'] FROM read_parquet(?) WHERE raw IS NOT NULL", [str(path)]).fetchall()
    stored = [row["raw"]["topic"]["probabilities"]["a"] for row in want if row["raw"] is not None]
    assert [one for (one,) in chosen] == stored, chosen

    frame = pd.read_parquet(path)
    assert frame["number"].dtype.kind == "f" and frame["created_at"].dtype.kind == "M" and str(frame["created_at"].dt.tz) == "UTC", frame.dtypes
    assert frame["created_at"].astype("int64").tolist() == [row["created_at"] for row in want] or frame["created_at"].dt.as_unit("ms").astype(
        "int64"
    ).tolist() == [row["created_at"] for row in want]
    for name in ("text", "number"):
        values = frame[name].astype(object).where(frame[name].notna(), None).tolist()
        assert values == [row[name] for row in want], name
    assert [answers(stored) for stored in frame["raw"]] == [row["raw"] for row in want]


if __name__ == "__main__":
    check(Path(sys.argv[1]))
