"""Independent readers of what Prism writes. `make` writes a workbook, `check` compares its cells with those of Prism's tables, and
`locale` makes a profile of LibreOffice."""

import csv
import datetime as dt
import json
import math
import sys
from pathlib import Path

import openpyxl
import pandas as pd

TEXTS = [
    "Grüße aus Köln – “schön”",
    "Où est mon café ?",
    "¿Dónde está mi pedido, señor?",
    "我的订单在哪里？🙂",
    "أين طلبي؟",
    "注文はどこですか",
    'two\nlines, "quoted"; and a\ttab',
    "=1+1",
    "+49 30 1234",
    "-2+3",
    "@SUM(A1)",
    " spaces ",
]
LOOKS = ["00123", "12345678901234567", "1.50", "2026-02-28", "TRUE", "25%", "1e5", "-5", "=1", "28.02.2026", "1,5", "0x10"]
NUMBERS = [0.1 + 0.2, 1, -2.5, 1e21, 123456789012345, 0.1, 1 / 3, -1e-7, 0, 42, 1234567.891, 7]
DAY = dt.datetime(2026, 2, 28)
COLUMNS = {
    "text": (TEXTS, "General"),
    "looks": (LOOKS, "General"),
    "number": (NUMBERS, "General"),
    "percent": ([i / 16 for i in range(12)], "0%"),
    "zeros": ([i * 7 for i in range(12)], "00000"),
    "day": ([DAY + dt.timedelta(days=i) for i in range(12)], "dd.mm.yyyy"),
    "moment": ([DAY + dt.timedelta(hours=i, minutes=i, seconds=i) for i in range(12)], "m/d/yyyy h:mm:ss"),
    "flag": ([i % 2 == 0 for i in range(12)], "General"),
    "mixed": ([i if i % 2 else f"n{i}" for i in range(12)], "General"),
}


def make(folder: Path) -> None:
    """Write the workbook."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(list(COLUMNS))
    for row in zip(*(values for values, _ in COLUMNS.values()), strict=True):
        sheet.append(row)
    for number, (values, look) in enumerate(COLUMNS.values(), 1):
        for row in range(2, len(values) + 2):
            cell = sheet.cell(row, number)
            cell.number_format = look
            if isinstance(cell.value, str):
                cell.data_type = "s"  # not a formula
    book.save(folder / "source.xlsx")


def profile(folder: Path, locale: str) -> None:
    """Make a profile of LibreOffice with a locale."""
    (folder / "user").mkdir(parents=True)
    (folder / "user" / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry">'
        '<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse">'
        f"<value>{locale}</value></prop></item></oor:items>"
    )


def check_workbook(path: Path) -> None:
    """Compare types, values and formats with openpyxl, and types with pandas."""
    sheet = openpyxl.load_workbook(path, data_only=True).worksheets[0]  # LibreOffice writes =TRUE()
    names = [cell.value for cell in sheet[1]]
    want = [*COLUMNS, "answer", "probability", "prism_row"]
    assert names == want, names
    ours = (
        path.parents[1].name != "office"
    )  # LibreOffice, converting, drops what stays in view, and writes 15 digits and formats in its own words
    assert sheet.auto_filter.ref == f"A1:L{len(TEXTS) + 1}" and (not ours or sheet.freeze_panes == "A2"), sheet.auto_filter.ref
    source = openpyxl.load_workbook(path.parents[0 if ours else 2] / "source.xlsx").active
    for number, (name, (_, look)) in enumerate(COLUMNS.items(), 1):
        for row in range(2, len(TEXTS) + 2):
            cell, value = sheet.cell(row, number), source.cell(row, number).value
            if name == "mixed":
                value = str(value)
            same = cell.value == value or not ours and isinstance(value, float) and math.isclose(cell.value, value, rel_tol=1e-14)
            assert same and type(cell.value) in (type(value), int, float), (path.name, name, row, cell.value, value)
            assert isinstance(value, bool) == isinstance(cell.value, bool), (name, row)
            assert isinstance(value, str) == (cell.data_type in ("s", "inlineStr")), (name, row, cell.data_type)
            if ours and name in ("percent", "zeros", "day", "moment"):
                assert cell.number_format == look, (name, cell.number_format)
    looks = {sheet.cell(row, len(COLUMNS) + 2).number_format for row in range(2, len(TEXTS) + 2)}
    assert looks == {"0%"} or not ours and len(looks) == 1 and looks.pop().endswith("%")  # German has a space
    frame = pd.read_excel(path)
    kinds = {name: frame[name].dtype.kind for name in ("number", "percent", "day", "moment", "flag")}
    assert kinds == {"number": "f", "percent": "f", "day": "M", "moment": "M", "flag": "b"}, kinds


def check_separated(folder: Path, name: str, delimiter: str, safe: bool) -> None:
    """Compare the cells with Python's csv and with pandas."""
    want = json.loads((folder / "cells.json").read_text("utf-8"))
    if safe:
        want = [["'" + cell if is_formula(cell) else cell for cell in row] for row in want]
    data = (folder / name).read_bytes()
    assert data.startswith(b"\xef\xbb\xbf") == safe, name
    with (folder / name).open(encoding="utf-8-sig", newline="") as file:
        got = [row[: len(COLUMNS)] for row in csv.reader(file, delimiter=delimiter)][1:]
    assert got == want, (name, got, want)
    frame = pd.read_csv(folder / name, sep=delimiter, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    assert frame[list(COLUMNS)].to_numpy().tolist() == want, name


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet could take a text for a formula."""
    try:
        float(cell)
    except ValueError:
        return cell[:1] in tuple("=+-@\t\r")
    return cell[:1] == "+"


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    if sys.argv[1] == "make":
        make(folder)
    elif sys.argv[1] == "locale":
        profile(folder, sys.argv[3])
    else:
        check_workbook(folder / "out.xlsx")
        check_separated(folder, "out.csv", ",", safe=False)
        check_separated(folder, "people.csv", ";", safe=True)
        check_separated(folder, "people.tsv", "\t", safe=True)
        for path in sorted((folder / "office").glob("*/out.xlsx")):
            check_workbook(path)
