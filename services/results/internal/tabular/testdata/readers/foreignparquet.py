"""Files of parquet."""

import datetime as dt
import decimal
from itertools import product

import duckdb
import fastparquet
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pyarrow.parquet.encryption

from foreignlist import DAY, FRAME, ROWS, listed


def parquet() -> None:
    """Write parquet with Arrow, DuckDB, polars and fastparquet."""
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    for version, codec, page in product(("1.0", "2.4", "2.6"), ("none", "snappy", "gzip", "brotli", "zstd", "lz4"), ("1.0", "2.0")):
        pq.write_table(
            table,
            listed(f"pyarrow-{version}-{codec}-{page}.parquet", "pyarrow", "polars"),
            version=version,
            compression=codec,
            data_page_version=page,
        )
    simple = table.select(["id", "text", "number", "maybe"])
    for encoding, columns in {
        "PLAIN": ["id", "text", "number", "maybe"],
        "DELTA_BINARY_PACKED": ["id"],
        "DELTA_LENGTH_BYTE_ARRAY": ["text", "maybe"],
        "DELTA_BYTE_ARRAY": ["text", "maybe"],
        "BYTE_STREAM_SPLIT": ["number", "id"],
    }.items():
        path = listed(f"pyarrow-{encoding}.parquet", "pyarrow", "polars")
        pq.write_table(simple, path, use_dictionary=False, column_encoding=dict.fromkeys(columns, encoding))
    for named, options in {
        "row-groups": {"row_group_size": 7},
        "checksums": {"write_page_checksum": True},
        "small-pages": {"data_page_size": 64, "write_batch_size": 4},
        "no-statistics": {"write_statistics": False},
        "index": {"write_page_index": True},
        "mixed-codecs": {"compression": {"text": "zstd", "id": "gzip", "number": "none"}},
    }.items():
        pq.write_table(simple, listed(f"pyarrow-{named}.parquet", "pyarrow", "polars"), **options)
    pq.write_table(
        table.select(["id", "moment"]), listed("pyarrow-int96.parquet", "pyarrow", "duckdb"), use_deprecated_int96_timestamps=True
    )
    types = {
        "int8": (pa.int8(), lambda i: i),
        "uint8": (pa.uint8(), lambda i: 200 + i),
        "int16": (pa.int16(), lambda i: -i),
        "uint16": (pa.uint16(), lambda i: 60000 + i),
        "uint32": (pa.uint32(), lambda i: 4_000_000_000 + i),
        "int64": (pa.int64(), lambda i: -(2**62) + i),
        "uint64": (pa.uint64(), lambda i: 2**63 + i),
        "float": (pa.float32(), lambda i: i / 3),
        "decimal": (pa.decimal128(12, 3), lambda i: decimal.Decimal(i * 7 - 100) / 1000),
        "wide": (pa.decimal128(38, 10), lambda i: decimal.Decimal(-i).scaleb(20)),
        "date32": (pa.date32(), lambda i: dt.date(1969, 12, 1) + dt.timedelta(days=i * 40)),
        "time32": (pa.time32("ms"), lambda i: dt.time(i % 24, i % 60, 1, 5000)),
        "time64": (pa.time64("us"), lambda i: dt.time(i % 24, i % 60, 1, 5)),
        "seconds": (pa.timestamp("s"), lambda i: DAY + dt.timedelta(hours=i)),
        "micro": (pa.timestamp("us"), lambda i: DAY + dt.timedelta(microseconds=i)),
        "nano": (pa.timestamp("ns"), lambda i: DAY + dt.timedelta(microseconds=i * 10)),
        "zone": (pa.timestamp("ms", "Europe/Berlin"), lambda i: (DAY + dt.timedelta(hours=i)).astimezone(dt.UTC)),
        "bytes": (pa.binary(), lambda i: bytes([i, 200, 255])),
        "fixed": (pa.binary(3), lambda i: bytes([i, 200, 255])),
        "large": (pa.large_string(), lambda i: f"ü{i}"),
        "list": (pa.list_(pa.int32()), lambda i: [i, None, 3][: i % 4] if i % 5 else None),
        "struct": (pa.struct({"a": pa.string(), "b": pa.float64()}), lambda i: {"a": f"x{i}", "b": i / 4}),
        "lists": (pa.list_(pa.list_(pa.string())), lambda i: [["a"] * (i % 3), [], None]),
        "structs": (pa.list_(pa.struct({"k": pa.string(), "v": pa.list_(pa.int64())})), lambda i: [{"k": "é", "v": [i]}, None][: i % 3]),
        "flag": (pa.bool_(), lambda i: None if i % 4 == 0 else i % 2 == 0),
        "category": (pa.dictionary(pa.int32(), pa.string()), lambda i: f"c{i % 3}"),
        "view": (pa.string_view(), lambda i: f"v{i}"),
    }
    for named, (kind, value) in types.items():
        column = pa.array([value(i) for i in range(20)], pa.string() if pa.types.is_dictionary(kind) else kind)
        column = column.dictionary_encode() if pa.types.is_dictionary(kind) else column
        pq.write_table(pa.table({"id": range(20), "value": column}), listed(f"pyarrow-type-{named}.parquet", "pyarrow", "polars"))
    for named, (kind, value) in {
        "half": (pa.float16(), lambda i: i / 8),
        "date64": (pa.date64(), lambda i: dt.date(2026, 1, 1) + dt.timedelta(days=i)),
        "map": (pa.map_(pa.string(), pa.int64()), lambda i: [("a", i), ("b", None)][: i % 3]),
    }.items():
        column = pa.array([value(i) for i in range(20)], kind)
        pq.write_table(pa.table({"id": range(20), "value": column}), listed(f"pyarrow-type-{named}.parquet", "pyarrow", "duckdb"))
    pq.write_table(simple.slice(0, 0), listed("pyarrow-no-rows.parquet", "pyarrow", refused="no rows"))
    key = pq.encryption.KmsConnectionConfig()
    crypto = pq.encryption.CryptoFactory(lambda _: _Keys())
    secret = crypto.file_encryption_properties(key, pq.encryption.EncryptionConfiguration(footer_key="k", column_keys={"k": ["id"]}))
    pq.write_table(simple, listed("pyarrow-encrypted.parquet", "pyarrow", refused="encrypted"), encryption_properties=secret)
    pa.feather.write_feather(simple, listed("pyarrow-feather.parquet", "pyarrow", refused="parquet"))
    pa.orc.write_table(simple, listed("pyarrow-orc.parquet", "pyarrow", refused="parquet"))

    for codec, version in product(("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"), ("V1", "V2")):
        duckdb.sql(
            f"COPY (FROM FRAME) TO '{listed(f'duckdb-{codec}-{version}.parquet', 'DuckDB', 'pyarrow')}' (FORMAT parquet, COMPRESSION {codec}, PARQUET_VERSION {version})"
        )
    for named, what in {
        "types": "1::UTINYINT a, -1::HUGEINT b, 1.25::DECIMAL(9,2) c, uuid() d, 'x'::BLOB e, TIME '10:11:12' f, INTERVAL 2 DAY g",
        "nested": "[id, NULL] a, {'b': text, 'c': [1.5]} b",
        "maps": "MAP {text: id} a",
        "zones": "moment::TIMESTAMP_S a, moment::TIMESTAMP_MS b, moment::TIMESTAMP_NS c",
        "enums": "(CASE WHEN flag THEN 'x' ELSE 'y' END)::ENUM('x', 'y') a",
    }.items():
        duckdb.sql(f"COPY (SELECT id, {what} FROM FRAME) TO '{listed(f'duckdb-{named}.parquet', 'DuckDB', 'pyarrow')}' (FORMAT parquet)")
    duckdb.sql(f"COPY (FROM FRAME) TO '{listed('duckdb-row-groups.parquet', 'DuckDB', 'pyarrow')}' (FORMAT parquet, ROW_GROUP_SIZE 10)")
    frame = pl.from_pandas(FRAME)
    for codec, page in product(("uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4"), (None, 200)):
        frame.write_parquet(listed(f"polars-{codec}-{page or 'one'}.parquet", "polars", "pyarrow"), compression=codec, data_page_size=page)
    frame.with_columns(
        tags=pl.Series([[str(i), None] for i in range(ROWS)]),
        both=pl.struct("id", "text"),
        kind=pl.Series(["a", "b", "c"] * (ROWS // 3)).cast(pl.Categorical),
    ).write_parquet(listed("polars-nested.parquet", "polars", "pyarrow"), row_group_size=10)
    fast = FRAME.assign(day=pd.to_datetime(FRAME["day"]), text=FRAME["text"].astype(object), maybe=FRAME["maybe"].astype(object))
    for codec, times in product(("UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "ZSTD"), ("int64", "int96")):
        path = listed(f"fastparquet-{codec}-{times}.parquet", "fastparquet", "pyarrow")
        fastparquet.write(str(path), fast, compression=codec, times=times, row_group_offsets=[0, 20], object_encoding="utf8")
    for named, options in {
        "required": {"has_nulls": False, "columns": ["id", "number", "flag"]},
        "category": {"columns": ["id", "maybe"]},
    }.items():
        part = fast[options.pop("columns")]
        part = part.astype({"maybe": "category"}) if "maybe" in part else part
        fastparquet.write(str(listed(f"fastparquet-{named}.parquet", "fastparquet", "pyarrow")), part, **options)


class _Keys(pq.encryption.KmsClient):
    """A key service that wraps nothing."""

    def wrap_key(self, key: bytes, _: str) -> str:
        return key.hex()

    def unwrap_key(self, key: str, _: str) -> bytes:
        return bytes.fromhex(key)
