//! What a host such as `unfurl` adds to the notation of values.
//!
//! The host's calls and template strings are kept as calls: this crate never looks into them, so that static checks
//! skip what only the host can know. The host evaluates them and hands the results back to be checked.

/// The name under which template strings are kept as calls.
pub const TEMPLATE: &str = "template string";

/// What a host adds.
#[derive(Debug)]
pub struct Host {
    /// Whether a map with this key, among so many keys, is a call of the host's.
    pub is_call: fn(&str, usize) -> bool,
    /// Whether a text is a template.
    pub is_template: fn(&str) -> bool,
}
