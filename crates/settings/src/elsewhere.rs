//! Keys of the QuickFIX family that fixwire recognises but does not use.
//!
//! A key gives an error if ignoring it would weaken security, lose data or change which messages are accepted. A key
//! gives a warning if it only selects a log or tunes performance.

/// Keys that are reported in the same way.
#[derive(Debug)]
pub struct KeyGroup {
    /// Names of the keys.
    pub keys: &'static [&'static str],
    /// Whether a file with one of these keys is refused.
    pub refused: bool,
    /// The value that equals fixwire's behaviour. A key with this value is not reported.
    pub unless: Option<&'static str>,
    /// The reason why the keys are not used, and what to do instead.
    pub note: &'static str,
}

/// Finds the group of a key, ignoring case. A number may follow the name.
pub fn find(text: &str) -> Option<&'static KeyGroup> {
    let base = text.trim_end_matches(|c: char| c.is_ascii_digit());
    GROUPS.iter().find(|group| {
        group
            .keys
            .iter()
            .any(|key| key.eq_ignore_ascii_case(text) || key.eq_ignore_ascii_case(base))
    })
}

/// Names of all keys.
pub fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|group| group.keys.iter().copied())
}

/// The replacement for the write timeouts of other engines.
const SLOW_PEER: &str = "MaxSendBacklog and SlowConsumerTimeout disconnect a slow peer; it never \
                         blocks other sessions";

/// Every group, in the order of the reference page.
pub static GROUPS: &[KeyGroup] = &[
    KeyGroup {
        keys: &[
            "KeyStoreType",
            "TrustStoreType",
            "KeyManagerFactoryAlgorithm",
            "TrustManagerFactoryAlgorithm",
        ],
        refused: false,
        unless: None,
        note: "the type of a key store is detected from its content; only PKCS#12 is supported",
    },
    KeyGroup {
        keys: &[
            "SocketPrivateKeyBytes",
            "SocketCertificateBytes",
            "SocketCABytes",
        ],
        refused: true,
        unless: None,
        note: "use the files SocketPrivateKeyFile, SocketCertificateFile and \
               SocketCAFile",
    },
    KeyGroup {
        keys: &["EndpointIdentificationAlgorithm"],
        refused: false,
        unless: Some("HTTPS"),
        note: "the host name is always verified: set SocketServerName to expect another name, or \
               PeerCertificates to verify the certificate itself instead",
    },
    KeyGroup {
        keys: &["SSLCheckCertificateRevocation"],
        refused: false,
        unless: Some("N"),
        note: "revocation lists are not downloaded: set CertificateRevocationListFile",
    },
    KeyGroup {
        keys: &["ProxyDomain", "ProxyWorkstation"],
        refused: true,
        unless: None,
        note: "NTLM is not supported: ProxyUser and ProxyPassword are sent as Basic credentials",
    },
    KeyGroup {
        keys: &["DynamicSession"],
        refused: true,
        unless: Some("N"),
        note: "initiator sessions are not created on demand: write a [SESSION] for each peer, or \
               add sessions through the Handle",
    },
    KeyGroup {
        keys: &[
            "ForceResendWhenCorruptedStore",
            "CmeEnhancedResend",
            "ContinueInitializationOnError",
        ],
        refused: true,
        unless: Some("N"),
        note: "fixwire does not do what this key asks for: remove the key, or set it to N, if the session may work without it",
    },
    KeyGroup {
        keys: &["ValidateSequenceNumbers"],
        refused: true,
        unless: Some("Y"),
        note: "fixwire always validates sequence numbers: remove the key",
    },
    KeyGroup {
        keys: &["RefreshOnLogon"],
        refused: false,
        unless: Some("N"),
        note: "one process owns the journal, so there is nothing to refresh at logon",
    },
    KeyGroup {
        keys: &["PreserveMessageFieldsOrder"],
        refused: false,
        unless: Some("Y"),
        note: "fields are always sent in the order in which the application writes them",
    },
    KeyGroup {
        keys: &["SocketConnectProtocol", "SocketAcceptProtocol"],
        refused: true,
        unless: Some("TCP"),
        note: "only TCP is supported",
    },
    KeyGroup {
        keys: &["RedactionLogText"],
        refused: false,
        unless: None,
        note: "each byte of a masked value is replaced by an asterisk",
    },
    KeyGroup {
        keys: &["Encoding"],
        refused: false,
        unless: None,
        note: "values are bytes and are not converted",
    },
    KeyGroup {
        keys: &["LogMessageWhenSessionNotFound"],
        refused: false,
        unless: Some("Y"),
        note: "fixwire always does what `Y` means",
    },
    KeyGroup {
        keys: &["SocketSynchronousWrites"],
        refused: false,
        unless: Some("N"),
        note: SLOW_PEER,
    },
    KeyGroup {
        keys: &["SocketSynchronousWriteTimeout"],
        refused: false,
        unless: Some("30000"),
        note: SLOW_PEER,
    },
    KeyGroup {
        keys: &["MaxScheduledWriteRequests", "SocketSendTimeout"],
        refused: false,
        unless: Some("0"),
        note: SLOW_PEER,
    },
    KeyGroup {
        keys: &["SocketTimeout"],
        refused: false,
        unless: Some("0"),
        note: "set SocketConnectTimeout for the connection attempt; MaxSendBacklog and \
               SlowConsumerTimeout disconnect a slow peer",
    },
    KeyGroup {
        keys: &["SocketReceiveTimeout"],
        refused: false,
        unless: Some("0"),
        note: "reads never block: heartbeats detect a silent peer",
    },
    KeyGroup {
        keys: &["HttpAcceptPort"],
        refused: false,
        unless: None,
        note: "there is no web page about sessions: `fixwire run` prints the events, a program \
               receives them through Application and Handle",
    },
    KeyGroup {
        keys: &["InChanCapacity"],
        refused: false,
        unless: Some("1"),
        note: "an implementation detail of another engine",
    },
    KeyGroup {
        keys: &["SocketIgnoreProxy"],
        refused: false,
        unless: Some("Y"),
        note: "a proxy is used only if ProxyHost is set, never from system settings",
    },
    KeyGroup {
        keys: &[
            "SendResetSeqNumFlag",
            "Description",
            "JndiContextFactory",
            "JndiProviderURL",
        ],
        refused: false,
        unless: None,
        note: "an implementation detail of another engine",
    },
    KeyGroup {
        keys: &["FileStoreMaxCachedMsgs"],
        refused: false,
        unless: None,
        note: "messages are stored in the journal in FileStorePath and read from there",
    },
    KeyGroup {
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
        note: "set FileLogPath for log files; the journal in FileStorePath is a log too, and \
               `fixwire journal dump` prints it",
    },
    KeyGroup {
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
        note: "messages are stored in the journal in FileStorePath, not in a database",
    },
    KeyGroup {
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
        note: "messages are stored in the journal in FileStorePath; set SqlLog to log to a \
               database, PostgreSQL or SQLite (docs/reference/logs.md)",
    },
    KeyGroup {
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
        note: "set SqlLog to log to PostgreSQL or SQLite, in the same tables \
               (docs/reference/logs.md); set FileLogPath for log files",
    },
    KeyGroup {
        keys: &[
            "PostgreSQLLogUseConnectionPool",
            "PostgreSQLLogDatabase",
            "PostgreSQLLogUser",
            "PostgreSQLLogHost",
            "PostgreSQLLogPort",
        ],
        refused: false,
        unless: None,
        note: "set the database of the logs in SqlLog=postgresql://USER@HOST:PORT/DATABASE \
               (docs/reference/logs.md)",
    },
];
