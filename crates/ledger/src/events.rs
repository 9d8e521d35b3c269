//! How an event is written as a note and how the note is read again.

/// Defines an enum of events from a table of kinds and fields. A doc comment of a field stands after the field. An
/// enum with few events is one table. An enum with many events has a table for each feature, with an enum of its own.
/// A feature whose events have texts names their lifetime.
#[macro_export]
macro_rules! events {
    ($(#[$all_doc:meta])* $event:ident; $($(#[$group_doc:meta])* $group:ident $enum:ident [$($life:lifetime)?] {
        $($(#[$doc:meta])* $kind:literal $name:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty $(= $says:literal)?,)+
        })+
    })+) => {
        $(#[$all_doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $event<'a> {
            $($(#[$group_doc])* $group($enum<$($life)?>),)+
        }

        $($(#[$group_doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $enum<$($life)?> {
            $($(#[$doc])* $name { $($(#[$field_doc])* $(#[doc = $says])? $field: $type,)+ },)+
        })+

        impl<'a> $event<'a> {
            /// Appends the note of the event.
            pub fn put(&self, to: &mut $crate::Vec<u8>) {
                let pen = &mut $crate::Pen::new(to);
                self.put_with(pen);
                pen.flush();
            }

            /// Puts the note of the event.
            pub fn put_with(&self, pen: &mut $crate::Pen<'_>) {
                use $crate::{Put as _, Wire as _};
                match self {
                    $(Self::$group(event) => match event {
                        $($enum::$name { $($field),+ } => {
                            pen.some([$kind]);
                            $($field.put(pen);)+
                        })+
                    },)+
                }
            }

            /// Reads an event from its note; `None` when the bytes are not a valid note of this version.
            #[must_use]
            pub fn of(note: &'a [u8]) -> Option<Self> {
                let (kind, mut fields) = note.split_first()?;
                let from = &mut fields;
                let event = match kind {
                    $($($kind => Self::$group($enum::$name {
                        $($field: <$type as $crate::Wire<'_>>::take(from)?),+
                    }),)+)+
                    _ => return None,
                };
                fields.is_empty().then_some(event)
            }

            /// The name of the event.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$group(event) => match event {
                        $($enum::$name { .. } => stringify!($name),)+
                    },)+
                }
            }
        }

        /// Writes the name of the event, and `field=value` for each field.
        impl ::core::fmt::Display for $event<'_> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.name())?;
                match self {
                    $(Self::$group(event) => match event {
                        $($enum::$name { $($field),+ } => {
                            $(write!(f, concat!(" ", stringify!($field), "={:?}"), $field)?;)+
                        })+
                    },)+
                }
                Ok(())
            }
        }
    };
    ($(#[$all_doc:meta])* $event:ident [$life:lifetime] {
        $($(#[$doc:meta])* $kind:literal $name:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty $(= $says:literal)?,)*
        })+
    }) => {
        $(#[$all_doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum $event<$life> {
            $($(#[$doc])* $name { $($(#[$field_doc])* $(#[doc = $says])? $field: $type,)* },)+
        }

        impl<$life> $event<$life> {
            /// Appends the note of the event.
            pub fn put(&self, to: &mut $crate::Vec<u8>) {
                use $crate::{Put as _, Wire as _};
                let pen = &mut $crate::Pen::new(to);
                match self {
                    $(Self::$name { $($field),* } => {
                        pen.some([$kind]);
                        $($field.put(pen);)*
                    })+
                }
                pen.flush();
            }

            /// Reads an event from its note; `None` when the bytes are not a valid note of this version.
            #[must_use]
            pub fn of(note: &$life [u8]) -> Option<Self> {
                let (kind, mut fields) = note.split_first()?;
                let from = &mut fields;
                let event = match kind {
                    $($kind => Self::$name { $($field: <$type as $crate::Wire<'_>>::take(from)?),* },)+
                    _ => return None,
                };
                from.is_empty().then_some(event)
            }
        }
    };
}
