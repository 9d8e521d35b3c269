//! Lines that speak TMP, the order protocol of TAIFEX, instead of FIX.
//!
//! ```text
//!   Sent, Asked > orders: R01, R31 > queue > LinkClient > frame
//!   frame > LinkClient > reports: R02, R32, R22, R03 > VenueReport, VenueReject
//! ```

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::SessionId;
use fixwire_tmp::{
    ApCode, ClientLinkSettings, LinkActions, LinkClient, LinkNumbers, SystemType, TmpStatus,
};

use crate::state::OmsState;
use crate::state::event::Outgoing;
use crate::values::ids::{InstrumentNo, SessionNo, Table};
use crate::values::rules::{LineGroup, RiskRules};
use crate::values::value::Number;

mod checks;
mod copies;
mod ids;
mod inquiries;
mod markets;
mod orders;
mod reports;

pub(crate) use copies::CopyLink;
use copies::gets_copies;
pub use ids::tmp_order_number;
pub(crate) use markets::question;
use orders::LineMarks;
pub(crate) use orders::RequestFrame;
pub(crate) use reports::TmpOutcome;

/// Maximum number of requests of a line that wait for its flow limit.
const QUEUE_MOST: usize = 65_536;

/// A line that speaks TMP. Lines have the same indexes as the links of the engine.
#[derive(Clone, Debug)]
pub struct OmsTmpLine {
    /// Name of the line in the settings. A line group names a TMP line in the same way as a FIX session.
    pub name: String,
    /// The broker's end of the link.
    pub settings: ClientLinkSettings,
}

/// A TMP line while the OMS runs.
#[derive(Debug)]
pub(crate) struct TmpLine {
    pub name: String,
    /// The number of the broker (fcm_id), and the number of the link.
    pub fcm_id: u16,
    pub session_id: u16,
    /// Values of the line's requests that do not come from their orders.
    pub marks: LineMarks,
    /// Whether the exchange sends the line short reports, R22.
    pub is_short: bool,
    /// Number of the line in the state; `None` before the state has it.
    pub index: Option<SessionNo>,
    pub client: LinkClient,
    /// Actions that the link has requested, and how many of them are done.
    pub actions: LinkActions,
    pub done: usize,
    /// Bytes of the frames that have arrived since all actions were last done.
    pub behind: usize,
    /// Requests that the link has not sent yet.
    pub queue: VecDeque<RequestFrame>,
    /// Whether more requests came than the queue may hold.
    pub is_overfull: bool,
    /// Time at which the flow limit allows the next message, in nanoseconds; `None` if no request waits for the flow
    /// limit.
    pub due: Option<u64>,
    /// Whether the connection is up, and the OMS has not closed it.
    pub is_up: bool,
    /// Whether the connection is established and the link has not been informed of that yet.
    pub greets: bool,
    /// The trading day to which the line's sequence numbers belong.
    pub day: u32,
    /// The highest flow warning of the exchange that was raised as an event.
    pub warned: TmpStatus,
    /// Whether the exchange has lowered the inbound sequence number.
    ///
    /// The state keeps the old number until the status of all orders is requested. If the process is killed before
    /// that, it requests the status again after its next start.
    pub is_lowered: bool,
    /// Number of consecutive logins that the exchange has refused.
    pub refused: u8,
    /// When R13 was last sent, how many R13s were sent, and the market and session of the link.
    pub bulletins: Option<u64>,
    pub bulletin_requests: u32,
    pub system_type: SystemType,
    /// The subscription of a link that gets copies of reports and does not send orders; `None` for other links.
    pub copies: Option<CopyLink>,
}

impl TmpLine {
    fn new(line: OmsTmpLine) -> Self {
        let OmsTmpLine { name, settings } = line;
        let copies = gets_copies(&settings).then(|| CopyLink::new(settings.ap_code));
        Self {
            name,
            session_id: settings.session_id,
            is_short: settings.ap_code == ApCode::TRADING_SHORT,
            copies,
            bulletins: None,
            bulletin_requests: 0,
            system_type: settings.system_type,
            fcm_id: settings.fcm_id,
            marks: LineMarks::of(&settings),
            client: LinkClient::new(settings, LinkNumbers::default()),
            index: None,
            actions: LinkActions::new(),
            done: 0,
            behind: 0,
            queue: VecDeque::new(),
            is_overfull: false,
            due: None,
            is_up: false,
            greets: false,
            day: 0,
            warned: TmpStatus::OK,
            is_lowered: false,
            refused: 0,
        }
    }

    /// Discards pending actions and unsent requests, and continues from these sequence numbers. A link that gets copies
    /// has no such numbers; the state keeps its last rpt_seq.
    pub(crate) fn restart(&mut self, numbers: LinkNumbers) {
        let numbers = match self.copies {
            Some(_) => LinkNumbers::default(),
            None => numbers,
        };
        self.client.set_numbers(numbers);
        self.forget();
    }

    /// Time of the line's next task; `None` if the line only waits for frames.
    fn next_due(&self, now_ns: u64, greets_at: u64) -> Option<u64> {
        if !self.actions.is_empty() {
            return Some(now_ns);
        }
        if self.greets {
            return Some(greets_at.max(now_ns));
        }
        let queued = (!self.queue.is_empty()).then(|| self.due.unwrap_or(now_ns));
        queued.into_iter().chain(self.client.next_due()).min()
    }

    /// Discards actions that were not done and requests that were not sent.
    pub(crate) fn forget(&mut self) {
        self.actions.clear();
        (self.done, self.behind) = (0, 0);
        self.queue.clear();
        (self.is_overfull, self.due) = (false, None);
    }
}

/// All lines that speak TMP.
#[derive(Debug, Default)]
pub(crate) struct TmpLines {
    pub lines: Vec<TmpLine>,
    /// Number of decimals of prices in TMP messages, by instrument.
    pub scales: Table<InstrumentNo, u8>,
    /// Orders and requests that could not be written as TMP and still have to be rejected.
    pub unsent: VecDeque<Number>,
    /// Earliest time of the first login, in nanoseconds. After it, the flow limits no longer count messages of an
    /// earlier process.
    pub greets_at: u64,
}

impl TmpLines {
    pub(crate) fn new(lines: Vec<OmsTmpLine>) -> Self {
        Self {
            lines: lines.into_iter().map(TmpLine::new).collect(),
            ..Self::default()
        }
    }

    /// Adds properties of the TMP lines to the settings.
    pub(crate) fn complete(&self, rules: &mut RiskRules) {
        for group in &mut rules.groups {
            for line in &self.lines {
                if group.lines.contains(&line.name) {
                    (group.over_tmp, group.cannot_stop) = (true, true);
                    group.needs_effect |= line.marks.of_requests.effect == 0;
                    group.has_futures |= !line.system_type.is_options();
                }
            }
        }
        let lines = self.lines.iter().filter(|line| line.copies.is_none());
        let marks = lines.map(|line| {
            let group = rules.groups.iter().find(|it| it.lines.contains(&line.name));
            let constants = group.map(|group| group.tmp_fields.constants);
            let own = line.marks.of_requests;
            (line.name.clone(), constants.unwrap_or_default().or(own))
        });
        rules.line_marks = marks.collect();
    }

    /// The number in the state of the line that a link belongs to.
    pub(crate) fn index(&self, session: SessionId) -> Option<SessionNo> {
        self.lines.get(session.link()?)?.index
    }

    /// Time of the next task of any line, on the monotonic clock, in nanoseconds.
    pub(crate) fn next_due(&self, now_ns: u64, day: u32) -> Option<u64> {
        if !self.unsent.is_empty() || self.lines.iter().any(|line| line.day != day) {
            return Some(now_ns);
        }
        let lines = self.lines.iter();
        lines
            .filter_map(|it| it.next_due(now_ns, self.greets_at))
            .min()
    }

    /// Queues the request that an event sends; returns false when it cannot be written as TMP.
    #[inline(never)]
    pub(crate) fn send(&mut self, state: &OmsState, sent: &Outgoing<'_>, index: SessionNo) -> bool {
        let mut lines = self.lines.iter_mut();
        let Some(line) = lines.find(|line| line.index == Some(index)) else {
            return true;
        };
        let of_line = state.sessions.get(index).map(|it| it.marks);
        let marks = line.marks.with(of_line.unwrap_or_default());
        let frame = orders::request(state, sent, &marks, &self.scales);
        let is_written = frame.is_some();
        if !is_written {
            match *sent {
                Outgoing::Request(number) => self.unsent.push_back(number),
                Outgoing::Quote(bid) => self.unsent.extend([bid, bid + 1]),
                Outgoing::Inquiry(_)
                | Outgoing::Status(_)
                | Outgoing::MassStatus { .. }
                | Outgoing::StrayCancel { .. } => {}
            }
        }
        if line.queue.len() < QUEUE_MOST {
            line.queue.extend(frame);
        } else {
            line.is_overfull = true;
        }
        is_written
    }
}

/// One sentence for each mistake in lines that speak TMP, or in settings that name such lines.
pub(crate) fn problems(rules: &RiskRules, lines: &[OmsTmpLine]) -> Vec<String> {
    let mut found = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let name = &line.name;
        if lines[..place].iter().any(|other| other.name == *name) {
            found.push(format!(
                "two links have the name {name}: rename one of them"
            ));
        }
        let source = rules.copy_sources.iter().find(|it| it.session == *name);
        if let Some(source) = source {
            copies::problems(rules, line, source, &mut found);
            continue;
        }
        if gets_copies(&line.settings) {
            found.push(format!(
                "link {name} has ap_code {}, which is not for orders: write trading, or name the link in a drop_copy_in",
                line.settings.ap_code.0
            ));
        }
        marks_problems(line, &mut found);
        if !rules.groups.iter().any(|group| group.lines.contains(name)) {
            found.push(format!(
                "link {name} is in no line_group: add the link to the lines of a line_group"
            ));
        }
        if other_role(rules, name) {
            found.push(format!(
                "{name} speaks TMP and cannot be the session of a user, a drop copy or market data"
            ));
        }
    }
    let speaks = |name: &String| lines.iter().any(|line| line.name == *name);
    for (group, rule) in rules.groups.iter().enumerate() {
        let helpers = rules
            .groups
            .iter()
            .filter(|it| rule.helpers.contains(&it.name));
        for helper in helpers {
            if helper.lines.iter().any(speaks) != rule.lines.iter().any(speaks) {
                found.push(format!(
                    "line_group {} and its helper {} have different protocols, FIX and TMP: a helper must have the same protocol",
                    rule.name, helper.name
                ));
            }
        }
        if !rule.lines.iter().any(speaks) {
            continue;
        }
        if !rule.lines.iter().all(speaks) {
            found.push(format!(
                "line_group {} has lines of FIX and of TMP: make two line groups",
                rule.name
            ));
        }
        group_problems(rules, group, rule, &mut found);
    }
    if lines.is_empty() {
        user_problems(rules, &mut found);
    } else {
        account_problems(rules, &mut found);
    }
    found
}

/// Finds missing values of a line. The exchange refuses orders that do not have their source and the kind of their
/// investor.
fn marks_problems(line: &OmsTmpLine, found: &mut Vec<String>) {
    let (name, marks) = (&line.name, &line.settings.marks);
    let blank = [
        (
            marks.order_source == b' ',
            "order_source",
            "D, A, M, W, P, V or G",
        ),
        (
            marks.info_source == *b"   ",
            "info_source",
            "the vendor's number, or 999",
        ),
        (
            marks.investor_flag == b' ',
            "investor_flag",
            "the kind of investor",
        ),
    ];
    let missing = blank.into_iter().filter(|(is_blank, ..)| *is_blank);
    found.extend(missing.map(|(_, key, value)| {
        format!(
            "link {name} has no {key}, without which the exchange refuses orders: write {value}"
        )
    }));
}

/// Finds users with values that only orders over TMP can have, for settings without a TMP line.
fn user_problems(rules: &RiskRules, found: &mut Vec<String>) {
    for user in &rules.users {
        let marks = &user.marks;
        let set = [
            ("cm_id", marks.cm_id.is_some()),
            ("order_source", marks.order_source.is_some()),
            ("info_source", marks.info_source.is_some()),
            ("investor_flag", marks.investor_flag.is_some()),
            ("position_effect", marks.position_effect.is_some()),
        ];
        let set = set.into_iter().filter(|(_, is_set)| *is_set);
        found.extend(set.map(|(key, _)| {
            format!(
                "user {} has {key}, which is only for orders over TMP, but the file has no TMP link: remove the key",
                user.session
            )
        }));
    }
}

/// Finds accounts that are equal over TMP. A TMP message has the account as a number, without leading zeros.
fn account_problems(rules: &RiskRules, found: &mut Vec<String>) {
    let mut names: BTreeMap<u32, &String> = BTreeMap::new();
    for account in &rules.accounts {
        let name = &account.name;
        let Some(number) = orders::account_number(name.as_bytes()) else {
            continue;
        };
        if let Some(other) = names.insert(number, name) {
            found.push(format!(
                "accounts {other} and {name} are the same number over TMP: rename one of them"
            ));
        }
    }
}

fn other_role(rules: &RiskRules, name: &String) -> bool {
    rules.users.iter().any(|user| user.session == *name)
        || rules.drop_copies.iter().any(|copy| copy.session == *name)
        || rules.market_data.contains(name)
}

fn group_problems(rules: &RiskRules, group: usize, rule: &LineGroup, found: &mut Vec<String>) {
    let name = &rule.name;
    let fits = |pool: &String| {
        let known = rules.pools.iter().find(|known| known.name == *pool);
        known.is_some_and(|known| known.form.bytes() == 5)
    };
    match &rule.number_pool {
        None => found.push(format!(
            "line_group {name} speaks TMP and has no number_pool: add one whose numbers have 5 characters"
        )),
        Some(pool) if !fits(pool) => found.push(format!(
            "number_pool {pool} of line_group {name}: numbers of TMP have 5 characters, with the prefix"
        )),
        Some(_) => {}
    }
    if rule.mass_status {
        found.push(format!(
            "line_group {name} speaks TMP, which has no status request for all orders: remove mass_status"
        ));
    }
    let own = rules.users.iter();
    let own = own.filter_map(|user| Some((&user.session, user.number_pool.as_ref()?)));
    for (user, pool) in own.filter(|(_, pool)| !fits(pool)) {
        found.push(format!(
            "number_pool {pool} of user {user}: its orders may go to line_group {name}, whose numbers have 5 characters"
        ));
    }
    let symbols = rules.instruments.iter();
    let long = symbols.filter(|it| it.symbol.len() > orders::LONG_SYMBOL);
    for rule in long.filter(|it| rules.may_reach(group, it.symbol.as_bytes())) {
        found.push(format!(
            "symbol {} has more than 40 bytes, the maximum of TMP: route it to another line_group",
            rule.symbol
        ));
    }
}
