//! Reads the few parts of a certificate that the TLS library does not provide. The reader also accepts certificates of
//! version 1.

/// The parts of a certificate that are used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct CertificateParts<'a> {
    /// When the certificate becomes valid, in seconds since 1970.
    pub(super) not_before: i64,
    /// When the certificate expires, in seconds since 1970.
    pub(super) not_after: i64,
    /// The SubjectPublicKeyInfo of the certificate, with its outer tag.
    pub(super) spki: &'a [u8],
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xA0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Reads a certificate (RFC 5280 section 4.1); `None` when the bytes are not a certificate.
pub(super) fn certificate_parts(der: &[u8]) -> Option<CertificateParts<'_>> {
    let (SEQUENCE, certificate, _, []) = element(der)? else {
        return None;
    };
    let (SEQUENCE, mut rest, ..) = element(certificate)? else {
        return None;
    };
    if rest.first() == Some(&VERSION) {
        rest = element(rest)?.3;
    }
    // Serial number, signature algorithm and issuer are skipped.
    for wanted in [INTEGER, SEQUENCE, SEQUENCE] {
        let (tag, _, _, after) = element(rest)?;
        if tag != wanted {
            return None;
        }
        rest = after;
    }
    let (SEQUENCE, validity, _, rest) = element(rest)? else {
        return None;
    };
    let (tag, from, _, until) = element(validity)?;
    let not_before = time(tag, from)?;
    let (tag, until, _, []) = element(until)? else {
        return None;
    };
    let not_after = time(tag, until)?;
    // The subject.
    let (SEQUENCE, _, _, rest) = element(rest)? else {
        return None;
    };
    let (SEQUENCE, _, spki, _) = element(rest)? else {
        return None;
    };
    Some(CertificateParts {
        not_before,
        not_after,
        spki,
    })
}

/// An element: its tag, its content, the whole element, and the bytes after it.
type Element<'a> = (u8, &'a [u8], &'a [u8], &'a [u8]);

/// The first element.
fn element(bytes: &[u8]) -> Option<Element<'_>> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        ..=0x7F => (usize::from(first), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
            let length = digits
                .iter()
                .fold(0, |length, digit| length << 8 | usize::from(*digit));
            (length, rest)
        }
        _ => return None,
    };
    let (content, after) = rest.split_at_checked(length)?;
    let whole = &bytes[..bytes.len() - after.len()];
    Some((tag, content, whole, after))
}

/// The time `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ` in seconds since 1970.
fn time(tag: u8, text: &[u8]) -> Option<i64> {
    let text = str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = match (tag, text.len()) {
        (UTC_TIME, 12) => {
            let (year, rest) = text.split_at(2);
            let year: i64 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        (GENERALIZED_TIME, 14) => {
            let (year, rest) = text.split_at(4);
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    if !rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |at: usize| rest[at..at + 2].parse::<i64>().ok();
    let (month, day, hour) = (part(0)?, part(2)?, part(4)?);
    let (minute, second) = (part(6)?, part(8)?);
    let fits = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60;
    (fits && second <= 60).then(|| {
        // Count the days since 1970 in the proleptic Gregorian calendar, with years that begin in March.
        let (year, month) = match month {
            1 | 2 => (year - 1, month + 9),
            _ => (year, month - 3),
        };
        let days = 365 * year + year.div_euclid(4) - year.div_euclid(100)
            + year.div_euclid(400)
            + (153 * month + 2) / 5
            + day
            - 719_469;
        ((days * 24 + hour) * 60 + minute) * 60 + second
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        for (tag, text, seconds) in [
            (UTC_TIME, "700101000000Z", Some(0)),
            (UTC_TIME, "000229120000Z", Some(951_825_600)),
            (UTC_TIME, "491231235959Z", Some(2_524_607_999)),
            (GENERALIZED_TIME, "20500101000000Z", Some(2_524_608_000)),
            (GENERALIZED_TIME, "20261128173400Z", Some(1_795_887_240)),
            (UTC_TIME, "20261128173400Z", None),
            (UTC_TIME, "701301000000Z", None),
            (UTC_TIME, "700101000000", None),
            (UTC_TIME, "70010100000éZ", None),
        ] {
            assert_eq!(time(tag, text.as_bytes()), seconds, "{text}");
        }
    }

    #[test]
    fn other_bytes_are_no_certificate() {
        for bytes in [
            &b""[..],
            b"\x30",
            b"\x30\x84\0\0\0\0",
            b"\x30\x02\x30\x00",
            &[0x30; 64],
        ] {
            assert_eq!(certificate_parts(bytes), None);
        }
    }
}
