//! Automatic activation of a profile: conditions on environment, kube-context and command.
//!
//! It must not know the source of these; a run provides them once as [`Surroundings`].

use crate::item::View;
use crate::rules;
use purlin_syntax::Diagnostic;
use regex::{Regex, RegexBuilder};
use std::cell::RefCell;
use std::collections::HashMap;

/// Looks an environment variable up.
pub type Lookup = Box<dyn Fn(&str) -> Option<String>>;

/// Inputs of conditions.
pub struct Surroundings {
    /// The command being run, such as `diagnose`.
    pub command: String,
    /// The current kube-context; empty if not set.
    pub kube_context: String,
    /// Looks an environment variable up.
    env: Lookup,
    /// Compiled patterns; many documents share them. `None` for a pattern that does not compile.
    patterns: RefCell<HashMap<String, Option<Regex>>>,
}

/// Compiled patterns are kept small so that no pattern can take a run's memory.
const PATTERN_BYTES: usize = 128 << 10;

impl Surroundings {
    /// The surroundings of one run.
    pub fn new(command: &str, kube_context: &str, env: Lookup) -> Self {
        Surroundings {
            command: command.to_owned(),
            kube_context: kube_context.to_owned(),
            env,
            patterns: RefCell::default(),
        }
    }

    /// Whether a profile is activated automatically; if so, whether the kube-context contributed.
    pub(crate) fn activates(&self, profile: View<'_, '_>) -> Result<Option<bool>, Diagnostic> {
        let Some(conditions) = profile.get("activation") else { return Ok(None) };
        let all = profile.raw("requiresAllActivations").and_then(View::bool).unwrap_or(false);
        let mut by_context = false;
        let mut any = false;
        for condition in conditions.items() {
            let holds = self.holds(condition)?;
            match (holds, all) {
                (true, false) => return Ok(Some(has_context(condition))),
                (false, true) => return Ok(None),
                (true, true) => {
                    by_context |= has_context(condition);
                    any = true;
                }
                (false, false) => {}
            }
        }
        Ok(any.then_some(by_context))
    }

    /// A condition holds if each of its parts does; one without parts always holds.
    fn holds(&self, condition: View<'_, '_>) -> Result<bool, Diagnostic> {
        let command = condition.get("command").is_none_or(|pattern| self.matches(&pattern.text(), &self.command));
        let env = match condition.get("env").filter(|text| !text.text().is_empty()) {
            Some(text) => self.env_holds(text)?,
            None => true,
        };
        let context = condition
            .get("kubeContext")
            .filter(|pattern| !pattern.text().is_empty())
            .is_none_or(|pattern| self.matches(&pattern.text(), &self.kube_context));
        Ok(command && env && context)
    }

    fn env_holds(&self, condition: View<'_, '_>) -> Result<bool, Diagnostic> {
        let text = condition.text();
        let Some((name, pattern)) = text.split_once('=') else {
            let message = format!("`{text}` is not a condition on an environment variable");
            let mut diagnostic = Diagnostic::nowhere(&rules::ACTIVATION, message).hint("write it as `NAME=pattern`");
            diagnostic.span = condition.span();
            return Err(diagnostic);
        };
        let value = (self.env)(name).unwrap_or_default();
        if pattern.is_empty() {
            return Ok(value.is_empty());
        }
        Ok(self.matches(pattern, &value))
    }

    /// Whether a pattern matches: the same string, or a regular expression found anywhere; a leading `!` negates it.
    pub fn matches(&self, pattern: &str, actual: &str) -> bool {
        match pattern.strip_prefix('!') {
            Some(rest) => !self.fits(rest, actual),
            None => self.fits(pattern, actual),
        }
    }

    fn fits(&self, pattern: &str, actual: &str) -> bool {
        if pattern == actual {
            return true;
        }
        if !pattern.contains(|c: char| r"\.+*?()|[]{}^$".contains(c)) {
            return actual.contains(pattern);
        }
        let mut patterns = self.patterns.borrow_mut();
        let compiled = patterns
            .entry(pattern.to_owned())
            .or_insert_with(|| RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build().ok());
        compiled.as_ref().is_some_and(|regex| regex.is_match(actual))
    }
}

fn has_context(condition: View<'_, '_>) -> bool {
    condition.get("kubeContext").is_some_and(|pattern| !pattern.text().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let around = Surroundings::new("diagnose", "", Box::new(|_| None));
        for (pattern, actual, fits) in [
            ("a", "diagnose", true),
            ("diagnose", "diagnose", true),
            ("^a", "diagnose", false),
            ("dev|diagnose", "diagnose", true),
            ("!dev", "diagnose", true),
            ("!", "x", false),
            ("(", "(", true),
            ("(", "b", false),
            ("!(", "b", true),
        ] {
            assert_eq!(around.matches(pattern, actual), fits, "{pattern} {actual}");
        }
    }
}
