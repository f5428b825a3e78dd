//! What settings of a folder and comments in its files make of diagnostics.
//!
//! Reading settings is somebody else's business: whoever opens a workspace hands in a function for it.

use crate::workspace::Change;
use purlin_syntax::{Diagnostic, FileId, Sources};
use purlin_value::{World, WorldError, path};
use std::collections::HashSet;
use std::sync::Arc;

/// The name of the file with settings.
const FILE: &str = "purlin.toml";

/// Leaves out what is not to be shown and changes levels. With the files that were read, comments without effect are
/// found too.
pub type Judge = Arc<dyn Fn(Vec<Diagnostic>, &Sources, Option<&HashSet<FileId>>) -> Vec<Diagnostic> + Send + Sync>;

/// Makes something of the settings: of their path in the world and their text, if there are any.
pub type Keeper = Arc<dyn Fn(Option<(&str, &str)>, &Sources) -> House + Send + Sync>;

/// The settings of a folder.
#[derive(Default)]
pub struct House {
    /// The file they come from.
    pub file: String,
    /// The environment, where the editor chooses none.
    pub environment: Option<String>,
    /// Folders to search for TOSCA profiles.
    pub profile_paths: Vec<String>,
    /// Built-in policies that objects are judged by.
    pub policies: Vec<String>,
    /// Problems of the settings.
    pub found: Vec<Diagnostic>,
    /// What they make of diagnostics.
    pub judge: Option<Judge>,
    /// Files that were registered to read them; the workspace fills it in.
    pub ids: Vec<FileId>,
}

/// Whether a change may be one of settings.
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
