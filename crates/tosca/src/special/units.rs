//! Quantities: a number and a unit.
//!
//! TOSCA 1.x has four fixed families of units; TOSCA 2.0 lets types declare their own.

use ecow::{EcoString, eco_format};

/// A family of units with the factor of each to the first.
#[derive(Debug)]
pub struct Family {
    /// Units and factors; the first is the canonical one.
    pub units: &'static [(&'static str, f64)],
    /// Whether `mb` means `MB`.
    pub ignore_case: bool,
    /// Whether the canonical number is whole.
    pub whole: bool,
}

const K: f64 = 1000.0;
const KI: f64 = 1024.0;

/// Sizes in bytes.
pub const SIZE: Family = Family {
    units: &[
        ("B", 1.0),
        ("kB", K),
        ("KiB", KI),
        ("MB", K * K),
        ("MiB", KI * KI),
        ("GB", K * K * K),
        ("GiB", KI * KI * KI),
        ("TB", K * K * K * K),
        ("TiB", KI * KI * KI * KI),
    ],
    ignore_case: true,
    whole: true,
};

/// Durations in seconds.
pub const TIME: Family = Family {
    units: &[("s", 1.0), ("d", 86400.0), ("h", 3600.0), ("m", 60.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)],
    ignore_case: true,
    whole: false,
};

/// Frequencies in hertz.
pub const FREQUENCY: Family =
    Family { units: &[("Hz", 1.0), ("kHz", K), ("MHz", K * K), ("GHz", K * K * K)], ignore_case: true, whole: false };

/// Rates in bits per second.
pub const BITRATE: Family = Family {
    units: &[
        ("bps", 1.0),
        ("Kbps", K),
        ("Kibps", KI),
        ("Mbps", K * K),
        ("Mibps", KI * KI),
        ("Gbps", K * K * K),
        ("Gibps", KI * KI * KI),
        ("Tbps", K * K * K * K),
        ("Tibps", KI * KI * KI * KI),
        ("Bps", 8.0),
        ("KBps", 8.0 * K),
        ("KiBps", 8.0 * KI),
        ("MBps", 8.0 * K * K),
        ("MiBps", 8.0 * KI * KI),
        ("GBps", 8.0 * K * K * K),
        ("GiBps", 8.0 * KI * KI * KI),
        ("TBps", 8.0 * K * K * K * K),
        ("TiBps", 8.0 * KI * KI * KI * KI),
    ],
    ignore_case: false,
    whole: false,
};

/// A quantity that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The number as written.
    pub scalar: f64,
    /// The unit in its canonical spelling.
    pub unit: EcoString,
    /// The number in the canonical unit.
    pub number: f64,
    /// Number and canonical unit.
    pub text: EcoString,
    /// The original text.
    pub original: EcoString,
}

/// Cuts a text into its leading number and the rest.
pub fn split(text: &str, signed: bool) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let mut at = usize::from(signed && matches!(bytes.first(), Some(b'-' | b'+')));
    let digits_from = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let start = at;
    at = digits_from(at);
    if bytes.get(at) == Some(&b'.') {
        let after = digits_from(at + 1);
        if after == at + 1 {
            return None; // a dot wants a digit after it
        }
        at = after;
    }
    if at == start {
        return None;
    }
    if bytes.get(at) == Some(&b'e') {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
        let after = digits_from(at + 1 + sign);
        if after > at + 1 + sign {
            at = after;
        }
    }
    Some((text.get(..at)?.parse().ok()?, text.get(at..)?))
}

/// The number and the unit of a text, if it is a quantity of a family.
pub fn measure(text: &str, family: &Family) -> Option<(f64, &'static (&'static str, f64))> {
    let (scalar, rest) = split(text, false)?;
    let unit = rest.trim_start();
    let known = family
        .units
        .iter()
        .find(|(known, _)| if family.ignore_case { known.eq_ignore_ascii_case(unit) } else { *known == unit })?;
    Some((scalar, known))
}

/// Reads a quantity of a family.
pub fn parse(text: &str, family: &Family) -> Option<Quantity> {
    let (scalar, (unit, factor)) = measure(text, family)?;
    let exact = scalar * factor;
    let number = if family.whole { exact.round() } else { exact };
    let canonical = family.units.first().map_or("", |(unit, _)| unit);
    let shown = if family.whole { format!("{number:.0}") } else { super::go_g(number) };
    Some(Quantity {
        scalar,
        unit: (*unit).into(),
        number,
        text: eco_format!("{shown} {canonical}"),
        original: text.into(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn quantities_are_read_and_converted() {
        for (text, family, number, shown) in [
            ("1.5 kib", &SIZE, 1536.0, "1536 B"),
            ("0.3 B", &SIZE, 0.0, "0 B"),
            ("2 H", &TIME, 7200.0, "7200 s"),
            ("10.5m", &TIME, 630.0, "630 s"),
            ("2.4 GHZ", &FREQUENCY, 2.4e9, "2.4e+09 Hz"),
            ("123e3 kHz", &FREQUENCY, 1.23e8, "1.23e+08 Hz"),
            ("1 KBps", &BITRATE, 8000.0, "8000 bps"),
        ] {
            let quantity = parse(text, family).unwrap();
            assert_eq!((quantity.number, quantity.text.as_str()), (number, shown), "{text}");
        }
        for (text, family) in
            [("5", &SIZE), ("-1 B", &SIZE), ("1. B", &SIZE), ("B", &SIZE), ("1 kbps", &BITRATE), ("", &TIME)]
        {
            assert_eq!(parse(text, family), None, "{text}");
        }
    }
}
