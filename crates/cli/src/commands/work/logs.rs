//! `purlin logs`: the last output of actions, and what follows it.

use crate::commands::Context;
use crate::commands::run::{Place, clusters, detected, open, opening};
use crate::invocation::{Exit, Invocation};
use crate::run_args::LogsFlags;
use purlin_cluster::logs::{Line, Source, Wish};
use purlin_run::cluster::ClusterDeploy;
use purlin_run::engine::Project;
use purlin_run::event::Cause;
use purlin_run::open::{Forest, Purpose, Room};
use purlin_run::select::no_action;
use purlin_run::stop::Level;
use purlin_run::work::{Doing, Trouble};
use purlin_value::glob::Glob;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Default number of lines per container.
const USUAL_LINES: usize = 1_000;

/// How often the output of processes is looked at, and the request to stop.
const LOOK_UP: Duration = Duration::from_millis(100);

/// How much of the output of a process is read at a time.
const AT_A_TIME: u64 = 64 << 10;

/// The number of the signal that Ctrl-C sends.
const INTERRUPT: i32 = 2;

/// The number of the signal of a closed reader.
const CLOSED: i32 = 13;

pub(in crate::commands) fn run(cx: &mut Context<'_, '_>, flags: &LogsFlags) -> Result<Exit, Exit> {
    let (session, request, row) = detected(cx, "logs", &flags.path, &flags.target)?;
    let opening = opening(cx, Purpose::Look, false, clusters(cx, &flags.target, &flags.cluster, false));
    let forest = Forest::new();
    let room = Room::new(&forest);
    let project = open(cx, row, &room, (&session, &request), &opening)?;
    let at = named(project.as_ref(), &flags.node).map_err(|message| cx.usage(&message))?;
    let containers: Vec<Glob> = flags.container.iter().map(|name| Glob::new(name)).collect();
    let is_meant = |name: &str| containers.is_empty() || containers.iter().any(|glob| glob.matches(name));
    let shown = |_: &str, said: &Said| {
        let time = if flags.timestamps && !said.time.is_empty() { format!("{} ", said.time) } else { String::new() };
        match said.container.as_str() {
            "" => format!("{time}{}\n", said.text),
            container => format!("{} {container} | {time}{}\n", said.pod, said.text),
        }
    };
    let reading = Reading {
        follow: flags.follow,
        tail: flags.tail,
        since: flags.since,
        with_times: flags.timestamps,
        by_time: false,
        is_meant: &is_meant,
        shown: &shown,
    };
    let place = Place::new(cx.invocation, &project.root())?;
    reading.read(cx.invocation, project.as_ref(), &[at], &place)
}

/// The action of an id, or of a name that only one action has.
pub(in crate::commands) fn named(project: &dyn Project, name: &str) -> Result<usize, String> {
    let nodes = project.nodes();
    if let Some(at) = nodes.iter().position(|node| node.id == name) {
        return Ok(at);
    }
    let own = |id: &str| id.split_once('.').is_some_and(|(_, own)| own == name);
    let mut found = nodes.iter().enumerate().filter(|(_, node)| own(&node.id));
    match (found.next(), found.next()) {
        (Some((at, _)), None) => Ok(at),
        _ => Err(no_action(name, nodes.iter().map(|node| node.id.as_str()))),
    }
}

/// A line, and what wrote it; the pod and the container are empty for a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub pod: String,
    pub container: String,
    pub time: String,
    pub text: String,
}

impl From<Line> for Said {
    fn from(line: Line) -> Said {
        let Line { pod, container, time, text } = line;
        Said { pod, container, time, text }
    }
}

/// Which lines are shown, and how.
pub(crate) struct Reading<'r> {
    pub follow: bool,
    pub tail: Option<usize>,
    pub since: Option<Duration>,
    pub with_times: bool,
    /// Whether lines of several containers are ordered by their times.
    pub by_time: bool,
    /// Which containers.
    pub is_meant: &'r (dyn Fn(&str) -> bool + Sync),
    /// A line of an action, with its line break.
    pub shown: &'r (dyn Fn(&str, &Said) -> String + Sync),
}

/// Where the lines of an action are.
enum Where {
    Pods(Arc<ClusterDeploy>),
    /// The key of the output of its last command, or of its running process.
    Here(String),
}

/// The output of a process, as far as it was shown.
struct Output {
    id: String,
    subject: String,
    at: u64,
    pending: Vec<u8>,
}

impl<'r> Reading<'r> {
    /// Follows all containers from now on.
    pub(crate) fn following(shown: &'r (dyn Fn(&str, &Said) -> String + Sync)) -> Self {
        let since = Some(Duration::from_secs(1));
        let (is_meant, follow) = (&|_: &str| true, true);
        Reading { follow, tail: None, since, with_times: false, by_time: false, is_meant, shown }
    }

    /// Shows lines of some actions, and the ones that follow until it is stopped.
    pub(crate) fn read(
        &self,
        invocation: &mut Invocation<'_>,
        project: &dyn Project,
        chosen: &[usize],
        place: &Place,
    ) -> Result<Exit, Exit> {
        let mut parts = Vec::new();
        for at in chosen {
            let Some(node) = project.nodes().get(*at) else { continue };
            match self.part(invocation, project, *at, place) {
                Ok(part) => parts.push((node.id.clone(), part)),
                // The others of several are shown.
                Err(why) if chosen.len() > 1 => drop(writeln!(invocation.stderr, "warning: {why}")),
                Err(why) => return Err(invocation.refuse(&why, Exit::Failed)),
            }
        }
        let timeless = parts.iter().find(|(_, part)| matches!(part, Where::Here(_)));
        if let Some((id, _)) = timeless.filter(|_| self.since.is_some() || self.with_times) {
            let option = if self.since.is_some() { "--since" } else { "--timestamps" };
            let _ =
                writeln!(invocation.stderr, "warning: the lines of `{id}` have no times, so `{option}` does not apply");
        }
        match self.follow {
            true => self.follow(invocation, &parts, place),
            false => self.now(invocation, &parts, place),
        }
    }

    fn part(
        &self,
        invocation: &mut Invocation<'_>,
        project: &dyn Project,
        at: usize,
        place: &Place,
    ) -> Result<Where, String> {
        // An action that cannot be prepared has at least a log of its last run.
        let prepared = project.prepare(at);
        if let Ok(action) = &prepared {
            invocation.veil.hide(&action.secrets);
        }
        if prepared.is_ok()
            && let Some(deploy) = project.cluster_deploy(at)
        {
            return Ok(Where::Pods(deploy));
        }
        let subject = project.subject(at);
        if place.store.log(&subject).read().is_ok() || place.store.last(&subject).is_some() {
            return Ok(Where::Here(subject));
        }
        let id = project.nodes().get(at).map(|node| node.id.as_str()).unwrap_or_default();
        let why = prepared.err().map(|failure| failure.cause).filter(|cause| *cause != Cause::Unresolved);
        Err(why.map_or_else(|| format!("`{id}` has not run yet"), |why| format!("`{id}` has no logs: {why}")))
    }

    /// What the server is asked for.
    fn wish<'w>(&self, is_meant: &'w (dyn Fn(&Source) -> bool + Sync)) -> Wish<'w> {
        let usual = (self.since.is_none() && !self.follow).then_some(USUAL_LINES);
        Wish { tail: self.tail.or(usual), since: self.since, is_meant }
    }

    fn now(&self, invocation: &mut Invocation<'_>, parts: &[(String, Where)], place: &Place) -> Result<Exit, Exit> {
        let is_meant = |source: &Source| (self.is_meant)(&source.container);
        let mut lines: Vec<(&str, Said)> = Vec::new();
        for (id, part) in parts {
            match part {
                Where::Pods(deploy) => {
                    let found = deploy.logs(&self.wish(&is_meant), Doing::looking(&place.stop));
                    let found = found.map_err(|trouble| unreadable(invocation, id, &trouble))?;
                    lines.extend(found.into_iter().map(|line| (id.as_str(), Said::from(line))));
                }
                Where::Here(subject) => {
                    let bytes = place.store.log(subject).read().unwrap_or_default();
                    let text = String::from_utf8_lossy(&bytes);
                    let all: Vec<&str> = text.lines().collect();
                    let first = self.tail.map_or(0, |tail| all.len().saturating_sub(tail));
                    let said = |text: &&str| Said { text: (*text).to_owned(), ..Said::default() };
                    lines.extend(all.iter().skip(first).map(|text| (id.as_str(), said(text))));
                }
            }
        }
        if self.by_time {
            lines.sort_by(|(_, one), (_, other)| one.time.cmp(&other.time));
        }
        let text: String = lines.iter().map(|(id, said)| (self.shown)(id, said)).collect();
        let written = invocation.stdout.write_all(text.as_bytes());
        Ok(if written.is_ok() { Exit::Ok } else { Exit::Io })
    }

    fn follow(&self, invocation: &mut Invocation<'_>, parts: &[(String, Where)], place: &Place) -> Result<Exit, Exit> {
        let is_meant = |source: &Source| (self.is_meant)(&source.container);
        let wish = self.wish(&is_meant);
        let (sender, lines) = channel();
        let mut outputs: Vec<Output> = parts.iter().filter_map(|part| self.output(part, place)).collect();
        std::thread::scope(|scope| {
            for (id, part) in parts {
                if let Where::Pods(deploy) = part {
                    let (sender, wish) = (sender.clone(), &wish);
                    scope.spawn(move || follow_one(id, deploy, wish, place, &sender));
                }
            }
            drop(sender);
            loop {
                let mut text = String::new();
                let next = match lines.recv_timeout(LOOK_UP) {
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) if outputs.is_empty() => break,
                    Err(RecvTimeoutError::Disconnected) => {
                        std::thread::sleep(LOOK_UP);
                        None
                    }
                    Ok(next) => Some(next),
                };
                for (id, came) in next.into_iter().chain(lines.try_iter()) {
                    match came {
                        Ok(said) => text.push_str(&(self.shown)(&id, &said)),
                        Err(trouble) => {
                            place.stop.ask(CLOSED);
                            return Err(unreadable(invocation, &id, &trouble));
                        }
                    }
                }
                for output in &mut outputs {
                    output.look(place, &mut |id, said| text.push_str(&(self.shown)(id, said)));
                }
                let written = invocation.stdout.write_all(text.as_bytes()).and_then(|()| invocation.stdout.flush());
                if written.is_err() {
                    place.stop.ask(CLOSED);
                }
                if place.stop.level() != Level::Going {
                    break;
                }
            }
            Ok(match place.stop.signal() {
                // Ctrl-C is the normal end.
                None | Some(INTERRUPT | CLOSED) => Exit::Ok,
                Some(signal) => Exit::Other(128 + signal),
            })
        })
    }

    /// The output of a process or a command, from its last lines on.
    fn output(&self, (id, part): &(String, Where), place: &Place) -> Option<Output> {
        let Where::Here(subject) = part else { return None };
        let bytes = place.store.log(subject).read().unwrap_or_default();
        let starts =
            std::iter::once(0).chain(bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1));
        let starts: Vec<usize> = starts.filter(|at| *at < bytes.len()).collect();
        let first = starts.len().saturating_sub(self.tail.unwrap_or(USUAL_LINES));
        let at = starts.get(first).copied().unwrap_or(bytes.len()) as u64;
        Some(Output { id: id.clone(), subject: subject.clone(), at, pending: Vec::new() })
    }
}

type Came = (String, Result<Said, Trouble>);

fn follow_one(id: &str, deploy: &ClusterDeploy, wish: &Wish<'_>, place: &Place, sender: &Sender<Came>) {
    // The receiver is gone once the run is stopped.
    let mut say = |line: &Line| drop(sender.send((id.to_owned(), Ok(line.clone().into()))));
    if let Err(trouble) = deploy.follow_logs(wish, Doing::looking(&place.stop), &mut say)
        && trouble.cause != Cause::Stopped
    {
        let _ = sender.send((id.to_owned(), Err(trouble)));
    }
}

impl Output {
    fn look(&mut self, place: &Place, say: &mut dyn FnMut(&str, &Said)) {
        let log = place.store.log(&self.subject);
        if log.length() < self.at {
            // A new process writes a new log.
            self.at = 0;
            self.pending.clear();
        }
        let bytes = log.read_from(self.at, AT_A_TIME).unwrap_or_default();
        self.at += bytes.len() as u64;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.pending.extend_from_slice(piece);
            if let Some(line) = self.pending.strip_suffix(b"\n") {
                let text = String::from_utf8_lossy(line).trim_end_matches('\r').to_owned();
                say(&self.id, &Said { text, ..Said::default() });
                self.pending.clear();
            }
        }
    }
}

fn unreadable(invocation: &mut Invocation<'_>, id: &str, trouble: &Trouble) -> Exit {
    let _ = writeln!(invocation.stderr, "error: could not read the logs of `{id}`: {}", trouble.cause);
    Exit::Failed
}
