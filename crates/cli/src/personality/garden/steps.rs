//! Workflows, and the steps of commands: one after the other, each resolved with the results of the earlier ones.

use super::{Flags, Format, failed, open, succeeded, usage};
use crate::commands::run::{Place, garden_project};
use crate::invocation::{Exit, Invocation};
use crate::report::{Style, report};
use purlin_garden::workflows::Script;
use purlin_host::folder::{Access, Folder};
use purlin_run::action::Command;
use purlin_run::capture::Capture;
use purlin_run::executor::{Executor, Job};
use purlin_run::garden::{GardenProject, collect_secrets, plain_value};
use purlin_run::local::process::{Ended, NoStart, Stream};
use purlin_run::mask::Mask;
use purlin_run::stop::Level;
use purlin_syntax::suggest;
use purlin_value::{Map, Session, Value};
use std::path::PathBuf;

/// The default condition of a step.
const ON_SUCCESS: &str = "onSuccess";

/// The surroundings in which steps run.
pub(super) struct Stage<'s> {
    pub session: &'s Session,
    pub place: Place,
    pub mask: Mask,
    pub root: PathBuf,
    /// Environment variables that override those of this process.
    pub env: Vec<(String, String)>,
    /// Arguments that commands inherit: the environment, the variables.
    pub inherited: Vec<String>,
}

/// The result of a step.
pub(super) struct Given {
    pub outputs: Value,
    pub log: String,
    /// The error message, if it failed.
    pub problem: Option<String>,
}

/// `purlin garden workflow NAME`.
pub(super) fn workflow(
    invocation: &mut Invocation<'_>,
    flags: &Flags,
    format: Format,
    name: &str,
) -> Result<Exit, Exit> {
    let (session, request) = open(invocation, flags)?;
    let Some(project) = garden_project(invocation, &session, &request) else {
        return Err(report(invocation, &session, Style::default()));
    };
    let Some(script) = Script::workflow(project.resolution(), name) else {
        let names = project.resolution().workflows.iter().map(|workflow| workflow.name.as_str());
        let hint = suggest::did_you_mean(name, names).map(|hint| format!("; {hint}")).unwrap_or_default();
        return Err(usage(invocation, &format!("unknown workflow `{name}`{hint}")));
    };
    let mut stage = Stage::new(invocation, &session, &project, flags)?;
    stage.env.extend(texts(script.field("envVars").as_ref()));
    let written = write_files(&stage, &project, script.field("files").as_ref());
    if session.sink.has_errors() {
        return Err(report(invocation, &session, Style::default()));
    }
    written.map_err(|message| invocation.refuse(&message, Exit::Io))?;
    Ok(conclude(invocation, &stage, &script, format))
}

/// Runs all steps and reports how they ended.
pub(super) fn conclude(
    invocation: &mut Invocation<'_>,
    stage: &Stage<'_>,
    script: &Script<'_, '_>,
    format: Format,
) -> Exit {
    let (results, problems) = run_steps(invocation, stage, script);
    report(invocation, stage.session, Style::default());
    let text = match (format, problems.is_empty()) {
        (Format::Plain, _) => String::new(),
        (_, true) => succeeded(&Value::map(Map::from_iter([("steps".into(), Value::map(results))])), format),
        (_, false) => failed(&problems, format),
    };
    let _ = write!(invocation.stdout, "{text}");
    match (stage.place.stop.signal(), problems.is_empty()) {
        (Some(signal), _) => Exit::Other(128 + signal),
        (None, true) => Exit::Ok,
        (None, false) => Exit::Other(1),
    }
}

impl<'s> Stage<'s> {
    pub(super) fn new(
        invocation: &mut Invocation<'_>,
        session: &'s Session,
        project: &GardenProject<'_>,
        flags: &Flags,
    ) -> Result<Self, Exit> {
        let root = project.root();
        let place = Place::new(invocation, &root)?;
        let mask = Mask::new(project.secrets().iter().map(String::as_str));
        let mut inherited = vec!["--root".to_owned(), root.to_string_lossy().into_owned()];
        if let Some(environment) = &flags.environment {
            inherited.extend(["--env".to_owned(), environment.clone()]);
        }
        for (key, value) in &flags.vars {
            inherited.extend(["--var".to_owned(), format!("{key}=\"{}\"", value.replace('"', "\\\""))]);
        }
        Ok(Stage { session, place, mask, root, env: Vec::new(), inherited })
    }

    /// Runs a program in the project's folder and shows its output, each line after a name.
    pub(super) fn program(
        &self,
        invocation: &mut Invocation<'_>,
        name: &str,
        words: Vec<String>,
        env: Vec<(String, String)>,
    ) -> Given {
        let stderr = &mut invocation.stderr;
        self.execute(words, env, &mut |_, line| {
            let _ = writeln!(stderr, "{name} | {line}");
        })
    }

    /// The same for a program that is the whole command: its output is the output of the command.
    pub(super) fn program_alone(
        &self,
        invocation: &mut Invocation<'_>,
        words: Vec<String>,
        env: Vec<(String, String)>,
    ) -> Given {
        let (stdout, stderr) = (&mut invocation.stdout, &mut invocation.stderr);
        self.execute(words, env, &mut |stream, line| {
            let _ = match stream {
                Stream::Out => writeln!(stdout, "{line}"),
                Stream::Err => writeln!(stderr, "{line}"),
            };
        })
    }

    fn execute(&self, words: Vec<String>, env: Vec<(String, String)>, show: &mut dyn FnMut(Stream, &str)) -> Given {
        let env = self.env.iter().cloned().chain(env).collect();
        let command = Command { words, shell: false, folder: self.root.clone(), env };
        let mut capture = Capture::new(&self.mask, None);
        let job = Job { command: &command, timeout: None, stop: &self.place.stop };
        let ended = self.place.executor.execute(&job, &mut |stream, bytes| {
            capture.push(stream, bytes, &mut |line| show(stream, line));
        });
        let printed = capture.finish(&mut |line| show(Stream::Out, line));
        let (code, problem) = match ended {
            Ok(Ended::Exit(0)) => (0, None),
            Ok(Ended::Exit(code)) => (code, Some(format!("exit code {code}"))),
            Ok(Ended::Signal(signal)) => (128 + signal, Some(format!("ended by signal {signal}"))),
            Ok(Ended::TimedOut | Ended::Stopped) => (130, Some("stopped".to_owned())),
            Err(NoStart::Missing(program)) => (127, Some(format!("command `{program}` not found"))),
            Err(NoStart::Empty) => (127, Some("its command is empty".to_owned())),
            Err(NoStart::NoFolder(folder)) => (127, Some(format!("the folder `{}` does not exist", folder.display()))),
            Err(NoStart::Io(error)) => (126, Some(format!("could not start its command: {error}"))),
        };
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

    /// Runs a command of this tool.
    pub(super) fn tool(&self, invocation: &mut Invocation<'_>, words: Vec<String>) -> Given {
        let mut stdout = Vec::new();
        let mut args = words;
        args.extend(self.inherited.iter().cloned());
        args.extend(["--output".to_owned(), "json".to_owned()]);
        // Variables of a workflow are for its templates and commands; they must not choose a cluster or a cache.
        let mut project_env = invocation.project_env.clone();
        project_env.extend(self.env.iter().cloned());
        let exit = super::run(
            &mut Invocation {
                args: Vec::new(),
                cwd: self.root.clone(),
                env: invocation.env.clone(),
                project_env,
                stdin: None,
                stdout: &mut stdout,
                stderr: &mut *invocation.stderr,
                terminal: false,
                given: invocation.given.clone(),
                last: invocation.last,
                veil: invocation.veil.clone(),
            },
            &args,
        );
        let exit = exit.unwrap_or_else(|exit| exit);
        let text = String::from_utf8_lossy(&stdout).into_owned();
        let answer: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let outputs = answer.get("result").map_or_else(|| Value::map(Map::new()), plain_value);
        let problem = (exit != Exit::Ok).then(|| format!("exit code {}", exit.code()));
        Given { outputs, log: String::new(), problem }
    }
}

/// The texts of a mapping, such as environment variables.
pub(super) fn texts(value: Option<&Value>) -> Vec<(String, String)> {
    let map = value.and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
    map.map(|(key, value)| (key.to_string(), purlin_garden::expr::text_of(value).to_string())).collect()
}

/// The texts of a list, such as the words of a command.
pub(super) fn list(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_list).unwrap_or(&[]);
    items.iter().map(|item| purlin_garden::expr::text_of(item).to_string()).collect()
}

/// Writes the files of a workflow; they stay within the project.
fn write_files(stage: &Stage<'_>, project: &GardenProject<'_>, files: Option<&Value>) -> Result<(), String> {
    for file in files.and_then(Value::as_list).unwrap_or(&[]) {
        let Some(path) = file.get("path").and_then(Value::as_str) else { continue };
        if !purlin_run::local::stage::stays_inside(path) {
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
        let written = write_below(&stage.root, std::path::Path::new(path), data.as_bytes());
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

/// Runs steps. Returns the result of each, and the errors.
fn run_steps(invocation: &mut Invocation<'_>, stage: &Stage<'_>, script: &Script<'_, '_>) -> (Map, Vec<String>) {
    let names = script.step_names();
    let whens: Vec<String> = (0..names.len()).map(|index| when(&script.written_step(index))).collect();
    let mut failed_at: Vec<usize> = Vec::new();
    let mut results = Map::new();
    let mut problems = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if stage.place.stop.level() != Level::Going {
            problems.push(format!("step `{name}` was not started"));
            break;
        }
        if !takes_place(index, &whens, &failed_at) {
            continue;
        }
        let (step, is_sound) = stage.session.sink.succeeds(|| script.step(index, &results));
        // Values that a step computes from secrets may appear in the output of its commands.
        let mut secrets = Vec::new();
        collect_secrets(&step, &mut secrets);
        secrets.extend(stage.session.sink.secrets());
        invocation.veil.hide(&secrets);
        let is_true = |key: &str| step.get(key).and_then(Value::as_bool).unwrap_or(false);
        let given = if !is_sound || step.any(Value::is_poison) {
            problems.push(format!("step `{name}` could not be resolved"));
            break;
        } else if let Some((path, _)) = step.leaves().find(|(_, value)| value.is_pending()) {
            problems.push(format!("`{path}` of step `{name}` refers to something that is not known when it runs"));
            break;
        } else if is_true("skip") {
            let _ = writeln!(invocation.stderr, "{name}: skipped");
            Given { outputs: Value::map(Map::new()), log: String::new(), problem: None }
        } else {
            let _ = writeln!(invocation.stderr, "{name}: running");
            run_step(invocation, stage, name, &step)
        };
        let Given { outputs, log, problem } = given;
        let log = Value::str(log.as_str()).tainted_if(stage.mask.finds(&log));
        let number = Value::from(i64::try_from(index + 1).unwrap_or(0));
        let result = [("number".into(), number), ("outputs".into(), outputs), ("log".into(), log)];
        results.insert(name.clone(), Value::map(Map::from_iter(result)));
        if let Some(problem) = problem {
            let goes_on = is_true("continueOnError");
            let note = if goes_on { "; going on" } else { "" };
            let _ = writeln!(invocation.stderr, "{name}: failed: {problem}{note}");
            if !goes_on {
                failed_at.push(index);
                problems.push(format!("step `{name}` failed: {problem}"));
            }
        }
    }
    for problem in &problems {
        let _ = writeln!(invocation.stderr, "error: {problem}");
    }
    (results, problems)
}

fn run_step(invocation: &mut Invocation<'_>, stage: &Stage<'_>, name: &str, step: &Value) -> Given {
    let env = texts(step.get("envVars"));
    if let Some(script) = step.get("script").and_then(Value::as_str) {
        return stage.program(invocation, name, vec!["bash".into(), "-c".into(), script.to_owned()], env);
    }
    if let Some(exec) = step.get("exec") {
        let env = env.into_iter().chain(texts(exec.get("env"))).collect();
        return stage.program(invocation, name, list(exec.get("command")), env);
    }
    // Garden leaves out empty words, so that an option can depend on a condition.
    let words = step.get("command").or(step.get("gardenCommand")).and_then(Value::as_list).unwrap_or(&[]);
    let words: Vec<Value> = words.iter().filter(|word| purlin_garden::expr::is_truthy(word)).cloned().collect();
    stage.tool(invocation, list(Some(&Value::list(words))))
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
