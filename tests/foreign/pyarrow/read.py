"""Prints a Parquet file: a line with its row groups and types, then CSV with null as an empty cell."""

import csv
import sys
from datetime import datetime, timezone

import pyarrow
import pyarrow.parquet


def cell(column):
    if column.type != pyarrow.timestamp("ns", tz="UTC"):
        return ["" if value is None else value for value in column.to_pylist()]
    nanos = column.cast(pyarrow.int64()).to_pylist()
    return ["" if value is None else moment(value) for value in nanos]


def moment(nanos):
    second = datetime.fromtimestamp(nanos // 10**9, timezone.utc)
    return f"{second:%Y-%m-%dT%H:%M:%S}.{nanos % 10**9:09}Z"


file = pyarrow.parquet.ParquetFile(sys.argv[1])
table = file.read()
types = sorted({str(field.type) for field in table.schema})
print(file.num_row_groups, ", ".join(types))
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(table.column_names)
out.writerows(zip(*(cell(column) for column in table.columns)))
