//! Durations as people write them: `90s`, `2m`, `1h30m`, `2d`.

use std::time::Duration;

/// Units, with their length in milliseconds.
const UNITS: &[(&str, u64)] =
    &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000)];

/// Reads a duration.
///
/// # Errors
/// If it has a part without a unit, or is too long.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration: write `90s`, `2m`, `3h` or `1d`");
    let mut rest = text.trim();
    let mut total: u64 = 0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, behind) = rest.split_at(digits);
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let (_, length) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        let number: u64 = number.parse().map_err(|_| wrong())?;
        total = number.checked_mul(*length).and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
        rest = behind;
    }
    Ok(Duration::from_millis(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, milliseconds) in
            [("90s", 90_000), ("1h30m", 5_400_000), ("2d", 172_800_000), ("500ms", 500), (" 0s ", 0)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "5", "m", "5x", "-5s", "5s5", "99999999999999999999s", "999999999999999999w", "1.5h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
