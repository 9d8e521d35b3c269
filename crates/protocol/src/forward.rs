//! [`forward_application!`](crate::forward_application) makes methods for an application that wraps another one.

/// Makes methods of an [`Application`](crate::Application) that pass every call on to another application. The caller
/// has two methods that borrow this other application: the first for reading, the second for changing.
///
/// ```
/// use fixwire_protocol::{Application, forward_application};
///
/// struct Around<A>(A);
///
/// impl<A> Around<A> {
///     fn get(&self) -> &A {
///         &self.0
///     }
///
///     fn get_mut(&mut self) -> &mut A {
///         &mut self.0
///     }
/// }
///
/// #[deny(clippy::missing_trait_methods)]
/// impl<A: Application> Application for Around<A> {
///     forward_application!(
///         get, get_mut:
///         on_message on_frame on_link on_poss_dup on_admin_out on_admin on_reject on_business_reject on_reject_sent
///         on_resend on_note ledger on_checkpoint state_hash on_logon_request on_logon on_logout on_disconnect
///         on_reset on_hours on_disk on_session_request on_session_added on_command on_query command_right query_right
///         permission owns survives_panics on_time
///     );
/// }
/// ```
#[macro_export]
macro_rules! forward_application {
    ($get:ident, $get_mut:ident: $($method:ident)+) => {
        $($crate::forward_application!(@ $method $get $get_mut);)+
    };
    (@with $get:ident [$($this:tt)+] $name:ident($($arg:ident: $type:ty),*) -> $answer:ty) => {
        fn $name($($this)+ self, $($arg: $type),*) -> $answer {
            self.$get().$name($($arg),*)
        }
    };
    (@ on_message $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_message(
            now: $crate::Now, from: $crate::SessionId, message: &$crate::Message<'_>, outbox: &mut $crate::Outbox
        ) -> Result<(), $crate::Refusal>);
    };
    (@ on_frame $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_frame(
            now: $crate::Now, from: $crate::SessionId, frame: &[u8], outbox: &mut $crate::Outbox
        ) -> Result<(), $crate::Hangup>);
    };
    (@ on_link $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_link(
            now: $crate::Now, session: $crate::SessionId, link: $crate::Link, outbox: &mut $crate::Outbox
        ) -> ());
    };
    (@ on_poss_dup $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_poss_dup(
            now: $crate::Now, from: $crate::SessionId, message: &$crate::Message<'_>, outbox: &mut $crate::Outbox
        ) -> ());
    };
    (@ on_admin_out $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_admin_out(
            now: $crate::Now, session: $crate::SessionId, message: &mut $crate::AdminOut<'_>
        ) -> ());
    };
    (@ on_admin $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_admin(
            now: $crate::Now, session: $crate::SessionId, message: &$crate::Message<'_>, outbox: &mut $crate::Outbox
        ) -> ());
    };
    (@ on_reject $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_reject(
            now: $crate::Now, session: $crate::SessionId, reject: &$crate::Message<'_>, refused: Option<&[u8]>,
            outbox: &mut $crate::Outbox
        ) -> ());
    };
    (@ on_business_reject $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_business_reject(
            now: $crate::Now, from: $crate::SessionId, reject: &$crate::Message<'_>, refused: Option<&[u8]>,
            outbox: &mut $crate::Outbox
        ) -> Result<(), $crate::Refusal>);
    };
    (@ on_reject_sent $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_reject_sent(
            now: $crate::Now, session: $crate::SessionId, message: &$crate::Message<'_>, outbox: &mut $crate::Outbox
        ) -> ());
    };
    (@ on_resend $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_resend(
            now: $crate::Now, session: $crate::SessionId, stored: &[u8]
        ) -> bool);
    };
    (@ on_note $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_note(at: $crate::Timestamp, note: &[u8]) -> ());
    };
    (@ ledger $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get [&] ledger() -> Option<$crate::alloc::boxed::Box<dyn $crate::Ledger>>);
    };
    (@ on_checkpoint $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_checkpoint(
            version: u32, state: &[u8]
        ) -> Result<(), $crate::alloc::string::String>);
    };
    (@ state_hash $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get [&] state_hash() -> Option<u64>);
    };
    (@ on_logon_request $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_logon_request(
            now: $crate::Now, session: $crate::SessionId, logon: &$crate::Message<'_>
        ) -> Result<(), $crate::alloc::string::String>);
    };
    (@ on_logon $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_logon(
            now: $crate::Now, session: $crate::SessionId, logon: &$crate::Message<'_>, outbox: &mut $crate::Outbox
        ) -> ());
    };
    (@ on_logout $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_logout(
            now: $crate::Now, session: $crate::SessionId, logout: $crate::PeerLogout<'_>
        ) -> ());
    };
    (@ on_disconnect $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_disconnect(
            now: $crate::Now, session: $crate::SessionId, parting: $crate::Parting,
            logout: $crate::PeerLogout<'_>, outbox: &mut $crate::Outbox
        ) -> ());
    };
    (@ on_reset $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_reset(
            now: $crate::Now, session: $crate::SessionId, outbox: &mut $crate::Outbox
        ) -> ());
    };
    (@ on_hours $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_hours(
            now: $crate::Now, session: $crate::SessionId, open: bool
        ) -> ());
    };
    (@ on_disk $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_disk(now: $crate::Now, room: $crate::DiskRoom) -> ());
    };
    (@ on_session_request $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_session_request(
            now: $crate::Now, name: &str, config: &$crate::session::Config
        ) -> Result<(), &'static str>);
    };
    (@ on_session_added $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_session_added(
            now: $crate::Now, session: $crate::SessionId, name: &str, config: &$crate::session::Config
        ) -> ());
    };
    (@ on_command $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_command(
            now: $crate::Now, command: $crate::OperatorCommand<'_>, answer: &mut $crate::alloc::vec::Vec<u8>,
            outbox: &mut $crate::Outbox
        ) -> Result<(), $crate::alloc::string::String>);
    };
    (@ on_query $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get [&] on_query(
            now: $crate::Now, query: &[u8], answer: &mut $crate::alloc::vec::Vec<u8>
        ) -> Result<(), $crate::alloc::string::String>);
    };
    (@ command_right $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get [&] command_right(command: &[u8]) -> Option<$crate::OperatorRight>);
    };
    (@ query_right $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get [&] query_right(query: &[u8]) -> Option<$crate::OperatorRight>);
    };
    (@ permission $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get [&] permission(
            who: &str, right: $crate::OperatorRight
        ) -> $crate::Permission);
    };
    (@ owns $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get [&] owns(session: $crate::SessionId, msg_type: &[u8]) -> Option<&'static str>);
    };
    (@ survives_panics $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get [&] survives_panics() -> bool);
    };
    (@ on_time $get:ident $get_mut:ident) => {
        $crate::forward_application!(@with $get_mut [&mut] on_time(
            now: $crate::Now, outbox: &mut $crate::Outbox
        ) -> Option<$crate::Mono>);
    };
}
