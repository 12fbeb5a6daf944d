//! Parses registry timestamps (RFC 3339, UTC). Pure.

const DAY: u64 = 24 * 60 * 60;

/// Formats milliseconds since the Unix epoch, to the second.
pub fn of_ms(ms: u64) -> String {
    let seconds = ms / 1000;
    let (year, month, day) = civil(seconds / DAY);
    let (hour, minute, second) = (seconds % DAY / 3600, seconds % 3600 / 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Parses a time stamp; `None` if invalid. Fractions of a second are ignored.
pub fn to_ms(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let sane = (1970..3000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !sane || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some((days(year, month, day) * DAY + hour * 3600 + minute * 60 + second) * 1000)
}

/// Days from the epoch to a date (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_and_read() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:01Z", 951_825_601_000),
            ("2024-12-31T23:59:59Z", 1_735_689_599_000),
            ("2026-03-01T00:00:00Z", 1_772_323_200_000),
        ] {
            assert_eq!((of_ms(ms).as_str(), to_ms(text)), (text, Some(ms)));
        }
        assert_eq!(to_ms("2025-09-08T12:10:00.123456Z"), Some(1_757_333_400_000));
        for text in ["", "2025", "2025-13-01T00:00:00Z", "yesterday, at noon o'clock", "0000-01-01T00:00:00Z"]
        {
            assert_eq!(to_ms(text), None, "{text}");
        }
    }
}
