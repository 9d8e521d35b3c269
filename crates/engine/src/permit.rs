//! Permissions: whether an operator at a control socket may do what he asks for.
//!
//! | operators | the engine's own user, root | a member of its group |
//! | --- | --- | --- |
//! | none configured | everything | reads |
//! | configured | what an operator of this name may | what an operator of this name may |

use fixwire_protocol::{Application, OperatorRight, Permission, SessionId};

use crate::operation::Operator;

/// Who asks for a permission, by what the system says of the connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OperatorStanding {
    /// The user of the process, or root.
    Owner,
    /// Another user whom the socket lets in.
    Member,
}

/// What an operator wants to do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum OperatorAccess {
    /// Something that needs this right.
    Right(OperatorRight),
    /// A command to the application, which says what right it needs.
    Command(Vec<u8>),
    /// A query of the application.
    Query(Vec<u8>),
    /// Something that needs this right and is left out for whoever lacks it; no refusal.
    Part(OperatorRight),
    /// A place that is kept for operators; no refusal.
    Place,
}

/// A question whether an operator may do something.
#[derive(Clone, Debug)]
pub struct PermissionRequest {
    /// Who asks, and why.
    pub by: Operator,
    /// What the system says of him.
    pub standing: OperatorStanding,
    /// What is asked for.
    pub access: OperatorAccess,
    /// The session that it is done to.
    pub session: Option<SessionId>,
    /// The same in words, for the refusal: `session logout`.
    pub what: String,
}

/// Decides.
///
/// # Errors
///
/// Why not.
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
    // For what nobody knows any right will do: it is answered with what is known.
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
            "{who} has no permission to {what}: the right {right} is missing; an [[operator]] table of the settings \
             grants it"
        )),
        (Permission::NoOperator, _) => Err(format!(
            "{who} is not an operator: the right {right} is missing; an [[operator]] table of the settings grants it"
        )),
    }
}
