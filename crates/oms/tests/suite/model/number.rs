//! Model: numbers of FIX messages.

use super::{MOST, Why};

/// A number of a FIX message: digits without the point, and how many stand behind it.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub i128, pub u32);

impl Number {
    pub fn read(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let part = part.trim_end_matches('0');
        let digits = format!("{whole}{part}").parse::<i64>().ok()?;
        let mut number = Self(digits.into(), part.len() as u32);
        while number.1 > 0 && number.0 % 10 == 0 {
            number = Self(number.0 / 10, number.1 - 1);
        }
        Some(number)
    }

    /// In units of 10^-scale, when it has no more digits.
    pub fn scaled(self, scale: u32) -> Result<i128, Why> {
        if self.1 > scale {
            return Err(Why::Rc("RC8", 99));
        }
        let scaled = self.0 * 10_i128.pow(scale - self.1);
        if scaled.abs() > MOST {
            return Err(Why::Other(99, 99));
        }
        Ok(scaled)
    }

    /// As a message has it.
    pub fn text(self) -> String {
        let digits = format!("{:0width$}", self.0.abs(), width = self.1 as usize + 1);
        let (whole, part) = digits.split_at(digits.len() - self.1 as usize);
        let sign = if self.0 < 0 { "-" } else { "" };
        match part {
            "" => format!("{sign}{whole}"),
            part => format!("{sign}{whole}.{part}"),
        }
    }

    pub fn whole(self) -> Result<i128, Why> {
        if self.1 > 0 && self.0 >= 0 {
            return Err(Why::Rc("RC8", 13));
        }
        if !(0..=MOST).contains(&self.0) {
            return Err(Why::Other(99, 99));
        }
        Ok(self.0)
    }
}
