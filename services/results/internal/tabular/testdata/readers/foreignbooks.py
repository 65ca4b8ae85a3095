"""Workbooks, and what LibreOffice writes."""

import csv
import datetime as dt
import shutil
import subprocess
from itertools import product
from pathlib import Path

import openpyxl
import pandas as pd
import polars as pl
import xlsxwriter

from foreignlist import DAY, FOLDER, FRAME, LANGUAGES, LISTED, ROWS, TEXTS, listed
from readers import profile


def workbooks() -> None:
    """Write xlsx with openpyxl, xlsxwriter, pandas and polars."""
    rows = [list(FRAME.columns), *(list(row) for row in FRAME.astype(object).where(FRAME.notna(), None).itertuples(index=False))]
    formats = ["General", "General", "#,##0.00", "dd.mm.yyyy", "m/d/yyyy h:mm:ss", "General", "@"]

    def texts(sheet: object) -> None:
        for line in sheet.iter_rows():
            for cell in line:
                if isinstance(cell.value, str):
                    cell.data_type = "s"  # not a formula

    def book(name: str, change: object = None, end: str = "xlsx", **options: object) -> None:
        made = openpyxl.Workbook(**options)
        sheet = made.active or made.create_sheet()
        for row in rows:
            sheet.append(row)
        if not options.get("write_only"):
            texts(sheet)
        if change:
            change(made, sheet)
        made.save(listed(f"openpyxl-{name}.{end}", "openpyxl", "calamine", "pandas"))

    def formatted(_: object, sheet: object) -> None:
        for line in sheet.iter_rows(min_row=2):
            for cell, look in zip(line, formats, strict=True):
                cell.number_format = look

    def hidden(made: object, sheet: object) -> None:
        other = made.create_sheet("Hidden", 0)
        other.append(["not this"])
        other.sheet_state = "hidden"
        made.active = 1
        LISTED_SHEET.append(sheet.title)

    def era(made: object, _: object) -> None:
        made.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904

    def empty(_: object, sheet: object) -> None:
        sheet.insert_rows(5, 3)
        sheet.cell(ROWS + 50, 1).number_format = "0%"

    def sparse(_: object, sheet: object) -> None:
        for row in range(2, ROWS + 2, 2):
            for column in (3, 5, 7):
                sheet.cell(row, column).value = None

    def formats_of_numbers(_: object, sheet: object) -> None:
        looks = ["0%", "00000", "#,##0.00 [$€-407]", "0.00E+00", "# ?/?", '"Nr. "0', "[Red]-0.00;[Blue]0", "_-* #,##0.00_-", '0.0\\ "m"']
        for row in range(2, ROWS + 2):
            sheet.cell(row, 3).number_format = looks[row % len(looks)]

    LISTED_SHEET: list[str] = []
    for name, change in {
        "default": None,
        "formats": formatted,
        "1904": era,
        "empty-rows": empty,
        "sparse": sparse,
        "number-formats": formats_of_numbers,
    }.items():
        book(name, change)
    book("write-only", write_only=True)
    book("hidden", hidden)
    LISTED[-1]["sheet"] = LISTED_SHEET[0]
    book("macros", end="xlsm")
    duplicate = openpyxl.Workbook()
    for row in ([" a ", "b", "b", None, "c"], [1, 2, 3, 4, 5], [6, None, 8, None, 10]):
        duplicate.active.append(row)
    duplicate.save(listed("openpyxl-names.xlsx", "openpyxl", "calamine", "pandas"))
    openpyxl.Workbook().save(listed("openpyxl-empty.xlsx", "openpyxl", refused="no rows"))

    for name, options in {
        "default": {},
        "constant-memory": {"constant_memory": True},
        "1904": {"date_1904": True},
        "in-memory": {"in_memory": True},
        "no-sst": {"strings_to_urls": False},
        "zip64": {"use_zip64": True},
        "future": {"use_future_functions": True},
    }.items():
        made = xlsxwriter.Workbook(listed(f"xlsxwriter-{name}.xlsx", "xlsxwriter", "openpyxl", "calamine", "pandas"), options)
        sheet = made.add_worksheet("Tickets & more")
        looks = [made.add_format({"num_format": look}) for look in formats]
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                if value is None:
                    continue
                write = (
                    sheet.write_datetime
                    if isinstance(value, dt.date)
                    else sheet.write_string
                    if isinstance(value, str)
                    else sheet.write_boolean
                    if isinstance(value, bool)
                    else sheet.write_number
                )
                write(i, j, value, looks[j] if i else None)
        made.close()
    made = xlsxwriter.Workbook(listed("xlsxwriter-table.xlsx", "xlsxwriter", "openpyxl", "calamine"))
    sheet = made.add_worksheet()
    sheet.add_table(
        0,
        0,
        ROWS,
        1,
        {
            "data": [[i, text.removeprefix("=")] for i, text in enumerate(TEXTS)],
            "columns": [{"header": "id"}, {"header": "text"}],
            "style": "Table Style Light 11",
        },
    )
    sheet.freeze_panes(1, 0)
    sheet.write_comment("B3", "a comment")
    sheet.insert_textbox("D4", "a box")
    made.close()
    made = xlsxwriter.Workbook(listed("xlsxwriter-rich.xlsx", "xlsxwriter", "openpyxl"))  # calamine has no errors
    sheet, bold = made.add_worksheet(), made.add_format({"bold": True})
    sheet.write_row(0, 0, ["rich", "link", "formula", "text formula", "error"])
    for i, text in enumerate(TEXTS[:20], 1):
        sheet.write_rich_string(i, 0, bold, text[:4], " and ", bold, text[4:])
        sheet.write_url(i, 1, f"https://example.org/{i}", string=f"link {i}")
        sheet.write_formula(i, 2, f"=ROW()*{i}", None, i * (i + 1))
        sheet.write_formula(i, 3, f'="{i}" & "x"', None, f"{i}x")
        sheet.write_formula(i, 4, "=NA()", None, "#N/A")
    made.close()

    for engine, (name, options) in product(
        ("openpyxl", "xlsxwriter"),
        {
            "default": {},
            "index": {"index": True},
            "na": {"na_rep": "none"},
            "float": {"float_format": "%.2f"},
            "title": {"startrow": 2, "startcol": 1},
        }.items(),
    ):
        with pd.ExcelWriter(listed(f"pandas-{engine}-{name}.xlsx", "pandas", "calamine"), engine=engine) as writer:
            FRAME.assign(text=FRAME["text"].str.removeprefix("=")).to_excel(writer, **{"index": False, **options})
    frame = pl.from_pandas(FRAME.assign(text=FRAME["text"].str.removeprefix("=")))
    for name, options in {
        "default": {},
        "styled": {"table_style": "Table Style Medium 4", "float_precision": 2},
        "plain": {"autofilter": False, "include_header": True, "dtype_formats": {pl.Date: "dd.mm.yyyy"}},
    }.items():
        frame.write_excel(listed(f"polars-{name}.xlsx", "polars", "openpyxl", "calamine"), **options)
    path = listed("html-named.xlsx", "pandas", refused="xlsx")
    FRAME.to_html(path)


def office(program: str) -> None:
    """Write csv, tsv and xlsx with LibreOffice, in the locale of each language, of a table as people there write it."""
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    for language, (locale, number, encoding, texts, day, written, yes) in LANGUAGES.items():
        settings, source = FOLDER / f"profile-{language}", FOLDER / f"{language}.csv"
        profile(settings, locale)
        with source.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, delimiter="\t")
            rows.writerow(["id", "text", "number", "day", "flag", "note"])
            for i, text in enumerate(texts * 4):
                when = DAY + dt.timedelta(days=i)
                rows.writerow(
                    [
                        i + 1,
                        text if i < len(texts) else f"{text} {i}",
                        written(i * 411.125 - 700),
                        when.strftime(day),
                        yes,
                        "" if i % 3 else 'two\nlines, "quoted"; and',
                    ]
                )

        def convert(to: str, name: str, listed_as: Path, of: Path = source) -> None:
            out = FOLDER / "out" / name
            subprocess.run(
                [
                    program,
                    f"-env:UserInstallation=file://{settings}",
                    "--headless",
                    "--infilter=CSV:9,34,76,1,,0,false,true",
                    "--convert-to",
                    to,
                    "--outdir",
                    out,
                    of,
                ],
                check=True,
                capture_output=True,
                timeout=120,
            )
            shutil.move(next(out.iterdir()), listed_as)

        def texts_as(name: str, tokens: str, encoding: str, delimiter: str, end: str = "csv") -> None:
            path = listed(
                f"libreoffice-{language}-{name}.{end}", f"LibreOffice {version}, {locale}", "csv", encoding=encoding, delimiter=delimiter
            )
            convert(f"csv:Text - txt - csv (StarCalc):{tokens}", f"{language}-{name}", path)

        texts_as("utf8", "44,34,76,1", "utf-8", ",")
        texts_as("semicolon", f"59,34,{number},1", encoding, ";")
        texts_as("quoted", f"59,34,{number},1,,0,true", encoding, ";")
        texts_as("stored", "44,34,76,1,,0,false,false", "utf-8", ",")
        texts_as("tab", "9,34,65535,1", "utf-16", "\t", "tsv")
        texts_as("bar", f"124,34,{number},1,,0,true,false", encoding, "|")
        for name, to, end in (
            ("xlsx", "xlsx:Calc MS Excel 2007 XML", "xlsx"),
            ("ooxml", "xlsx:Calc Office Open XML", "xlsx"),
            ("macros", "xlsm:Calc MS Excel 2007 VBA XML", "xlsm"),
        ):
            convert(
                to,
                f"{language}-{name}",
                listed(f"libreoffice-{language}-{name}.{end}", f"LibreOffice {version}, {locale}", "openpyxl", "calamine", "pandas"),
            )
        for name in ("xls", "ods"):
            path = listed(f"libreoffice-{language}-{name}.xlsx", f"LibreOffice {version}, {locale}", refused=f"\\.{name}.* Save it as")
            convert(name, f"{language}-{name}", path)
