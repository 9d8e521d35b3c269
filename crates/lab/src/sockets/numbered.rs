//! A message that is sent repeatedly, each time with the next sequence number.

use fixwire_protocol::frame;

/// A complete message in which some numbers grow by one each time the message is taken.
#[derive(Debug)]
pub struct Numbered {
    bytes: Vec<u8>,
    /// Position of the last digit of each number that grows.
    last_digits: Vec<usize>,
    /// The sum of the bytes before CheckSum(10).
    sum: u8,
    fresh: bool,
}

impl Numbered {
    /// Starts with this message. The numbers in the fields `tags`, such as `"34"`, must have enough digits to grow.
    /// Fields that the message lacks are skipped.
    #[must_use]
    pub fn new(bytes: Vec<u8>, tags: &[&str]) -> Self {
        let last_digit = |tag: &&str| {
            let field = format!("\x01{tag}=");
            let value = bytes
                .windows(field.len())
                .position(|at| at == field.as_bytes())?
                + field.len();
            let len = bytes[value..].iter().position(|byte| *byte == 1)?;
            Some(value + len - 1)
        };
        Self {
            last_digits: tags.iter().filter_map(last_digit).collect(),
            sum: frame::check_sum(&bytes[..bytes.len() - 7]),
            bytes,
            fresh: true,
        }
    }

    /// The message with the next numbers.
    #[inline]
    pub fn take(&mut self) -> &[u8] {
        if self.fresh {
            self.fresh = false;
            return &self.bytes;
        }
        for &last in &self.last_digits {
            let mut digit = last;
            while self.bytes[digit] == b'9' {
                self.bytes[digit] = b'0';
                self.sum = self.sum.wrapping_sub(9);
                digit -= 1;
            }
            self.bytes[digit] += 1;
            self.sum = self.sum.wrapping_add(1);
        }
        let trailer = self.bytes.len() - 4;
        self.bytes[trailer] = b'0' + self.sum / 100;
        self.bytes[trailer + 1] = b'0' + self.sum / 10 % 10;
        self.bytes[trailer + 2] = b'0' + self.sum % 10;
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_protocol::Frame;

    #[test]
    fn numbers_grow_and_the_check_sum_with_them() {
        let message = b"8=FIX.4.2\x019=19\x0135=0\x0134=098\x01112=A1\x0110=000\x01".to_vec();
        let sum = frame::check_sum(&message[..message.len() - 7]);
        let mut message = Numbered::new(message, &["34", "112", "11"]);
        message.take();
        for wanted in ["34=099|112=A2", "34=100|112=A3"] {
            let bytes = message.take().to_vec();
            let text = String::from_utf8_lossy(&bytes).replace('\x01', "|");
            assert!(text.contains(wanted), "{text}");
            assert!(matches!(frame::next(&bytes, 4096), Frame::Whole { .. }));
        }
        assert_ne!(sum, message.sum);
    }
}
