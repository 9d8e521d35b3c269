//! Signs the Logons of a session.

use core::fmt;

use crate::AdminOut;

/// Signs each Logon of a session before the application sees the Logon. The signer is part of the session's
/// configuration, so it works with any application.
pub trait LogonSigner: fmt::Debug + Send + Sync {
    /// Adds a signature to a Logon that is about to be sent. An event reports each field that is refused.
    fn sign(&self, logon: &mut AdminOut<'_>);
}
