//! Names of time zones: names of the time-zone database, offsets, and names that other systems use.

use jiff::tz::{Offset, TimeZone};

/// The time zone with this name: `UTC`, an offset such as `+08:00`, or a name of the built-in time-zone database in
/// any case.
#[must_use]
pub fn find(name: &str) -> Option<TimeZone> {
    if let Some(seconds) = offset(name.as_bytes()) {
        return Offset::from_seconds(seconds).ok().map(TimeZone::fixed);
    }
    TimeZone::get(name).ok()
}

/// The number of seconds in `Z`, `+08`, `+0800` or `+08:00`.
#[must_use]
pub fn offset(text: &[u8]) -> Option<i32> {
    let (sign, rest) = match text.split_first()? {
        (b'Z', []) => return Some(0),
        (b'+', rest) => (1, rest),
        (b'-', rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match rest.len() {
        2 => (rest, &b"00"[..]),
        4 => rest.split_at(2),
        5 if rest[2] == b':' => (&rest[..2], &rest[3..]),
        _ => return None,
    };
    let number = |digits: &[u8]| -> Option<i32> {
        let is_number = digits.iter().all(u8::is_ascii_digit);
        str::from_utf8(digits)
            .ok()
            .filter(|_| is_number)?
            .parse()
            .ok()
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// The database's name for a Windows time zone such as `Eastern Standard Time`, in any case.
#[must_use]
pub fn of_windows(name: &str) -> Option<&'static str> {
    let mut known = WINDOWS.iter();
    let found = known.find(|(windows, _)| windows.eq_ignore_ascii_case(name));
    found.map(|(_, iana)| *iana)
}

/// Says, as a sentence, which name to write instead of the name of another system.
#[must_use]
pub fn advice(name: &str) -> Option<String> {
    if let Some(iana) = of_windows(name) {
        return Some(format!("Windows' name of `{iana}`: write that"));
    }
    if let Some(text) = of_offset(name) {
        return Some(text);
    }
    let mut known = ABBREVIATIONS.iter();
    let (_, zones) = known.find(|(short, _)| short.eq_ignore_ascii_case(name))?;
    Some(match zones {
        [one] => format!("an abbreviation; did you mean `{one}`?"),
        several => {
            let several: Vec<String> = several.iter().map(|zone| format!("`{zone}`")).collect();
            format!(
                "several zones have this abbreviation; write {}",
                several.join(" or ")
            )
        }
    })
}

/// Advice for `GMT+8`, `UTC-05:30` and similar names. In Java their sign is positive to the east of Greenwich; in the
/// database's `Etc/GMT+8` it is positive to the west.
fn of_offset(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let mut starts = ["ETC/GMT", "ETC/UTC", "GMT", "UTC", "UT"].into_iter();
    let rest = starts.find_map(|start| upper.strip_prefix(start))?.trim();
    let (sign, digits) = match rest.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if digits.len() == 4 => digits.split_at(2),
        None => (digits, "0"),
    };
    let is_number =
        |text: &str| matches!(text.len(), 1 | 2) && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(hours) || !is_number(minutes) {
        return None;
    }
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    if hours > 14 || minutes > 59 {
        return None;
    }
    let (mark, side, opposite) = match sign {
        1 => ('+', "ahead of", '-'),
        _ => ('-', "behind", '+'),
    };
    let time = match minutes {
        0 => format!("{hours} hours"),
        _ => format!("{hours} hours {minutes} minutes"),
    };
    let same = match minutes {
        0 => format!(", or `Etc/GMT{opposite}{hours}`, whose sign is the other way round"),
        _ => String::new(),
    };
    Some(format!(
        "for {time} {side} UTC write `{mark}{hours:02}:{minutes:02}`{same}"
    ))
}

/// Abbreviations that are no names of the database, or that the database has for only one of several time zones.
const ABBREVIATIONS: &[(&str, &[&str])] = &[
    ("ACDT", &["Australia/Adelaide"]),
    ("ACST", &["Australia/Darwin", "Australia/Adelaide"]),
    ("ADT", &["America/Halifax"]),
    ("AEDT", &["Australia/Sydney"]),
    ("AEST", &["Australia/Brisbane", "Australia/Sydney"]),
    ("AKDT", &["America/Anchorage"]),
    ("AKST", &["America/Anchorage"]),
    ("ART", &["America/Argentina/Buenos_Aires"]),
    ("AST", &["America/Halifax", "Asia/Riyadh"]),
    ("AWST", &["Australia/Perth"]),
    ("BRT", &["America/Sao_Paulo"]),
    ("BST", &["Europe/London", "Asia/Dhaka"]),
    ("CAT", &["Africa/Maputo"]),
    ("CDT", &["America/Chicago", "America/Havana"]),
    ("CEST", &["Europe/Paris"]),
    ("CLT", &["America/Santiago"]),
    ("COT", &["America/Bogota"]),
    ("CST", &["America/Chicago", "Asia/Shanghai", "Asia/Taipei"]),
    ("EAT", &["Africa/Nairobi"]),
    ("EDT", &["America/New_York"]),
    ("EEST", &["Europe/Athens"]),
    ("GST", &["Asia/Dubai"]),
    ("HKT", &["Asia/Hong_Kong"]),
    ("ICT", &["Asia/Bangkok"]),
    ("IDT", &["Asia/Jerusalem"]),
    ("IST", &["Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"]),
    ("JST", &["Asia/Tokyo"]),
    ("KST", &["Asia/Seoul"]),
    ("MDT", &["America/Denver"]),
    ("MSK", &["Europe/Moscow"]),
    ("MYT", &["Asia/Kuala_Lumpur"]),
    ("NST", &["America/St_Johns"]),
    ("NZDT", &["Pacific/Auckland"]),
    ("NZST", &["Pacific/Auckland"]),
    ("PDT", &["America/Los_Angeles"]),
    ("PET", &["America/Lima"]),
    ("PHT", &["Asia/Manila"]),
    ("PKT", &["Asia/Karachi"]),
    ("PST", &["America/Los_Angeles", "Asia/Manila"]),
    ("SAST", &["Africa/Johannesburg"]),
    ("SGT", &["Asia/Singapore"]),
    ("TRT", &["Europe/Istanbul"]),
    ("WAT", &["Africa/Lagos"]),
    ("WEST", &["Europe/Lisbon"]),
    ("WIB", &["Asia/Jakarta"]),
];

/// The time zones of Windows, each with the database's time zone for the whole world.
///
/// # Source
///
/// Unicode CLDR, windowsZones, territory 001.
const WINDOWS: &[(&str, &str)] = &[
    ("Dateline Standard Time", "Etc/GMT+12"),
    ("UTC-11", "Etc/GMT+11"),
    ("Aleutian Standard Time", "America/Adak"),
    ("Hawaiian Standard Time", "Pacific/Honolulu"),
    ("Marquesas Standard Time", "Pacific/Marquesas"),
    ("Alaskan Standard Time", "America/Anchorage"),
    ("UTC-09", "Etc/GMT+9"),
    ("Pacific Standard Time (Mexico)", "America/Tijuana"),
    ("UTC-08", "Etc/GMT+8"),
    ("Pacific Standard Time", "America/Los_Angeles"),
    ("US Mountain Standard Time", "America/Phoenix"),
    ("Mountain Standard Time (Mexico)", "America/Mazatlan"),
    ("Mountain Standard Time", "America/Denver"),
    ("Yukon Standard Time", "America/Whitehorse"),
    ("Central America Standard Time", "America/Guatemala"),
    ("Central Standard Time", "America/Chicago"),
    ("Easter Island Standard Time", "Pacific/Easter"),
    ("Central Standard Time (Mexico)", "America/Mexico_City"),
    ("Canada Central Standard Time", "America/Regina"),
    ("SA Pacific Standard Time", "America/Bogota"),
    ("Eastern Standard Time (Mexico)", "America/Cancun"),
    ("Eastern Standard Time", "America/New_York"),
    ("Haiti Standard Time", "America/Port-au-Prince"),
    ("Cuba Standard Time", "America/Havana"),
    ("US Eastern Standard Time", "America/Indianapolis"),
    ("Turks And Caicos Standard Time", "America/Grand_Turk"),
    ("Paraguay Standard Time", "America/Asuncion"),
    ("Atlantic Standard Time", "America/Halifax"),
    ("Venezuela Standard Time", "America/Caracas"),
    ("Central Brazilian Standard Time", "America/Cuiaba"),
    ("SA Western Standard Time", "America/La_Paz"),
    ("Pacific SA Standard Time", "America/Santiago"),
    ("Newfoundland Standard Time", "America/St_Johns"),
    ("Tocantins Standard Time", "America/Araguaina"),
    ("E. South America Standard Time", "America/Sao_Paulo"),
    ("SA Eastern Standard Time", "America/Cayenne"),
    ("Argentina Standard Time", "America/Buenos_Aires"),
    ("Greenland Standard Time", "America/Godthab"),
    ("Montevideo Standard Time", "America/Montevideo"),
    ("Magallanes Standard Time", "America/Punta_Arenas"),
    ("Saint Pierre Standard Time", "America/Miquelon"),
    ("Bahia Standard Time", "America/Bahia"),
    ("UTC-02", "Etc/GMT+2"),
    ("Azores Standard Time", "Atlantic/Azores"),
    ("Cape Verde Standard Time", "Atlantic/Cape_Verde"),
    ("UTC", "Etc/UTC"),
    ("GMT Standard Time", "Europe/London"),
    ("Greenwich Standard Time", "Atlantic/Reykjavik"),
    ("Sao Tome Standard Time", "Africa/Sao_Tome"),
    ("Morocco Standard Time", "Africa/Casablanca"),
    ("W. Europe Standard Time", "Europe/Berlin"),
    ("Central Europe Standard Time", "Europe/Budapest"),
    ("Romance Standard Time", "Europe/Paris"),
    ("Central European Standard Time", "Europe/Warsaw"),
    ("W. Central Africa Standard Time", "Africa/Lagos"),
    ("Jordan Standard Time", "Asia/Amman"),
    ("GTB Standard Time", "Europe/Bucharest"),
    ("Middle East Standard Time", "Asia/Beirut"),
    ("Egypt Standard Time", "Africa/Cairo"),
    ("E. Europe Standard Time", "Europe/Chisinau"),
    ("Syria Standard Time", "Asia/Damascus"),
    ("West Bank Standard Time", "Asia/Hebron"),
    ("South Africa Standard Time", "Africa/Johannesburg"),
    ("FLE Standard Time", "Europe/Kiev"),
    ("Israel Standard Time", "Asia/Jerusalem"),
    ("South Sudan Standard Time", "Africa/Juba"),
    ("Kaliningrad Standard Time", "Europe/Kaliningrad"),
    ("Sudan Standard Time", "Africa/Khartoum"),
    ("Libya Standard Time", "Africa/Tripoli"),
    ("Namibia Standard Time", "Africa/Windhoek"),
    ("Arabic Standard Time", "Asia/Baghdad"),
    ("Turkey Standard Time", "Europe/Istanbul"),
    ("Arab Standard Time", "Asia/Riyadh"),
    ("Belarus Standard Time", "Europe/Minsk"),
    ("Russian Standard Time", "Europe/Moscow"),
    ("E. Africa Standard Time", "Africa/Nairobi"),
    ("Volgograd Standard Time", "Europe/Volgograd"),
    ("Iran Standard Time", "Asia/Tehran"),
    ("Arabian Standard Time", "Asia/Dubai"),
    ("Astrakhan Standard Time", "Europe/Astrakhan"),
    ("Azerbaijan Standard Time", "Asia/Baku"),
    ("Russia Time Zone 3", "Europe/Samara"),
    ("Mauritius Standard Time", "Indian/Mauritius"),
    ("Saratov Standard Time", "Europe/Saratov"),
    ("Georgian Standard Time", "Asia/Tbilisi"),
    ("Caucasus Standard Time", "Asia/Yerevan"),
    ("Afghanistan Standard Time", "Asia/Kabul"),
    ("West Asia Standard Time", "Asia/Tashkent"),
    ("Ekaterinburg Standard Time", "Asia/Yekaterinburg"),
    ("Pakistan Standard Time", "Asia/Karachi"),
    ("Qyzylorda Standard Time", "Asia/Qyzylorda"),
    ("India Standard Time", "Asia/Kolkata"),
    ("Sri Lanka Standard Time", "Asia/Colombo"),
    ("Nepal Standard Time", "Asia/Kathmandu"),
    ("Central Asia Standard Time", "Asia/Bishkek"),
    ("Bangladesh Standard Time", "Asia/Dhaka"),
    ("Omsk Standard Time", "Asia/Omsk"),
    ("Myanmar Standard Time", "Asia/Yangon"),
    ("SE Asia Standard Time", "Asia/Bangkok"),
    ("Altai Standard Time", "Asia/Barnaul"),
    ("W. Mongolia Standard Time", "Asia/Hovd"),
    ("North Asia Standard Time", "Asia/Krasnoyarsk"),
    ("N. Central Asia Standard Time", "Asia/Novosibirsk"),
    ("Tomsk Standard Time", "Asia/Tomsk"),
    ("China Standard Time", "Asia/Shanghai"),
    ("North Asia East Standard Time", "Asia/Irkutsk"),
    ("Singapore Standard Time", "Asia/Singapore"),
    ("W. Australia Standard Time", "Australia/Perth"),
    ("Taipei Standard Time", "Asia/Taipei"),
    ("Ulaanbaatar Standard Time", "Asia/Ulaanbaatar"),
    ("Aus Central W. Standard Time", "Australia/Eucla"),
    ("Transbaikal Standard Time", "Asia/Chita"),
    ("Tokyo Standard Time", "Asia/Tokyo"),
    ("North Korea Standard Time", "Asia/Pyongyang"),
    ("Korea Standard Time", "Asia/Seoul"),
    ("Yakutsk Standard Time", "Asia/Yakutsk"),
    ("Cen. Australia Standard Time", "Australia/Adelaide"),
    ("AUS Central Standard Time", "Australia/Darwin"),
    ("E. Australia Standard Time", "Australia/Brisbane"),
    ("AUS Eastern Standard Time", "Australia/Sydney"),
    ("West Pacific Standard Time", "Pacific/Port_Moresby"),
    ("Tasmania Standard Time", "Australia/Hobart"),
    ("Vladivostok Standard Time", "Asia/Vladivostok"),
    ("Lord Howe Standard Time", "Australia/Lord_Howe"),
    ("Bougainville Standard Time", "Pacific/Bougainville"),
    ("Russia Time Zone 10", "Asia/Srednekolymsk"),
    ("Magadan Standard Time", "Asia/Magadan"),
    ("Norfolk Standard Time", "Pacific/Norfolk"),
    ("Sakhalin Standard Time", "Asia/Sakhalin"),
    ("Central Pacific Standard Time", "Pacific/Guadalcanal"),
    ("Russia Time Zone 11", "Asia/Kamchatka"),
    ("New Zealand Standard Time", "Pacific/Auckland"),
    ("UTC+12", "Etc/GMT-12"),
    ("Fiji Standard Time", "Pacific/Fiji"),
    ("Chatham Islands Standard Time", "Pacific/Chatham"),
    ("UTC+13", "Etc/GMT-13"),
    ("Tonga Standard Time", "Pacific/Tongatapu"),
    ("Samoa Standard Time", "Pacific/Apia"),
    ("Line Islands Standard Time", "Pacific/Kiritimati"),
];

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn an_offset_is_a_zone_in_each_of_its_forms() {
        let seconds =
            |name: &str| find(name).map(|zone| zone.to_offset(Timestamp::UNIX_EPOCH).seconds());
        for (name, hours) in [
            ("+08:00", 8),
            ("+0800", 8),
            ("+08", 8),
            ("-05", -5),
            ("Z", 0),
            ("UTC", 0),
        ] {
            assert_eq!(seconds(name), Some(hours * 3600), "{name}");
        }
        assert_eq!(seconds("-03:30"), Some(-12_600));
        assert!(find("europe/london").is_some() && find("US/Eastern").is_some());
        for wrong in [
            "",
            "+8",
            "+08:0",
            "+24:00",
            "+08:60",
            "GMT+8",
            "+é",
            "Eastern Standard Time",
        ] {
            assert!(find(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn every_zone_that_is_recommended_exists() {
        let short = ABBREVIATIONS.iter().flat_map(|(_, zones)| zones.iter());
        let windows = WINDOWS.iter().map(|(_, zone)| zone);
        for zone in short.chain(windows) {
            assert!(TimeZone::get(zone).is_ok(), "{zone}");
        }
    }

    #[test]
    fn an_offset_from_greenwich_is_never_turned_round() {
        for (name, parts) in [
            (
                "GMT+8",
                &["8 hours ahead of UTC", "`+08:00`", "`Etc/GMT-8`"][..],
            ),
            ("UTC-5", &["5 hours behind UTC", "`-05:00`", "`Etc/GMT+5`"]),
            ("gmt+08:00", &["ahead of", "`+08:00`", "`Etc/GMT-8`"]),
            ("GMT+0530", &["5 hours 30 minutes ahead", "`+05:30`"]),
            ("UTC+9:30", &["`+09:30`"]),
        ] {
            let text = advice(name).unwrap();
            for part in parts {
                assert!(text.contains(part), "{name}: {text}");
            }
        }
        for name in ["GMT+99", "GMT+", "GMT+x", "GMTé", "UT"] {
            assert_eq!(advice(name), None, "{name}");
        }
    }

    #[test]
    fn abbreviations_and_names_of_windows_lead_to_zones() {
        for (name, zones) in [
            ("JST", &["Asia/Tokyo"][..]),
            ("CST", &["America/Chicago", "Asia/Shanghai"]),
            ("BST", &["Europe/London"]),
            ("ist", &["Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"]),
            ("EDT", &["America/New_York"]),
            ("Eastern Standard Time", &["America/New_York"]),
            ("tokyo standard time", &["Asia/Tokyo"]),
        ] {
            let text = advice(name).unwrap();
            for zone in zones {
                assert!(text.contains(&format!("`{zone}`")), "{name}: {text}");
            }
        }
        assert_eq!(of_windows("W. Europe Standard Time"), Some("Europe/Berlin"));
    }
}
