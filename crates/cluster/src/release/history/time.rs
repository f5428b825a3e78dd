//! The time as records have it: RFC 3339 with nanoseconds, in UTC.

use purlin_syntax::calendar::Date;

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400;

/// A time of nanoseconds since 1970, as records have it.
pub fn rfc3339(moment: i128) -> String {
    let (seconds, nanos) = (moment.div_euclid(SECOND), moment.rem_euclid(SECOND));
    let (days, rest) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let Date { year, month, day } = Date::from_days(i64::try_from(days).unwrap_or_default());
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    let fraction = format!(".{nanos:09}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_zeros_are_left_out_as_in_go() {
        assert_eq!(rfc3339(1_772_719_629_012_340_000), "2026-03-05T14:07:09.01234Z");
        assert_eq!(rfc3339(1_772_719_629_000_000_000), "2026-03-05T14:07:09Z");
    }
}
