//! The signer of a session's Logons.

use core::fmt;

use crate::AdminOut;

/// Signs each Logon of a session, before its application sees it: a value of the session's configuration, so
/// that any application logs on with it.
pub trait LogonSigner: fmt::Debug + Send + Sync {
    /// Adds a signature to a Logon that is about to be sent. What is refused is reported as an event.
    fn sign(&self, logon: &mut AdminOut<'_>);
}
