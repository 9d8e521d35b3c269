//! An error when a condition does not hold.

macro_rules! hold {
    ($condition:expr, $($what:tt)+) => {
        if !$condition {
            return Err(format!($($what)+));
        }
    };
}
pub(crate) use hold;
