//! [`Anonymiser`]: messages without names, ids, accounts, texts and secrets.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use fixwire_protocol::decode::DATA_PAIRS;
use fixwire_protocol::frame::{self, Frame};
use fixwire_protocol::readable::is_secret;
use fixwire_protocol::{Decoder, Dictionary, Tag};

use crate::covered::sum_up;
use crate::entry::LogEntry;
use crate::same_shape::SameShape;

/// CompIDs and related fields.
const ENDS: [Tag; 16] = [
    49, 50, 56, 57, 115, 116, 128, 129, 142, 143, 144, 145, 283, 628, 930, 931,
];
/// Ids of orders, executions, quotes, allocations, trades, requests and so on.
const IDS: [Tag; 117] = [
    2, 3, 11, 17, 19, 23, 26, 37, 41, 66, 70, 72, 112, 117, 131, 162, 171, 196, 198, 214, 217, 262,
    278, 280, 299, 302, 320, 322, 324, 335, 376, 379, 390, 466, 476, 501, 526, 527, 535, 536, 548,
    551, 568, 571, 572, 583, 584, 644, 649, 654, 655, 659, 664, 693, 710, 713, 714, 721, 755, 772,
    777, 790, 791, 793, 795, 818, 820, 824, 831, 833, 859, 880, 881, 894, 902, 904, 907, 908, 909,
    914, 923, 932, 933, 934, 961, 977, 990, 1003, 1005, 1040, 1041, 1042, 1080, 1126, 1127, 1160,
    1161, 1163, 1166, 1346, 1353, 1356, 1363, 1366, 1369, 1371, 1372, 1393, 1394, 1427, 1433, 1472,
    1476, 1497, 1501, 1867, 2489,
];
/// Accounts, firms, persons and desks.
const PARTIES: [Tag; 53] = [
    1, 76, 79, 92, 109, 284, 337, 375, 391, 439, 440, 448, 467, 505, 508, 513, 523, 524, 545, 553,
    671, 672, 757, 760, 782, 785, 949, 953, 989, 1019, 1030, 1053, 1059, 1063, 1117, 1121, 1293,
    1297, 1412, 1415, 1462, 1505, 1510, 1517, 1520, 1523, 1527, 1563, 1567, 1570, 1573, 1576, 1580,
];
/// Free texts, names and addresses; data fields are texts too.
const TEXTS: [Tag; 33] = [
    58, 147, 148, 149, 161, 164, 170, 176, 178, 179, 180, 181, 182, 184, 185, 186, 187, 392, 400,
    444, 488, 489, 496, 498, 500, 502, 509, 511, 868, 927, 929, 1291, 1328,
];
/// First user-defined tag.
const USER_DEFINED: Tag = 5000;
/// Maximum number of pseudonyms kept.
const MOST_REMEMBERED: usize = 100_000;
/// Maximum number of fields of a message.
const FIELDS: usize = 4096;

/// Why a message cannot be anonymised and is skipped.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NotAnonymised {
    /// The frame of the message is wrong, so its fields are not known.
    Frame(String),
    /// A field is malformed.
    Field,
}

impl fmt::Display for NotAnonymised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frame(why) => f.write_str(why),
            Self::Field => f.write_str("a malformed field, whose value cannot be determined"),
        }
    }
}

/// Replaces identities and order ids by pseudonyms of the same form, and masks texts and secrets.
pub struct Anonymiser {
    ids: BTreeSet<Tag>,
    texts: BTreeSet<Tag>,
    kept: BTreeSet<Tag>,
    shapes: SameShape,
    decoder: Decoder,
    remembered: HashMap<Vec<u8>, Vec<u8>>,
}

impl Anonymiser {
    /// An anonymiser with this key. Whoever has the key can compute the pseudonym of a value.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        let ids = ENDS.iter().chain(&IDS).chain(&PARTIES).copied();
        let data = DATA_PAIRS.iter().map(|(_, data)| *data);
        Self {
            ids: ids.collect(),
            texts: TEXTS.into_iter().chain(data).collect(),
            kept: BTreeSet::new(),
            shapes: SameShape::new(key),
            decoder: Decoder::with_capacity(FIELDS),
            remembered: HashMap::new(),
        }
    }

    /// Adds the data fields of a dictionary. Data fields are masked like texts.
    pub fn learn(&mut self, dictionary: &Dictionary) {
        self.decoder.learn(dictionary);
        let fields = dictionary.fields().iter();
        let data = fields.filter(|field| field.kind.is_data());
        self.texts.extend(data.map(|field| field.tag));
    }

    /// Adds fields whose values also get pseudonyms.
    pub fn add_ids(&mut self, tags: &[Tag]) {
        self.ids.extend(tags);
        self.texts.retain(|tag| !tags.contains(tag));
    }

    /// Adds fields whose values are also masked.
    pub fn add_texts(&mut self, tags: &[Tag]) {
        self.texts.extend(tags);
    }

    /// Adds fields that stay unchanged. Secrets are masked in any case.
    pub fn keep(&mut self, tags: &[Tag]) {
        self.kept.extend(tags);
    }

    /// The message with pseudonyms instead of identities. The message has the length of the original, and a new
    /// CheckSum(10).
    ///
    /// # Errors
    ///
    /// [`NotAnonymised`] for a message whose fields cannot be separated.
    pub fn message(&mut self, entry: &LogEntry<'_>) -> Result<Vec<u8>, NotAnonymised> {
        if let Some(fault) = entry.fault {
            return Err(NotAnonymised::Frame(fault.to_string()));
        }
        let Self {
            ids,
            texts,
            kept,
            shapes,
            decoder,
            remembered,
        } = self;
        let message = decoder.decode_whole(entry.bytes);
        if message.fault().is_some() {
            return Err(NotAnonymised::Field);
        }
        let mut bytes = entry.bytes.to_vec();
        for field in message.fields() {
            let tag = field.tag;
            let place = field.start as usize..field.end as usize;
            let is_kept = kept.contains(&tag);
            let is_id = ids.contains(&tag) || tag >= USER_DEFINED;
            if is_secret(tag) {
                bytes[place].fill(b'*');
            } else if texts.contains(&tag) && !is_kept {
                bytes[place].fill(b'x');
            } else if is_id && !is_kept {
                let value = message.value(*field);
                if !remembered.contains_key(value) {
                    if remembered.len() >= MOST_REMEMBERED {
                        remembered.clear();
                    }
                    remembered.insert(value.to_vec(), shapes.replace(value));
                }
                bytes[place].copy_from_slice(&remembered[value]);
            }
        }
        sum_up(&message, &mut bytes);
        match frame::next(&bytes, bytes.len()) {
            Frame::Whole { skip: 0, len } if len == bytes.len() => Ok(bytes),
            _ => Err(NotAnonymised::Field),
        }
    }
}
