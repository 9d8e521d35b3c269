//! Structs as bytes, one field after the other.

/// Makes the bytes of a struct from a list of its fields. Fields after a semicolon are not written; when the struct
/// is read they get the values that are given here. The list must name every field, so a new field does not compile
/// until it is in the list. `Name(_)` is a struct around one value.
///
/// ```
/// use fixwire_ledger::{record, whole};
///
/// struct Lamp {
///     watts: u32,
///     room: String,
///     is_warm: bool,
/// }
///
/// record! { Lamp { watts, room; is_warm = false } }
///
/// let lamp: Lamp = whole(b"\x28\0\0\0\x04\0\0\0hall").unwrap();
/// assert_eq!((lamp.watts, &*lamp.room, lamp.is_warm), (40, "hall", false));
/// ```
#[macro_export]
macro_rules! record {
    ($name:ident { $($field:ident),+ $(; $($rest:ident = $value:expr),+)? $(,)? }) => {
        $crate::record!(@ 'a [$name] $($field),+ ; $($($rest = $value),+)?);
    };
    ($name:ident<$life:lifetime> { $($field:ident),+ $(,)? }) => {
        $crate::record!(@ $life [$name<$life>] $($field),+ ;);
    };
    ($name:ident(_)) => {
        impl<'a> $crate::Wire<'a> for $name {
            fn put(&self, to: &mut impl $crate::Put) {
                $crate::Wire::put(&self.0, to);
            }

            fn take(from: &mut &'a [u8]) -> Option<Self> {
                $crate::Wire::take(from).map(Self)
            }
        }
    };
    (@ $life:lifetime [$($name:tt)+] $($field:ident),+ ; $($rest:ident = $value:expr),*) => {
        impl<$life> $crate::Wire<$life> for $($name)+ {
            fn put(&self, to: &mut impl $crate::Put) {
                let Self { $($field,)+ $($rest: _,)* } = self;
                $($crate::Wire::put($field, to);)+
            }

            fn take(from: &mut &$life [u8]) -> Option<Self> {
                Some(Self {
                    $($field: $crate::Wire::take(from)?,)+
                    $($rest: $value,)*
                })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
    use alloc::string::String;
    use alloc::vec::Vec;

    use fixwire_protocol::{Decimal, Timestamp};

    use crate::{Bytes, Wire, state_hash, whole, write_state};

    #[derive(Clone, Debug, PartialEq)]
    struct Lamp<'a> {
        name: &'a str,
        raw: Bytes<'a>,
        at: Option<Timestamp>,
        prices: Vec<Decimal>,
    }

    #[derive(Clone, Debug, Default, PartialEq)]
    struct House {
        rooms: BTreeMap<u32, (String, Box<str>)>,
        numbers: BTreeSet<u64>,
        queue: VecDeque<Box<[u8]>>,
        sums: [i128; 2],
        inner: Option<Box<Number>>,
        derived: usize,
    }

    #[derive(Clone, Debug, PartialEq)]
    struct Number(usize);

    record! { Lamp<'a> { name, raw, at, prices } }
    record! { House { rooms, numbers, queue, sums, inner; derived = 3 } }
    record! { Number(_) }

    fn house() -> House {
        House {
            rooms: [(1, ("hall".into(), "red".into())), (7, Default::default())].into(),
            numbers: [3, 9].into(),
            queue: [b"".as_slice().into(), b"one".as_slice().into()].into(),
            sums: [-1, i128::MAX],
            inner: Some(Box::new(Number(5))),
            derived: 3,
        }
    }

    fn bytes<'a>(value: &impl Wire<'a>) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        bytes
    }

    #[test]
    fn a_struct_is_read_as_it_was_written_and_no_part_of_one_is() {
        let lamp = Lamp {
            name: "desk",
            raw: Bytes(b"55=VOD\x01"),
            at: Some(Timestamp(-5)),
            prices: [Decimal::new(105, 1).unwrap(), Decimal::from_int(3)].into(),
        };
        let text = bytes(&lamp);
        assert_eq!(whole(&text), Some(lamp));
        let all = bytes(&house());
        assert_eq!(whole(&all), Some(house()));
        for cut in 0..text.len() {
            assert_eq!(whole::<Lamp<'_>>(&text[..cut]), None, "{cut}");
        }
        for cut in 0..all.len() {
            assert_eq!(whole::<House>(&all[..cut]), None, "{cut}");
        }
        assert_eq!(whole::<House>(&[&all[..], b"\0"].concat()), None);
    }

    #[test]
    fn keys_that_are_not_in_order_are_refused() {
        let twice = [(1_u32, true), (1, false)];
        assert_eq!(whole::<BTreeMap<u32, bool>>(&bytes(&twice.to_vec())), None);
        assert_eq!(whole::<BTreeSet<u8>>(&bytes(&[2_u8, 1].to_vec())), None);
    }

    #[test]
    fn a_count_without_its_values_takes_no_memory() {
        assert_eq!(whole::<Vec<u64>>(&u32::MAX.to_le_bytes()), None);
    }

    #[test]
    fn a_hash_is_that_of_the_pieces() {
        let many: Vec<u64> = (0..5000).collect();
        let (mut pieces, mut written) = (0, Vec::new());
        let mut give = |piece: &[u8]| {
            pieces += 1;
            written.extend_from_slice(piece);
        };
        write_state(&mut give, |to| many.put(to));
        assert_eq!((pieces > 5, written), (true, bytes(&many)));
        let hash = state_hash(|to| many.put(to));
        assert_eq!(hash, state_hash(|to| many.put(to)));
        assert_ne!(hash, state_hash(|to| house().put(to)));
    }

    #[test]
    fn bytes_are_shown_as_text_or_as_hexadecimal_digits() {
        let shown = |bytes| alloc::format!("{:?}", Bytes(bytes));
        assert_eq!(shown(b"11=A\x0138=5\x01"), "11=A\x0138=5\x01");
        assert_eq!(shown(b"\x00\xFFA"), "00ff41");
    }
}
