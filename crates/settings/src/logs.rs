//! Settings of log files and database logs.

use std::sync::Arc;

use fixwire_engine::config::{Durability, EngineConfig};
use fixwire_engine::log::Log;
use fixwire_engine::transport::Password;
use fixwire_logs::store::Family;
use fixwire_logs::{FileLog, FileLogRotation, SqlLog};
use fixwire_protocol::Tag;

use super::Id;
use super::problem::LoadError;
use super::resolved::{SessionSettings, Settings};
use super::value::SettingValue;

/// The logs that the settings ask for.
pub(super) fn logs(from: &SessionSettings) -> Vec<Arc<dyn Log>> {
    let files = file(from).map(|log| Arc::new(log) as Arc<dyn Log>);
    let tables = sql(from).map(|log| Arc::new(log) as Arc<dyn Log>);
    files.into_iter().chain(tables).collect()
}

/// The file log.
pub(super) fn file(from: &SessionSettings) -> Option<FileLog> {
    Some(FileLog {
        layout: match from.text(Id::FileLogLayout) {
            Some("quickfixj") => Family::QuickfixJ,
            Some("quickfixgo") => Family::QuickfixGo,
            Some("quickfixn") => Family::QuickfixN,
            _ => Family::Quickfix,
        },
        heartbeats: from.bool(Id::FileLogHeartbeats),
        milliseconds: from.bool(Id::FileIncludeMilliseconds),
        stamp_messages: from.bool(Id::FileIncludeTimeStampForMessages),
        rotation: FileLogRotation {
            max_bytes: from.int(Id::FileLogMaxSize),
            daily: from.bool(Id::FileLogDaily),
            keep: from
                .int(Id::FileLogKeep)
                .and_then(|keep| u32::try_from(keep).ok()),
        },
        ..FileLog::new(from.text(Id::FileLogPath)?)
    })
}

/// The database log.
pub(super) fn sql(from: &SessionSettings) -> Option<SqlLog> {
    let usual = SqlLog::new(from.text(Id::SqlLog)?);
    let table = |id, usual| from.text(id).map_or(usual, str::to_owned);
    Some(SqlLog {
        password: from.text(Id::SqlLogPassword).map(Password::from),
        incoming_table: table(Id::SqlLogIncomingTable, usual.incoming_table),
        outgoing_table: table(Id::SqlLogOutgoingTable, usual.outgoing_table),
        event_table: table(Id::SqlLogEventTable, usual.event_table),
        heartbeats: from.bool(Id::SqlLogHeartbeats),
        database: usual.database,
    })
}

/// The fields whose values are masked in all logs.
pub(super) fn masked(from: &SessionSettings) -> Vec<Tag> {
    match from.find(Id::RedactFieldsInLogs).map(|found| &found.value) {
        Some(SettingValue::Tags(tags)) => tags.clone(),
        _ => Vec::new(),
    }
}

/// Checks whether these logs are possible.
pub(super) fn check(
    settings: &Settings,
    from: &SessionSettings,
    config: &EngineConfig,
) -> Result<(), LoadError> {
    let key = |log: &Arc<dyn Log>| match log.kind() {
        "sql" => Id::SqlLog,
        _ => Id::FileLogPath,
    };
    let is_rotated = from.int(Id::FileLogMaxSize).is_some() || from.bool(Id::FileLogDaily);
    if from.int(Id::FileLogKeep).is_some() && !is_rotated {
        let note = "FileLogKeep has no effect without FileLogMaxSize or FileLogDaily=Y: set one of them, or remove \
                    FileLogKeep";
        return Err(settings.error(from, Id::FileLogKeep, note.to_owned()));
    }
    if let Some(log) = config.logs.first()
        && config.durability == Durability::Memory
    {
        let note = "logs are written from the journal, and Durability=memory has no journal";
        return Err(settings.error(from, key(log), note.to_owned()));
    }
    for log in &config.logs {
        log.check()
            .map_err(|error| settings.error(from, key(log), error.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn files_are_renamed_as_the_settings_say() {
        let rotation = |lines: &str| {
            let text = format!(
                "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nTargetCompID=B\nConnectionType=acceptor\n\
                 SocketAcceptPort=5001\nFileLogPath=log\n{lines}"
            );
            let path = "x.cfg".into();
            let settings = Settings::read(&Source { path, text }).unwrap();
            file(&settings.sessions[0]).unwrap().rotation
        };
        assert_eq!(rotation(""), FileLogRotation::default());
        let wanted = FileLogRotation {
            max_bytes: Some(100 << 20),
            daily: true,
            keep: Some(7),
        };
        let lines = "FileLogMaxSize=100M\nFileLogDaily=Y\nFileLogKeep=7\n";
        assert_eq!(rotation(lines), wanted);
    }

    #[test]
    fn what_no_log_shows_is_said_in_tags() {
        let with = |lines: &str| {
            let text = format!(
                "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nTargetCompID=B\n\
                 ConnectionType=acceptor\nSocketAcceptPort=5001\n{lines}"
            );
            let path = "x.cfg".into();
            Settings::read(&Source { path, text }).map_err(|error| error.to_string())
        };
        let made = with("RedactFieldsInLogs=554, 448").unwrap().to_config();
        assert_eq!(made.unwrap().masked_in_logs, [554, 448]);
        let error = with("RedactFieldsInLogs=PartyID").unwrap_err();
        assert!(
            error.contains("expected tags separated by commas"),
            "{error}"
        );
    }

    #[test]
    fn a_log_in_a_database_is_as_the_file_says_or_refused() {
        let with = |lines: &str| {
            let text = format!(
                "[DEFAULT]\nSqlLogPassword=hunter2\n{lines}[SESSION]\nBeginString=FIX.4.2\n\
                 SenderCompID=A\nTargetCompID=B\nConnectionType=acceptor\nSocketAcceptPort=5001\n"
            );
            let path = "x.cfg".into();
            let settings =
                Settings::read(&Source { path, text }).map_err(|error| error.to_string())?;
            let config = settings.to_config().map_err(|error| error.to_string())?;
            Ok((sql(&settings.sessions[0]), config))
        };
        for (lines, why) in [
            (
                "SqlLog=mysql://a@b/c\n",
                "expected sqlite:PATH or postgresql://",
            ),
            (
                "SqlLog=sqlite:a\nSqlLogEventTable=a b\n",
                "is not a valid table name",
            ),
            (
                "SqlLog=sqlite:a\nSqlLogEventTable=messages_log\n",
                "separate tables",
            ),
            (
                "SqlLog=sqlite:a\nDurability=memory\n",
                "logs are written from the journal",
            ),
            (
                "FileLogPath=log\nFileLogKeep=7\n",
                "no effect without FileLogMaxSize or FileLogDaily=Y",
            ),
        ] {
            let error: String = with(lines).unwrap_err();
            assert!(error.contains(why) && !error.contains("hunter2"), "{error}");
        }
        for database in ["sqlite:log.db", "postgresql://me@db/fix"] {
            let built = SqlLog::new(database).check().is_ok();
            let lines = format!("SqlLog={database}\nSqlLogEventTable=e\nSqlLogHeartbeats=N\n");
            match with(&lines) {
                Ok((log, config)) => {
                    assert!(built, "{database}");
                    let log = log.unwrap();
                    assert_eq!(config.logs[0].kind(), "sql");
                    assert_eq!((&log.database[..], log.heartbeats), (database, false));
                    assert_eq!(
                        (&log.event_table[..], &log.incoming_table[..]),
                        ("e", "messages_log")
                    );
                    assert!(!format!("{log:?}{config:?}").contains("hunter2"));
                }
                Err(error) => {
                    assert!(!built, "{error}");
                    let name = database.split(':').next().unwrap();
                    assert!(
                        error.contains(&format!("`cargo build --release --features {name}`")),
                        "{error}"
                    );
                }
            }
        }
    }
}
