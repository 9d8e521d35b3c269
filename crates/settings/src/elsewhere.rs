//! Keys of the QuickFIX family that fixwire knows and does not use.
//!
//! Where ignoring a key would weaken security, lose data or change which messages are accepted, it is
//! an error; where it only chooses a log or a tuning, a warning.

/// Keys that get the same answer.
#[derive(Debug)]
pub struct Group {
    /// Their names.
    pub keys: &'static [&'static str],
    /// Whether a file with them is refused.
    pub refused: bool,
    /// The value that asks for what fixwire does anyway: no answer at all.
    pub unless: Option<&'static str>,
    /// Why, and what to do instead.
    pub note: &'static str,
}

/// Finds the group of a key, in any case. A number may follow the name.
pub fn find(text: &str) -> Option<&'static Group> {
    let base = text.trim_end_matches(|c: char| c.is_ascii_digit());
    GROUPS.iter().find(|group| {
        group
            .keys
            .iter()
            .any(|key| key.eq_ignore_ascii_case(text) || key.eq_ignore_ascii_case(base))
    })
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|group| group.keys.iter().copied())
}

/// In place of the time limits that others have for a write.
const SLOW_PEER: &str = "a peer that takes nothing is disconnected by MaxSendBacklog and SlowConsumerTimeout, \
                         and no other session waits for it";

/// Every group, in the order of the document.
pub static GROUPS: &[Group] = &[
    Group {
        keys: &[
            "KeyStoreType",
            "TrustStoreType",
            "KeyManagerFactoryAlgorithm",
            "TrustManagerFactoryAlgorithm",
        ],
        refused: false,
        unless: None,
        note: "key stores are known by their content: PKCS#12 is read",
    },
    Group {
        keys: &[
            "SocketPrivateKeyBytes",
            "SocketCertificateBytes",
            "SocketCABytes",
        ],
        refused: true,
        unless: None,
        note: "name a file: SocketPrivateKeyFile, SocketCertificateFile, SocketCAFile",
    },
    Group {
        keys: &["EndpointIdentificationAlgorithm"],
        refused: false,
        unless: Some("HTTPS"),
        note: "the host's name is always checked: SocketServerName says another one, PeerCertificates \
               checks the certificate itself instead",
    },
    Group {
        keys: &["SSLCheckCertificateRevocation"],
        refused: false,
        unless: Some("N"),
        note: "no revocation list is fetched: name them in CertificateRevocationListFile",
    },
    Group {
        keys: &["ProxyDomain", "ProxyWorkstation"],
        refused: true,
        unless: None,
        note: "NTLM is not spoken: ProxyUser and ProxyPassword are sent as Basic credentials",
    },
    Group {
        keys: &["DynamicSession"],
        refused: true,
        unless: Some("N"),
        note: "an initiator is not made on demand: write a [SESSION] for each peer, or add it by the Handle",
    },
    Group {
        keys: &[
            "ForceResendWhenCorruptedStore",
            "CmeEnhancedResend",
            "ContinueInitializationOnError",
        ],
        refused: true,
        unless: Some("N"),
        note: "the session would behave differently than the file says: remove the key, or set it to N",
    },
    Group {
        keys: &["ValidateSequenceNumbers"],
        refused: true,
        unless: Some("Y"),
        note: "fixwire always does this: remove the key",
    },
    Group {
        keys: &["RefreshOnLogon"],
        refused: false,
        unless: Some("N"),
        note: "the journal belongs to one process: there is nothing newer in it to read at a logon",
    },
    Group {
        keys: &["PreserveMessageFieldsOrder"],
        refused: false,
        unless: Some("Y"),
        note: "fields always go out in the order in which the application writes them",
    },
    Group {
        keys: &["SocketConnectProtocol", "SocketAcceptProtocol"],
        refused: true,
        unless: Some("TCP"),
        note: "sessions run over TCP",
    },
    Group {
        keys: &["RedactionLogText"],
        refused: false,
        unless: None,
        note: "a value that is left out is as many stars as it was long",
    },
    Group {
        keys: &["Encoding"],
        refused: false,
        unless: None,
        note: "values are bytes and pass as they are",
    },
    Group {
        keys: &["LogMessageWhenSessionNotFound"],
        refused: false,
        unless: Some("Y"),
        note: "fixwire always does this",
    },
    Group {
        keys: &["SocketSynchronousWrites"],
        refused: false,
        unless: Some("N"),
        note: SLOW_PEER,
    },
    Group {
        keys: &["SocketSynchronousWriteTimeout"],
        refused: false,
        unless: Some("30000"),
        note: SLOW_PEER,
    },
    Group {
        keys: &["MaxScheduledWriteRequests", "SocketSendTimeout"],
        refused: false,
        unless: Some("0"),
        note: SLOW_PEER,
    },
    Group {
        keys: &["SocketTimeout"],
        refused: false,
        unless: Some("0"),
        note: "say SocketConnectTimeout for the time to connect; a peer that takes nothing later is \
               disconnected by MaxSendBacklog and SlowConsumerTimeout",
    },
    Group {
        keys: &["SocketReceiveTimeout"],
        refused: false,
        unless: Some("0"),
        note: "reading never waits: a silent peer is disconnected by HeartBtInt",
    },
    Group {
        keys: &["HttpAcceptPort"],
        refused: false,
        unless: None,
        note: "no pages about sessions are served: `fixwire run` prints the events, a program has \
               them from Application and Handle",
    },
    Group {
        keys: &["InChanCapacity"],
        refused: false,
        unless: Some("1"),
        note: "a detail of another engine",
    },
    Group {
        keys: &["SocketIgnoreProxy"],
        refused: false,
        unless: Some("Y"),
        note: "only ProxyHost names a proxy, never the system",
    },
    Group {
        keys: &[
            "SendResetSeqNumFlag",
            "Description",
            "JndiContextFactory",
            "JndiProviderURL",
        ],
        refused: false,
        unless: None,
        note: "a detail of another engine",
    },
    Group {
        keys: &["FileStoreMaxCachedMsgs"],
        refused: false,
        unless: None,
        note: "messages are kept in the journal in FileStorePath and read from there",
    },
    Group {
        keys: &[
            "FileLogBackupPath",
            "ScreenLogShowIncoming",
            "ScreenLogShowOutgoing",
            "ScreenLogShowEvents",
            "ScreenLogShowHeartBeats",
            "ScreenIncludeMilliseconds",
            "SLF4JLogEventCategory",
            "SLF4JLogErrorEventCategory",
            "SLF4JLogIncomingMessageCategory",
            "SLF4JLogOutgoingMessageCategory",
            "SLF4JLogPrependSessionID",
            "SLF4JLogHeartbeats",
        ],
        refused: false,
        unless: None,
        note: "say FileLogPath for logs in files; the journal in FileStorePath is a log too, and \
               `fixwire journal dump` prints it",
    },
    Group {
        keys: &[
            "MySQLStoreUseConnectionPool",
            "MySQLStoreDatabase",
            "MySQLStoreUser",
            "MySQLStorePassword",
            "MySQLStoreHost",
            "MySQLStorePort",
            "PostgreSQLStoreUseConnectionPool",
            "PostgreSQLStoreDatabase",
            "PostgreSQLStoreUser",
            "PostgreSQLStorePassword",
            "PostgreSQLStoreHost",
            "PostgreSQLStorePort",
            "OdbcStoreUser",
            "OdbcStorePassword",
            "OdbcStoreConnectionString",
            "JdbcStoreMessagesTableName",
            "JdbcStoreSessionsTableName",
            "SleepycatDatabaseDir",
            "SleepycatSequenceDbName",
            "SleepycatMessageDbName",
            "SQLStoreDriver",
            "SQLStoreDataSourceName",
            "SQLStoreConnMaxLifetime",
            "SQLStoreMessagesTableName",
            "SQLStoreSessionsTableName",
            "MongoStoreConnection",
            "MongoStoreDatabase",
            "MongoStoreReplicaSet",
        ],
        refused: false,
        unless: None,
        note: "messages are kept in the journal in FileStorePath, not in a database",
    },
    Group {
        keys: &[
            "JdbcDataSourceName",
            "JdbcDriver",
            "JdbcURL",
            "JdbcUser",
            "JdbcPassword",
            "JdbcSessionIdDefaultPropertyValue",
            "JdbcMaxActiveConnection",
            "JdbcMinIdleConnection",
            "JdbcMaxConnectionLifeTime",
            "JdbcConnectionTimeout",
            "JdbcConnectionIdleTimeout",
            "JdbcConnectionKeepaliveTime",
            "JdbcConnectionTestQuery",
        ],
        refused: false,
        unless: None,
        note: "messages are kept in the journal in FileStorePath; SqlLog names a database of logs, \
               PostgreSQL or SQLite (docs/reference/logs.md)",
    },
    Group {
        keys: &[
            "MySQLLogUseConnectionPool",
            "MySQLLogDatabase",
            "MySQLLogUser",
            "MySQLLogPassword",
            "MySQLLogHost",
            "MySQLLogPort",
            "MySQLLogIncomingTable",
            "MySQLLogOutgoingTable",
            "MySQLLogEventTable",
            "OdbcLogUser",
            "OdbcLogPassword",
            "OdbcLogConnectionString",
            "OdbcLogIncomingTable",
            "OdbcLogOutgoingTable",
            "OdbcLogEventTable",
            "SQLLogDriver",
            "SQLLogDataSourceName",
            "SQLLogConnMaxLifetime",
            "MongoLogConnection",
            "MongoLogDatabase",
            "MongoLogReplicaSet",
        ],
        refused: false,
        unless: None,
        note: "a log can be in PostgreSQL or SQLite, in the same tables: name it in SqlLog \
               (docs/reference/logs.md); FileLogPath is for logs in files",
    },
    Group {
        keys: &[
            "PostgreSQLLogUseConnectionPool",
            "PostgreSQLLogDatabase",
            "PostgreSQLLogUser",
            "PostgreSQLLogHost",
            "PostgreSQLLogPort",
        ],
        refused: false,
        unless: None,
        note: "name the database of a log in SqlLog=postgresql://USER@HOST:PORT/DATABASE \
               (docs/reference/logs.md)",
    },
];
