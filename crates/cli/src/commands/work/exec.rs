//! `purlin exec`: a command in a container of a Deploy.

use crate::commands::Context;
use crate::commands::logs::named;
use crate::commands::run::{Place, clusters, detected, open, opening};
use crate::invocation::{Exit, Invocation};
use crate::run_args::ExecFlags;
use purlin_cluster::stream::exec::{Command, Ends, Input};
use purlin_run::cluster::ClusterDeploy;
use purlin_run::engine::Project;
use purlin_run::event::Cause;
use purlin_run::open::{Forest, Purpose, Room};
use purlin_run::terminal::{self, Raw};
use purlin_run::work::Doing;
use std::io::{Read, Write};
use std::os::fd::AsFd;

/// The largest input that is read before a command begins, where it does not come from a descriptor.
const LARGEST_INPUT: u64 = 64 << 20;

pub(in crate::commands) fn run(cx: &mut Context<'_, '_>, flags: &ExecFlags) -> Result<Exit, Exit> {
    if flags.terminal && !(cx.invocation.last && terminal::is_there()) {
        return Err(cx.usage("`--terminal` needs a terminal; leave it out to read from a pipe or a file"));
    }
    let (session, request, row) = detected(cx, "exec", &flags.path, &flags.target)?;
    let opening = opening(cx, Purpose::Look, false, clusters(cx, &flags.target, &flags.cluster, false));
    let forest = Forest::new();
    let room = Room::new(&forest);
    let project = open(cx, row, &room, (&session, &request), &opening)?;
    let at = named(project.as_ref(), &flags.node).map_err(|message| cx.usage(&message))?;
    let asked = Asked {
        words: flags.command.clone(),
        container: flags.container.clone(),
        with_input: flags.interactive || flags.terminal,
        with_terminal: flags.terminal,
    };
    asked.run(cx.invocation, project.as_ref(), at)
}

/// A command, and how it is connected.
pub(crate) struct Asked {
    pub words: Vec<String>,
    pub container: Option<String>,
    /// Whether it gets our standard input.
    pub with_input: bool,
    /// Whether it gets a terminal: ours.
    pub with_terminal: bool,
}

impl Asked {
    /// Runs the command in a container of a Deploy. Its exit code is ours.
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>, project: &dyn Project, at: usize) -> Result<Exit, Exit> {
        let id = project.nodes().get(at).map(|node| node.id.clone()).unwrap_or_default();
        match project.prepare(at) {
            Ok(action) => invocation.veil.hide(&action.secrets),
            Err(failure) => {
                return Err(invocation.refuse(&format!("`{id}` cannot be resolved: {}", failure.cause), Exit::Invalid));
            }
        }
        let Some(deploy) = project.cluster_deploy(at) else {
            let message = format!("`{id}` runs no container: `exec` is for Deploys that go to a cluster");
            return Err(invocation.refuse(&message, Exit::Usage));
        };
        let place = Place::new(invocation, &project.root())?;
        let raw = self.with_terminal.then(Raw::begin).flatten();
        let ended = self.connect(invocation, &deploy, &place);
        drop(raw);
        match ended {
            Ok(code) => Ok(if code == 0 { Exit::Ok } else { Exit::Other(code) }),
            Err(trouble) if trouble.cause == Cause::Stopped => {
                Err(Exit::Other(128 + place.stop.signal().unwrap_or_default()))
            }
            Err(trouble) => {
                let message = format!("could not run the command in `{id}`: {}", trouble.cause);
                Err(invocation.refuse(&message, Exit::Failed))
            }
        }
    }

    fn connect(
        &self,
        invocation: &mut Invocation<'_>,
        deploy: &ClusterDeploy,
        place: &Place,
    ) -> Result<i32, purlin_run::work::Trouble> {
        let container = self.container.clone().unwrap_or_default();
        let words = self.words.clone();
        let command = Command { words, container, terminal: self.with_terminal, ..Command::default() };
        let mut given = Vec::new();
        if let Some(stdin) = invocation.stdin.as_mut().filter(|_| self.with_input) {
            let _ = stdin.take(LARGEST_INPUT).read_to_end(&mut given);
        }
        let stdin = std::io::stdin();
        let mut read = || terminal::read(stdin.as_fd());
        let input = match (self.with_input, invocation.stdin.is_some()) {
            (false, _) => Input::Nothing,
            (true, true) => Input::Bytes(&given),
            (true, false) => Input::Live(stdin.as_fd(), &mut read),
        };
        let veil = invocation.veil.clone();
        // A terminal shows what a program draws on it, so its bytes go there as they are, but for secrets.
        let mut screen = veil.over(std::io::stdout());
        let (stdout, stderr) = (&mut *invocation.stdout, &mut *invocation.stderr);
        let mut out = |bytes: &[u8]| {
            let to: &mut dyn Write = if self.with_terminal { &mut screen } else { &mut *stdout };
            // A closed reader does not stop a command.
            let _ = to.write_all(bytes).and_then(|()| to.flush());
        };
        let mut err = |bytes: &[u8]| drop(stderr.write_all(bytes).and_then(|()| stderr.flush()));
        let size = || if self.with_terminal { terminal::size() } else { None };
        let ends = Ends { input, out: &mut out, err: &mut err, size: &size };
        deploy.exec(&command, ends, Doing::looking(&place.stop))
    }
}
