//! Workflows, and the steps of commands: one after the other, each resolved with the results of the earlier ones.
//!
//! A step is a program, or a command of the tool itself, which the surface runs. It must not know arguments.

use crate::action::Command;
use crate::capture::Capture;
use crate::executor::{Executor, Job};
use crate::garden::{GardenProject, collect_secrets, plain_value};
use crate::local::process::{Ended, NoStart, Stream};
use crate::mask::Mask;
use crate::stop::{Level, Stop};
use purlin_garden::workflows::Script;
use purlin_host::folder::{Access, Folder};
use purlin_value::{Map, Session, Value};
use serde_json::Value as Json;
use std::path::PathBuf;

/// The default condition of a step.
const ON_SUCCESS: &str = "onSuccess";

/// What steps need of the command that runs them.
pub trait Surface {
    /// Shows a line.
    fn say(&mut self, line: &str);
    /// From now on all output hides these texts.
    fn hide(&mut self, secrets: &[String]);
    /// Runs a command of this tool with further variables. Returns its result and its exit code.
    fn command(&mut self, words: Vec<String>, env: &[(String, String)]) -> (Json, i32);
}

/// The surroundings in which steps run.
pub struct Stage<'s> {
    session: &'s Session,
    executor: &'s dyn Executor,
    stop: &'s Stop,
    mask: Mask,
    root: PathBuf,
    /// Environment variables that override those of this process.
    env: Vec<(String, String)>,
}

/// The result of a step.
pub struct Given {
    /// Its outputs.
    pub outputs: Value,
    log: String,
    /// The error message, if it failed.
    pub problem: Option<String>,
}

/// How a workflow ended.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// The result of each step that ran, by name.
    pub results: Map,
    /// What went wrong.
    pub problems: Vec<String>,
}

impl GardenProject<'_> {
    /// The names of the workflows.
    pub(super) fn workflow_names(&self) -> Vec<String> {
        self.resolution().workflows.iter().map(|workflow| workflow.name.to_string()).collect()
    }

    /// Runs the steps of a workflow; `None` if there is none of this name.
    pub(super) fn run_steps_of(
        &self,
        name: &str,
        (executor, stop): (&dyn Executor, &Stop),
        surface: &mut dyn Surface,
    ) -> Option<Steps> {
        let script = Script::workflow(self.resolution(), name)?;
        let (env, is_sound) = self.session().sink.succeeds(|| texts(script.field("envVars").as_ref()));
        let (files, are_sound) = self.session().sink.succeeds(|| script.field("files"));
        let problem = match is_sound && are_sound {
            true => write_files(self, files.as_ref()).err(),
            false => Some(format!("workflow `{name}` could not be resolved")),
        };
        if let Some(problem) = problem {
            surface.say(&format!("error: {problem}"));
            return Some(Steps { problems: vec![problem], ..Steps::default() });
        }
        Some(Stage { env, ..Stage::new(self, executor, stop) }.run(&script, surface))
    }
}

impl<'s> Stage<'s> {
    /// A stage in the project's folder.
    pub fn new(project: &GardenProject<'s>, executor: &'s dyn Executor, stop: &'s Stop) -> Self {
        let mask = Mask::new(project.secrets.iter().map(String::as_str));
        Stage { session: project.session(), executor, stop, mask, root: project.root(), env: Vec::new() }
    }

    /// Runs a program in the project's folder. Each line of its output is shown.
    pub fn program(&self, words: Vec<String>, env: Vec<(String, String)>, show: &mut dyn FnMut(Stream, &str)) -> Given {
        let env = self.env.iter().cloned().chain(env).collect();
        let command = Command { words, shell: false, folder: self.root.clone(), env };
        let mut capture = Capture::new(&self.mask, None);
        let job = Job { command: &command, timeout: None, stop: self.stop };
        let ended = self.executor.execute(&job, &mut |stream, bytes| {
            capture.push(stream, bytes, &mut |line| show(stream, line));
        });
        let printed = capture.finish(&mut |line| show(Stream::Out, line));
        let (code, problem) = judged(ended);
        let log = format!("{}\n{}", printed.out, printed.err).trim().to_owned();
        let text = |text: &str| Value::str(text).tainted_if(self.mask.finds(text));
        let outputs = Map::from_iter([
            ("exitCode".into(), Value::from(i64::from(code))),
            ("stdout".into(), text(&printed.out)),
            ("stderr".into(), text(&printed.err)),
            ("log".into(), text(&log)),
        ]);
        Given { outputs: Value::map(outputs), log, problem }
    }

    /// Runs the steps of a script.
    pub fn run(&self, script: &Script<'_, '_>, surface: &mut dyn Surface) -> Steps {
        let names = script.step_names();
        let whens: Vec<String> = (0..names.len()).map(|index| when(&script.written_step(index))).collect();
        let mut failed_at: Vec<usize> = Vec::new();
        let mut done = Steps::default();
        for (index, name) in names.iter().enumerate() {
            if self.stop.level() != Level::Going {
                done.problems.push(format!("step `{name}` was not started"));
                break;
            }
            if !takes_place(index, &whens, &failed_at) {
                continue;
            }
            let (step, is_sound) = self.session.sink.succeeds(|| script.step(index, &done.results));
            // Values that a step computes from secrets may appear in the output of its commands.
            let mut secrets = Vec::new();
            collect_secrets(&step, &mut secrets);
            secrets.extend(self.session.sink.secrets());
            surface.hide(&secrets);
            if let Some(problem) = unresolved(name, &step, is_sound) {
                done.problems.push(problem);
                break;
            }
            let Given { outputs, log, problem } = self.step(name, &step, surface);
            let log = Value::str(log.as_str()).tainted_if(self.mask.finds(&log));
            let number = Value::from(i64::try_from(index + 1).unwrap_or(0));
            let result = [("number".into(), number), ("outputs".into(), outputs), ("log".into(), log)];
            done.results.insert(name.clone(), Value::map(Map::from_iter(result)));
            let Some(problem) = problem else { continue };
            let goes_on = is_true(&step, "continueOnError");
            let note = if goes_on { "; going on" } else { "" };
            surface.say(&format!("{name}: failed: {problem}{note}"));
            if !goes_on {
                failed_at.push(index);
                done.problems.push(format!("step `{name}` failed: {problem}"));
            }
        }
        done.problems.iter().for_each(|problem| surface.say(&format!("error: {problem}")));
        done
    }

    /// Runs one resolved step, or skips it.
    fn step(&self, name: &str, step: &Value, surface: &mut dyn Surface) -> Given {
        if is_true(step, "skip") {
            surface.say(&format!("{name}: skipped"));
            return Given { outputs: Value::map(Map::new()), log: String::new(), problem: None };
        }
        surface.say(&format!("{name}: running"));
        let env = texts(step.get("envVars"));
        let mut show = |_: Stream, line: &str| surface.say(&format!("{name} | {line}"));
        if let Some(script) = step.get("script").and_then(Value::as_str) {
            return self.program(vec!["bash".into(), "-c".into(), script.to_owned()], env, &mut show);
        }
        if let Some(exec) = step.get("exec") {
            let env = env.into_iter().chain(texts(exec.get("env"))).collect();
            return self.program(list(exec.get("command")), env, &mut show);
        }
        // Garden leaves out empty words, so that an option can depend on a condition.
        let words = step.get("command").or(step.get("gardenCommand")).and_then(Value::as_list).unwrap_or(&[]);
        let words: Vec<Value> = words.iter().filter(|word| purlin_garden::expr::is_truthy(word)).cloned().collect();
        let (result, code) = surface.command(list(Some(&Value::list(words))), &self.env);
        let outputs = if result.is_null() { Value::map(Map::new()) } else { plain_value(&result) };
        let problem = (code != 0).then(|| format!("exit code {code}"));
        Given { outputs, log: String::new(), problem }
    }
}

/// The exit code of a program, and the problem if it did not end well.
fn judged(ended: Result<Ended, NoStart>) -> (i32, Option<String>) {
    match ended {
        Ok(Ended::Exit(0)) => (0, None),
        Ok(Ended::Exit(code)) => (code, Some(format!("exit code {code}"))),
        Ok(Ended::Signal(signal)) => (128 + signal, Some(format!("ended by signal {signal}"))),
        Ok(Ended::TimedOut | Ended::Stopped) => (130, Some("stopped".to_owned())),
        Err(NoStart::Missing(program)) => (127, Some(format!("command `{program}` not found"))),
        Err(NoStart::Empty) => (127, Some("its command is empty".to_owned())),
        Err(NoStart::NoFolder(folder)) => (127, Some(format!("the folder `{}` does not exist", folder.display()))),
        Err(NoStart::Io(error)) => (126, Some(format!("could not start its command: {error}"))),
    }
}

/// Why a step cannot run, if something in it is not known.
fn unresolved(name: &str, step: &Value, is_sound: bool) -> Option<String> {
    if !is_sound || step.any(Value::is_poison) {
        return Some(format!("step `{name}` could not be resolved"));
    }
    let (path, _) = step.leaves().find(|(_, value)| value.is_pending())?;
    Some(format!("`{path}` of step `{name}` refers to something that is not known when it runs"))
}

fn is_true(step: &Value, key: &str) -> bool {
    step.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// The texts of a mapping, such as environment variables.
pub fn texts(value: Option<&Value>) -> Vec<(String, String)> {
    let map = value.and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
    map.map(|(key, value)| (key.to_string(), purlin_garden::expr::text_of(value).to_string())).collect()
}

/// The texts of a list, such as the words of a command.
pub fn list(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_list).unwrap_or(&[]);
    items.iter().map(|item| purlin_garden::expr::text_of(item).to_string()).collect()
}

/// Writes the files of a workflow; they stay within the project.
fn write_files(project: &GardenProject<'_>, files: Option<&Value>) -> Result<(), String> {
    for file in files.and_then(Value::as_list).unwrap_or(&[]) {
        let Some(path) = file.get("path").and_then(Value::as_str) else { continue };
        if !crate::local::stage::stays_inside(path) {
            return Err(format!("the file `{path}` of the workflow is outside of the project"));
        }
        let secrets = project.resolution().secrets();
        let secret = file.get("secretName").and_then(Value::as_str);
        let data = match (file.get("data").and_then(Value::as_str), secret) {
            (Some(data), _) => data.to_owned(),
            (None, Some(name)) => match secrets.get(name).and_then(Value::as_str) {
                Some(data) => data.to_owned(),
                None => return Err(format!("the file `{path}` needs the secret `{name}`, which does not exist")),
            },
            (None, None) => continue,
        };
        let written = write_below(&project.root(), std::path::Path::new(path), data.as_bytes());
        written.map_err(|error| format!("could not write the file `{path}`: {error}"))?;
    }
    Ok(())
}

/// Writes a file below a folder, reached without following a link; only the user may read it.
fn write_below(root: &std::path::Path, path: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    let name = path.file_name().ok_or(std::io::ErrorKind::InvalidInput)?;
    let parent = path.parent().unwrap_or(std::path::Path::new(""));
    Folder::open(root)?.make_below(parent, Access::Usual)?.replace(name, bytes, 0o600)
}

fn when(step: &Value) -> String {
    step.get("when").and_then(Value::as_str).unwrap_or(ON_SUCCESS).to_owned()
}

/// Whether a step runs: after a failure, only `onError` steps and `always`. The `onError` steps of a failure are those
/// that follow it, up to the next step of another kind.
fn takes_place(index: usize, whens: &[String], failed_at: &[usize]) -> bool {
    let kind = |at: usize| whens.get(at).map_or(ON_SUCCESS, String::as_str);
    let last_error = failed_at.iter().copied().filter(|at| kind(*at) != "onError").max();
    match (kind(index), last_error) {
        ("always", _) => true,
        ("never", _) => false,
        ("onError", None) => false,
        ("onError", Some(error)) => {
            let handled = (error + 1..index).find(|at| kind(*at) == "onError");
            let is_other = |at: usize| !matches!(kind(at), "never" | "onError");
            !handled.is_some_and(|first| (first + 1..index).any(is_other))
        }
        (_, error) => error.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::takes_place;

    fn ran(whens: &[&str], failing: &[usize]) -> Vec<usize> {
        let whens: Vec<String> = whens.iter().map(|when| (*when).to_owned()).collect();
        let mut failed_at = Vec::new();
        let mut ran = Vec::new();
        for index in 0..whens.len() {
            if takes_place(index, &whens, &failed_at) {
                ran.push(index);
                failed_at.extend(failing.contains(&index).then_some(index));
            }
        }
        ran
    }

    #[test]
    fn steps_for_a_failure_run_after_it_and_only_then() {
        let whens = ["onSuccess", "onError", "onSuccess", "onError", "onError", "always", "never", "onError"];
        assert_eq!(ran(&whens, &[]), [0, 2, 5]);
        assert_eq!(ran(&whens, &[0]), [0, 1, 5]);
        assert_eq!(ran(&whens, &[2]), [0, 2, 3, 4, 5]);
        assert_eq!(ran(&whens, &[5]), [0, 2, 5, 7]);
    }
}
