//! Permissions: whether an operator at a control socket has the right that a request needs.
//!
//! | operators | the engine's own user, root | a member of its group |
//! | --- | --- | --- |
//! | none configured | everything | reads |
//! | configured | what an operator of this name may | what an operator of this name may |

use fixwire_protocol::{Application, OperatorRight, Permission, SessionId};

use crate::operation::Operator;

/// The kind of operator, according to the credentials of the connection to the control socket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OperatorStanding {
    /// The user of the process, or root.
    Owner,
    /// Another user who may access the socket.
    Member,
}

/// The kind of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum OperatorAccess {
    /// An action that needs this right.
    Right(OperatorRight),
    /// A command to the application. The application decides which right the command needs.
    Command(Vec<u8>),
    /// A query of the application.
    Query(Vec<u8>),
    /// Optional data that needs this right. Without the right the data is left out; the request is not refused.
    Part(OperatorRight),
    /// A connection to the control socket, in a place that is reserved for operators. A denial is not reported as a
    /// refusal.
    Place,
}

/// A request for a permission.
#[derive(Clone, Debug)]
pub struct PermissionRequest {
    /// The operator, and the reason.
    pub by: Operator,
    /// The kind of operator.
    pub standing: OperatorStanding,
    /// The requested action.
    pub access: OperatorAccess,
    /// The session of the request; `None` for a request that concerns no single session.
    pub session: Option<SessionId>,
    /// The request as text, for the refusal: `session logout`.
    pub what: String,
}

/// Decides whether the operator has the right to the request.
///
/// # Errors
///
/// Why the operator does not have the permission.
pub(crate) fn decide(
    asked: &PermissionRequest,
    app: &impl Application,
    operators: &[fixwire_protocol::OperatorRights],
) -> Result<(), String> {
    let PermissionRequest {
        by, standing, what, ..
    } = asked;
    let needs = match &asked.access {
        OperatorAccess::Right(right) | OperatorAccess::Part(right) => Some(*right),
        OperatorAccess::Command(command) => app.command_right(command),
        OperatorAccess::Query(query) => app.query_right(query),
        OperatorAccess::Place => None,
    };
    // For an unknown request any right is enough, because the answer lists the known requests.
    let right = needs.unwrap_or(OperatorRight::Read);
    let permission = match app.permission(&by.who, right) {
        Permission::Open => {
            let rights = operators.iter();
            let rights = rights.map(|one| (one.user.as_str(), one.may.contains(&right)));
            Permission::of(&by.who, rights)
        }
        own => own,
    };
    let who = &by.who;
    match (permission, standing) {
        (Permission::Granted, _) | (Permission::Open, OperatorStanding::Owner) => Ok(()),
        (Permission::Missing, _) if needs.is_none() => Ok(()),
        (Permission::Open, OperatorStanding::Member)
            if right == OperatorRight::Read && asked.access != OperatorAccess::Place =>
        {
            Ok(())
        }
        (Permission::Open, OperatorStanding::Member) => Err(format!(
            "{who} may only read: the right {right} is missing; without [[operator]] tables only the engine's own \
             user and root have it"
        )),
        (Permission::Missing, _) => Err(format!(
            "{who} has no permission to {what}: the right {right} is missing; an [[operator]] table of the settings, or \
             ControlOperators in a .cfg file, grants it"
        )),
        (Permission::NoOperator, _) => Err(format!(
            "{who} is not an operator: the right {right} is missing; an [[operator]] table of the settings, or ControlOperators in a \
             .cfg file, grants it"
        )),
    }
}
