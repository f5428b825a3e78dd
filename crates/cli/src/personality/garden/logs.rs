//! `purlin garden logs` and `exec`: what containers of Deploys print, and commands in them.

use super::execute::{clusters, garden, split_names};
use super::{Flags, open, usage};
use crate::commands::exec::Asked;
use crate::commands::logs::{Reading, Said};
use crate::commands::run::Place;
use crate::invocation::{Exit, Invocation};
use purlin_run::action::Kind;
use purlin_run::engine::Project;
use purlin_run::select::{Wanted, no_action, select};
use purlin_run::terminal;
use purlin_value::glob::Glob;
use std::time::Duration;

/// The age of the first lines that are shown where new ones are followed.
const RECENT: Duration = Duration::from_secs(60);

/// How lines are shown.
pub(super) struct Shown {
    hides_name: bool,
    times: bool,
    tags: bool,
}

impl Shown {
    pub(super) fn of(flags: &Flags) -> Shown {
        Shown { hides_name: flags.hide_name, times: flags.timestamps, tags: flags.show_tags }
    }

    pub(super) fn line(&self, id: &str, said: &Said) -> String {
        let mut line = String::new();
        if !self.hides_name {
            line.push_str(&format!("{} → ", id.trim_start_matches("deploy.")));
        }
        if self.times && !said.time.is_empty() {
            line.push_str(&format!("{} → ", said.time));
        }
        if self.tags && !said.container.is_empty() {
            line.push_str(&format!("[container={}] ", said.container));
        }
        line + &said.text + "\n"
    }
}

/// Lines of Deploys in the order of their times, each after the name of its Deploy.
pub(super) fn logs(invocation: &mut Invocation<'_>, flags: &Flags, names: &[&str]) -> Result<Exit, Exit> {
    let groups: Result<Vec<Vec<Glob>>, String> = flags.tags.iter().map(|tag| filters(tag)).collect();
    let groups = groups.map_err(|message| usage(invocation, &message))?;
    let (session, request) = open(invocation, flags)?;
    let project = garden(invocation, &session, &request)?.on(clusters(invocation));
    let wanted = Wanted { names: split_names(names), ..Wanted::default() };
    let chosen = select(project.nodes(), Kind::Deploy, &wanted).map_err(|message| usage(invocation, &message))?;
    let look = Shown::of(flags);
    let shown = |id: &str, said: &Said| look.line(id, said);
    let is_meant = |container: &str| {
        groups.is_empty() || groups.iter().any(|group| group.iter().all(|glob| glob.matches(container)))
    };
    // The last lines take precedence over the time.
    let since = flags.since.or(flags.follow.then_some(RECENT)).filter(|_| flags.tail.is_none());
    let reading = Reading {
        follow: flags.follow,
        tail: flags.tail,
        since,
        with_times: flags.timestamps,
        by_time: true,
        is_meant: &is_meant,
        shown: &shown,
    };
    let place = Place::new(invocation, &project.root())?;
    match reading.read(invocation, &project, &chosen, &place) {
        Err(Exit::Failed) => Err(Exit::Other(1)),
        exit => exit,
    }
}

/// The filters of one `--tag`; containers have no other tag than their name.
fn filters(tag: &str) -> Result<Vec<Glob>, String> {
    let filter = |part: &str| match part.split_once('=') {
        Some(("container", name)) => Ok(Glob::new(name)),
        Some((other, _)) => Err(format!("`--tag {tag}`: unknown tag `{other}`; lines have the tag `container`")),
        None => Err(format!("`--tag {tag}`: expected `container=NAME`")),
    };
    tag.split(',').map(filter).collect()
}

/// `exec DEPLOY -- COMMAND`
pub(super) fn exec(invocation: &mut Invocation<'_>, flags: &Flags, words: &[&str]) -> Result<Exit, Exit> {
    let (name, command) = match words {
        [] => return Err(usage(invocation, "name the Deploy: `garden exec DEPLOY -- COMMAND`")),
        [name] => (*name, flags.rest.clone()),
        [name, line @ ..] => {
            let words = line.iter().flat_map(|part| part.split_whitespace()).map(str::to_owned);
            (*name, words.chain(flags.rest.iter().cloned()).collect())
        }
    };
    if command.is_empty() {
        return Err(usage(invocation, "No command specified. Nothing to execute."));
    }
    let (session, request) = open(invocation, flags)?;
    let project = garden(invocation, &session, &request)?.on(clusters(invocation));
    let id = format!("deploy.{name}");
    let Some(at) = project.nodes().iter().position(|node| node.id == id) else {
        let ids = project.nodes().iter().filter(|node| node.kind == Kind::Deploy).map(|node| node.id.as_str());
        return Err(usage(invocation, &no_action(&id, ids)));
    };
    let has_terminal = invocation.last && terminal::is_there();
    let is_interactive = flags.interactive.unwrap_or(has_terminal);
    let asked = Asked {
        words: command,
        container: flags.target.clone(),
        with_input: is_interactive,
        with_terminal: is_interactive && has_terminal,
    };
    match asked.run(invocation, &project, at) {
        Err(Exit::Failed) => Err(Exit::Other(1)),
        exit => exit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_names_of_containers() {
        assert!(filters("container=api-*").is_ok_and(|all| all.len() == 1));
        assert!(filters("container=a,container=b").is_ok_and(|all| all.len() == 2));
        assert!(filters("pod=a").is_err_and(|why| why.contains("unknown tag `pod`")));
        assert!(filters("a").is_err_and(|why| why.contains("expected `container=NAME`")));
    }

    #[test]
    fn lines_have_what_is_asked_for() {
        let said = Said { pod: "p".into(), container: "c".into(), time: "T".into(), text: "x".into() };
        let shown = |hides_name, times, tags| Shown { hides_name, times, tags }.line("deploy.a", &said);
        assert_eq!(shown(false, false, false), "a → x\n");
        assert_eq!(shown(true, true, false), "T → x\n");
        assert_eq!(shown(false, true, true), "a → T → [container=c] x\n");
    }
}
