"""Compares, cell by cell, what Prism reads of the files of foreign.py with what independent readers do, and counts in a table."""

import base64
import collections
import csv
import datetime as dt
import decimal
import gzip
import io
import json
import math
import re
import sys
import uuid
import zipfile
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import python_calamine
import zstandard

FOLDER = Path(sys.argv[1])


def content(path: Path) -> bytes:
    """What a file expands to."""
    data = path.read_bytes()
    match path.suffix:
        case ".gz":
            return gzip.decompress(data)
        case ".zst":
            return zstandard.ZstdDecompressor().stream_reader(data).read()
        case ".zip":
            with zipfile.ZipFile(path) as archive:
                return archive.read(archive.namelist()[0])
    return data


def by_csv(path: Path, of: dict) -> list[list]:
    text = content(path).decode(of["encoding"]).removeprefix("\ufeff")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=of["delimiter"]))


def by_pandas(path: Path, of: dict) -> list[list]:
    if of["format"] == "xlsx":
        frame = pd.read_excel(path, header=None, dtype=object, na_filter=False, sheet_name=of.get("sheet", 0))
    else:
        options = {
            "header": None,
            "dtype": str,
            "na_filter": False,
            "skip_blank_lines": False,
            "engine": "python" if of["delimiter"] == "|" else "c",
        }
        frame = pd.read_csv(path, sep=of["delimiter"], encoding=of["encoding"].replace("utf-8", "utf-8-sig"), **options)
    return frame.to_numpy().tolist()


def by_openpyxl(path: Path, of: dict) -> list[list]:
    book = openpyxl.load_workbook(path, data_only=True)
    sheet = book[of["sheet"]] if "sheet" in of else book.worksheets[0]
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


def by_calamine(path: Path, of: dict) -> list[list]:
    book = python_calamine.load_workbook(path)
    sheet = book.get_sheet_by_name(of["sheet"]) if "sheet" in of else book.get_sheet_by_index(0)
    return sheet.to_python(skip_empty_area=False)


def by_json(path: Path, _: dict) -> list[list]:
    text = content(path).decode()
    rows = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.split("\n") if line]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [names, *([row.get(name) for name in names] for row in rows)]


def by_polars(path: Path, _: dict) -> list[list]:
    frame = pl.read_parquet(path)
    narrow = [kind == pl.Float32 for kind in frame.dtypes]
    return [frame.columns, *([Narrow(v) if n and v is not None else v for v, n in zip(row, narrow, strict=True)] for row in frame.rows())]


def by_duckdb(path: Path, _: dict) -> list[list]:
    found = duckdb.sql(f"FROM read_parquet('{path}')")
    return [found.columns, *map(list, found.fetchall())]


def by_pyarrow(path: Path, _: dict) -> list[list]:
    table = pq.ParquetFile(path).read()
    return [table.column_names, *map(list, zip(*(column.to_pylist() for column in table.columns), strict=True))]


class Narrow(float):
    """A number of 32 bits."""


def moment(text: str) -> str:
    """A moment without zeros at its end."""
    text = re.sub(r"\+00:00$", "Z", text.replace(" ", "T"))
    return re.sub(r"(\.\d*?)0+(Z?)$", r"\1\2", text).replace(".Z", "Z").rstrip(".")


def same(text: str, value: object, sheet: bool) -> bool:
    """Whether the text of a cell says a value. A workbook shows 15 digits, and times in seconds."""
    if value is None or value is pd.NaT or value == "":
        return text == ""
    if isinstance(value, float) and math.isnan(value):
        return text == ""
    if isinstance(value, bool):
        return text == (str(value).upper() if sheet else str(value).lower())
    if isinstance(value, str):
        return text == value
    if isinstance(value, decimal.Decimal):
        return text == f"{value:f}"
    try:
        if isinstance(value, Narrow):
            return pl.Series([float(text)], dtype=pl.Float32)[0] == value
        if isinstance(value, (int, float)):
            return text == str(value) if isinstance(value, int) and not sheet else float(text) == float(f"{value:.15g}" if sheet else value)
    except ValueError:
        return False
    if isinstance(value, dt.timedelta):
        seconds = round(value.total_seconds())
        return text in (
            f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}",
            f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}",
        )
    if isinstance(value, dt.datetime) and sheet:
        seconds = (value + dt.timedelta(milliseconds=500)).replace(microsecond=0)
        return text in (seconds.isoformat(), value.date().isoformat()) and len(text) >= 10
    if isinstance(value, dt.datetime):
        return text == moment((value.astimezone(dt.UTC) if value.tzinfo else value).isoformat())
    if isinstance(value, dt.time):
        return text == moment(value.isoformat())
    if isinstance(value, dt.date):
        return text == value.isoformat() or sheet and text == f"{value.isoformat()}T00:00:00"  # as calamine has midnight
    if isinstance(value, uuid.UUID):
        return text == str(value)
    if isinstance(value, bytes):
        try:
            return text == value.decode()
        except UnicodeDecodeError:
            return text == base64.b64encode(value).decode()
    return nested(json.loads(text), value)


def nested(got: object, value: object) -> bool:
    """Whether JSON says a value, whose maps may be lists of pairs."""
    if isinstance(value, list) and value and all(isinstance(pair, tuple) for pair in value):
        value = dict(value)
    if isinstance(value, list):
        return isinstance(got, list) and len(got) == len(value) and all(map(nested, got, value))
    if isinstance(value, dict):
        return (
            isinstance(got, dict) and got.keys() == {str(key) for key in value} and all(nested(got[str(key)], value[key]) for key in value)
        )
    if isinstance(got, str):
        return same(got, value, sheet=False)
    return got == value and (isinstance(got, bool) == isinstance(value, bool))


def table(grid: list[list]) -> list[list]:
    """The header and the rows of a grid, by the rules of Prism: no empty rows, and columns with a name or cells."""
    filled = [row for row in grid if any(not same("", value, sheet=True) for value in row)]
    width = max(map(len, filled))
    filled = [[*row, *[None] * (width - len(row))] for row in filled]
    kept = [i for i in range(width) if any(not same("", row[i], sheet=True) for row in filled)]
    names: list[str] = []
    for i in kept:
        name = str(filled[0][i]).strip() if filled[0][i] not in (None, "") else f"column_{i + 1}"
        number = 2
        while name in names:
            name, number = f"{str(filled[0][i]).strip()} ({number})", number + 1
        names.append(name)
    return [names, *([row[i] for i in kept] for row in filled[1:])]


def differs(of: dict, got: dict, reader: str) -> str:
    """How what Prism has differs from what a reader has; an empty text if it does not."""
    grid = globals()[f"by_{reader}"](FOLDER / of["name"], of)
    sheet = of["format"] == "xlsx"
    want = table(grid) if of["format"] in ("csv", "tsv", "xlsx") else grid
    if got["columns"] != want[0]:
        return f"columns {got['columns']}, not {want[0]}"
    if len(got["rows"]) != len(want) - 1:
        return f"{len(got['rows'])} rows, not {len(want) - 1}"
    for number, (row, values) in enumerate(zip(got["rows"], want[1:], strict=True), 1):
        for name, text, value in zip(got["columns"], row, values, strict=True):
            if not same(text, value, sheet):
                return f"row {number}, {name}: {text!r}, not {value!r}"
    return ""


FORMATS = ("csv", "tsv", "jsonl", "xlsx", "parquet")


def tables(files: list[dict], found: dict, cells: int) -> str:
    """How many files of each program Prism reads, by format, and why it refuses which."""
    rows, reasons = collections.defaultdict(collections.Counter), collections.Counter()
    for of in files:
        kind = "refused" if of["refused"] else of["format"]
        for name in (of["program"], "all"):
            rows[name][kind] += 1
        if of["refused"]:
            reasons[found[of["name"]]["error"]] += 1
    rows["all"] = rows.pop("all")
    guessed = sum(not of["refused"] and not found[of["name"]]["sure"] for of in files)
    named = sum("named" in of for of in files)
    return "\n".join(
        [
            "| program | " + " | ".join(FORMATS) + " | refused |",
            "|---" + "|--:" * (len(FORMATS) + 1) + "|",
            *("| " + " | ".join([name, *(str(row[kind] or "") for kind in (*FORMATS, "refused"))]) + " |" for name, row in rows.items()),
            f"\n{dt.datetime.now(dt.UTC):%Y-%m-%d}: {len(files)} files, {cells:,} cells; of {guessed} texts the encoding is a guess, "
            f"which is right. Of {named} it is wrong, as Prism says that it may be; they are read with the encoding named.\n",
            "| refused with | files |",
            "|---|--:|",
            *(f"| {reason} | {count} |" for reason, count in sorted(reasons.items())),
            "",
        ]
    )


def main() -> None:
    """Compare all files; write the tables into a page, and fail with what differs."""
    found = json.loads((FOLDER / "prism.json").read_text("utf-8"))
    files = json.loads((FOLDER / "list.json").read_text("utf-8"))
    wrong, cells = [], 0
    for of in files:
        got = found[of["name"]]
        if of["refused"]:
            problem = (
                ""
                if re.search(of["refused"], got["error"], re.IGNORECASE)
                else f"not refused for {of['refused']}: {got['error'] or 'read'}"
            )
        elif got["error"] or got["bad"]:
            problem = f"refused: {got['error'] or got['bad']}"
        else:
            problem = "; ".join(filter(None, (f"{reader}: {text}" for reader in of["readers"] if (text := differs(of, got, reader)))))
            cells += len(got["rows"]) * len(got["columns"])
        if problem:
            wrong.append(f"{of['name']}: {problem}")
    if wrong:
        sys.exit("\n".join(wrong))
    text = tables(files, found, cells)
    if len(sys.argv) > 2:
        page = Path(sys.argv[2])
        before, begin, after = page.read_text("utf-8").partition("<!-- compat: files -->\n")
        page.write_text(before + begin + text + after[after.index("<!-- end -->") :], "utf-8")
    print(text)


if __name__ == "__main__":
    main()
