"""Files of texts: csv, tsv and jsonl, also compressed."""

import csv
import gzip
import zipfile
from itertools import product

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv
import zstandard

from foreignlist import FOLDER, FRAME, LANGUAGES, LISTED, PLAIN, ROWS, WRONG, listed


def separated() -> None:
    """Write csv and tsv with Python, pandas, polars, DuckDB and Arrow."""
    grid = [list(PLAIN.columns), *PLAIN.fillna("").astype(str).to_numpy().tolist()]

    def write(name: str, encoding: str, rows: list[list[str]] = grid, program: str = "Python csv", **options: object) -> None:
        path = listed(name, program, "pandas", encoding=encoding.removesuffix("-sig"), delimiter=options.get("delimiter", ","))
        if options.get("dialect") == "excel-tab":
            LISTED[-1]["delimiter"] = "\t"
        if encoding in WRONG:
            LISTED[-1]["named"] = WRONG[encoding]
        with path.open("w", encoding=encoding, newline="") as file:
            csv.writer(file, **options).writerows(rows)

    for dialect, encoding in product(("excel", "excel-tab", "unix"), ("utf-8", "utf-8-sig", "utf-16")):
        write(f"python-{dialect}-{encoding}.{'tsv' if 'tab' in dialect else 'csv'}", encoding, dialect=dialect)
    for named, delimiter in {"semicolon": ";", "bar": "|", "tab": "\t"}.items():
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):
            write(f"python-{named}-{quoting}.csv", "utf-8", delimiter=delimiter, quoting=quoting)
    for named, end in {"lf": "\n", "crlf": "\r\n", "cr": "\r"}.items():
        rows = [[cell.replace("\n", " ") for cell in row] for row in grid] if named == "cr" else grid
        write(f"python-{named}.csv", "utf-8", rows, lineterminator=end)
    for encoding in ("utf-16-le", "utf-16-be"):
        write(f"python-{encoding}.csv", encoding)
    old = {
        "cp1252": "de",
        "iso8859-15": "fr",
        "cp850": "de",
        "mac-roman": "fr",
        "cp1251": "ru",
        "koi8-r": "ru",
        "cp866": "ru",
        "iso8859-5": "ru",
        "shift_jis": "ja",
        "euc_jp": "ja",
        "gb18030": "ja",
    }
    for encoding, language in old.items():
        for delimiter in ",;":
            rows = [["id", "text"], *([str(i), text] for i, text in enumerate(LANGUAGES[language][3] * 5))]
            if encoding in ("iso8859-15", "cp850", "mac-roman", "koi8-r", "cp866", "iso8859-5"):
                rows = [[c.translate({0x2013: "-", 0x201E: '"', 0x201C: '"', 0x2019: "'", 0x20AC: "EUR"}) for c in row] for row in rows]
            write(f"python-{encoding}-{ord(delimiter)}.csv", encoding, rows, delimiter=delimiter)
    for encoding, text in {
        "cp1250": "Kde je moje zásilka? Příliš žluťoučký kůň",
        "cp1253": "Πού είναι το δέμα μου; Ευχαριστώ πολύ",
        "euc_kr": "주문이 두 번 청구되었습니다",
        "big5": "我的訂單在哪裡？請退款，謝謝您",
        "cp1254": "Siparişim nerede? Teşekkür ederim, çok iyi",
        "cp1255": "איפה החבילה שלי? תודה רבה",
        "cp1256": "أين طلبي؟ شكرا على الرد السريع",
    }.items():
        write(f"python-{encoding}.csv", encoding, [["id", "text"], *([str(i), f"{text} {i}"] for i in range(30))])

    for named, options in {
        "default": {},
        "index": {"index": True},
        "semicolon": {"sep": ";", "decimal": ","},
        "tab": {"sep": "\t"},
        "nonnumeric": {"quoting": csv.QUOTE_NONNUMERIC},
        "bom": {"encoding": "utf-8-sig"},
        "na": {"na_rep": "NULL"},
        "float": {"float_format": "%.3f"},
        "date": {"date_format": "%d.%m.%Y %H:%M"},
        "crlf": {"lineterminator": "\r\n"},
        "utf16": {"encoding": "utf-16"},
        "all": {"quoting": csv.QUOTE_ALL},
    }.items():
        path = listed(f"pandas-{named}.csv", "pandas", "csv", encoding=options.get("encoding", "utf-8"), delimiter=options.get("sep", ","))
        FRAME.to_csv(path, **{"index": False, **options})
    for end, name in {"gz": "gzip", "zst": "zstd", "zip": "zip"}.items():
        FRAME.to_csv(listed(f"pandas-{name}.csv.{end}", "pandas", "csv", encoding="utf-8", delimiter=","), index=False)
        FRAME.to_csv(listed(f"pandas-{name}.tsv.{end}", "pandas", "csv", encoding="utf-8", delimiter="\t"), index=False, sep="\t")
    frame = pl.from_pandas(FRAME)
    for named, options in {
        "default": {},
        "bom": {"include_bom": True},
        "semicolon": {"separator": ";", "decimal_comma": True},
        "always": {"quote_style": "always"},
        "non-numeric": {"quote_style": "non_numeric"},
        "null": {"null_value": "NULL"},
        "crlf": {"line_terminator": "\r\n"},
        "bar": {"separator": "|"},
    }.items():
        frame.write_csv(
            listed(f"polars-{named}.csv", "polars", "csv", encoding="utf-8", delimiter=options.get("separator", ",")), **options
        )
    for named, options in {
        "default": "",
        "quoted": ", FORCE_QUOTE *",
        "semicolon": ", DELIMITER ';'",
        "bar": ", DELIMITER '|'",
        "null": ", NULLSTR 'NULL'",
        "dates": ", DATEFORMAT '%d.%m.%Y'",
        "tab": ", DELIMITER '\t'",
    }.items():
        path = listed(
            f"duckdb-{named}.csv", "DuckDB", "csv", encoding="utf-8", delimiter={"semicolon": ";", "bar": "|", "tab": "\t"}.get(named, ",")
        )
        duckdb.sql(f"COPY (FROM FRAME) TO '{path}' (FORMAT csv, HEADER {options})")
    for compression, end in {"gzip": "gz", "zstd": "zst"}.items():
        path = listed(f"duckdb-{compression}.csv.{end}", "DuckDB", "csv", encoding="utf-8", delimiter=",")
        duckdb.sql(f"COPY (FROM FRAME) TO '{path}' (FORMAT csv, HEADER, COMPRESSION {compression})")
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    for named, options in {
        "default": {},
        "needed": {"quoting_style": "needed"},
        "semicolon": {"delimiter": ";"},
        "valid": {"quoting_style": "all_valid"},
    }.items():
        path = listed(f"arrow-{named}.csv", "pyarrow", "csv", encoding="utf-8", delimiter=options.get("delimiter", ","))
        pa.csv.write_csv(table, path, pa.csv.WriteOptions(**options))
    # As programs of the Unix shell compress.
    text = (FOLDER / "pandas-default.csv").read_bytes()
    listed("shell.csv.gz", "gzip, zstd, zip", "csv", encoding="utf-8", delimiter=",").write_bytes(
        gzip.compress(text[:500]) + gzip.compress(text[500:])
    )
    for level in (1, 19):
        path = listed(f"shell-{level}.csv.zst", "gzip, zstd, zip", "csv", encoding="utf-8", delimiter=",")
        path.write_bytes(zstandard.ZstdCompressor(level=level, write_checksum=True).compress(text))
    for named, method in {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}.items():
        with zipfile.ZipFile(
            listed(f"shell-{named}.csv.zip", "gzip, zstd, zip", "csv", encoding="utf-8", delimiter=","), "w", method
        ) as archive:
            archive.writestr("a folder/pandas-default.csv", text)
    for named, method in {"bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}.items():
        with zipfile.ZipFile(listed(f"shell-{named}.csv.zip", "gzip, zstd, zip", refused="Deflate"), "w", method) as archive:
            archive.writestr("pandas-default.csv", text)
    with zipfile.ZipFile(listed("shell-two.csv.zip", "gzip, zstd, zip", refused="several files"), "w") as archive:
        archive.writestr("a.csv", text)
        archive.writestr("b.csv", text)
    listed("python-utf-32.csv", "Python csv", refused="UTF-32").write_text("a,b\n1,2\n", encoding="utf-32")
    listed("python-empty.csv", "Python csv", refused="no rows").write_text("a,b\r\n")


def lines() -> None:
    """Write jsonl with pandas, polars and DuckDB."""
    for named, options in {
        "lines": {"lines": True},
        "unicode": {"lines": True, "force_ascii": False},
        "epoch": {"lines": True, "date_format": "epoch"},
        "array": {},
        "array-indented": {"indent": 2},
    }.items():
        FRAME.to_json(listed(f"pandas-{named}.jsonl", "pandas", "json"), orient="records", **{"date_format": "iso", **options})
    for end, name in {"gz": "gzip", "zst": "zstd", "zip": "zip"}.items():
        FRAME.to_json(listed(f"pandas-{name}.jsonl.{end}", "pandas", "json"), orient="records", lines=True, date_format="iso")
    for orient in ("columns", "split", "table"):  # one object, and so one row
        FRAME.to_json(listed(f"pandas-{orient}.jsonl", "pandas", "json"), orient=orient, date_format="iso")
    frame = pl.from_pandas(FRAME)
    frame.write_ndjson(listed("polars.ndjson", "polars", "json"))
    frame.with_columns(tags=pl.Series([[str(i), "b"] for i in range(ROWS)])).write_ndjson(listed("polars-nested.ndjson", "polars", "json"))
    for named, (options, end) in {
        "default": ("", ""),
        "array": (", ARRAY true", ""),
        "gzip": (", COMPRESSION gzip", ".gz"),
        "zstd": (", COMPRESSION zstd", ".zst"),
    }.items():
        path = listed(f"duckdb-{named}.jsonl{end}", "DuckDB", "json")
        duckdb.sql(f"COPY (SELECT *, {{'a': [id, 2], 'b': text}} AS nested FROM FRAME) TO '{path}' (FORMAT json{options})")
