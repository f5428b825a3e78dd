//! Values with a notation of their own: quantities with units, versions, timestamps.
//!
//! Pure functions from text; they know nothing of files, types or templates.

pub mod timestamp;
pub mod units;
pub mod version;

/// A number as Go prints it with `%g`, which recorded outputs use.
pub fn go_g(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    if !number.is_finite() {
        return if number.is_nan() {
            "NaN"
        } else if number > 0.0 {
            "+Inf"
        } else {
            "-Inf"
        }
        .to_owned();
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// A number without binary rounding errors.
pub fn tidy(number: f64) -> f64 {
    if number.fract() == 0.0 { number } else { format!("{number:.14e}").parse().unwrap_or(number) }
}

#[cfg(test)]
mod tests {
    use super::{go_g, tidy};

    #[test]
    fn fractions_are_tidied_and_whole_numbers_stay() {
        let large = 9_007_199_254_740_991.0;
        for (number, tidied) in [(0.1 + 0.2, 0.3), (1.0 - 0.9, 0.1), (large, large)] {
            assert_eq!(tidy(number), tidied);
        }
    }

    #[test]
    fn numbers_look_as_in_go() {
        for (number, text) in [
            (432_000.0, "432000"),
            (2.4e9, "2.4e+09"),
            (1_000_000.0, "1e+06"),
            (10076.16, "10076.16"),
            (0.00123, "0.00123"),
            (0.00001, "1e-05"),
            (0.0, "0"),
        ] {
            assert_eq!(go_g(number), text);
        }
    }
}
