//! What a survey names because no project has read it: files that belong to no project, and submodules that are not
//! checked out.

use crate::compile::here;
use crate::dialects::DIALECTS;
use crate::rules;
use crate::survey::{Claim, Found, first_line, is_below};
use purlin_model::Dialect;
use purlin_syntax::Diagnostic;
use purlin_value::{Session, path};

/// Maximum number of unclaimed files named.
const NAMED: usize = 5;

/// Files that belong to no project, by dialect.
pub(crate) type Outside<'f> = Vec<(&'static Dialect, Vec<&'f str>)>;

impl Found {
    /// Names the files that belong to no project. `is_read` tests whether some project has read a file.
    pub fn report_outside(&self, session: &Session, is_read: &dyn Fn(&str) -> bool) {
        report_outside(session, &self.outside(is_read));
    }

    pub(crate) fn outside(&self, is_read: &dyn Fn(&str) -> bool) -> Outside<'_> {
        let is_inside = |file: &str, dialect: &Dialect| {
            let mut own = self.claims.iter().filter(|claim| claim.dialect().name == dialect.name);
            let holds = |claim: &Claim| is_below(file, path::parent(claim.file()));
            if dialect.reaches_below { own.any(holds) } else { is_read(file) }
        };
        let of = |dialect: &'static Dialect| {
            let own = self.members.iter().filter(|(_, own)| own.name == dialect.name).map(|(file, _)| file.as_str());
            let mut files: Vec<&str> = own.filter(|file| !is_inside(file, dialect)).collect();
            files.sort_unstable();
            files.dedup();
            (dialect, files)
        };
        DIALECTS.iter().copied().map(of).filter(|(_, files)| !files.is_empty()).collect()
    }
}

pub(crate) fn report_outside(session: &Session, outside: &Outside<'_>) {
    for (dialect, files) in outside {
        let shown: Vec<String> = files.iter().take(NAMED).map(|file| format!("`{}`", here(session, file))).collect();
        let more = files.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more files") } else { String::new() };
        let verb = if files.len() == 1 { "belongs" } else { "belong" };
        let names = shown.join(", ");
        let result = match (dialect.apart, files.len()) {
            (Some(_), 1) => "was checked by itself",
            (Some(_), _) => "were checked each by itself",
            (None, 1) => "was not checked",
            (None, _) => "were not checked",
        };
        let message = format!("{names}{more} {verb} to no {} project and {result}", dialect.noun);
        let mut diagnostic = Diagnostic::nowhere(&rules::OUTSIDE_PROJECT, message);
        diagnostic.span = files.first().and_then(|file| first_line(session, file));
        session.sink.push(diagnostic);
    }
}

/// Git's list of submodules.
const SUBMODULES: &str = ".gitmodules";

impl Found {
    /// Names the submodules in Garden projects that are not checked out: their contents are not declared, so the reason
    /// for missing ones would otherwise remain unknown.
    pub(crate) fn report_submodules(&self, session: &Session) {
        let projects: Vec<&Claim> = self.claims.iter().filter(|claim| claim.dialect().reaches_below).collect();
        if projects.is_empty() || !session.world.exists(SUBMODULES) {
            return;
        }
        let Ok(text) = session.load_text(SUBMODULES, SUBMODULES) else { return };
        let mut start = 0;
        for line in text.source.text().split_inclusive('\n') {
            let place = line.split_once('=').filter(|(key, _)| key.trim() == "path").map(|(_, path)| path.trim());
            if let Some(folder) = place.filter(|folder| !folder.is_empty()) {
                let is_here = session.world.list(folder).is_ok_and(|entries| !entries.is_empty());
                let belongs = || projects.iter().any(|claim| is_below(folder, path::parent(claim.file())));
                if !is_here && belongs() {
                    let at = start + line.rfind(folder).unwrap_or(0);
                    let span = text.source.span(at, at + folder.len());
                    let message = format!("the git submodule `{folder}` is not checked out, so nothing in it was read");
                    let hint = format!("run `git submodule update --init {folder}`");
                    session.sink.push(Diagnostic::at(&rules::SUBMODULE, span, message).hint(hint));
                }
            }
            start += line.len();
        }
    }
}
