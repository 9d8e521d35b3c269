//! Symbols: text, or numbers from the product list of the session, in fields of 20 or 40 bytes.

use crate::codes::TmpSymbolType;
use crate::error::{FrameError, TmpExpectedValue};
use crate::uncertain::TEXT_FILLER;
use crate::wire::WireField;

/// Length of a numeric symbol in bytes; the rest of the field is zero.
const NUMERIC_BYTES: usize = 8;

/// A numeric symbol. Numeric symbols are valid for one market and trading session.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct NumericSymbol {
    /// Number of the first leg in the product list.
    pub pseq1: u16,
    /// Number of the second leg in the product list; 0 for a single product.
    pub pseq2: u16,
    /// The sides of the two legs.
    pub leg_side: [u8; 2],
    /// The combination: 0 single, 1 price spread, 2 time spread, 3 straddle, 4 strangle, 5 conversion.
    pub comb_op: u8,
}

/// The content of a symbol field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TmpSymbol<'a> {
    /// Numbers.
    Numeric(NumericSymbol),
    /// Text, without its filler.
    Text(&'a [u8]),
}

impl<'a> TmpSymbol<'a> {
    /// Reads the symbol field of a message.
    ///
    /// # Errors
    ///
    /// The symbol type is not defined, or does not fit a field of this length. The offset in the error is relative to
    /// the field.
    pub fn read(symbol_type: TmpSymbolType, field: &'a [u8]) -> Result<Self, FrameError> {
        let right = matches!(
            (symbol_type, field.len()),
            (TmpSymbolType::NUMERIC_20 | TmpSymbolType::TEXT_20, 20)
                | (TmpSymbolType::NUMERIC_40 | TmpSymbolType::TEXT_40, 40)
        );
        if !right {
            let expected = match field.len() {
                20 => "1 and 2 for 20 bytes",
                40 => "3 and 4 for 40 bytes",
                _ => "a field of 20 or 40 bytes",
            };
            return Err(wrong(
                "symbol_type",
                u64::from(symbol_type.0),
                TmpExpectedValue::OneOf(expected),
            ));
        }
        if !symbol_type.is_numeric() {
            let filler = |byte: &u8| *byte == 0 || *byte == b' ';
            let end = field.iter().rposition(|byte| !filler(byte));
            return Ok(Self::Text(&field[..end.map_or(0, |last| last + 1)]));
        }
        Ok(Self::Numeric(NumericSymbol {
            pseq1: u16::get(&field[..2]),
            pseq2: u16::get(&field[2..4]),
            leg_side: [field[4], field[5]],
            comb_op: field[6],
        }))
    }

    /// The symbol type, and the bytes for a field of 20 or 40 bytes.
    ///
    /// # Errors
    ///
    /// The text is longer than the field.
    pub fn field<const SYMBOL: usize>(&self) -> Result<(TmpSymbolType, [u8; SYMBOL]), FrameError> {
        const { assert!(SYMBOL == 20 || SYMBOL == 40) };
        let (numeric, text) = match SYMBOL {
            20 => (TmpSymbolType::NUMERIC_20, TmpSymbolType::TEXT_20),
            _ => (TmpSymbolType::NUMERIC_40, TmpSymbolType::TEXT_40),
        };
        match self {
            Self::Numeric(symbol) => {
                let mut field = [0; SYMBOL];
                symbol.pseq1.put(&mut field[..2]);
                symbol.pseq2.put(&mut field[2..4]);
                let rest = [symbol.leg_side[0], symbol.leg_side[1], symbol.comb_op, 0];
                field[4..NUMERIC_BYTES].copy_from_slice(&rest);
                Ok((numeric, field))
            }
            Self::Text(name) => {
                let mut field = [TEXT_FILLER; SYMBOL];
                let most = TmpExpectedValue::AtMost(SYMBOL as u64);
                let place = field.get_mut(..name.len());
                let place = place.ok_or(wrong("symbol", name.len() as u64, most))?;
                place.copy_from_slice(name);
                Ok((text, field))
            }
        }
    }
}

fn wrong(field: &'static str, found: u64, expected: TmpExpectedValue) -> FrameError {
    FrameError {
        message: "symbol",
        field,
        at: 0,
        found,
        expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn symbols_of_each_type_read_back() {
        let numeric = TmpSymbol::Numeric(NumericSymbol {
            pseq1: 0x0102,
            pseq2: 0x0304,
            leg_side: [1, 2],
            comb_op: 2,
        });
        for symbol in [numeric, TmpSymbol::Text(b"TXFL9")] {
            let (kind, field) = symbol.field::<20>().unwrap();
            assert_eq!(TmpSymbol::read(kind, &field), Ok(symbol));
            let (kind, field) = symbol.field::<40>().unwrap();
            assert_eq!(TmpSymbol::read(kind, &field), Ok(symbol));
        }
        let (kind, field) = numeric.field::<20>().unwrap();
        assert_eq!(kind, TmpSymbolType::NUMERIC_20);
        assert_eq!(&field[..8], &[1, 2, 3, 4, 1, 2, 2, 0]);
        let blanks = *b"TXFL9               ";
        assert_eq!(
            TmpSymbol::read(TmpSymbolType::TEXT_20, &blanks),
            Ok(TmpSymbol::Text(b"TXFL9"))
        );
    }

    #[test]
    fn a_wrong_symbol_is_named() {
        let error = TmpSymbol::read(TmpSymbolType::TEXT_40, &[0; 20]).unwrap_err();
        let text = "symbol: symbol_type at byte 0 is 4, expected one of 1 and 2 for 20 bytes";
        assert_eq!(error.to_string(), text);
        let error = TmpSymbol::Text(&[b'A'; 21]).field::<20>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "symbol: symbol at byte 0 is 21, expected at most 20"
        );
    }
}
