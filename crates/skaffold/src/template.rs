//! Templates over environment variables.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_something_missing_stays() {
        assert_eq!(expand("{{.A}}", &|_| Ok("a".to_owned())), Ok("a".to_owned()));
        assert_eq!(expand("x-{{.A}}", &|_| Ok("x-<no value>".to_owned())), Ok("x-{{.A}}".to_owned()));
        assert!(expand("{{.A", &|_| Err("unclosed".to_owned())).is_err());
    }
}
