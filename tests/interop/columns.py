"""Columns of every type with values that statistics get wrong, and how each reader writes such a value.

A value is what its Arrow type stores: days, microseconds, 16 bytes of a UUID. `lower` and `upper` are the bounds of a
file that holds nothing else, in hex, as the Iceberg spec has them (Appendix D, "Binary single-value serialization";
"Column Metrics" for truncation): all little-endian but decimals and UUIDs. A column's values are in ascending order.
"""

import dataclasses
import uuid
from decimal import Decimal
from typing import Any, Callable

import pyarrow as pa
from pyiceberg.expressions import literals

NAN = float("nan")
INFINITY = float("inf")


@dataclasses.dataclass(frozen=True)
class Value:
    value: Any
    lower: str | None
    upper: str | None


def exact(value, bound):
    return Value(value, bound, bound)


@dataclasses.dataclass(frozen=True)
class Column:
    name: str
    iceberg: Any
    arrow: pa.DataType
    values: list[Value]
    pyiceberg_literal: Callable
    spark_literal: Callable | None
    duckdb_literal: Callable
    in_struct: bool = False
    has_nan: bool = False

    @property
    def path(self):
        return "v.inner" if self.in_struct else "v"

    @property
    def field_id(self):
        return 3 if self.in_struct else 2

    @property
    def table(self):
        return f"bounds.{self.name}"

    @property
    def literals(self):
        """Distinct values, those that are no number and no null apart."""
        return [v.value for v in self.values]

    def array(self, values):
        leaf = as_array(values, self.arrow)
        if not self.in_struct:
            return leaf
        return pa.StructArray.from_arrays([leaf], fields=[pa.field("inner", self.arrow)])


def as_array(values, arrow):
    if arrow == pa.uuid():
        return pa.ExtensionArray.from_storage(arrow, pa.array(values, pa.binary(16)))
    return pa.array(values, arrow)


def plain(array):
    """An Arrow column of any reader as Python values that compare as the stored ones do."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    kind = array.type
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        assert kind.unit == "us", f"{kind} instead of microseconds"
        array = array.cast(pa.int64())
    elif pa.types.is_date(kind):
        array = array.cast(pa.int32())
    elif pa.types.is_floating(kind):
        # As text, -0.0 differs from 0.0 and NaN is NaN.
        return [None if v is None else repr(v) for v in array.to_pylist()]
    elif pa.types.is_struct(kind):
        fields = [plain(array.field(i)) for i in range(kind.num_fields)]
        return [tuple(row) if valid.as_py() else None for valid, row in zip(array.is_valid(), zip(*fields))]
    elif pa.types.is_map(kind):
        entries = list(zip(plain(array.keys), plain(array.items)))
        return [dict(part) if part is not None else None for part in in_lists(array, entries)]
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return in_lists(array, plain(array.values))
    return array.to_pylist()


def in_lists(array, values):
    offsets = array.offsets.to_pylist()
    return [values[first:end] if valid.as_py() else None
            for valid, first, end in zip(array.is_valid(), offsets, offsets[1:])]


def as_is(sql):
    return lambda value: sql.format(value)


def timestamp_values():
    return [
        exact(-62135596800000000, "00 40 d4 00 01 40 23 ff"),  # 0001-01-01
        exact(-12220156800000001, "ff 1f d6 06 d5 95 d4 ff"),  # before the Gregorian calendar
        exact(-1, "ff ff ff ff ff ff ff ff"),
        exact(0, "00 00 00 00 00 00 00 00"),
        exact(1, "01 00 00 00 00 00 00 00"),
        exact(9223372036854776, "f8 53 e3 a5 9b c4 20 00"),  # past what nanoseconds can tell
        exact(253402300799999999, "ff 5f 73 cc 0c 44 84 03"),  # the last microsecond of 9999
        exact(568971820800000000, "00 c0 fd 41 db 64 e5 07"),  # the year 20000
    ]


def decimal_column(precision, scale, values):
    return Column(
        f"decimal_{precision}_{scale}", f"decimal({precision}, {scale})", pa.decimal128(precision, scale),
        [exact(Decimal(text), bound) for text, bound in values], literals.DecimalLiteral,
        as_is(f"CAST('{{}}' AS DECIMAL({precision}, {scale}))"), as_is(f"CAST('{{}}' AS DECIMAL({precision}, {scale}))"))


FLOAT_VALUES = [
    exact(-INFINITY, "00 00 80 ff"),
    exact(-3.4028234663852886e38, "ff ff 7f ff"),
    exact(-1.5, "00 00 c0 bf"),
    # Readers differ on whether -0.0 is below 0.0: bounds that are right for both reach from the one to the other.
    Value(-0.0, "00 00 00 80", "00 00 00 00"),
    Value(0.0, "00 00 00 80", "00 00 00 00"),
    exact(1.401298464324817e-45, "01 00 00 00"),
    exact(1.5, "00 00 c0 3f"),
    exact(3.4028234663852886e38, "ff ff 7f 7f"),
    exact(INFINITY, "00 00 80 7f"),
]
DOUBLE_VALUES = [
    exact(-INFINITY, "00 00 00 00 00 00 f0 ff"),
    exact(-1.7976931348623157e308, "ff ff ff ff ff ff ef ff"),
    exact(-1.5, "00 00 00 00 00 00 f8 bf"),
    Value(-0.0, "00 00 00 00 00 00 00 80", "00 00 00 00 00 00 00 00"),
    Value(0.0, "00 00 00 00 00 00 00 80", "00 00 00 00 00 00 00 00"),
    exact(5e-324, "01 00 00 00 00 00 00 00"),
    exact(1.5, "00 00 00 00 00 00 f8 3f"),
    exact(1.7976931348623157e308, "ff ff ff ff ff ff ef 7f"),
    exact(INFINITY, "00 00 00 00 00 00 f0 7f"),
]
INT_VALUES = [
    exact(-(2**31), "00 00 00 80"),
    exact(-1, "ff ff ff ff"),
    exact(0, "00 00 00 00"),
    exact(1, "01 00 00 00"),
    exact(256, "00 01 00 00"),
    exact(2**31 - 1, "ff ff ff 7f"),
]
STRING_VALUES = [
    exact("", ""),
    exact("\0", "00"),
    exact("a", "61"),
    exact("a" * 16, "61" * 16),
    Value("a" * 16 + "b", "61" * 16, "61" * 15 + "62"),
    # Cut between the 16th and the 17th character, not within one.
    Value("b" * 15 + "\u2019s", "62" * 15 + "e28099", "62" * 15 + "e2809a"),
    # The character after U+D7FF is U+E000: what lies between is half of a UTF-16 pair.
    Value("c" * 15 + "\ud7ffx", "63" * 15 + "ed9fbf", "63" * 15 + "ee8080"),
    exact("é", "c3a9"),
    exact("\uffff", "efbfbf"),
    # By UTF-16 units, as Java compares strings, this one would be below U+FFFF.
    exact("\U0001f600", "f09f9880"),
    Value("\U0001f600" * 17, "f09f9880" * 16, "f09f9880" * 15 + "f09f9881"),
    # The last character of all cannot be raised: the one before it is, and there may be none.
    Value("\U0010fffe" + "\U0010ffff" * 16, "f48fbfbe" + "f48fbfbf" * 15, "f48fbfbf"),
    exact("\U0010ffff" * 16, "f48fbfbf" * 16),
    Value("\U0010ffff" * 17, "f48fbfbf" * 16, None),
]
BINARY_VALUES = [
    exact(b"", ""),
    exact(b"\0", "00"),
    Value(b"\x01" + b"\xff" * 20, "01" + "ff" * 15, "02"),
    exact(b"\x7f", "7f"),
    exact(b"\x80", "80"),  # above 7f: bytes have no sign
    exact(b"\xff", "ff"),
    exact(b"\xff" * 16, "ff" * 16),
    Value(b"\xff" * 17, "ff" * 16, None),
]
UUID_TEXTS = [
    "00000000-0000-0000-0000-000000000000",
    "12345678-9abc-def0-1234-56789abcdef0",
    "7fffffff-ffff-ffff-ffff-ffffffffffff",
    "80000000-0000-0000-0000-000000000000",  # above the one before: bytes have no sign
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
]

COLUMNS = [
    Column("boolean", "boolean", pa.bool_(), [exact(False, "00"), exact(True, "01")], literals.BooleanLiteral,
           as_is("{}"), as_is("{}")),
    Column("int", "int", pa.int32(), INT_VALUES, literals.LongLiteral, as_is("CAST('{}' AS INT)"),
           as_is("CAST('{}' AS INTEGER)")),
    Column("long", "long", pa.int64(), [
        exact(-(2**63), "00 00 00 00 00 00 00 80"),
        exact(-1, "ff ff ff ff ff ff ff ff"),
        exact(0, "00 00 00 00 00 00 00 00"),
        exact(2**53, "00 00 00 00 00 00 20 00"),
        exact(2**53 + 1, "01 00 00 00 00 00 20 00"),  # no double is that number
        exact(2**63 - 1, "ff ff ff ff ff ff ff 7f"),
    ], literals.LongLiteral, as_is("CAST('{}' AS BIGINT)"), as_is("CAST('{}' AS BIGINT)")),
    Column("float", "float", pa.float32(), FLOAT_VALUES, literals.FloatLiteral, as_is("CAST('{}' AS FLOAT)"),
           as_is("CAST('{}' AS FLOAT)"), has_nan=True),
    Column("double", "double", pa.float64(), DOUBLE_VALUES, literals.DoubleLiteral, as_is("CAST('{}' AS DOUBLE)"),
           as_is("CAST('{}' AS DOUBLE)"), has_nan=True),
    decimal_column(9, 2, [
        ("-9999999.99", "c4 65 36 01"), ("-1.29", "ff 7f"), ("-1.28", "80"), ("-0.01", "ff"), ("0.00", "00"),
        ("1.27", "7f"), ("1.28", "00 80"), ("2.55", "00 ff"), ("9999999.99", "3b 9a c9 ff"),
    ]),
    decimal_column(18, 0, [
        ("-999999999999999999", "f2 1f 49 4c 58 9c 00 01"), ("-129", "ff 7f"), ("0", "00"), ("128", "00 80"),
        ("999999999999999999", "0d e0 b6 b3 a7 63 ff ff"),
    ]),
    decimal_column(38, 10, [
        ("-9999999999999999999999999999.9999999999", "b4 c4 b3 57 a5 79 3b 85 f6 75 dd c0 00 00 00 01"),
        ("-0.0000000001", "ff"), ("0.0000000000", "00"), ("1844674407.3709551616", "01 00 00 00 00 00 00 00 00"),
        ("9999999999999999999999999999.9999999999", "4b 3b 4c a8 5a 86 c4 7a 09 8a 22 3f ff ff ff ff"),
    ]),
    Column("date", "date", pa.date32(), [
        exact(-719162, "c6 06 f5 ff"),  # 0001-01-01
        exact(-1, "ff ff ff ff"),
        exact(0, "00 00 00 00"),
        exact(19782, "46 4d 00 00"),
        exact(2932896, "a0 c0 2c 00"),  # 9999-12-31
        exact(6585325, "ed 7b 64 00"),  # the year 20000
    ], literals.DateLiteral, as_is("date_from_unix_date({})"), as_is("(DATE '1970-01-01' + ({}))")),
    Column("time", "time", pa.time64("us"), [
        exact(0, "00 00 00 00 00 00 00 00"),
        exact(1, "01 00 00 00 00 00 00 00"),
        exact(86399999999, "ff 5f d7 1d 14 00 00 00"),
    ], literals.TimeLiteral, None, as_is("CAST(make_timestamp({}) AS TIME)")),
    Column("timestamp", "timestamp", pa.timestamp("us"), timestamp_values(), literals.TimestampLiteral,
           as_is("CAST(timestamp_micros({}) AS TIMESTAMP_NTZ)"), as_is("make_timestamp({})")),
    Column("timestamptz", "timestamptz", pa.timestamp("us", "UTC"), timestamp_values(), literals.TimestampLiteral,
           as_is("timestamp_micros({})"), as_is("make_timestamptz({})")),
    Column("string", "string", pa.string(), STRING_VALUES, literals.StringLiteral,
           lambda v: f"CAST(X'{v.encode().hex()}' AS STRING)",
           lambda v: f"decode(unhex('{v.encode().hex()}'))"),
    Column("binary", "binary", pa.binary(), BINARY_VALUES, literals.BinaryLiteral, lambda v: f"X'{v.hex()}'",
           lambda v: f"unhex('{v.hex()}')"),
    Column("uuid", "uuid", pa.uuid(), [exact(uuid.UUID(text).bytes, text.replace("-", "")) for text in UUID_TEXTS],
           lambda v: literals.UUIDLiteral(v), lambda v: f"'{uuid.UUID(bytes=v)}'",
           lambda v: f"CAST('{uuid.UUID(bytes=v)}' AS UUID)"),
    Column("fixed_4", "fixed[4]", pa.binary(4), [
        exact(b"\0\0\0\0", "00 00 00 00"), exact(b"\x7f\xff\xff\xff", "7f ff ff ff"),
        exact(b"\x80\0\0\0", "80 00 00 00"), exact(b"\xff\xff\xff\xff", "ff ff ff ff"),
    ], literals.BinaryLiteral, lambda v: f"X'{v.hex()}'", lambda v: f"unhex('{v.hex()}')"),
    Column("fixed_20", "fixed[20]", pa.binary(20), [
        # Not truncated: a fixed value has its length.
        exact(b"\0" * 20, "00" * 20), exact(b"\x01" + b"\xff" * 19, "01" + "ff" * 19), exact(b"\xff" * 20, "ff" * 20),
    ], literals.BinaryLiteral, lambda v: f"X'{v.hex()}'", lambda v: f"unhex('{v.hex()}')"),
    Column("int_in_struct", "int", pa.int32(), INT_VALUES, literals.LongLiteral, as_is("CAST('{}' AS INT)"),
           as_is("CAST('{}' AS INTEGER)"), in_struct=True),
    Column("string_in_struct", "string", pa.string(), STRING_VALUES, literals.StringLiteral,
           lambda v: f"CAST(X'{v.encode().hex()}' AS STRING)",
           lambda v: f"decode(unhex('{v.encode().hex()}'))", in_struct=True),
]
