//! Pure text operations behind the helper functions. They know strings only, no values.

/// Spaces before every line that is not empty.
pub fn indent(text: &str, spaces: usize) -> String {
    let pad = " ".repeat(spaces);
    let lines = text.split('\n').map(|line| if line.is_empty() { String::new() } else { format!("{pad}{line}") });
    lines.collect::<Vec<_>>().join("\n")
}

/// The range that `slice(start, end)` covers in a sequence of a length; negative counts from the end.
pub fn slice_range(length: usize, start: f64, end: Option<f64>) -> std::ops::Range<usize> {
    let place = |index: f64| {
        let index = if index.is_nan() { 0.0 } else { index.trunc() };
        let from_start = if index < 0.0 { (length as f64 + index).max(0.0) } else { index };
        from_start.min(length as f64) as usize
    };
    let from = place(start);
    let to = end.map_or(length, place);
    from..to.max(from)
}

/// Part of a text, counted in UTF-16 units as the original does.
pub fn slice(text: &str, start: f64, end: Option<f64>) -> String {
    if text.is_ascii() {
        return text.get(slice_range(text.len(), start, end)).unwrap_or("").to_string();
    }
    let units: Vec<u16> = text.encode_utf16().collect();
    String::from_utf16_lossy(units.get(slice_range(units.len(), start, end)).unwrap_or(&[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_count_from_either_end() {
        assert_eq!(slice("abcdef", 1.0, Some(3.0)), "bc");
        assert_eq!(slice("abcdef", -2.0, None), "ef");
        assert_eq!(slice("abcdef", 4.0, Some(2.0)), "");
        assert_eq!(slice("äöü", 1.0, Some(99.0)), "öü");
    }
}
