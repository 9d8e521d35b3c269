//! Parses `ControlOperators`: the rights of operators at the control socket.

use fixwire_protocol::{OperatorRight, OperatorRights};

/// Parses the operators and their rights, in the form `ann:read,session;bob:read`.
///
/// # Errors
///
/// What is wrong in the text, and the correct form.
pub(super) fn operators(text: &str) -> Result<Vec<OperatorRights>, String> {
    let mut all: Vec<OperatorRights> = Vec::new();
    for one in text.split(';').map(str::trim).filter(|one| !one.is_empty()) {
        let (user, rights) = one.split_once(':').ok_or_else(|| {
            format!(
                "`{one}` names no rights: write the user and what he may do, as in ann:read,session"
            )
        })?;
        let user = user.trim();
        if user.is_empty() {
            return Err(format!("`{one}` names no user: write ann:read,session"));
        }
        if all.iter().any(|known| known.user == user) {
            return Err(format!("operator {user} is listed twice"));
        }
        let names = rights.split(',').map(str::trim);
        let names = names.filter(|name| !name.is_empty());
        let may = names.map(|name| {
            OperatorRight::named(name).ok_or_else(|| {
                let names = OperatorRight::names();
                format!("unknown right {name} of operator {user}; the rights are {names}")
            })
        });
        all.push(OperatorRights {
            user: user.to_owned(),
            may: may.collect::<Result<_, _>>()?,
        });
    }
    match all.is_empty() {
        true => Err("no operator is named: write ann:read,session".to_owned()),
        false => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_has_rights_by_their_names() {
        let read = operators("ann: read, session; uid 7:;").unwrap();
        assert_eq!(read[0].user, "ann");
        assert_eq!(read[0].may, [OperatorRight::Read, OperatorRight::Session]);
        assert_eq!((&*read[1].user, read[1].may.len()), ("uid 7", 0));
        for (text, says) in [
            ("", "no operator is named"),
            ("ann", "names no rights"),
            (":read", "names no user"),
            (
                "ann:fly",
                "unknown right fly of operator ann; the rights are read, session",
            ),
            ("ann:read;ann:send", "operator ann is listed twice"),
        ] {
            let error = operators(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
