//! [`ParquetExport`]: writes messages as rows of a Parquet file.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

/// Approximate memory of a row group, bytes. The limit is exceeded by at most one row.
const GROUP: usize = 64 << 20;
/// Memory of a value without its text, bytes.
const VALUE: usize = 56;
/// Memory of a cell, bytes.
const CELL: usize = size_of::<i16>();

/// A column of a Parquet file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ParquetKind {
    /// UTF-8.
    Text,
    /// A timestamp in UTC, nanoseconds.
    Time,
}

/// A value of a row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ParquetValue<'a> {
    /// A value for a text column.
    Text(&'a str),
    /// A value for a time column: nanoseconds since 1970.
    Time(i64),
}

/// Writes a Parquet file. Every column is nullable; row groups are compressed with Snappy.
pub struct ParquetExport<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    bytes: usize,
}

/// The values of one column in the current row group.
struct Column {
    values: Values,
    /// Definition levels: 1 for a value, 0 for null.
    levels: Vec<i16>,
}

enum Values {
    Texts(Vec<ByteArray>),
    Times(Vec<i64>),
}

impl<W: Write + Send> ParquetExport<W> {
    /// Starts a file with these columns.
    ///
    /// # Errors
    ///
    /// When writing to the output fails.
    pub fn new(out: W, columns: &[(&str, ParquetKind)]) -> io::Result<Self> {
        let fields = columns.iter().map(|(name, kind)| field(name, *kind));
        let fields = fields.collect::<Result<_, _>>().map_err(failed)?;
        let schema = Type::group_type_builder("message").with_fields(fields);
        let schema = schema.build().map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("fixwire version ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties));
        let columns = columns.iter().map(|(_, kind)| Column {
            values: match kind {
                ParquetKind::Text => Values::Texts(Vec::new()),
                ParquetKind::Time => Values::Times(Vec::new()),
            },
            levels: Vec::new(),
        });
        Ok(Self {
            writer: writer.map_err(failed)?,
            columns: columns.collect(),
            bytes: 0,
        })
    }

    /// Adds a row. Each column gets a value of its type, or null.
    ///
    /// # Errors
    ///
    /// When writing to the output fails.
    ///
    /// # Panics
    ///
    /// If a value does not have the type of its column, or the number of values is wrong.
    pub fn add<'a>(
        &mut self,
        row: impl IntoIterator<Item = Option<ParquetValue<'a>>>,
    ) -> io::Result<()> {
        let mut row = row.into_iter();
        for column in &mut self.columns {
            let value = row.next().expect("a value for each column");
            column.levels.push(i16::from(value.is_some()));
            self.bytes += CELL;
            match (&mut column.values, value) {
                (_, None) => {}
                (Values::Texts(all), Some(ParquetValue::Text(text))) => {
                    self.bytes += VALUE + text.len();
                    // Copy the exact bytes: a growing text would take more memory.
                    all.push(text.as_bytes().to_vec().into());
                }
                (Values::Times(all), Some(ParquetValue::Time(time))) => {
                    self.bytes += size_of::<i64>();
                    all.push(time);
                }
                (_, Some(value)) => panic!("{value:?} is of another kind than its column"),
            }
        }
        assert!(row.next().is_none(), "more values than columns");
        if self.bytes < GROUP {
            return Ok(());
        }
        self.write_group()
    }

    /// Writes the remaining rows, and the end of the file.
    ///
    /// # Errors
    ///
    /// When writing to the output fails.
    pub fn finish(mut self) -> io::Result<()> {
        if self.bytes > 0 {
            self.write_group()?;
        }
        self.writer.finish().map(drop).map_err(failed)
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for column in &mut self.columns {
            let next = group.next_column().map_err(failed)?;
            let mut out = next.expect("the schema has this column");
            let levels = Some(&column.levels[..]);
            match &mut column.values {
                Values::Texts(all) => {
                    let out = out.typed::<ByteArrayType>();
                    out.write_batch(all, levels, None).map_err(failed)?;
                    all.clear();
                }
                Values::Times(all) => {
                    let out = out.typed::<Int64Type>();
                    out.write_batch(all, levels, None).map_err(failed)?;
                    all.clear();
                }
            }
            out.close().map_err(failed)?;
            column.levels.clear();
        }
        group.close().map_err(failed)?;
        self.bytes = 0;
        Ok(())
    }
}

fn field(name: &str, kind: ParquetKind) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match kind {
        ParquetKind::Text => (Physical::BYTE_ARRAY, LogicalType::String),
        ParquetKind::Time => (
            Physical::INT64,
            LogicalType::timestamp(true, TimeUnit::NANOS),
        ),
    };
    let field = Type::primitive_type_builder(name, physical)
        .with_logical_type(Some(logical))
        .with_repetition(Repetition::OPTIONAL);
    field.build().map(Arc::new)
}

/// The I/O error of the output, or another error as an I/O error.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}
