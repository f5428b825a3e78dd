//! A TOSCA service as a Deploy: scripts of operations run one after the other, each node after its requirements.
//!
//! The inputs and outputs of an operation are a result in the journal. `create` and `start` run once, until the service
//! is taken down; other operations run again when their inputs have changed.

use super::{Place, other, outputs, problems};
use crate::action::Command;
use crate::capture::Capture;
use crate::event::Cause;
use crate::executor::Job as Process;
use crate::local::process::{Ended, NoStart};
use crate::mask::Mask;
use crate::outputs::{self as left, Outputs};
use crate::past::StateOf;
use crate::store::{Ending, Record, Store};
use crate::work::{Doing, Trouble, Work};
use purlin_host::named;
use purlin_model::Ask;
use purlin_syntax::write::JsonLayout;
use purlin_tosca::operate::{Service, Step};
use purlin_value::world::WorldError;
use purlin_value::{Secrets, Session, Value, emit};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Operations that are done once.
const ONCE: &[&str] = &["create", "start", "add_target", "add_source"];

/// The variable with the folder for outputs of operations, one file each.
const OUTPUT_FOLDER: &str = "TOSCA_OUTPUTS_PATH";

/// A Deploy of a service.
#[derive(Debug)]
pub struct ServiceDeploy(pub Place);

/// The inputs of an operation: environment variables, and the secret texts among them.
struct Given {
    env: Vec<(String, String)>,
    secrets: Vec<String>,
    version: String,
    /// A digest of the script.
    script: Vec<u8>,
}

impl ServiceDeploy {
    fn with<T: Send>(&self, work: impl FnOnce(&Session, Service) -> Result<T, Trouble> + Send) -> Result<T, Trouble> {
        self.0.with(|session| {
            let ask = Ask { path: &self.0.path, request: self.0.request(), values: self.0.inputs.clone(), span: None };
            let Some(service) = Service::open(session, &ask) else {
                return Err(problems(session, "the service is invalid"));
            };
            service.hide_secrets(session);
            work(session, service)
        })
    }

    /// The steps that bring the service up; an operation that cannot be run is an error before anything runs.
    fn steps(session: &Session, service: &Service) -> Result<Vec<Step>, Trouble> {
        match session.sink.succeeds(|| service.up(session)) {
            (steps, true) => Ok(steps),
            (_, false) => Err(problems(session, "its operations cannot be run")),
        }
    }

    fn record_id(&self, step: &Step) -> String {
        match self.0.environment.as_str() {
            "" => format!("{}/{}", self.0.id, step.id),
            environment => format!("{}@{environment}/{}", self.0.id, step.id),
        }
    }

    fn given(&self, session: &Session, service: &Service, step: &Step) -> Result<Given, Trouble> {
        let mut env: Vec<(String, String)> =
            step.names.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let mut secrets = Vec::new();
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        let script = script(session, step)?;
        add(&script);
        env.iter().for_each(|(name, value)| {
            add(name.as_bytes());
            add(value.as_bytes());
        });
        for (name, value) in service.inputs(session, step) {
            if value.any(|part| part.is_pending() || part.is_poison()) {
                return Err(other(&format!("`{}`: the input `{name}` is not known", step.id)));
            }
            let text = text(&value);
            if value.any(Value::is_tainted) {
                secrets.push(text.clone());
            }
            add(name.as_bytes());
            add(text.as_bytes());
            env.push((name.to_string(), text));
        }
        secrets.extend(session.sink.secrets());
        let version: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Ok(Given { env, secrets, version, script })
    }

    /// The earlier result to reuse.
    fn earlier(&self, store: &Store, step: &Step, given: &Given) -> Option<Outputs> {
        let last = store.last(&self.record_id(step)).filter(|last| last.ending == Ending::Done)?;
        let is_once = ONCE.contains(&step.operation.as_str());
        (is_once || last.version == given.version).then(|| store.outputs(&last).unwrap_or_default())
    }

    fn run(&self, store: &Store, step: &Step, given: &Given, doing: Doing<'_>) -> Result<Outputs, Trouble> {
        let folder = self.0.root().join(Path::new(&step.file).parent().unwrap_or(Path::new(".")));
        let file = self.0.root().join(&step.file);
        let is_program = named::metadata(&file).is_ok_and(|known| {
            use std::os::unix::fs::PermissionsExt;
            known.permissions().mode() & 0o111 != 0
        });
        let file = file.to_string_lossy().into_owned();
        let words = if is_program { vec![file] } else { vec!["sh".to_owned(), file] };
        let scratch =
            store.scratch().map_err(|error| other(&format!("could not create a folder for outputs: {error}")))?;
        let mut env = given.env.clone();
        env.push((OUTPUT_FOLDER.to_owned(), scratch.path().to_string_lossy().into_owned()));
        let command = Command { words, shell: false, folder, env };
        let mask = Mask::new(given.secrets.iter().map(String::as_str));
        let mut capture = Capture::new(&mask, Some(store.log(&self.record_id(step))));
        let own = step.timeout.map(Duration::from_secs);
        let process = Process { command: &command, timeout: doing.patience(own), stop: doing.stop };
        let say = |text: &str| (doing.say)(&format!("{} | {text}", step.id));
        let local = self.0.executor();
        let executor = doing.executor.unwrap_or(&local);
        let ended = executor.execute(&process, &mut |stream, bytes| capture.push(stream, bytes, &mut |line| say(line)));
        let printed = capture.finish(&mut |line| say(line));
        let cause = match ended {
            Ok(Ended::Exit(0)) => None,
            Ok(Ended::Exit(code)) => Some(Cause::Exit(code)),
            Ok(Ended::Signal(signal)) => Some(Cause::Signal(signal)),
            Ok(Ended::TimedOut) => Some(Cause::TimedOut(doing.passed(own))),
            Ok(Ended::Stopped) => return Err(Trouble { cause: Cause::Stopped, tail: Vec::new() }),
            Err(NoStart::Missing(name)) => Some(Cause::NoProgram(name)),
            Err(NoStart::Io(error)) => Some(Cause::Other(format!("could not start it: {error}"))),
            Err(_) => Some(Cause::Other("could not start it".to_owned())),
        };
        if let Some(cause) = cause {
            return Err(Trouble { cause: Cause::Other(format!("`{}`: {cause}", step.id)), tail: printed.tail });
        }
        let (outputs, skipped) = left::read(scratch.path()).map_err(|why| other(&why))?;
        skipped.iter().for_each(|text| (doing.say)(&format!("{}: warning: {text}; it is left out", step.id)));
        Ok(outputs)
    }

    /// Runs an operation and keeps its result. Outputs that contain a secret are used and not kept.
    fn perform_step(
        &self,
        session: &Session,
        store: &Store,
        (step, given): (&Step, &Given),
        doing: Doing<'_>,
    ) -> Result<Outputs, Trouble> {
        let began = SystemTime::now();
        let done = self.run(store, step, given, doing);
        let is_same = script(session, step).is_ok_and(|now| now == given.script);
        if !is_same {
            let file = &step.file;
            (doing.say)(&format!("{}: warning: `{file}` changed during the run, so this result is not kept", step.id));
        }
        let mask = Mask::new(given.secrets.iter().map(String::as_str));
        let is_secret =
            |outputs: &Outputs| outputs.values().any(|value| value.as_str().is_some_and(|text| mask.finds(text)));
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let (ending, outputs) = match &done {
            Ok(outputs) => (Ending::Done, (!is_secret(outputs)).then(|| outputs.clone())),
            Err(trouble) => (Ending::Failed(mask.text(&trouble.cause.to_string())), None),
        };
        let record = Record {
            id: self.record_id(step),
            version: if is_same { given.version.clone() } else { String::new() },
            ending,
            outputs,
            object: None,
            made: None,
            started: millis(began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()),
            took: millis(began.elapsed().unwrap_or_default()),
        };
        store.keep(record).map_err(|error| other(&format!("could not write its result: {error}")))?;
        done
    }

    /// Visits all operations; those without an earlier result are passed to `run`, which returns their outputs, or
    /// `None` to stop there.
    fn walk(
        &self,
        session: &Session,
        service: &mut Service,
        store: &Store,
        mut run: impl FnMut(&Step, &Given) -> Result<Option<Outputs>, Trouble>,
    ) -> Result<bool, Trouble> {
        for step in Self::steps(session, service)? {
            let given = self.given(session, service, &step)?;
            let left = match self.earlier(store, &step, &given) {
                Some(outputs) => outputs,
                None => match run(&step, &given)? {
                    Some(outputs) => outputs,
                    None => return Ok(false),
                },
            };
            let values: Vec<(String, Value)> =
                left.iter().map(|(name, json)| (name.clone(), crate::garden::plain_value(json))).collect();
            service.learn(session, &step, &values);
        }
        Ok(true)
    }
}

impl Work for ServiceDeploy {
    fn is_done(&self, _: Doing<'_>) -> Result<Option<Outputs>, Trouble> {
        self.with(|session, mut service| {
            let store = self.0.store()?;
            let is_done = self.walk(session, &mut service, &store, |_, _| Ok(None))?;
            Ok(is_done.then(|| outputs(&service.resolved(session))))
        })
    }

    fn perform(&self, doing: Doing<'_>) -> Result<Outputs, Trouble> {
        self.with(|session, mut service| {
            let store = self.0.store()?;
            self.walk(session, &mut service, &store, |step, given| {
                if !doing.goes_on() {
                    return Err(Trouble { cause: Cause::Stopped, tail: Vec::new() });
                }
                let outputs = self.perform_step(session, &store, (step, given), doing)?;
                (doing.say)(&format!("{}: done", step.id));
                Ok(Some(outputs))
            })?;
            Ok(outputs(&service.resolved(session)))
        })
    }

    fn undo(&self, doing: Doing<'_>) -> Result<bool, Trouble> {
        self.with(|session, mut service| {
            let store = self.0.store()?;
            // Outputs of operations are available to the operations that undo them.
            let _ = self.walk(session, &mut service, &store, |_, _| Ok(Some(Outputs::new())))?;
            let up = service.up(session);
            let was_run = |node: &str| {
                up.iter().any(|step| service.node(step) == node && store.last(&self.record_id(step)).is_some())
            };
            for step in service.down(session).iter().filter(|step| was_run(service.node(step))) {
                let given = self.given(session, &service, step)?;
                self.run(&store, step, &given, doing)?;
                (doing.say)(&format!("{}: done", step.id));
            }
            for step in &up {
                let id = self.record_id(step);
                if store.last(&id).is_some() {
                    store.forget(&id).map_err(|error| other(&format!("could not write the journal: {error}")))?;
                }
            }
            Ok(true)
        })
    }

    fn state(&self, _: Doing<'_>) -> StateOf {
        let found = self.with(|session, mut service| {
            let store = self.0.store()?;
            let has_run = service.up(session).iter().any(|step| store.last(&self.record_id(step)).is_some());
            let is_done = self.walk(session, &mut service, &store, |_, _| Ok(None))?;
            Ok(match (is_done, has_run) {
                (true, _) => StateOf::Done,
                (false, false) => StateOf::NeverRun,
                (false, true) => StateOf::Outdated("the service changed since it was deployed".to_owned()),
            })
        });
        found.unwrap_or_else(|trouble| StateOf::Unknown(trouble.cause.to_string()))
    }

    fn leaves_nothing(&self, _: Doing<'_>) -> bool {
        self.with(|session, service| Ok(service.up(session).is_empty())).unwrap_or(false)
    }
}

/// A digest of the script of a step, and of whether it is executable.
fn script(session: &Session, step: &Step) -> Result<Vec<u8>, Trouble> {
    let unreadable = |error: WorldError| other(&format!("could not read `{}`: {}", step.file, error.reason()));
    let mut hash = Sha256::new();
    session.world.read_in_pieces(&step.file, &mut |_, piece| hash.update(piece)).map_err(unreadable)?;
    hash.update([u8::from(session.world.stat(&step.file).map_err(unreadable)?.executable)]);
    Ok(hash.finalize().to_vec())
}

/// A value as passed to a script: strings unchanged, everything else as JSON.
fn text(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => emit::to_json(value, Secrets::Reveal, JsonLayout::Compact).unwrap_or_default(),
    }
}
