//! `[oms.own_tags]`: tags of user-defined fields of this OMS.

use alloc::format;

use fixwire_protocol::Tag;
use fixwire_text::ReloadEffect::Restart;
use fixwire_text::{Diagnostic, SettingKey, TomlValue, keys};

use super::Reader;
use super::registry::{Read, TableRule};
use crate::values::fields::field_table::REQUEST_FIELDS;
use crate::values::own_tags::OwnTags;

impl TableRule for OwnTags {
    const TABLE: &'static str = "oms.own_tags";
    const NAME: &'static str = "";
    const KEYS: &'static [SettingKey<Self, Read<Self>>] = keys! {
        /// the condition of an order: `last>=101.5`
        condition: With("tag", condition, |_, own, value| own_tag(own, value)), "", Restart;
        /// OrderID(37) of the parent of a child order
        parent: With("tag", parent, |_, own, value| own_tag(own, value)), "", Restart;
        /// the quantity that a replace takes away, instead of a new OrderQty(38)
        reduce_by: With("tag", reduce_by, |_, own, value| own_tag(own, value)), "", Restart;
        /// which reports are [requested again](#report-recovery)
        report_filter: With("tag", report_filter, |_, own, value| own_tag(own, value)), "", Restart;
        /// when the client sent a request, for the [stamps](#stamps)
        send_time: With("tag", send_time, |_, own, value| own_tag(own, value)), "", Restart;
        /// milliseconds after the receipt of an order until which it may be [sent](#validity)
        validity: With("tag", validity, |_, own, value| own_tag(own, value)), "", Restart;
    };
}

/// Reads the tag of the field that a key stands for.
fn own_tag(own: &mut OwnTags, value: TomlValue<'_>) -> Result<(), Diagnostic> {
    let name = value.key;
    let tag = value.whole().and_then(|tag| Tag::try_from(tag).ok());
    let tag = tag
        .filter(|tag| (5000..=39_999).contains(tag))
        .ok_or_else(|| {
            let what = format!("{name} must be a tag from 5000 to 39999");
            value.wrong(what, "FIX leaves these tags to users")
        })?;
    let mut known = *own;
    let mut names = OwnTags::NAMES.iter();
    let is_known = names.any(|name| known.named(name).is_some_and(|known| *known == tag));
    if is_known || REQUEST_FIELDS.iter().any(|row| row.tags.contains(&tag)) {
        let what = format!("tag {tag} of {name} has another use");
        return Err(value.wrong(what, "each of the own tags needs a tag of its own"));
    }
    if let Some(own) = own.named(name) {
        *own = tag;
    }
    Ok(())
}

impl Reader<'_> {
    /// Checks, after pools and contracts are read, that none of them has one of the own tags.
    pub(super) fn check_own_tags(&mut self) {
        let mut own = self.rules.own_tags;
        for name in OwnTags::NAMES {
            let tag = own.named(name).map_or(0, |tag| *tag);
            let is_of_pool = self.rules.pools.iter().any(|pool| pool.tag == tag);
            let users = self.rules.users.iter().map(|user| &user.contract);
            let groups = self.rules.groups.iter().map(|group| &group.contract);
            let is_named = users.chain(groups).any(|it| it.of(tag).is_some());
            let mut groups = self.rules.groups.iter();
            let fills_tmp = groups.any(|group| group.tmp_fields.of(tag).is_some());
            if tag > 0 && (is_of_pool || is_named || fills_tmp) {
                let what = format!("tag {tag} of own_tags {name} has another use");
                let hint = "a number_pool has it as its tag, or carry, set, map, drop, refuse or tmp_fields names it";
                self.wrong(0, what, hint);
            }
        }
    }
}
