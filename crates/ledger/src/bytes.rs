//! Enums whose variants are one byte each.

/// Gives each variant of an enum one byte, which stands for the variant in notes and checkpoints.
#[macro_export]
macro_rules! bytes {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $byte:expr,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// The byte that stands for this variant.
            #[must_use]
            pub fn byte(self) -> u8 {
                match self {
                    $(Self::$variant => $byte,)+
                }
            }

            /// The variant for which this byte stands; `None` when the byte stands for no variant.
            #[must_use]
            pub fn of(byte: u8) -> Option<Self> {
                match byte {
                    $(byte if byte == $byte => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl $crate::Wire<'_> for $name {
            #[inline(always)]
            fn put(&self, to: &mut impl $crate::Put) {
                to.some([self.byte()]);
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                Self::of(<u8 as $crate::Wire<'_>>::take(from)?)
            }
        }
    };
}
