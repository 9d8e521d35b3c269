//! Makes the signature of a session's Logons from the settings of a file.

use std::sync::Arc;

use fixwire_protocol::LogonSigner;

use super::problem::LoadError;
use super::resolved::{SessionSettings, Settings};
use super::{Id, SettingValue};

/// The signer of a session's Logons, if any.
pub(super) fn logon_signer(
    settings: &Settings,
    from: &SessionSettings,
) -> Result<Option<Arc<dyn LogonSigner>>, LoadError> {
    let wrong = |id, note: String| Err(settings.error(from, id, note));
    let (recipe, file) = match (from.text(Id::LogonSignature), from.text(Id::LogonKeyFile)) {
        (None, None) => return Ok(None),
        (Some(_), None) => {
            let note = "LogonSignature requires LogonKeyFile, the file of the key";
            return wrong(Id::LogonSignature, note.into());
        }
        (None, Some(_)) => {
            let note = "LogonKeyFile requires LogonSignature: ed25519, coinbase or cme";
            return wrong(Id::LogonKeyFile, note.into());
        }
        (Some(recipe), Some(file)) => (recipe, file),
    };
    if from.text(Id::ConnectionType) == Some("acceptor") {
        let note = "only an initiator signs its Logon: remove LogonSignature from an acceptor";
        return wrong(Id::LogonSignature, note.into());
    }
    let missing = missing(from, recipe);
    if !missing.is_empty() {
        let list = missing.join(", ");
        let note = format!(
            "LogonSignature={recipe} signs fields that this session does not send: set \
                     {list}"
        );
        return wrong(Id::LogonSignature, note);
    }
    match read(recipe, file) {
        Ok(signer) => Ok(Some(signer)),
        Err(error) => wrong(Id::LogonKeyFile, format!("{file}: {error}")),
    }
}

/// The settings of fields that the signature needs and that the session does not have.
fn missing(from: &SessionSettings, recipe: &str) -> Vec<&'static str> {
    let mut missing = Vec::new();
    let text = |id| from.text(id).is_some();
    let has_tag = |wanted: &str| {
        from.all(Id::LogonTag).any(|tag| match &tag.value {
            SettingValue::TagValue(tag, _) => tag.to_string() == wanted,
            _ => false,
        })
    };
    match recipe {
        "coinbase" if from.find(Id::Password).is_none() => missing.push("Password"),
        "cme" => {
            let ids = [
                (Id::SenderSubID, "SenderSubID"),
                (Id::TargetSubID, "TargetSubID"),
                (Id::SenderLocationID, "SenderLocationID"),
            ];
            missing.extend(
                ids.iter()
                    .filter(|(id, _)| !text(*id))
                    .map(|(_, name)| name),
            );
            if !from.bool(Id::EnableLastMsgSeqNumProcessed) {
                missing.push("EnableLastMsgSeqNumProcessed=Y");
            }
            let tags = [
                ("1603", "LogonTag=1603=…"),
                ("1604", "LogonTag1=1604=…"),
                ("1605", "LogonTag2=1605=…"),
            ];
            missing.extend(
                tags.iter()
                    .filter(|(tag, _)| !has_tag(tag))
                    .map(|(_, name)| name),
            );
        }
        _ => {}
    }
    missing
}

#[cfg(feature = "signing")]
fn read(recipe: &str, file: &str) -> Result<Arc<dyn LogonSigner>, String> {
    use fixwire_signing::LogonSignature;
    match LogonSignature::read(recipe, file.as_ref()) {
        Some(Ok(signature)) => Ok(Arc::new(signature)),
        Some(Err(error)) => Err(error.to_string()),
        None => Err(format!("unknown LogonSignature {recipe}")),
    }
}

#[cfg(not(feature = "signing"))]
fn read(_: &str, _: &str) -> Result<Arc<dyn LogonSigner>, String> {
    Err("this build cannot sign: it was made without the feature signing".into())
}

#[cfg(all(test, feature = "signing"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use crate::{Settings, Source};

    /// The error of a session with these settings, if any.
    fn error(extra: &str) -> String {
        let text = format!(
            "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\nHeartBtInt=30\n{extra}\n"
        );
        let text = match extra.contains("ConnectionType") {
            true => text,
            false => {
                text + "ConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort=9\n"
            }
        };
        let source = Source {
            path: "x.cfg".into(),
            text,
        };
        let settings = Settings::read(&source).map_err(|error| error.to_string());
        let config = settings.and_then(|it| it.to_config().map_err(|error| error.to_string()));
        match config {
            Ok(config) => {
                assert!(config.sessions[0].logon_signer.is_some());
                String::new()
            }
            Err(error) => error,
        }
    }

    fn write(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    #[test]
    fn what_cannot_sign_is_said_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let [good, bad, cme] = ["good", "bad", "cme"].map(|name| folder.path().join(name));
        write(&good, "T/SabUfV28tyVDVv5AsMuk5oqDFdvGwQ\n");
        write(&bad, "secret?\n");
        write(&cme, "ID\nT_SabUfV28tyVDVv5AsMuk5oqDFdvGwQ\n");
        let file = |path: &Path| format!("LogonKeyFile={}", path.display());
        let coinbase = |path| format!("LogonSignature=coinbase\n{}", file(path));
        let fine = format!("{}\nPassword=p", coinbase(&good));
        assert_eq!(error(&fine), "");
        let all = "SenderSubID=S\nTargetSubID=G\nSenderLocationID=US\nEnableLastMsgSeqNumProcessed=Y\n\
                   LogonTag=1603=N\nLogonTag1=1604=1\nLogonTag2=1605=V";
        let cme = format!("LogonSignature=cme\n{}\n", file(&cme));
        assert_eq!(error(&format!("{cme}{all}")), "");
        for (extra, says) in [
            ("LogonSignature=coinbase".into(), "requires LogonKeyFile"),
            (
                file(&good),
                "requires LogonSignature: ed25519, coinbase or cme",
            ),
            (coinbase(&good), "does not send: set Password"),
            (
                format!(
                    "{cme}{}",
                    all.replace("TargetSubID=G\n", "").replace("1604=", "1606=")
                ),
                "does not send: set TargetSubID, LogonTag1=1604=…",
            ),
            (
                format!("{}\nPassword=p", coinbase(&bad)),
                "bad: its secret is not base64",
            ),
            (
                format!("LogonSignature=ed25519\n{}", file(&good)),
                "good: it holds no private key in PEM",
            ),
            (
                "LogonSignature=rsa\nLogonKeyFile=x".into(),
                "LogonSignature",
            ),
            (
                "LogonSignature=ed25519\nLogonKeyFile=/nowhere/key".into(),
                "/nowhere/key: cannot read it",
            ),
            (
                format!("{fine}\nConnectionType=acceptor\nSocketAcceptPort=5001"),
                "only an initiator signs its Logon",
            ),
        ] {
            let error = error(&extra);
            assert!(error.contains(says), "{extra}: {error}");
            assert!(error.starts_with("x.cfg:"), "{error}");
            assert!(!error.contains("secret?"), "{error}");
        }
        fs::set_permissions(&good, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(error(&fine).contains("run chmod 600"));
    }
}
