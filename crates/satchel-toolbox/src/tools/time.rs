//! Clocks and time zones, from the compiled-in IANA database.

use jiff::{
    Timestamp, Zoned,
    civil::{DateTime, Time},
    fmt::temporal::Pieces,
    tz::{AmbiguousOffset, Dst, TimeZone, TimeZoneDatabase},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Complaint, Tool, ToolAnswer, parse, schema};

pub(super) const CURRENT: Tool = Tool {
    name: "current_time",
    title: "Current time",
    description: "The current date and time in a time zone.",
    example: r#"{"time_zone": "Europe/Berlin"}"#,
    input_schema: current_input,
    output_schema: moment_schema,
    repeatable: false,
    slow: false,
    call: current,
};

pub(super) const CONVERT: Tool = Tool {
    name: "convert_time",
    title: "Convert time",
    description: "Converts a date and time from one time zone to another, daylight saving included.",
    example: r#"{"time": "2026-07-01 09:30", "from": "America/New_York", "to": "Asia/Tokyo"}"#,
    input_schema: convert_input,
    output_schema: convert_output,
    repeatable: false,
    slow: false,
    call: convert,
};

const FORMS: &str = "\"2026-07-01 09:30\", \"09:30\" (today), or \"2026-07-01T09:30:00+02:00\"";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Where {
    #[serde(default = "utc")]
    time_zone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Conversion {
    time: String,
    from: Option<String>,
    to: String,
}

fn utc() -> String {
    "UTC".into()
}

fn current_input() -> Value {
    schema(
        &[],
        json!({"time_zone": {
            "type": "string", "default": "UTC",
            "description": "IANA name, for example \"Europe/Berlin\".",
        }}),
    )
}

fn convert_input() -> Value {
    schema(
        &["time", "to"],
        json!({
            "time": {"type": "string", "description": format!("{FORMS}.")},
            "from": {
                "type": "string",
                "description": "IANA name of the zone \"time\" is in. Not needed when \"time\" has an offset.",
            },
            "to": {"type": "string", "description": "IANA name of the zone wanted."},
        }),
    )
}

fn moment_schema() -> Value {
    schema(
        &["time", "time_zone", "abbreviation", "weekday", "daylight_saving", "unix_seconds"],
        json!({
            "time": {"type": "string", "description": "RFC 3339."},
            "time_zone": {"type": "string"},
            "abbreviation": {"type": "string"},
            "weekday": {"type": "string"},
            "daylight_saving": {"type": "boolean"},
            "unix_seconds": {"type": "integer"},
        }),
    )
}

fn convert_output() -> Value {
    schema(
        &["from", "to"],
        json!({
            "from": moment_schema(),
            "to": moment_schema(),
            "note": {"type": "string", "description": "Where the local time does not exist or exists twice."},
        }),
    )
}

fn current(arguments: Value) -> Result<ToolAnswer, Complaint> {
    let Where { time_zone } = parse(arguments)?;
    let now = Timestamp::now().to_zoned(zone(&time_zone)?);
    Ok(ToolAnswer { text: sentence(&now), structured: moment(&now) })
}

fn convert(arguments: Value) -> Result<ToolAnswer, Complaint> {
    convert_at(arguments, Timestamp::now())
}

fn convert_at(arguments: Value, now: Timestamp) -> Result<ToolAnswer, Complaint> {
    let Conversion { time, from, to } = parse(arguments)?;
    let to = zone(&to)?;
    let from = from.as_deref().map(zone).transpose()?;
    let (start, note) = read(time.trim(), from, now)?;
    let end = start.with_time_zone(to);
    let mut text = format!("{} is {}", sentence(&start), sentence(&end));
    let mut structured = json!({"from": moment(&start), "to": moment(&end)});
    if let Some(note) = note {
        text = format!("{text}. {note}");
        structured["note"] = note.into();
    }
    Ok(ToolAnswer { text, structured })
}

/// The time in `time`, and a remark if something is unusual about it.
fn read(
    time: &str,
    from: Option<TimeZone>,
    now: Timestamp,
) -> Result<(Zoned, Option<&'static str>), Complaint> {
    // Try a time with an offset first: it would also parse as a local time and lose its offset.
    if let Ok(timestamp) = time.parse::<Timestamp>() {
        let offset = || Pieces::parse(time).ok()?.to_numeric_offset();
        let own = || offset().map_or(TimeZone::UTC, TimeZone::fixed);
        return Ok((timestamp.to_zoned(from.unwrap_or_else(own)), None));
    }
    let unreadable = || Complaint(format!("Cannot read \"{time}\" as a time. Write it as {FORMS}."));
    let local = |zone: &TimeZone| match (time.parse::<DateTime>(), time.parse::<Time>()) {
        (Ok(local), _) => Ok(local),
        (_, Ok(clock)) => Ok(now.to_zoned(zone.clone()).date().to_datetime(clock)),
        (Err(_), Err(_)) => Err(unreadable()),
    };
    let Some(zone) = from else {
        local(&TimeZone::UTC)?;
        return Err(Complaint(format!(
            "\"{time}\" has no offset; say with \"from\" which time zone it is in."
        )));
    };
    let ambiguous = zone.to_ambiguous_zoned(local(&zone)?);
    let note = match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { .. } => None,
        AmbiguousOffset::Gap { .. } => {
            Some("This local time is skipped by daylight saving; the clock was moved on")
        }
        AmbiguousOffset::Fold { .. } => Some("This local time happens twice; the first one was taken"),
    };
    let zoned = ambiguous.compatible().map_err(|_| Complaint(format!("\"{time}\" is out of range.")))?;
    Ok((zoned, note))
}

fn zone(name: &str) -> Result<TimeZone, Complaint> {
    let database = TimeZoneDatabase::bundled();
    let name = name.trim();
    database.get(name).map_err(|_| {
        let wanted = name.to_lowercase().replace(' ', "_");
        let near: Vec<String> = database
            .available()
            .map(|known| known.to_string())
            .filter(|known| !wanted.is_empty() && known.to_lowercase().contains(&wanted))
            .take(5)
            .collect();
        let hint = match near.as_slice() {
            [] => "Use an IANA name such as \"Europe/Berlin\" or \"UTC\"".into(),
            near => format!("Did you mean {}?", near.join(", ")),
        };
        Complaint(format!("There is no time zone \"{name}\". {hint}"))
    })
}

fn moment(zoned: &Zoned) -> Value {
    let info = zoned.time_zone().to_offset_info(zoned.timestamp());
    json!({
        "time": zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        "time_zone": zone_name(zoned),
        "abbreviation": info.abbreviation(),
        "weekday": zoned.strftime("%A").to_string(),
        "daylight_saving": info.dst() == Dst::Yes,
        "unix_seconds": zoned.timestamp().as_second(),
    })
}

fn sentence(zoned: &Zoned) -> String {
    format!("{} ({}, {})", zoned.strftime("%Y-%m-%dT%H:%M:%S%:z"), zoned.strftime("%A"), zone_name(zoned))
}

fn zone_name(zoned: &Zoned) -> String {
    let fixed = || zoned.strftime("%:z").to_string();
    zoned.time_zone().iana_name().map_or_else(fixed, str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `2026-07-01T12:00:00Z`.
    fn now() -> Timestamp {
        "2026-07-01T12:00:00Z".parse().unwrap()
    }

    fn converted(arguments: Value) -> (String, String, Option<String>) {
        let structured = convert_at(arguments, now()).unwrap().structured;
        let time = |side: &str| structured[side]["time"].as_str().unwrap().to_owned();
        (time("from"), time("to"), structured["note"].as_str().map(str::to_owned))
    }

    #[test]
    fn times_are_converted_with_the_daylight_saving_of_their_day() {
        let cases = [
            ("2026-07-01 09:30", Some("America/New_York"), "Asia/Tokyo", "2026-07-01T22:30:00+09:00"),
            ("2026-01-01 09:30", Some("America/New_York"), "Asia/Tokyo", "2026-01-01T23:30:00+09:00"),
            ("2026-07-01T09:30:15", Some("europe/berlin"), "UTC", "2026-07-01T07:30:15+00:00"),
            ("09:30", Some("Asia/Kolkata"), "UTC", "2026-07-01T04:00:00+00:00"),
            ("2026-07-01T09:30:00+02:00", None, "Australia/Sydney", "2026-07-01T17:30:00+10:00"),
            ("2026-07-01T07:30:00Z", Some("Europe/Berlin"), "Asia/Kathmandu", "2026-07-01T13:15:00+05:45"),
        ];
        for (time, from, to, expected) in cases {
            let (_, end, note) = converted(json!({"time": time, "from": from, "to": to}));
            assert_eq!((end.as_str(), note), (expected, None), "{time}");
        }
    }

    #[test]
    fn a_local_time_that_is_skipped_or_happens_twice_is_noted() {
        let berlin = |time| converted(json!({"time": time, "from": "Europe/Berlin", "to": "UTC"}));
        let (start, end, note) = berlin("2026-03-29 02:30");
        assert_eq!(
            (start.as_str(), end.as_str()),
            ("2026-03-29T03:30:00+02:00", "2026-03-29T01:30:00+00:00")
        );
        assert!(note.unwrap().contains("skipped"));
        let (start, _, note) = berlin("2026-10-25 02:30");
        assert_eq!(start, "2026-10-25T02:30:00+02:00");
        assert!(note.unwrap().contains("twice"));
    }

    #[test]
    fn a_time_includes_weekday_and_daylight_saving() {
        let structured = moment(&now().to_zoned(zone("Europe/Berlin").unwrap()));
        assert_eq!(
            structured,
            json!({
                "time": "2026-07-01T14:00:00+02:00",
                "time_zone": "Europe/Berlin",
                "abbreviation": "CEST",
                "weekday": "Wednesday",
                "daylight_saving": true,
                "unix_seconds": 1_782_907_200,
            })
        );
    }

    #[test]
    fn an_error_suggests_a_valid_time() {
        for (arguments, part) in [
            (json!({"time": "noon", "from": "UTC", "to": "UTC"}), "Write it as"),
            (json!({"time": "noon", "to": "UTC"}), "Write it as"),
            (json!({"time": "09:30", "to": "UTC"}), "say with \"from\""),
            (json!({"time": "09:30", "from": "UTC", "to": "berlin"}), "Did you mean Europe/Berlin?"),
            (json!({"time": "09:30", "from": "new york", "to": "UTC"}), "America/New_York"),
            (json!({"time": "09:30", "from": "", "to": "UTC"}), "Use an IANA name"),
            (json!({"time": "2026-02-30 09:30", "from": "UTC", "to": "UTC"}), "Cannot read"),
            (json!({"time": "9999-12-31 23:59", "from": "Etc/GMT+12", "to": "UTC"}), "out of range"),
        ] {
            let Complaint(text) = convert_at(arguments.clone(), now()).unwrap_err();
            assert!(text.contains(part), "{arguments}: {text}");
        }
    }
}
