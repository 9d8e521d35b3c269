//! How an event is written as a note and read again.

/// Defines the enums of events, one a feature, from a table of kinds and fields; what a field is stands after it. A feature
/// whose events have texts names their lifetime.
macro_rules! events {
    ($($(#[$group_doc:meta])* $group:ident $enum:ident [$($life:lifetime)?] {
        $($(#[$doc:meta])* $kind:literal $name:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty $(= $says:literal)?,)+
        })+
    })+) => {
        /// An event, by its feature. Texts are those of its message or file.
        #[derive(Clone, Debug, PartialEq)]
        pub enum OrderEvent<'a> {
            $($(#[$group_doc])* $group($enum<$($life)?>),)+
        }

        $($(#[$group_doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $enum<$($life)?> {
            $($(#[$doc])* $name { $($(#[$field_doc])* $(#[doc = $says])? $field: $type,)+ },)+
        })+

        impl<'a> OrderEvent<'a> {
            /// Appends its note.
            pub fn put(&self, to: &mut Vec<u8>) {
                let pen = &mut Pen::new(to);
                match self {
                    $(Self::$group(event) => match event {
                        $($enum::$name { $($field),+ } => {
                            pen.some([$kind]);
                            $($field.put(pen);)+
                        })+
                    },)+
                }
                pen.flush();
            }

            /// Reads a note; `None` when it is not a valid note of this version.
            #[must_use]
            pub fn of(note: &'a [u8]) -> Option<Self> {
                let (kind, mut fields) = note.split_first()?;
                let from = &mut fields;
                let event = match kind {
                    $($($kind => Self::$group($enum::$name {
                        $($field: <$type as Wire<'_>>::take(from)?),+
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
    };
}

pub(crate) use events;
