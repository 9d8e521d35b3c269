//! Rights of operators: which right a command to a running engine requires, and who has it.
//!
//! For its own commands and queries, an application tells the engine which right they require
//! ([`Application::command_right`](crate::Application::command_right)). The engine itself decides about commands to
//! sessions. The names of the rights are the same in every settings file.

use alloc::string::String;
use alloc::vec::Vec;

/// A right of an operator.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum OperatorRight {
    /// Reads orders, positions, limits and counts.
    Read,
    /// Logs sessions on and out, and enables and disables them.
    Session,
    /// Sets sequence numbers.
    Numbers,
    /// Sends a message that the operator has written.
    Send,
    /// Gives an application a command that requires none of the other rights.
    Command,
    /// Reloads settings or rules.
    Reload,
    /// Sets limits.
    Limit,
    /// Cancels orders and stops trading.
    Kill,
    /// Allows trading again where it was stopped.
    Arm,
    /// Sets the states and prices of markets.
    Market,
    /// Begins a trading day.
    Roll,
    /// Enters reports of venues manually.
    Report,
    /// Places rejected orders again.
    Rerun,
    /// Closes differences between lines and drop copies.
    Break,
    /// Settles differences between an OMS and its venues. This right corrects orders, positions and limits.
    Settle,
    /// Sets positions, and loads positions from clearing files.
    Position,
}

impl OperatorRight {
    /// All rights.
    pub const ALL: [Self; 16] = [
        Self::Read,
        Self::Session,
        Self::Numbers,
        Self::Send,
        Self::Command,
        Self::Reload,
        Self::Limit,
        Self::Kill,
        Self::Arm,
        Self::Market,
        Self::Roll,
        Self::Report,
        Self::Rerun,
        Self::Break,
        Self::Settle,
        Self::Position,
    ];

    /// The name of the right in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Session => "session",
            Self::Numbers => "numbers",
            Self::Send => "send",
            Self::Command => "command",
            Self::Reload => "reload",
            Self::Limit => "limit",
            Self::Kill => "kill",
            Self::Arm => "arm",
            Self::Market => "market",
            Self::Roll => "roll",
            Self::Report => "report",
            Self::Rerun => "rerun",
            Self::Break => "break",
            Self::Settle => "settle",
            Self::Position => "position",
        }
    }

    /// The right with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|right| right.name() == name)
    }

    /// The names of all rights, for the hint in an error.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl core::fmt::Display for OperatorRight {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// An operator and the rights that the settings give.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OperatorRights {
    /// The name of the system user; `uid 1000`, for example, for a user without a name.
    pub user: String,
    /// The rights of this user.
    pub may: Vec<OperatorRight>,
}

/// Whether the settings give a user a right.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Permission {
    /// The settings name no operators.
    Open,
    /// The settings name operators, but not this user.
    NoOperator,
    /// The user is an operator but does not have this right.
    Missing,
    /// The user has the right.
    Granted,
}

impl Permission {
    /// The permission of the user `who`. `operators` has the name of each operator, and whether that operator has the
    /// right.
    pub fn of<'a>(who: &str, operators: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
        let user = user_of(who);
        let mut found = Self::Open;
        for (name, may) in operators {
            match (name == user, may) {
                (true, true) => return Self::Granted,
                (true, false) => found = Self::Missing,
                (false, _) if found == Self::Open => found = Self::NoOperator,
                (false, _) => {}
            }
        }
        found
    }
}

/// The user name in a text such as `ann (uid 1000)`. Journals name an operator in this form.
#[must_use]
pub fn user_of(who: &str) -> &str {
    who.split(" (").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_has_one_name() {
        for right in OperatorRight::ALL {
            assert_eq!(OperatorRight::named(right.name()), Some(right));
        }
        assert_eq!(OperatorRight::named("Kill"), None);
    }

    #[test]
    fn a_user_has_what_the_table_of_this_user_grants() {
        let operators = [("ann", true), ("uid 7", false)];
        let of = |who: &str| Permission::of(who, operators);
        assert_eq!(of("ann (uid 1000)"), Permission::Granted);
        assert_eq!(of("uid 7"), Permission::Missing);
        assert_eq!(of("anna (uid 1001)"), Permission::NoOperator);
        assert_eq!(of("root (uid 0)"), Permission::NoOperator);
        assert_eq!(Permission::of("ann (uid 1000)", []), Permission::Open);
    }
}
