//! Exported messages have the chosen fields and no secret.

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Decoder, Dictionary};
use fixwire_reader::{ExportColumns, covered};

use crate::samples::message;

#[test]
fn cells_have_quotes_where_they_need_them() {
    let names = Dictionary::built_in(Version::Fix44);
    let columns = ExportColumns::parse("11, Text,554,448,99", &names).unwrap();
    let bytes = message("35=D|11=a,\"b\"|554=tiger|58= x|448=P|448=Q|");
    let mut decoder = Decoder::with_capacity(64);
    let mut text = Vec::new();
    columns.write_heads(&mut text).unwrap();
    columns
        .write_values(&decoder.decode(&bytes), &mut text)
        .unwrap();
    let expected = ",11,Text,554,448,99,\"a,\"\"b\"\"\",\" x\",***,P|Q,";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
    let bytes = message("35=D|58=|11=a|");
    let values = columns.values(&decoder.decode(&bytes)).collect::<Vec<_>>();
    let texts: Vec<_> = values.iter().map(Option::as_deref).collect();
    assert_eq!(texts, [Some("a"), Some(""), None, None, None]);
    let why = ExportColumns::parse("11,Nonsense", &names).unwrap_err();
    assert!(why.contains("Nonsense"), "{why}");
}

#[test]
fn secrets_are_covered_by_as_many_stars() {
    let bytes = message("35=A|95=5|96=a\x01b\x01c|554=tiger|58=x|");
    let mut decoder = Decoder::with_capacity(64);
    let text = covered(&decoder.decode(&bytes));
    let shown = String::from_utf8(text.clone())
        .unwrap()
        .replace('\x01', "|");
    assert!(shown.contains("|95=5|96=*****|554=*****|58=x|"), "{shown}");
    assert!(decoder.decode(&text).fault().is_none());
    let sum = fixwire_protocol::frame::check_sum(&text[..text.len() - 7]);
    assert!(shown.ends_with(&format!("|10={sum:03}|")), "{shown}");
}

/// Accepts this number of bytes, then fails like a closed pipe.
#[cfg(feature = "parquet")]
struct Takes<'a>(usize, &'a mut Vec<u8>);

#[cfg(feature = "parquet")]
impl std::io::Write for Takes<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let len = bytes.len().min(self.0 - self.1.len());
        if len == 0 && !bytes.is_empty() {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        self.1.extend_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A file with nulls and an empty text.
#[cfg(feature = "parquet")]
fn parquet(most: usize, written: &mut Vec<u8>) -> std::io::Result<()> {
    use fixwire_reader::{ParquetExport, ParquetKind, ParquetValue};

    let out = std::io::BufWriter::with_capacity(50, Takes(most, written));
    let columns = [("time", ParquetKind::Time), ("58", ParquetKind::Text)];
    let mut file = ParquetExport::new(out, &columns)?;
    file.add([Some(ParquetValue::Time(5)), Some(ParquetValue::Text("x"))])?;
    file.add([None, Some(ParquetValue::Text(""))])?;
    file.add([Some(ParquetValue::Time(-7)), None])?;
    file.finish()
}

#[test]
#[cfg(feature = "parquet")]
fn an_absent_field_is_null_and_one_without_a_value_is_not() {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    let mut written = Vec::new();
    parquet(usize::MAX, &mut written).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    std::fs::write(&path, &written).unwrap();
    let reader = SerializedFileReader::try_from(path.as_path()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    let rows: Vec<_> = rows.map(|row| row.unwrap().to_string()).collect();
    let expected = [
        "{time: 5, 58: \"x\"}",
        "{time: null, 58: \"\"}",
        "{time: -7, 58: null}",
    ];
    assert_eq!(rows, expected);
    let about = reader.metadata().file_metadata().created_by().unwrap();
    assert!(about.starts_with("fixwire version "), "{about}");
}

#[test]
#[cfg(feature = "parquet")]
fn an_output_that_breaks_anywhere_is_that_error() {
    let mut whole = Vec::new();
    parquet(usize::MAX, &mut whole).unwrap();
    for most in 0..whole.len() {
        let mut written = Vec::new();
        let error = parquet(most, &mut written).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "{most}");
    }
}
