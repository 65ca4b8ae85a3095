"""Writes the files of this folder that Python's programs make. README.md says which versions did."""
import csv, datetime, decimal, io, json, os, zipfile
import duckdb, openpyxl, pandas, polars, pyarrow as pa, pyarrow.parquet as pq, xlsxwriter, fastparquet

os.chdir(os.path.dirname(os.path.abspath(__file__)))
rows = [("1", "Where is my card?", "café"), ("2", 'He said "no", twice', "日本"), ("3", "two\r\nlines", ""), ("4", "=1+1", "👩‍🚀")]
names = ["id", "text", "tag"]
frame = pandas.DataFrame(rows, columns=names)


def raw(name, content):
    with open(name, "wb") as f:
        f.write(content)


def python_csv(name, **kw):
    with open(name, "w", newline="", encoding=kw.pop("encoding", "utf-8")) as f:
        w = csv.writer(f, **kw)
        w.writerow(names)
        w.writerows(rows)


python_csv("python-default.csv")
python_csv("python-excel-semicolon.csv", delimiter=";", encoding="utf-8-sig")
python_csv("python-unix-all-quoted.csv", dialect="unix")
python_csv("python-excel-tab.tsv", dialect="excel-tab")
python_csv("python-utf16.csv", encoding="utf-16")
python_csv("python-utf16-without-mark.csv", encoding="utf-16-le")
raw("python-windows-1252.csv", "id,text\r\n1,plain\r\n2,caf\u00e9 \u20ac\r\n".encode("cp1252"))
with open("python-escaped.csv", "w", newline="") as f:  # quotes escaped with a backslash, which csv does not have
    w = csv.writer(f, doublequote=False, escapechar="\\")
    w.writerows([names, ("1", 'a "b", c', "d")])
frame.to_csv("pandas-default.csv", index=False)
frame.to_csv("pandas-index.csv")
frame.to_csv("pandas-tab.tsv", index=False, sep="\t")
frame.to_json("pandas-records.jsonl", orient="records", lines=True)
frame.to_json("pandas-records-unicode.jsonl", orient="records", lines=True, force_ascii=False)
frame.to_json("pandas-array.jsonl", orient="records")
polars.DataFrame(frame.to_dict("list")).write_csv("polars-default.csv")
polars.DataFrame({"id": [1, 2], "text": ["a", None], "n": [0.1, 1e30]}).write_ndjson("polars-default.jsonl")
raw("excel-sep-line.csv", b"\xef\xbb\xbfsep=;\r\nid;text\r\n1;a,b\r\n2;\"c;d\"\r\n")
raw("excel-macintosh.csv", b"id,text\r1,a\r2,b\r")
raw("trailing-empty-lines.csv", b"\r\nid,text\n\n1,a\n\r\n2,b\n\n\n")
raw("no-end-of-line.csv", b"id,text\n1,a\n2,b")
raw("bare-quotes.csv", b'id,text\n1,5" pipe\n2,a "b" c\n')
raw("only-empty-cells.csv", b"id,text\n,\n\"\",\"\"\n")
raw("one-column.csv", b"text\na\n\"\"\nb\n")
raw("open-quote.csv", b'id,text\n1,a\n2,"b\n3,c\n')
raw("behind-quote.csv", b'id,text\n1,"a"b\n')
raw("ragged-long.csv", b"id,text\n1,\"a\nb\"\n2,b,c\n")
raw("ragged-short.csv", b"id,text\n1,a\n2\n")
raw("same-names.csv", b"id,text,id\n1,a,b\n")
raw("only-header.csv", b"id,text\n")
raw("empty-lines.csv", b"\n\r\n\n")
raw("blank-lines.jsonl", b'\xef\xbb\xbf{"a":"b"}\r\n\r\n  \n{"c":{"d":[1, 2.50]},"a":null}\n{"c":true,"a":1.0}')
raw("not-an-object.jsonl", b'{"a":1}\n[1]\n')
raw("key-twice.jsonl", b'{"a":1}\n{"b":1,"b":2}\n')
raw("raw-nul.jsonl", b'{"text":"a\0b"}\n')
raw("cut-off.jsonl", b'{"a":1}\n{"a":')
raw("pretty-printed.jsonl", json.dumps({"a": 1}, indent=2).encode())

# xlsx
moment = datetime.datetime(2026, 2, 28, 13, 5, 59)


def cells(sheet, put):
    put(0, ["text", "n", "percent", "date", "moment", "time", "zip", "ok", "formula", "escape"])
    put(1, ["a & <b>", 0.1 + 0.2, 0.25, moment.date(), moment, moment.time(), 123, True, None, "_x000D_"])
    put(2, ["two\nlines", 1e21, 12, None, None, None, 98765, False, None, None])
    put(4, ["after an empty row", -3, None, None, None, None, None, None, None, "\U0001f469"])


book = openpyxl.Workbook()
sheet = book.active
cells(sheet, lambda r, values: [sheet.cell(r + 1, c + 1, v) for c, v in enumerate(values)])
sheet["C2"].number_format, sheet["G2"].number_format, sheet["G3"].number_format = "0.00%", "00000", "00000"
sheet["D2"].number_format, sheet["F2"].number_format, sheet["I2"] = "dd/mm/yyyy", "[h]:mm", "=1+1"
book.create_sheet("second")["A1"] = "not read"
book.save("openpyxl-types.xlsx")

book = xlsxwriter.Workbook("xlsxwriter-types.xlsx")
sheet = book.add_worksheet()
formats = {3: book.add_format({"num_format": "yyyy-mm-dd"}), 4: book.add_format({"num_format": "d.m.yy hh:mm AM/PM"}),
           5: book.add_format({"num_format": 'hh:mm"Uhr"'}), 6: book.add_format({"num_format": "00000"}), 2: book.add_format({"num_format": 10})}


def put(r, values):
    for c, v in enumerate(values):
        if v is not None:
            sheet.write(r, c, v, formats.get(c) if r else None)


cells(sheet, put)
sheet.write_formula(1, 8, '="a"&"b"', None, "ab")
sheet.write_rich_string(2, 8, "rich ", book.add_format({"bold": True}), "text")
book.close()

book = xlsxwriter.Workbook("xlsxwriter-1904-inline.xlsx", {"date_1904": True, "constant_memory": True})
sheet = book.add_worksheet("hidden")
sheet.hide()
sheet.write(0, 0, "not read")
sheet = book.add_worksheet("shown")
sheet.activate()
sheet.write_row(0, 1, ["text", "day"])
sheet.write(1, 1, "no name above column A")
book.close()
book = xlsxwriter.Workbook("xlsxwriter-1904.xlsx", {"date_1904": True})
hidden, sheet = book.add_worksheet("hidden"), book.add_worksheet("shown")
sheet.activate()
hidden.hide()
sheet.write_row(0, 0, ["text", "day"])
sheet.write(1, 0, "a")
sheet.write_datetime(1, 1, moment, book.add_format({"num_format": "mmm yy"}))
book.close()
with pandas.ExcelWriter("pandas-openpyxl.xlsx", engine="openpyxl") as w:
    frame.assign(tag=[0.5, None, 2, 3]).to_excel(w, index=False)
book = openpyxl.Workbook()
book.active.append(["a", "b"])
book.active.append([1, 2])
book.active.append([1, 2, 3])
book.save("openpyxl-ragged.xlsx")
book = openpyxl.Workbook()
sheet = book.active
for row in (["id", "address", None, None, "n"], [None, "street", "city", None, None], [1, "High St 1", "Oxford", None, 2], [3, None, "York", None, 4]):
    sheet.append(row)
for merged in ("A1:A2", "B1:D1", "E1:E2"):
    sheet.merge_cells(merged)
book.save("openpyxl-merged-header.xlsx")
book = openpyxl.Workbook()
book.iso_dates = True
book.active.append(["day", "moment", "time", "duration"])
book.active.append([moment.date(), moment, moment.time(), datetime.timedelta(hours=36)])
book.save("openpyxl-iso-dates.xlsx")
raw("csv-named.xlsx", b"id,text\n1,a\n")
raw("old.xlsx", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504))
with zipfile.ZipFile("docx-named.xlsx", "w") as z:
    z.writestr("word/document.xml", "<document/>")
content = open("openpyxl-ragged.xlsx", "rb").read()
raw("cut-off.xlsx", content[: len(content) // 2])

# Parquet
zone = datetime.timezone.utc
table = pa.table({
    "text": ["a", None, "two\r\nlines"], "int": pa.array([1, None, -3], pa.int8()), "big": pa.array([2**64 - 1, 0, 1], pa.uint64()),
    "float": pa.array([0.1, None, float("nan")], pa.float32()), "double": [0.1, 1e300, None], "bool": [True, False, None],
    "decimal": pa.array([decimal.Decimal("1.50"), decimal.Decimal("-0.05"), None], pa.decimal128(10, 2)),
    "date": pa.array([datetime.date(2026, 2, 28), datetime.date(1969, 12, 31), None]),
    "time": pa.array([datetime.time(13, 5, 59, 250000), None, datetime.time(0)], pa.time64("us")),
    "utc": pa.array([moment.replace(tzinfo=zone), None, datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, zone)], pa.timestamp("us", "UTC")),
    "local": pa.array([moment, None, None], pa.timestamp("ns")), "bytes": [b"text", b"\xff\x00", None],
    "list": pa.array([["a", None], [], None], pa.list_(pa.string())),
    "struct": pa.array([{"x": 1, "y": [{"z": True}, {"z": None}]}, {"x": None, "y": []}, None]),
    "map": pa.array([[("k", 1), ("l", None)], [], None], pa.map_(pa.string(), pa.int32())),
    "lists": pa.array([[[1], [], None, [2, 3]], None, [[]]], pa.list_(pa.list_(pa.int64()))),
})
pq.write_table(table, "pyarrow-types.parquet")
pq.write_table(table, "pyarrow-v2-zstd.parquet", compression="zstd", data_page_version="2.0", use_dictionary=False)
pq.write_table(table.select(["text", "int", "list"]), "pyarrow-gzip-row-groups.parquet", compression="gzip", row_group_size=1)
pq.write_table(table.select(["local", "text"]), "pyarrow-int96.parquet", use_deprecated_int96_timestamps=True)
pq.write_table(table.select(["text"]), "pyarrow-one-column.parquet", compression="none")
pq.write_table(table.select(["text"]), "pyarrow-brotli.parquet", compression="brotli")
pq.write_table(table.select(["text"]), "pyarrow-delta.parquet", use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"})
pq.write_table(table.select(["text"]).slice(0, 0), "pyarrow-no-rows.parquet")
pq.ParquetWriter("pyarrow-no-row-groups.parquet", table.select(["text"]).schema).close()
duckdb.execute("copy (select 1 as n where false) to 'duckdb-no-rows.parquet' (format parquet)")
frame.to_parquet("pandas-pyarrow.parquet")
fastparquet.write("fastparquet.parquet", frame)
polars.DataFrame({"text": ["a", None], "n": [1, 2], "l": [[1.5], None], "day": [moment.date(), None]}).write_parquet("polars.parquet")
raw("csv-named.parquet", b"id,text\n1,a\n")
content = open("pyarrow-types.parquet", "rb").read()
raw("damaged.parquet", content[:40] + b"\xff" * 400 + content[440:])
raw("cut-off.parquet", content[: len(content) // 2])
