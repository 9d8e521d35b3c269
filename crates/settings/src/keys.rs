//! Every key that fixwire uses, each defined once.
//!
//! To change a default, a bound or a text, change it here and run the tests with `UPDATE=1`, which
//! writes `docs/reference/settings.md` anew.

use super::kinds::*;
use super::registry::{Key, Name, Scope};
use super::value::Kind;

/// Makes [`Id`] and [`KEYS`] from one list. An entry is its text, then
/// `Name [names elsewhere: whose], kind, default, scope;` where scope is `Engine`, `Session` or, for
/// a key that a number may follow, `Numbered`.
macro_rules! keys {
    ($(
        $(#[doc = $doc:literal])+
        $id:ident [$($other:literal: $dialects:literal),*], $kind:expr, $default:expr, $scope:ident;
    )+) => {
        /// A key that fixwire uses; its place in [`KEYS`].
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Id {
            $( $(#[doc = $doc])+ $id, )+
        }

        /// Every key that fixwire uses, in the order of the document.
        pub static KEYS: &[Key] = &[$(
            Key {
                id: Id::$id,
                name: stringify!($id),
                names: &[$( Name { name: $other, dialects: $dialects } ),*],
                kind: $kind,
                default: $default,
                scope: scope!($scope),
                numbered: numbered!($scope),
                doc: concat!($($doc, "\n"),+),
            },
        )+];
    };
}

macro_rules! scope {
    (Engine) => {
        Scope::Engine
    };
    ($other:ident) => {
        Scope::Session
    };
}

macro_rules! numbered {
    (Numbered) => {
        true
    };
    ($other:ident) => {
        false
    };
}

keys! {
    /// The FIX version of the session. With `FIXT.1.1` the version of its application messages is
    /// `DefaultApplVerID`.
    BeginString ["BeginString": "CJGN"], BEGIN_STRINGS, None, Session;
    /// Our name in the session: SenderCompID(49) of what we send.
    SenderCompID ["SenderCompID": "CJGN"], Kind::Text, None, Session;
    /// The peer's name in the session: TargetCompID(56) of what we send.
    TargetCompID ["TargetCompID": "CJGN"], Kind::Text, None, Session;
    /// SenderSubID(50) of what we send; part of the session's identity.
    SenderSubID ["SenderSubID": "JGN"], Kind::Text, None, Session;
    /// SenderLocationID(142) of what we send; part of the session's identity.
    SenderLocationID ["SenderLocationID": "JGN"], Kind::Text, None, Session;
    /// TargetSubID(57) of what we send; part of the session's identity.
    TargetSubID ["TargetSubID": "JGN"], Kind::Text, None, Session;
    /// TargetLocationID(143) of what we send; part of the session's identity.
    TargetLocationID ["TargetLocationID": "JGN"], Kind::Text, None, Session;
    /// Tells apart sessions that are otherwise named the same. Never sent.
    SessionQualifier ["SessionQualifier": "CJGN"], Kind::Text, None, Session;
    /// What rules of a gateway and their tables call the session; each has its own. The journal and the logs
    /// name it by its identity all the same; a gateway remembers orders by this name. Absent: the
    /// identity, `FIX.4.2:BROKER->CLIENT`.
    SessionName [], Kind::Name, None, Session;
    /// DefaultApplVerID(1137), needed with `BeginString=FIXT.1.1`: `FIX.5.0SP2`, `FIX50SP2` or `9`.
    /// The dictionary of `FIX.Latest` is not built in: name its file in `AppDataDictionary`.
    DefaultApplVerID ["DefaultApplVerID": "CJGN"], APPL_VERSIONS, None, Session;
    /// Who connects: an `initiator` connects to its peer, an `acceptor` waits for it.
    ConnectionType ["ConnectionType": "CJN"], ROLES, None, Session;

    /// HeartBtInt(108) in seconds: the silence after which a Heartbeat is sent. An initiator needs it;
    /// an acceptor takes the value of the peer's Logon. 0 sends none.
    HeartBtInt ["HeartBtInt": "CJGN"], Kind::Int { min: 0, max: 3600, unit: "seconds" }, None, Session;
    /// When the session begins, every day or on `StartDay`: its numbers restart, and it may be logged on
    /// until `EndTime`. Without `StartTime` and `EndTime` the session never ends. A time may have a zone
    /// of its own. See [schedules.md](schedules.md).
    StartTime ["StartTime": "CJGN"], Kind::TimeOfDay, None, Session;
    /// When the session ends; the same time as `StartTime` makes it a whole day, or a whole week.
    EndTime ["EndTime": "CJGN"], Kind::TimeOfDay, None, Session;
    /// The day on which the session of a week begins; needs `EndDay`.
    StartDay ["StartDay": "CJGN"], Kind::Day, None, Session;
    /// The day on which the session of a week ends; needs `StartDay`.
    EndDay ["EndDay": "CJGN"], Kind::Day, None, Session;
    /// The days on which the session of a day begins, in the zone of `StartTime`. Absent: every day.
    Weekdays ["Weekdays": "JGN"], Kind::Days, None, Session;
    /// The time zone of all times that have none of their own: a name such as `Europe/London`, or `Local`
    /// for the zone of the machine. Absent: UTC.
    TimeZone ["TimeZone": "JGN"], Kind::Text, None, Session;
    /// The times are in the zone of the machine: the same as `TimeZone=Local`.
    UseLocalTime ["UseLocalTime": "CN"], Kind::Bool, Some("N"), Session;
    /// The session never ends, and `StartTime`, `EndTime`, `StartDay`, `EndDay` and `Weekdays` have no
    /// effect. Absent: `Y` when there is no `StartTime`.
    NonStopSession ["NonStopSession": "CJN"], Kind::Bool, None, Session;
    /// From when on, within the session, it may be logged on. Absent: `StartTime`.
    LogonTime ["LogonTime": "C"], Kind::TimeOfDay, None, Session;
    /// From when on, within the session, it may not be logged on. Absent: `EndTime`. Numbers go on when
    /// the session is logged on again.
    LogoutTime ["LogoutTime": "C"], Kind::TimeOfDay, None, Session;
    /// The day of `LogonTime`. Absent: `StartDay`; without that, every day.
    LogonDay ["LogonDay": "C"], Kind::Day, None, Session;
    /// The day of `LogoutTime`. Absent: `EndDay`; without that, every day.
    LogoutDay ["LogoutDay": "C"], Kind::Day, None, Session;
    /// When the numbers of a session that is logged on restart every day, with a Logon that has
    /// ResetSeqNumFlag(141). Nothing happens when it is not logged on then.
    ResetSeqTime ["ResetSeqTime": "G"], Kind::TimeOfDay, None, Session;
    /// Days without a session, in the zone of `StartTime`. One that began the day before runs to its end;
    /// one of a week, or without an end, is closed from midnight to midnight.
    Holidays [], Kind::Dates, None, Session;
    /// A file with more of them: one to a line or with commas, `#` begins a comment.
    HolidayFile [], Kind::Path, None, Session;

    /// An acceptor keeps to its own `HeartBtInt`, whatever the peer's Logon asks for.
    HeartBtIntOverride ["HeartBtIntOverride": "G"], Kind::Bool, Some("N"), Session;

    /// Port to listen on. Sessions may share one: the Logon says which is meant.
    SocketAcceptPort ["SocketAcceptPort": "CJGN"], Kind::Port, None, Session;
    /// Address to listen on: `127.0.0.1`, `::1`, `0.0.0.0` for every IPv4, `::` for every address.
    SocketAcceptAddress ["SocketAcceptAddress": "J", "SocketAcceptHost": "GN"], Kind::Ip,
        Some("0.0.0.0"), Session;
    /// Host to connect to. With a number behind it (`SocketConnectHost1`) the next one to try when the
    /// one before fails; each has the `SocketConnectPort` of its number.
    SocketConnectHost ["SocketConnectHost": "CJGN"], Kind::Host, None, Numbered;
    /// Port to connect to; see `SocketConnectHost`.
    SocketConnectPort ["SocketConnectPort": "CJGN"], Kind::Port, None, Numbered;
    /// Time that one attempt to connect may take.
    SocketConnectTimeout ["SocketConnectTimeout": "J"], time(1, 3600), Some("10"), Session;
    /// Pauses between attempts to connect: one, or a list that backs off: `3x10;5x20;60` makes three
    /// of 10 s, five of 20 s, then 60 s for ever.
    ReconnectInterval ["ReconnectInterval": "CJGN"], Kind::Pauses, Some("30"), Session;
    /// TCP_NODELAY: each write leaves at once instead of waiting for the acknowledgement of the one
    /// before.
    SocketNodelay ["SocketNodelay": "CN", "SocketTcpNoDelay": "J"], Kind::Bool, Some("Y"), Session;
    /// SO_SNDBUF of the socket; 0 leaves it to the system.
    SocketSendBufferSize ["SocketSendBufferSize": "CJN"], bytes(0, GB), Some("0"), Session;
    /// SO_RCVBUF of the socket; 0 leaves it to the system.
    SocketReceiveBufferSize ["SocketReceiveBufferSize": "CJN"], bytes(0, GB), Some("0"), Session;

    /// Which host is tried next: with `ROUNDROBIN` the one after, and one that worked again first; with
    /// `PRIORITY` the first one before all others.
    HostSelectionPolicy ["HostSelectionPolicy": "C"], POLICIES, Some("ROUNDROBIN"), Session;
    /// With `HostSelectionPolicy=PRIORITY`: how long after its last attempt the first host is tried
    /// before others again.
    HostSelectionPolicyPriorityStartOverInterval ["HostSelectionPolicyPriorityStartOverInterval": "C"],
        time(0, DAY), Some("120"), Session;
    /// Local address of an initiator's connections. With a number behind it, for the
    /// `SocketConnectHost` of that number.
    SocketLocalHost ["SocketLocalHost": "J", "SocketConnectSourceHost": "C"], Kind::Ip, None, Numbered;
    /// Local port of an initiator's connections; see `SocketLocalHost`. Absent: the system chooses.
    SocketLocalPort ["SocketLocalPort": "J", "SocketConnectSourcePort": "C"], Kind::Port, None, Numbered;
    /// SO_REUSEADDR of the port that is listened on: it can be had again at once after a restart.
    SocketReuseAddress ["SocketReuseAddress": "CJ"], Kind::Bool, Some("Y"), Session;
    /// SO_KEEPALIVE of the socket. Absent: the system's.
    SocketKeepAlive ["SocketKeepAlive": "J"], Kind::Bool, None, Session;
    /// SO_OOBINLINE of the socket. Absent: the system's.
    SocketOobInline ["SocketOobInline": "J"], Kind::Bool, None, Session;
    /// SO_LINGER of the socket: how long closing waits for what is unsent. Absent: the system's.
    SocketLinger ["SocketLinger": "J"], Kind::Int { min: 0, max: 65_535, unit: "seconds" }, None, Session;
    /// IP_TOS or IPV6_TCLASS of the socket: a number, or `IPTOS_LOWCOST`, `IPTOS_RELIABILITY`,
    /// `IPTOS_THROUGHPUT`, `IPTOS_LOWDELAY` with `|` between. Absent: the system's.
    SocketTrafficClass ["SocketTrafficClass": "J"], Kind::Text, None, Session;
    /// SO_BUSY_POLL of the socket: how long a read that finds nothing polls the network card; 50 is usual, 0
    /// leaves it to the system. More than `net.core.busy_read` needs CAP_NET_ADMIN; a refusal raises an event.
    BusyPoll [], Kind::Int { min: 0, max: 1_000_000, unit: "microseconds" }, Some("0"), Session;
    /// Connections come through load balancers and begin with a PROXY header, version 1 or 2, that tells
    /// the client's address. Needs `TrustedBalancers`.
    UseTCPProxy ["UseTCPProxy": "G"], Kind::Bool, Some("N"), Session;
    /// The load balancers of `UseTCPProxy`: addresses or ranges as `10.0.0.0/8`, with commas between.
    /// Connections from elsewhere are closed.
    TrustedBalancers [], Kind::Text, None, Session;

    /// What the proxy of an initiator speaks: `http` (CONNECT) or `socks`.
    ProxyType ["ProxyType": "JG"], PROXIES, Some("http"), Session;
    /// Version of what the proxy speaks: `1.0` or `1.1` of HTTP, `4`, `4a` or `5` of SOCKS. Absent: the
    /// newest.
    ProxyVersion ["ProxyVersion": "J"], PROXY_VERSIONS, None, Session;
    /// Host of the proxy that an initiator connects through. Except with SOCKS 4 the proxy looks the
    /// peer's name up.
    ProxyHost ["ProxyHost": "JG"], Kind::Host, None, Session;
    /// Port of the proxy.
    ProxyPort ["ProxyPort": "JG"], Kind::Port, None, Session;
    /// Who we are to the proxy.
    ProxyUser ["ProxyUser": "JG"], Kind::Text, None, Session;
    /// The password of `ProxyUser`. Never shown.
    ProxyPassword ["ProxyPassword": "JG"], Kind::Secret, None, Session;

    /// Connections are encrypted, TLS 1.2 or 1.3. Absent: they are when a certificate is named in a PEM
    /// file or, for an initiator, authorities. [More](tls.md).
    SocketUseSSL ["SocketUseSSL": "JG", "SSLEnable": "N"], Kind::Bool, None, Session;
    /// Our certificate, with those between it and its authority behind it (PEM).
    SocketCertificateFile ["SocketCertificateFile": "G"], Kind::Path, None, Session;
    /// Private key of `SocketCertificateFile` (PEM, not encrypted). Absent: it stands in the same file.
    SocketPrivateKeyFile ["SocketPrivateKeyFile": "G"], Kind::Path, None, Session;
    /// `SocketCertificateFile` of an acceptor.
    ServerCertificateFile ["ServerCertificateFile": "C"], Kind::Path, None, Session;
    /// `SocketPrivateKeyFile` of an acceptor.
    ServerCertificateKeyFile ["ServerCertificateKeyFile": "C"], Kind::Path, None, Session;
    /// `SocketCertificateFile` of an initiator.
    ClientCertificateFile ["ClientCertificateFile": "C"], Kind::Path, None, Session;
    /// `SocketPrivateKeyFile` of an initiator.
    ClientCertificateKeyFile ["ClientCertificateKeyFile": "C"], Kind::Path, None, Session;
    /// Our certificate and its private key as a PKCS#12 file. A Java key store (JKS) has to be converted;
    /// the sample one of QuickFIX/J is refused.
    SocketKeyStore ["SocketKeyStore": "J", "SSLCertificate": "N"], Kind::Path, None, Session;
    /// Password of `SocketKeyStore`. Never shown.
    SocketKeyStorePassword ["SocketKeyStorePassword": "J", "SSLCertificatePassword": "N"],
        Kind::Secret, None, Session;
    /// Authorities that may have issued the peer's certificate (PEM). An initiator without any trusts
    /// those of the system; an acceptor with some asks its peers for certificates.
    SocketCAFile ["SocketCAFile": "G", "CertificationAuthoritiesFile": "C", "SSLCACertificate": "N"],
        Kind::Path, None, Session;
    /// Folder of PEM files with further authorities.
    CertificationAuthoritiesDirectory ["CertificationAuthoritiesDirectory": "C"], Kind::Path, None, Session;
    /// Authorities as a PKCS#12 file. An acceptor uses it with `NeedClientAuth=Y`.
    SocketTrustStore ["SocketTrustStore": "J"], Kind::Path, None, Session;
    /// Password of `SocketTrustStore`. Never shown.
    SocketTrustStorePassword ["SocketTrustStorePassword": "J"], Kind::Secret, None, Session;
    /// Revocation lists (PEM or DER), read when the engine starts. With any, every certificate of the
    /// peer's chain has to be covered by one.
    CertificateRevocationListFile ["CertificateRevocationListFile": "C"], Kind::Path, None, Session;
    /// Folder of revocation lists.
    CertificateRevocationListDirectory ["CertificateRevocationListDirectory": "C"], Kind::Path, None, Session;
    /// An acceptor's peers have to show a certificate. Absent: they have to when `SocketCAFile` or
    /// `PeerCertificates` is there.
    NeedClientAuth ["NeedClientAuth": "J", "SSLRequireClientCertificate": "N"], Kind::Bool, None, Session;
    /// As `NeedClientAuth`, when that is not there: 0 asks for none, 1 takes one or none, 2 needs one.
    CertificateVerifyLevel ["CertificateVerifyLevel": "C"], Kind::Int { min: 0, max: 3, unit: "level" },
        None, Session;
    /// The peer's certificates, of which it has to show one to be this session: `sha256:` and the
    /// fingerprint of its public key, `dns:` or `uri:` and a name in it, with commas between.
    /// [More](tls.md).
    PeerCertificates [], Kind::Text, None, Session;
    /// TLS versions, in the manner of any engine: `TLSv1.2,TLSv1.3`, `Tls12`, `all -TLSv1_2`. Older
    /// ones are not spoken.
    EnabledProtocols ["EnabledProtocols": "J", "SSLProtocols": "N", "SSLProtocol": "C"], Kind::Text,
        None, Session;
    /// The oldest TLS version: `TLS12` or `TLS13`; older ones mean `TLS12`.
    SocketMinimumTLSVersion ["SocketMinimumTLSVersion": "G"], TLS_VERSIONS, Some("TLS12"), Session;
    /// Cipher suites by IANA or OpenSSL names. Absent: all that there are, which have forward secrecy and
    /// authenticated encryption. [List](tls.md).
    CipherSuites ["CipherSuites": "J"], Kind::Text, None, Session;
    /// Cipher suites of TLS 1.2, when `CipherSuites` is not there.
    SSLCipherSuite ["SSLCipherSuite": "C"], Kind::Text, None, Session;
    /// Cipher suites of TLS 1.3, when `CipherSuites` is not there.
    TLSCipherSuites ["TLSCipherSuites": "C"], Kind::Text, None, Session;
    /// The name in the peer's certificate, which an initiator also asks for (server name indication).
    /// Absent: the `SocketConnectHost`.
    SocketServerName ["SocketServerName": "G", "SSLServerName": "N", "SNIHostName": "J"], Kind::Host,
        None, Session;
    /// An initiator says which name it asks for.
    UseSNI ["UseSNI": "J"], Kind::Bool, Some("Y"), Session;
    /// An initiator takes any certificate. Only sensible with `PeerCertificates`.
    SocketInsecureSkipVerify ["SocketInsecureSkipVerify": "G"], Kind::Bool, Some("N"), Session;
    /// `N` means `SocketInsecureSkipVerify=Y`.
    SSLValidateCertificates ["SSLValidateCertificates": "N"], Kind::Bool, Some("Y"), Session;

    /// Time from our Logon to the peer's answer, and from a connection to its Logon.
    LogonTimeout ["LogonTimeout": "CJGN"], time(1, 3600), Some("10"), Session;
    /// Time from our Logout to the peer's answer.
    LogoutTimeout ["LogoutTimeout": "CJGN"], time(1, 3600), Some("2"), Session;
    /// Numbers start at 1 with every Logon; an initiator says so with ResetSeqNumFlag(141).
    ResetOnLogon ["ResetOnLogon": "CJGN"], Kind::Bool, Some("N"), Session;
    /// Numbers start at 1 after every Logout.
    ResetOnLogout ["ResetOnLogout": "CJGN"], Kind::Bool, Some("N"), Session;
    /// Numbers start at 1 after every end of the connection.
    ResetOnDisconnect ["ResetOnDisconnect": "CJGN"], Kind::Bool, Some("N"), Session;
    /// Username(553): an initiator writes it in its Logon, an acceptor refuses a Logon with another one.
    Username ["Username": "CJGN"], Kind::Text, None, Session;
    /// Password(554): an initiator writes it in its Logon, an acceptor refuses a Logon with another one.
    /// Never shown.
    Password ["Password": "CJGN"], Kind::Secret, None, Session;
    /// The argon2id hash of the password that a Logon for this acceptor session has to have, as
    /// `fixwire hash-password` prints it; with `Username`, of that user. Never shown.
    PasswordHash [], Kind::Secret, None, Session;
    /// File of the users that may log on to this acceptor session, mode 0600, one `name:hash` a line. A
    /// NewPassword(925) is written back to it. See [security](../operating/security.md).
    PasswordFile [], Kind::Path, None, Session;
    /// Addresses that may log on to this acceptor session: `192.0.2.7, 10.0.0.0/8, 2001:db8::/32`.
    /// Absent: every address. Connections that no session of a port allows are closed when accepted.
    AllowedRemoteAddresses ["AllowedRemoteAddresses": "CJ"], Kind::Text, None, Session;
    /// The section is no session but a template: a Logon for none of the sessions makes one of it. `*`
    /// as SenderCompID, TargetCompID, a SubID or a LocationID stands for any.
    AcceptorTemplate ["AcceptorTemplate": "J"], Kind::Bool, Some("N"), Session;
    /// A Logon for none of the sessions of this port makes one, with the settings of this section and its
    /// BeginString.
    DynamicSessions ["DynamicSessions": "G"], Kind::Bool, Some("N"), Session;
    /// Each connection that `DynamicSessions` or `AcceptorTemplate` lets in gets a session of its own,
    /// however many have the same ids. Best with `ResetOnLogon=Y`: after a reconnect it may be another.
    DynamicQualifier ["DynamicQualifier": "G"], Kind::Bool, Some("N"), Session;
    /// Messages a second that the peer may send. Absent: any number.
    InboundRate [], Kind::Int { min: 1, max: 1_000_000, unit: "messages a second" }, None, Session;
    /// Messages that the peer may send at once after a pause. Absent: those of one second.
    InboundBurst [], Kind::Int { min: 1, max: 1_000_000, unit: "messages" }, None, Session;
    /// What happens to messages beyond `InboundRate`: `reject` answers application messages with a
    /// BusinessMessageReject, `delay` reads the connection more slowly, `disconnect` ends it.
    InboundExcess [], EXCESSES, Some("delay"), Session;
    /// Application messages a second that are sent to the peer, repeated ones included; others wait in the
    /// journal. Absent: as fast as the peer reads.
    OutboundRate [], Kind::Int { min: 1, max: 1_000_000, unit: "messages a second" }, None, Session;
    /// Application messages that are sent at once after a pause. Absent: those of one second.
    OutboundBurst [], Kind::Int { min: 1, max: 1_000_000, unit: "messages" }, None, Session;
    /// How an initiator signs its Logons: `ed25519` as Binance asks for it, `coinbase` or `cme` with an
    /// HMAC-SHA-256. See [security](../operating/security.md#signed-logons).
    LogonSignature [], SIGNATURES, None, Session;
    /// File of the key for `LogonSignature`, mode 0600: a private key in PEM for `ed25519`; the secret in
    /// base64 for `coinbase`; the access key ID and the secret key, on two lines, for `cme`.
    LogonKeyFile [], Kind::Path, None, Session;
    /// A field of our Logon: `LogonTag=50=DESK`. With a number behind it, a further one. Its value is shown
    /// only when the field is harmless in a Logon.
    LogonTag ["LogonTag": "J"], Kind::TagValue, None, Numbered;

    /// How many heartbeat intervals beyond the first the peer may be silent before a TestRequest is
    /// sent.
    TestRequestDelayMultiplier ["TestRequestDelayMultiplier": "J"],
        Kind::Factor { min: 10, max: 100_000 }, Some("0.2"), Session;
    /// How many heartbeat intervals beyond the first the peer may be silent before it is disconnected.
    HeartBeatTimeoutMultiplier ["HeartBeatTimeoutMultiplier": "J"],
        Kind::Factor { min: 10, max: 100_000 }, Some("1.4"), Session;

    /// The peer may be silent for any time: no TestRequest is sent, and it is not disconnected. We still
    /// send our Heartbeats.
    DisableHeartBeatCheck ["DisableHeartBeatCheck": "J"], Kind::Bool, Some("N"), Session;
    /// A peer that was silent for too long gets a Logout before it is disconnected.
    SendLogoutBeforeDisconnectFromTimeout ["SendLogoutBeforeDisconnectFromTimeout": "N"], Kind::Bool,
        Some("N"), Session;
    /// A Logon with the right CompIDs and password whose SendingTime is further than MaxLatency from our
    /// clock is answered with a Logout, `SendingTime accuracy problem`. Otherwise the connection is closed
    /// without a message. In a file of QuickFIX/J: `Y`, unless the file says otherwise.
    SendLogoutForLogonSendingTime [], Kind::Bool, Some("N"), Session;

    /// Messages are checked against a dictionary.
    UseDataDictionary ["UseDataDictionary": "CJN"], Kind::Bool, Some("Y"), Session;
    /// The dictionary of the session's messages: a QuickFIX XML file, a FIX Orchestra repository, or
    /// `built-in`, each with deltas behind it, as in `built-in + venue.delta`. Absent: the built-in
    /// dictionary of `BeginString`. See [dictionaries](dictionaries.md).
    DataDictionary ["DataDictionary": "CJGN"], Kind::Path, None, Session;
    /// The dictionary of the session-level messages of a FIXT session, in the forms of
    /// `DataDictionary`. Absent: the built-in one of FIXT 1.1.
    TransportDataDictionary ["TransportDataDictionary": "CJGN"], Kind::Path, None, Session;
    /// The dictionary of the application messages of a FIXT session, in the forms of
    /// `DataDictionary`. Absent: the built-in one of `DefaultApplVerID`. With a version behind it
    /// (`AppDataDictionary.FIX.4.4`) the one for messages whose ApplVerID(1128), or whose sender's
    /// DefaultApplVerID(1137), names that version; messages of versions without one are then rejected.
    AppDataDictionary ["AppDataDictionary": "CJGN"], Kind::Path, None, Numbered;
    /// `N` switches off every check against a dictionary, as `UseDataDictionary=N` does.
    ValidateIncomingMessage ["ValidateIncomingMessage": "J"], Kind::Bool, Some("Y"), Session;
    /// A header field in the body, or the other way round, is rejected.
    ValidateFieldsOutOfOrder ["ValidateFieldsOutOfOrder": "CJGN"], Kind::Bool, Some("Y"), Session;
    /// A field without a value is rejected.
    ValidateFieldsHaveValues ["ValidateFieldsHaveValues": "CJGN"], Kind::Bool, Some("Y"), Session;
    /// A tag from 5000 up that the dictionary does not have is rejected.
    ValidateUserDefinedFields ["ValidateUserDefinedFields": "CJGN"], Kind::Bool, Some("Y"), Session;
    /// A repeating group whose fields are in another order than the dictionary's is rejected.
    ValidateUnorderedGroupFields ["ValidateUnorderedGroupFields": "J"], Kind::Bool, Some("Y"), Session;
    /// An entry of a repeating group may begin with any of its fields; the first entry tells which.
    FirstFieldInGroupIsDelimiter ["FirstFieldInGroupIsDelimiter": "J"], Kind::Bool, Some("N"), Session;
    /// Most entries of one repeating group; a message with more is rejected. Needs a dictionary: without
    /// one there are no groups, and `MaxFields` is the limit.
    MaxGroupEntries [], Kind::Int { min: 1, max: 1_000_000, unit: "entries" }, Some("1024"), Session;
    /// A field that its message does not have in the dictionary is accepted.
    AllowUnknownMsgFields ["AllowUnknownMsgFields": "CJGN"], Kind::Bool, Some("N"), Session;
    /// A value that its field does not have in the dictionary is accepted.
    AllowUnknownEnumValues ["AllowUnknownEnumValues": "JN"], Kind::Bool, Some("N"), Session;
    /// A field that a condition of the dictionary requires is missed. Only deltas have conditions.
    ValidateConditionalFields [], Kind::Bool, Some("Y"), Session;
    /// What the dictionary finds wrong is rejected. `N` delivers the message nevertheless, unless its
    /// fields cannot be told apart or the session itself needs the one that is wrong.
    RejectInvalidMessage ["RejectInvalidMessage": "JG"], Kind::Bool, Some("Y"), Session;
    /// Messages with a wrong CheckSum(10) are ignored as garbled. `N` takes them; a wrong BodyLength(9)
    /// is garbled all the same.
    ValidateChecksum ["ValidateChecksum": "J", "ValidateLengthAndChecksum": "CN"], Kind::Bool,
        Some("Y"), Session;
    /// SenderCompID and TargetCompID of every message have to be the session's. So have those SubIDs and
    /// LocationIDs that the session and the message both have.
    CheckCompID ["CheckCompID": "CJ"], Kind::Bool, Some("Y"), Session;
    /// The peer may send for others and to others: `N` rejects OnBehalfOfCompID(115) and
    /// DeliverToCompID(128).
    AllowOnBehalfOf [], Kind::Bool, Some("Y"), Session;
    /// SendingTime(52) has to be within `MaxLatency` of our clock.
    CheckLatency ["CheckLatency": "CJGN"], Kind::Bool, Some("Y"), Session;
    /// How far SendingTime(52) may be from our clock.
    MaxLatency ["MaxLatency": "CJGN"], time(1, DAY), Some("120"), Session;
    /// A PossDup message without OrigSendingTime(122) is rejected.
    RequiresOrigSendingTime ["RequiresOrigSendingTime": "JN"], Kind::Bool, Some("Y"), Session;

    /// Application messages with PossDup that the session has had before are shown to the application, as
    /// duplicates. They are dropped otherwise.
    DeliverPossDup [], Kind::Bool, Some("N"), Session;
    /// PossDupFlag(43) and OrigSendingTime(122) that the application writes first in a message are kept, for
    /// routers that pass messages on. They are left out otherwise.
    AllowPosDup ["AllowPosDup": "J"], Kind::Bool, Some("N"), Session;
    /// A garbled message of the peer with the expected number is rejected and counted. It is ignored
    /// otherwise, as the standard says, and asked for again.
    RejectGarbledMessage ["RejectGarbledMessage": "J"], Kind::Bool, Some("N"), Session;
    /// After the Reject of a message of the peer the session logs out.
    DisconnectOnError ["DisconnectOnError": "J"], Kind::Bool, Some("N"), Session;
    /// After the Reject of a message of the peer the session logs out, and numbers start at 1.
    ResetOnError ["ResetOnError": "J"], Kind::Bool, Some("N"), Session;
    /// A panic of the application is answered with a BusinessMessageReject (application not available),
    /// and the message is counted. Otherwise it ends the process, and the message comes again.
    RejectMessageOnUnhandledException ["RejectMessageOnUnhandledException": "J"], Kind::Bool,
        Some("N"), Session;

    /// Digits of the seconds in SendingTime: `SECONDS`, `MILLIS`, `MICROS` or `NANOS`, also as 0, 3, 6,
    /// 9. Absent: milliseconds. Up to FIX 4.1 always seconds.
    TimestampPrecision ["TimestampPrecision": "CN", "TimeStampPrecision": "JG"], PRECISIONS,
        None, Session;
    /// `N` means `TimestampPrecision=SECONDS`, when that key is not there.
    MillisecondsInTimeStamp ["MillisecondsInTimeStamp": "C"], Kind::Bool, Some("Y"), Session;

    /// Most messages that one ResendRequest asks for; 0 asks for all that are missing.
    ResendRequestChunkSize ["ResendRequestChunkSize": "JG", "MaxMessagesInResendRequest": "N"],
        Kind::Int { min: 0, max: 1_000_000, unit: "messages" }, Some("0"), Session;
    /// EndSeqNo of a ResendRequest is the last missing number, instead of 0 (up to FIX 4.1: 999999) for all
    /// that follow.
    ClosedResendInterval ["ClosedResendInterval": "J"], Kind::Bool, Some("N"), Session;
    /// Every message above a gap asks for it again. Otherwise a gap is asked for once, and again when it
    /// has stood still for 30 s, 60 s and so on.
    SendRedundantResendRequests ["SendRedundantResendRequests": "CJN"], Kind::Bool, Some("N"), Session;
    /// ResendRequests of ours for one gap that the peer may reject or leave unanswered until the session
    /// logs out.
    MaxResendAttempts [], Kind::Int { min: 1, max: 1000, unit: "requests" }, Some("3"), Session;
    /// ResendRequests of the peer with the same BeginSeqNo, one after another and each within 10 s of the
    /// one before, which are answered; more are rejected. Whatever their BeginSeqNo, 16 may wait while a
    /// resend runs: one more is rejected too, unless it asks for a range that waits already.
    MaxSimilarResendRequests [], Kind::Int { min: 1, max: 1000, unit: "requests" }, Some("16"), Session;
    /// A ResendRequest that is itself marked with PossDup is not answered.
    IgnorePossDupResendRequests ["IgnorePossDupResendRequests": "N"], Kind::Bool, Some("N"), Session;
    /// Our Rejects are sent again when the peer asks for them. They are gap-filled otherwise.
    ResendSessionLevelRejects ["ResendSessionLevelRejects": "N"], Kind::Bool, Some("N"), Session;
    /// `N`: application messages are never sent again, only gap-filled, as for market data. The journal
    /// keeps them all the same.
    PersistMessages ["PersistMessages": "CJGN"], Kind::Bool, Some("Y"), Session;
    /// Logon carries NextExpectedMsgSeqNum(789), and the peer's is acted on.
    SendNextExpectedMsgSeqNum
        ["SendNextExpectedMsgSeqNum": "C", "EnableNextExpectedMsgSeqNum": "JG"], Kind::Bool, Some("N"),
        Session;
    /// Orders older than this are gap-filled when the peer asks for them again, not resent. Absent: orders
    /// of any age are resent.
    MaxOrderAge [], time(1, 365 * DAY), None, Session;
    /// BusinessMessageReject carries DefaultApplVerID(1137), as QuickFIX (C++) writes it; no dictionary
    /// has it there. `fixwire run --app conformance` does so unless the file says `N`.
    ApplVerIDInBusinessReject [], Kind::Bool, Some("N"), Session;
    /// Every message carries LastMsgSeqNumProcessed(369).
    EnableLastMsgSeqNumProcessed ["EnableLastMsgSeqNumProcessed": "JGN"], Kind::Bool, Some("N"), Session;

    /// The engine that the file was written for. It decides how lines are read and which defaults hold
    /// where two engines have different ones. Absent: two or more keys that only one engine has tell; a
    /// file without such keys, or with keys that only fixwire has, is read as fixwire's own.
    Dialect [], DIALECTS, None, Engine;
    /// `$NAME`, `${NAME}` and `$(NAME)` in values are replaced by environment variables, as QuickFIX (C++)
    /// does when its program asks for it. `${env:NAME}` and `${file:PATH}` are always replaced.
    ExpandVariables [], Kind::Bool, Some("N"), Engine;
    /// Folder of the engine's journal: message store, send queue and audit log of all its sessions. Made
    /// when it does not exist. Not used with `Durability=memory`.
    FileStorePath ["FileStorePath": "CJGN"], Kind::Path, Some("store"), Engine;
    /// Socket at which `fixwire session` and `fixwire status` ask a running engine, in a folder that its
    /// operators can reach. Absent: `control` in `FileStorePath`, for the user of the engine alone; none with
    /// `Durability=memory`.
    ControlPath [], Kind::Path, None, Engine;
    /// Group whose members may ask and command the engine at `ControlPath`, beside its own user and root.
    /// Needs `ControlPath`.
    ControlGroup [], Kind::Text, None, Engine;
    /// What has happened to a message before its first byte leaves: `memory`, it stands in memory of the
    /// process and is lost with it; `process`, it stands in a mapped file and survives `kill -9`, not a
    /// loss of power; `disk`, `fdatasync` has returned.
    Durability [], DURABILITIES, Some("process"), Engine;
    /// `Y` means `Durability=disk`, when that key is not there; `N` means nothing.
    FileStoreSync ["FileStoreSync": "JG"], Kind::Bool, None, Engine;
    /// What the engine's thread does when there is nothing to do: `spin` looks again at once and keeps a
    /// core busy, `yield` offers the core to others first, `block` sleeps.
    Wait [], WAITS, Some("block"), Engine;
    /// Core that the engine's thread is pinned to. Absent: the system chooses.
    Core [], Kind::Int { min: 0, max: 4095, unit: "core" }, None, Engine;
    /// Locks all memory of the process at its start (mlockall), so that no page is missing or swapped out when
    /// a message needs it. All of it is resident then, `ReadBufferSize` of each connection and whole segments of
    /// the journal too. Without CAP_IPC_LOCK it needs `LimitMEMLOCK=infinity`, and is an error otherwise.
    LockMemory [], Kind::Bool, Some("N"), Engine;
    /// Size of one file of the journal: at least 2 messages of `MaxMessageSize` and 1 MiB. Rounded up to
    /// pages of 4 KiB.
    JournalSegmentSize [], bytes(2 * MB, GB), Some("64M"), Engine;
    /// Folder of message and event logs, two files for each session, for tools that read those of
    /// QuickFIX. They are made from the journal, beside the path of a message; passwords are starred
    /// out, control characters but SOH are written as `\\xNN`. Absent: no such logs, the journal is the log.
    FileLogPath ["FileLogPath": "CJGN"], Kind::Path, None, Engine;
    /// Whose file names and lines the logs in `FileLogPath` have. Absent: those of the engine that the file
    /// was written for, when it is of the QuickFIX family.
    FileLogLayout [], LAYOUTS, Some("quickfix"), Engine;
    /// Heartbeats are in the message logs.
    FileLogHeartbeats ["FileLogHeartbeats": "J"], Kind::Bool, Some("Y"), Engine;
    /// Times in logs have milliseconds, with `FileLogLayout=quickfixj`; the others have digits of their
    /// own.
    FileIncludeMilliseconds ["FileIncludeMilliseconds": "J"], Kind::Bool, Some("N"), Engine;
    /// Messages in logs have times, with `FileLogLayout=quickfixj`; with the others they always do.
    FileIncludeTimeStampForMessages
        ["FileIncludeTimeStampForMessages": "J"], Kind::Bool, Some("N"), Engine;
    /// Database of message and event logs, in the tables that tools for QuickFIX read: `sqlite:PATH`, or
    /// `postgresql://USER@HOST:PORT/DATABASE`. They are made from the journal, beside the path of a message,
    /// with passwords starred out; each message is there once, also after a kill or while the database was
    /// away. Tables that do not exist are made. Needs a build with `--features sqlite` or
    /// `--features postgresql`; see [logs](logs.md). Absent: no such logs, the journal is the log.
    SqlLog [], Kind::Text, None, Engine;
    /// Password for the PostgreSQL of `SqlLog`, best as `${env:NAME}` or `${file:PATH}`.
    SqlLogPassword ["PostgreSQLLogPassword": "C"], Kind::Secret, None, Engine;
    /// Table of `SqlLog` for messages that came in.
    SqlLogIncomingTable
        ["PostgreSQLLogIncomingTable": "C", "JdbcLogIncomingTable": "J"],
        Kind::Text, Some("messages_log"), Engine;
    /// Table of `SqlLog` for messages that went out. It may be that of those that came in.
    SqlLogOutgoingTable
        ["PostgreSQLLogOutgoingTable": "C", "JdbcLogOutgoingTable": "J"],
        Kind::Text, Some("messages_log"), Engine;
    /// Table of `SqlLog` for events.
    SqlLogEventTable
        ["PostgreSQLLogEventTable": "C", "JdbcLogEventTable": "J"],
        Kind::Text, Some("event_log"), Engine;
    /// Heartbeats are in the message logs of `SqlLog`.
    SqlLogHeartbeats ["JdbcLogHeartBeats": "J"], Kind::Bool, Some("Y"), Engine;
    /// Fields whose values are starred out in message logs, files and `SqlLog`, beside those that always are
    /// ([security](../operating/security.md)). Times, lengths and CheckSum stay right. The journal keeps them, because a
    /// message may have to be sent again: `fixwire journal dump --mask` leaves them out too.
    RedactFieldsInLogs ["RedactFieldsInLogs": "N"], Kind::Tags, None, Engine;
    /// How long records stay in the journal when no session needs them any more. A session needs what its
    /// peer may ask for: all it sent since its last reset, or since `JournalResendKeep`; a gateway needs what its
    /// last two checkpoints do not have. Old files are
    /// looked at when a new one is begun; a file goes as a whole. Absent: nothing is removed.
    JournalKeep [], time(1, 3650 * DAY), None, Engine;
    /// How long a message can be resent. Older ones are answered with gap fills when their file has been
    /// retired. Absent: until the session is reset.
    JournalResendKeep [], time(60, 3650 * DAY), None, Engine;
    /// Files of the journal that no session needs are compressed (LZ4). `fixwire journal dump` and
    /// `verify` read them.
    JournalCompress [], Kind::Bool, Some("N"), Engine;
    /// Bytes of journal that one session may take in an hour for records that only log: messages that
    /// arrive out of sequence, and what is resent. A peer that sends such messages without end is answered
    /// as ever; what is beyond the limit is counted, and an event says how many messages are not logged.
    JournalLogOnlyLimit [], bytes(64 * KB, 2 * GB), Some("64M"), Engine;
    /// Longest message that is taken or sent. A peer that announces a longer one is disconnected. When it
    /// is not said, it is as much less as a smaller `JournalSegmentSize` needs.
    MaxMessageSize [], bytes(KB, 16 * MB), Some("2M"), Engine;
    /// Most fields in one message.
    MaxFields [], Kind::Int { min: 64, max: 1_000_000, unit: "fields" }, Some("4096"), Engine;
    /// Receive buffer of one connection, at least `MaxMessageSize`. When it is not said, it grows with
    /// `MaxMessageSize`. Pages of it that no message has reached cost no memory.
    ReadBufferSize [], bytes(4 * KB, GB), Some("2M"), Engine;
    /// Connections without a Logon; further ones are closed at once.
    MaxPendingConnections [], Kind::Int { min: 1, max: 65_536, unit: "connections" }, Some("64"), Engine;
    /// The same for one address.
    MaxPendingPerAddress [], Kind::Int { min: 1, max: 65_536, unit: "connections" }, Some("10"), Engine;
    /// Longest first message of a connection, which has to be a Logon.
    MaxLogonSize [], bytes(256, 16 * MB), Some("8K"), Engine;
    /// How far a peer may be behind with reading what we sent. Beyond it is disconnected; nothing is lost.
    MaxSendBacklog [], bytes(64 * KB, 1024 * GB), Some("256M"), Engine;
    /// How long a peer may take nothing although bytes wait for it. Then it is disconnected; nothing is
    /// lost.
    SlowConsumerTimeout [], time(1, DAY), Some("60"), Engine;
    /// Sessions that may be made while the engine runs, by templates and by `Handle::add_session`.
    MaxDynamicSessions [], Kind::Int { min: 1, max: 500_000, unit: "sessions" }, Some("1000"), Engine;
    /// Attempts to log on that may fail in a minute, from all addresses together. An address that a session
    /// has logged on from is let in beyond it.
    MaxFailedLogons [], Kind::Int { min: 1, max: 4_000_000_000, unit: "attempts" }, Some("1200"), Engine;
    /// The same, from one address.
    MaxFailedLogonsPerAddress [], Kind::Int { min: 1, max: 4_000_000_000, unit: "attempts" }, Some("120"), Engine;
    /// Wrong passwords in a minute for one session. The address that it logged on from last is let in
    /// beyond it.
    MaxFailedLogonsPerSession [], Kind::Int { min: 1, max: 4_000_000_000, unit: "attempts" }, Some("60"), Engine;
    /// How long a stopping engine waits for the answers to its Logouts.
    StopTimeout [], time(0, 3600), Some("5"), Engine;
}
