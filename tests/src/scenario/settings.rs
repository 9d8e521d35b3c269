//! The settings in the `session` line of a scenario.
//!
//! With the session's own defaults:
//!
//! `role=acceptor|initiator|both` (both: played in each), `heartbeat=SECONDS`, `in=N` and `out=N` (numbers from an earlier day),
//! `chunk=N`, `next-expected=on` (789), `last-processed=on` (369), `dictionary=on`,
//! `reset-on=logon,logout,disconnect`, `max-latency=off|6s`, `check-comp-id=off`, `username=`,
//! `password=`, `orig-sending-time=optional`, `max-order-age=6s`, `held-bytes=N`, `held-messages=N`,
//! `same-resends=N`, `resend-attempts=N`, `logon-timeout=6s`, `logout-timeout=6s`,
//! `business-version=on`, `logon-field=TAG:VALUE`, `closed=on` and `redundant=on` (ResendRequests),
//! `resend-messages=off`, `resend-rejects=on`, `ignore-poss-dup-resends=on`, `show-poss-dups=on`,
//! `own-poss-dup=keep`, `reject-garbled=on`, `on-reject=log-out|reset`, `own-heartbeat=on`,
//! `check-heartbeats=off`, `heartbeat-while-probing=on`, `next-expected-of-logout=on`, `say-sending-time=on` (a Logout for a Logon with a fault), `say-goodbye=on` (a Logout before a silent peer is given up),
//! `probe=PERCENT` and `give-up=PERCENT` of the interval, `appl-version=4.4` (one more dictionary).
//! `own-sub-id=`, `own-location-id=`, `peer-sub-id=`, `peer-location-id=`, `on-behalf-of=off`,
//! `seq-num-jump=N`.

use std::sync::{Arc, OnceLock};

use fixwire_protocol::Nanos;
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::session::{ApplVerId, Config, OnReject, Role};

use super::duration;

/// Applies one key of the `session` line.
pub(super) fn set(
    config: &mut Config,
    version: &str,
    key: &str,
    value: &str,
) -> Result<(), String> {
    let wrong = || format!("{key}={value}: no such value");
    let number = || value.parse::<u64>().map_err(|_| wrong());
    let small = || value.parse::<u32>().map_err(|_| wrong());
    let span = || duration(value).map(|span| Nanos(span.as_nanos() as u64));
    let switch = || match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(wrong()),
    };
    match key {
        "role" => {
            config.role = match value {
                "acceptor" => Role::Acceptor,
                "initiator" => Role::Initiator,
                _ => return Err(wrong()),
            }
        }
        "heartbeat" => config.heart_bt_int_seconds = small()?,
        "chunk" => config.resend_chunk = Some(number()?),
        "next-expected" => config.next_expected_msg_seq_num = switch()?,
        "last-processed" => config.last_msg_seq_num_processed = switch()?,
        "business-version" => config.appl_ver_id_in_business_reject = switch()?,
        "closed" => config.closed_resend = switch()?,
        "redundant" => config.redundant_resend_requests = switch()?,
        "resend-messages" => config.resend_messages = switch()?,
        "resend-rejects" => config.resend_rejects = switch()?,
        "ignore-poss-dup-resends" => config.ignore_poss_dup_resend_requests = switch()?,
        "show-poss-dups" => config.deliver_poss_dups = switch()?,
        "own-poss-dup" if value == "keep" => config.keep_own_poss_dup = true,
        "reject-garbled" => config.reject_garbled = switch()?,
        "on-reject" => {
            config.on_reject = match value {
                "log-out" => OnReject::LogOut,
                "reset" => OnReject::Reset,
                _ => return Err(wrong()),
            }
        }
        "own-heartbeat" => config.own_heart_bt_int = switch()?,
        "heartbeat-while-probing" => config.heartbeat_while_probing = switch()?,
        "next-expected-of-logout" => config.next_expected_of_logout = switch()?,
        "check-heartbeats" => config.check_heartbeats = switch()?,
        "say-goodbye" => config.logout_before_give_up = switch()?,
        "say-sending-time" => config.logout_for_bad_logon = switch()?,
        "probe" => config.test_request_percent = small()?,
        "give-up" => config.give_up_percent = small()?,
        "appl-version" => {
            let id = appl_ver_id(value).ok_or_else(wrong)?;
            config
                .appl_dictionaries
                .push((id, over_transport(value).ok_or_else(wrong)?));
        }
        "own-sub-id" => config.own.sub_id = value.into(),
        "own-location-id" => config.own.location_id = value.into(),
        "peer-sub-id" => config.peer.sub_id = value.into(),
        "peer-location-id" => config.peer.location_id = value.into(),
        "seq-num-jump" => config.limits.seq_num_jump = number()?,
        "test-req-id-bytes" => config.limits.test_req_id_bytes = number()? as usize,
        "on-behalf-of" => config.allow_on_behalf_of = switch()?,
        "check-comp-id" => config.check_comp_id = switch()?,
        "dictionary" => config.dictionary = switch()?.then(|| dictionary(version)),
        "reset-on" => {
            for word in value.split(',') {
                match word {
                    "logon" => config.reset_on.logon = true,
                    "logout" => config.reset_on.logout = true,
                    "disconnect" => config.reset_on.disconnect = true,
                    _ => return Err(wrong()),
                }
            }
        }
        "max-latency" if value == "off" => config.max_latency = None,
        "max-latency" => config.max_latency = Some(span()?),
        "max-order-age" => config.max_order_age = Some(span()?),
        "logon-timeout" => config.logon_timeout = span()?,
        "logout-timeout" => config.logout_timeout = span()?,
        "username" => config.username = value.into(),
        "password" => config.password = value.into(),
        "orig-sending-time" if value == "optional" => config.require_orig_sending_time = false,
        "held-bytes" => config.limits.held_bytes = number()? as usize,
        "held-messages" => config.limits.held_messages = number()? as usize,
        "same-resends" => config.limits.same_resend_requests = small()?,
        "resend-attempts" => config.limits.resend_attempts = small()?,
        "logon-field" => {
            let (tag, value) = value.split_once(':').ok_or_else(wrong)?;
            let tag = tag.parse().map_err(|_| wrong())?;
            config.logon_fields.push((tag, value.into()));
        }
        _ => return Err(format!("unknown setting {key}")),
    }
    Ok(())
}

/// The dictionaries are big: one of each for all scenarios.
fn dictionary(version: &str) -> Arc<Dictionary> {
    static MADE: OnceLock<Vec<Arc<Dictionary>>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let transport = Dictionary::built_in(Version::Fixt11);
        let plain = |version| Arc::new(Dictionary::built_in(version));
        let over = |version| Arc::new(Dictionary::built_in(version).over(&transport));
        vec![
            plain(Version::Fix40),
            plain(Version::Fix41),
            plain(Version::Fix42),
            plain(Version::Fix43),
            plain(Version::Fix44),
            over(Version::Fix50),
            over(Version::Fix50Sp1),
            over(Version::Fix50Sp2),
        ]
    });
    let at = super::VERSIONS.iter().position(|known| *known == version);
    made[at.unwrap_or(4)].clone()
}

fn appl_ver_id(version: &str) -> Option<ApplVerId> {
    let at = super::VERSIONS.iter().position(|known| *known == version)?;
    ApplVerId::parse((at + 2).to_string().as_bytes())
}

/// A version's application messages under FIXT.
fn over_transport(version: &str) -> Option<Arc<Dictionary>> {
    let name = match version {
        "4.4" => Version::Fix44,
        "5.0SP1" => Version::Fix50Sp1,
        _ => return None,
    };
    let transport = Dictionary::built_in(Version::Fixt11);
    Some(Arc::new(Dictionary::built_in(name).over(&transport)))
}
