//! One macro for closed sets: a variant has the same text in JSON, in SQL and on the screen.

/// A text that is not a member of a closed set. A row with one is unreadable; it is never taken for a default.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not one of: {expected}")]
pub struct UnknownVariant {
    pub text: String,
    pub expected: String,
}

/// Defines an enum of a closed set, with one text per variant for serde, `Display` and `FromStr`.
macro_rules! text_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every variant, in the order of the definition.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::model::text_enum::UnknownVariant;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok($name::$variant),)+
                    _ => Err($crate::model::text_enum::UnknownVariant {
                        text: text.to_owned(),
                        expected: [$($word),+].join(", "),
                    }),
                }
            }
        }
    };
}
pub(crate) use text_enum;
