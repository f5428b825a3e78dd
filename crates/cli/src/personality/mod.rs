//! Personalities: each takes an original tool's own arguments and prints what it would print.
//!
//! A personality is a file here and a line in the list.

mod garden;
mod helm;
mod metachart;
mod puccini_clout;
mod puccini_csar;
mod puccini_tosca;
pub mod skaffold;
mod unfurl;

use crate::invocation::{Exit, Invocation};

/// One personality.
pub struct Personality {
    /// The sub-command's name.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Runs it with the arguments after its name.
    pub run: fn(&mut Invocation<'_>, &[String]) -> Exit,
}

/// All personalities.
pub const PERSONALITIES: &[Personality] = &[
    garden::GARDEN,
    helm::HELM,
    metachart::METACHART,
    puccini_clout::PUCCINI_CLOUT,
    puccini_csar::PUCCINI_CSAR,
    puccini_tosca::PUCCINI_TOSCA,
    Personality {
        name: "skaffold",
        summary: "Skaffold's diagnose, inspect, render, fix and schema.",
        run: skaffold::run,
    },
    unfurl::UNFURL,
];
