//! Templates over environment variables, as far as this crate expands them itself: `{{.NAME}}`.
//!
//! The whole template language lives elsewhere; whoever has it hands in an [`Expander`]. It must not run anything.

/// Expands a template. `Err` says what is wrong with it.
pub type Expander<'x> = dyn Fn(&str) -> Result<String, String> + 'x;

/// What a template prints for a name that is not there; a text that would show it is left as it is.
const MISSING: &str = "<no value>";

/// Expands a text with an expander; a text with something missing stays as written.
pub fn expand(text: &str, expander: &Expander<'_>) -> Result<String, String> {
    let expanded = expander(text)?;
    Ok(if expanded.contains(MISSING) { text.to_owned() } else { expanded })
}

/// Expands plain names from a lookup; anything else is refused with a reason.
pub fn names(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        result.push_str(rest.get(..start).unwrap_or_default());
        let after = rest.get(start + 2..).unwrap_or_default();
        let Some(end) = after.find("}}") else { return Err(format!("`{text}` opens `{{{{` and does not close it")) };
        let inside = after.get(..end).unwrap_or_default().trim();
        let name = inside
            .strip_prefix('.')
            .filter(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
        let Some(name) = name else { return Err(format!("`{inside}` is more than the name of a variable")) };
        result.push_str(&lookup(name).unwrap_or_else(|| MISSING.to_owned()));
        rest = after.get(end + 2..).unwrap_or_default();
    }
    result.push_str(rest);
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up() {
        let lookup = |name: &str| (name == "A").then(|| "a".to_owned());
        let run = |text: &str| expand(text, &|text| names(text, &lookup));
        assert_eq!(run("x-{{.A}}-{{ .A }}"), Ok("x-a-a".to_owned()));
        assert_eq!(run("{{.A}}{{.B}}"), Ok("{{.A}}{{.B}}".to_owned()));
        assert!(run("{{.A").is_err() && run("{{ upper .A }}").is_err());
    }
}
