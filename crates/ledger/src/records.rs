//! Structs with the bytes of their fields.

/// Defines structs whose bytes in notes and checkpoints are those of their fields, in order. The lifetime of texts is `'a`.
#[macro_export]
macro_rules! records {
    ($($(#[$doc:meta])* $vis:vis struct $name:ident $(<$life:lifetime>)? {
        $($(#[$field_doc:meta])* $field_vis:vis $field:ident: $type:ty,)+
    })+) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        $vis struct $name $(<$life>)? { $($(#[$field_doc])* $field_vis $field: $type,)+ }

        impl<'a> $crate::Wire<'a> for $name $(<$life>)? {
            #[inline]
            fn put(&self, to: &mut impl $crate::Put) {
                $($crate::Wire::put(&self.$field, to);)+
            }

            #[inline]
            fn take(from: &mut &'a [u8]) -> Option<Self> {
                Some(Self { $($field: $crate::Wire::take(from)?,)+ })
            }
        })+
    };
}
