"""Writes the files of this folder, and what pyarrow, or else DuckDB, reads of them into want.txt. README.md says which versions did.

make.py writes the files of pyarrow, DuckDB, fastparquet and Polars, make.py spark those of Spark, make.py want only want.txt.
"""
import base64, datetime, decimal, glob, json, math, os, random, shutil, sys, tempfile, uuid
import numpy as np, pyarrow as pa, pyarrow.parquet as pq

os.chdir(os.path.dirname(os.path.abspath(__file__)))
D, R, ROWS = decimal.Decimal, random.Random(5), 16
UTC = datetime.timezone.utc


def column(kind, value, nulls=0.25):
    return pa.array([None if R.random() < nulls else value(i) for i in range(ROWS)], kind)


table = pa.table({
    "text": column(pa.string(), lambda i: R.choice(["", "Where is my card?", "日本語", "two\r\nlines", "👩‍🚀"])),
    "unique": column(pa.large_string(), lambda i: "text %d" % i, 0),
    "bool": column(pa.bool_(), lambda i: i % 3 == 0), "int8": column(pa.int8(), lambda i: i - 9),
    "int64": column(pa.int64(), lambda i: -(3**i)), "uint32": column(pa.uint32(), lambda i: 2**32 - 1 - i),
    "uint64": column(pa.uint64(), lambda i: 2**64 - 1 - i),
    "half": pa.array([None if i % 5 == 0 else np.float16(1 / i) for i in range(ROWS)], pa.float16()),
    "float": column(pa.float32(), lambda i: R.choice([0.1, float("nan"), float("-inf"), 1e30])),
    "double": column(pa.float64(), lambda i: R.choice([0.1, 1e21, 5e-324, -1 / 3])),
    "decimal": column(pa.decimal128(9, 2), lambda i: D(i - 9) / 100), "wide": column(pa.decimal128(38, 10), lambda i: D(-(10**27)) - i),
    "date": column(pa.date32(), lambda i: datetime.date(1969, 12, 25) + datetime.timedelta(i)),
    "time": column(pa.time64("us"), lambda i: datetime.time(13, 5, i, 250000)),
    "utc": column(pa.timestamp("ms", "UTC"), lambda i: datetime.datetime(1969, 12, 31, 23, 59, 59, 999000, UTC) - datetime.timedelta(i)),
    "local": column(pa.timestamp("us"), lambda i: datetime.datetime(2026, 2, 28, 13, 5, 59, i)),
    "bytes": column(pa.binary(), lambda i: bytes([200 + i]) * (i % 4)), "fixed": column(pa.binary(3), lambda i: b"%03d" % i),
})
nested = pa.table({
    "list": column(pa.list_(pa.string()), lambda i: [None, "a"][: i % 3]),
    "lists": column(pa.list_(pa.list_(pa.int64())), lambda i: [[1], [], None, [i]][: i % 5]),
    "struct": column(pa.struct([("a", pa.int32()), ("b", pa.decimal128(9, 2)), ("c", pa.timestamp("us", "UTC"))]),
                     lambda i: {"a": None if i % 3 else i, "b": D(-i) / 100, "c": datetime.datetime(2026, 2, 28, 13, 5, tzinfo=UTC)}),
    "map": column(pa.map_(pa.string(), pa.list_(pa.bool_())), lambda i: [("k%d" % k, [None, True, []][k % 3] and [None, True]) for k in range(i % 4)]),
})
nulls = pa.table({"text": pa.nulls(ROWS, pa.string()), "n": pa.nulls(ROWS, pa.int64()), "list": pa.nulls(ROWS, pa.list_(pa.int32()))})


def arrow(name, t, **settings):
    pq.write_table(t, "pyarrow-%s.parquet" % name, store_schema=False, write_statistics=False, **settings)


def pyarrow_files():
    arrow("1.0-snappy", table.drop_columns(["half"]), version="1.0", compression="snappy")
    arrow("1.0-nested", nested, version="1.0", compression="none", use_compliant_nested_type=False)
    arrow("int96", table.select(["utc", "local", "text"]), use_deprecated_int96_timestamps=True, compression="gzip")
    for codec in ("none", "lz4"):
        arrow("v2-" + codec, table, data_page_version="2.0", compression=codec, use_dictionary=codec != "lz4")
    for codec in ("gzip", "brotli", "zstd"):
        arrow("v2-nested-" + codec, nested, data_page_version="2.0", compression=codec)
    arrow("v2-nulls-snappy", nulls, data_page_version="2.0", compression="snappy")
    arrow("pages-of-some-bytes", table, data_page_size=30, write_batch_size=3, row_group_size=11, write_page_checksum=True)
    arrow("nested-pages-of-some-bytes", nested, data_page_size=10, write_batch_size=2, row_group_size=9, data_page_version="2.0")
    arrow("dictionaries-given-up", table.select(["unique", "text", "int64"]), dictionary_pagesize_limit=40, write_batch_size=4)
    arrow("decimals-as-integers", table.select(["decimal", "wide"]), store_decimal_as_integer=True)
    with pq.ParquetWriter("pyarrow-empty-row-groups.parquet", nested.schema, store_schema=False) as out:
        for part in (nested.slice(0, 0), nested.slice(0, 5), nested.slice(0, 0), nested.slice(5), nested.slice(0, 0)):
            out.write_table(part)
    deltas = {"text": "DELTA_BYTE_ARRAY", "unique": "DELTA_BYTE_ARRAY", "bytes": "DELTA_LENGTH_BYTE_ARRAY", "fixed": "DELTA_BYTE_ARRAY",
              "wide": "DELTA_BYTE_ARRAY", "int8": "DELTA_BINARY_PACKED", "int64": "DELTA_BINARY_PACKED", "uint64": "DELTA_BINARY_PACKED",
              "uint32": "DELTA_BINARY_PACKED", "date": "DELTA_BINARY_PACKED", "utc": "DELTA_BINARY_PACKED"}
    streams = dict.fromkeys(["half", "float", "double", "int64", "uint32", "decimal", "local", "fixed"], "BYTE_STREAM_SPLIT")
    for version in ("1.0", "2.0"):
        more = {"use_dictionary": False, "data_page_version": version, "data_page_size": 60, "write_batch_size": 9}
        arrow("deltas-" + version, table.select(list(deltas)), column_encoding=deltas, **more)
        arrow("byte-streams-" + version, table.select(list(streams)), column_encoding=streams, **more)


def other_files():
    import duckdb, fastparquet, polars

    flat = table.drop_columns(["half", "utc"])
    duck = duckdb.connect()
    rows = duck.from_arrow(flat).query("rows", "select *, ('00000000-0000-4000-8000-0000000000' || int8)::uuid as uuid from rows where int8 >= 10 or int8 is null")
    for version, codec in (("V1", "snappy"), ("V2", "zstd"), ("V2", "lz4_raw"), ("V1", "brotli")):
        duck.register("rows", rows.to_arrow_table())
        duck.execute("copy rows to 'duckdb-%s-%s.parquet' (format parquet, parquet_version %s, compression %s)" % (version, codec, version, codec))
    frame = table.select(["text", "unique", "double", "local", "int64"]).to_pandas()
    frame["category"] = frame["text"].astype("category")
    for codec, times in (("GZIP", "int64"), ("LZ4_RAW", "int96")):
        fastparquet.write("fastparquet-%s-%s.parquet" % (codec, times), frame, compression=codec, times=times, row_group_offsets=10)
    for codec in ("lz4", "zstd"):
        polars.from_arrow(flat.drop_columns(["fixed"])).write_parquet("polars-%s.parquet" % codec, compression=codec, statistics=False)


def spark_files():
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    frame = spark.range(ROWS).selectExpr(
        "if(id%7=0,null,concat('word ',id%5)) word", "concat('é ',id) unique", "id%3=0 bool", "cast(id-9 as short) short", "id*id*1000003 long",
        "id/7.0D double", "cast(id/3.0 as float) float", "cast((id-9)/100.0 as decimal(9,2)) d9", "cast(id*1000 as decimal(18,5)) d18",
        "cast(id-5 as decimal(38,10)) d38", "if(id%5=0,null,date_add(date'1969-12-25', cast(id as int))) date",
        "if(id%4=0,null,timestamp_micros(id*1000000007-631152000000)) stamp", "array(id, null) list",
        "named_struct('a', id, 'd', cast(id/100.0 as decimal(9,2))) struct", "map('k', id) map")
    mr = "parquet.writer.version", "parquet.enable.dictionary", "parquet.enable.bytestreamsplit"
    for name, codec, legacy, stamps, options in (
        ("1-snappy-legacy-int96", "snappy", "true", "INT96", ("PARQUET_1_0", "true", "false")),
        ("1-gzip-micros", "gzip", "false", "TIMESTAMP_MICROS", ("PARQUET_1_0", "true", "false")),
        ("2-lz4-millis", "lz4", "false", "TIMESTAMP_MILLIS", ("PARQUET_2_0", "false", "false")),
        ("2-zstd-int96", "zstd", "false", "INT96", ("PARQUET_2_0", "true", "false")),
        ("2-byte-streams", "lz4_raw", "true", "INT96", ("PARQUET_2_0", "false", "EXTENDED")),
    ):
        spark.conf.set("spark.sql.parquet.writeLegacyFormat", legacy)
        spark.conf.set("spark.sql.parquet.outputTimestampType", stamps)
        writer = frame.coalesce(1).write.mode("overwrite").option("parquet.page.write-checksum.enabled", "true")
        for key, value in zip(mr, options):
            writer = writer.option(key, value)
        with tempfile.TemporaryDirectory() as folder:
            writer.parquet(folder + "/out", compression=codec)
            shutil.copy(glob.glob(folder + "/out/*.parquet")[0], "spark-%s.parquet" % name)


def number(x):
    """As JavaScript writes numbers."""
    if math.isnan(x) or math.isinf(x):
        return "NaN" if math.isnan(x) else "+Inf" if x > 0 else "-Inf"
    if x == 0:
        return "0"
    digits, exponent = np.format_float_scientific(abs(x), trim="-").split("e")
    d, point, sign = digits.replace(".", ""), int(exponent) + 1, "-" if x < 0 else ""
    if len(d) <= point <= 21:
        return sign + d + "0" * (point - len(d))
    if 0 < point <= 21:
        return sign + d[:point] + "." + d[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + d
    return sign + d[0] + ("." + d[1:] if len(d) > 1 else "") + "e%+d" % (point - 1)


def second(value, nanoseconds):
    return "%s%s" % (value, (".%09d" % nanoseconds).rstrip("0") if nanoseconds else "")


PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def text(v, t):
    """A value of a flat type as the text of a cell. Timestamps and times are integers."""
    if v is None:
        return ""
    if pa.types.is_boolean(t):
        return str(v).lower()
    if pa.types.is_floating(t):
        kind = {16: np.float16, 32: np.float32, 64: np.float64}[t.bit_width]
        return number(float(str(kind(v))))
    if pa.types.is_decimal(t):
        return format(v, "f")
    if pa.types.is_timestamp(t) or pa.types.is_time(t):
        seconds, rest = divmod(v, PER_SECOND[t.unit])
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
        rest *= 10**9 // PER_SECOND[t.unit]
        if pa.types.is_time(t):
            return second(moment.time(), rest)
        return second(moment.isoformat(), rest) + ("Z" if t.tz else "")
    if isinstance(v, bytes):
        try:
            return v.decode()
        except UnicodeDecodeError:
            return base64.b64encode(v).decode()
    return str(v)


def quoted(s):
    return json.dumps(s, ensure_ascii=False)


def as_json(v, t):
    if v is None:
        return "null"
    if pa.types.is_map(t):
        return "{" + ",".join(quoted(text(k, t.key_type)) + ":" + as_json(x, t.item_type) for k, x in v) + "}"
    if pa.types.is_list(t):
        return "[" + ",".join(as_json(x, t.value_type) for x in v) + "]"
    if pa.types.is_struct(t):
        return "{" + ",".join(quoted(f.name) + ":" + as_json(v[f.name], f.type) for f in t) + "}"
    bare = pa.types.is_boolean(t) or pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t)
    return text(v, t) if bare and text(v, t) not in ("NaN", "+Inf", "-Inf") else quoted(text(v, t))


def plain(t):
    """A type whose Python values lose nothing."""
    if pa.types.is_timestamp(t) or pa.types.is_time64(t):
        return pa.int64()
    if pa.types.is_time32(t):
        return pa.int32()
    if pa.types.is_string(t) or pa.types.is_large_string(t):
        return pa.binary()
    if pa.types.is_list(t):
        return pa.list_(pa.field(t.value_field.name, plain(t.value_type)))
    if pa.types.is_struct(t):
        return pa.struct([pa.field(f.name, plain(f.type)) for f in t])
    return t


def want():
    with open("want.txt", "w") as out:
        for name in sorted(glob.glob("*.parquet") + glob.glob("apache/*.parquet")):
            print("===", name, file=out)
            try:
                read = pq.ParquetFile(name).read()
            except OSError:  # pyarrow does not read uint32 as DuckDB's V2 has it
                import duckdb

                read = duckdb.sql("from '%s'" % name).to_arrow_table()
            print(json.dumps(read.schema.names), file=out)
            columns = []
            for field, values in zip(read.schema, read.columns):
                t = field.type
                if pa.types.is_dictionary(t):
                    t = t.value_type
                    values = values.cast(t)
                values = values.cast(plain(t)).to_pylist()
                show = as_json if pa.types.is_nested(t) else text
                columns.append(["" if v is None else show(v, t) for v in values])
            for row in zip(*columns):
                print(json.dumps(row, ensure_ascii=False), file=out)


if sys.argv[1:] == ["spark"]:
    spark_files()
elif not sys.argv[1:]:
    pyarrow_files()
    other_files()
want()
