//! Applies settings of a folder and comments in its files to diagnostics.
//!
//! Does not read settings itself: the caller that opens a workspace passes in a function for it.

use crate::workspace::Change;
use purlin_model::{Evaluator, OwnPolicy};
use purlin_syntax::{Diagnostic, FileId, Sources};
use purlin_value::{World, WorldError, path};
use std::collections::HashSet;
use std::sync::Arc;

/// The name of the file with settings.
const FILE: &str = "purlin.toml";

/// Hides diagnostics and changes levels. With the files that were read, comments without effect are reported too.
pub type Judge = Arc<dyn Fn(Vec<Diagnostic>, &Sources, Option<&HashSet<FileId>>) -> Vec<Diagnostic> + Send + Sync>;

/// Reads settings: from their path in the world and their text, if there are any.
pub type Keeper = Arc<dyn Fn(Option<(&str, &str)>, &Sources) -> House + Send + Sync>;

/// The settings of a folder.
#[derive(Default)]
pub struct House {
    /// The file they come from.
    pub file: String,
    /// The environment, unless the editor chooses one.
    pub environment: Option<String>,
    /// The version of Helm that charts are rendered as.
    pub helm_version: Option<String>,
    /// Folders to search for TOSCA profiles.
    pub profile_paths: Vec<String>,
    /// Built-in policies that objects are checked against.
    pub policies: Vec<String>,
    /// Policies that the project wrote.
    pub own_policies: Vec<OwnPolicy>,
    /// Evaluates those.
    pub evaluator: Option<Evaluator>,
    /// Problems of the settings.
    pub found: Vec<Diagnostic>,
    /// Applies them to diagnostics.
    pub judge: Option<Judge>,
    /// Files registered while reading them; set by the workspace.
    pub ids: Vec<FileId>,
}

/// Whether a change may affect settings.
pub(crate) fn is_concerned(change: &Change) -> bool {
    match change {
        Change::Content(file) | Change::Presence(file) => path::file_name(file) == FILE,
        Change::Everything => true,
    }
}

/// Reads the nearest settings at or above a folder.
pub(crate) fn read(world: &dyn World, start: &str, sources: &Sources, keeper: &Keeper) -> House {
    let mut folder = start;
    loop {
        let file = path::join(folder, FILE);
        match world.read(&file) {
            Ok(bytes) => return keeper(Some((&file, &String::from_utf8_lossy(&bytes))), sources),
            Err(WorldError::NotFound | WorldError::WrongKind(_)) => {}
            Err(why) => {
                let mut house = keeper(None, sources);
                house.found.push(why.diagnostic(&file));
                return House { file, ..house };
            }
        }
        if folder == "." || folder == "/" {
            return keeper(None, sources);
        }
        folder = path::parent(folder);
    }
}
