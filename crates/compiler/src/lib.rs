//! The façade: the list of dialects, the phase pipeline, `why` and `diff`.
//!
//! The interface for commands and editors. It lists every dialect, but does not depend on their details.

mod answer;
mod check;
mod compile;
mod dialects;
mod find;
mod inner;
mod layout;
pub mod picture;
pub mod rules;
mod schemas;
mod show;
mod variants;

pub use advice::{advise, narrow};
pub use affects::{Affected, affects, wholes};
use answer::{affects, diff, entry, inputs, made, matching, names, output, why};
use check::{advice, everywhere, judged, once, policies, unused};
pub use compile::{Compiled, compile, compile_and_judge, detect, eval};
pub use dialects::{DIALECTS, all_rules};
pub use diff::{Difference, cause_text, compared, diff, hidden_alike, in_variants};
use find::{ahead, bases, loose, outside, survey};
pub use graph::{GraphFormat, Page, Theme, draw};
pub use inner::ENGINES;
pub use inputs::{inputs, inputs_at};
pub use judged::{is_kube_version, policy_names};
pub use layout::{Curve, Direction, Place as Spot, Point};
pub use loose::{loose_objects, read_objects};
pub use made::{Made, made, place_text};
pub use names::{NameTable, Named, NamedProjects, Part, VariantResult, names};
pub use once::once;
pub use output::{Blame, affects_value, differences_value, graph_value, inputs_value, resolved_value, why_value};
pub use policies::policy_inputs;
pub use schemas::{SCHEMA_NAMES, SchemaOf, schema_by, schema_of};
use show::{graph, shown};
pub use shown::{Shown, View, show};
pub use survey::{Checked, Claim, Found, Surveyed, search, survey, survey_declared, survey_variants};
pub use variants::variants;
pub use why::{Because, Cause, Place, Step, Why, WhyPiece, origin_text, why, why_at};
