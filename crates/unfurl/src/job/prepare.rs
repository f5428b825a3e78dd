//! Prepares an operation: a command, a computed result, another operation.

use super::Job;
use super::Request;
use super::evaluate::Reads;
use super::operation::Configurator;
use super::progress::Prepared;
use super::result::Outcome;
use super::task::Shell;
use crate::error::{Error, Kind, Result};
use crate::val::{Data, MapKey, Val};
use crate::{functions, python};
use ecow::EcoString;
use purlin_value::path;
use std::rc::Rc;

/// Subtasks that delegate to each other more often than this never end.
const MOST_DELEGATED: usize = 100;

impl Job<'_> {
    /// Evaluates the inputs of an operation.
    pub(super) fn prepare(&mut self, index: usize, request: &Request) -> Result<(Prepared, Reads)> {
        let dry_run = self.options.dry_run && !request.installs;
        match &request.operation.configurator {
            Configurator::Shell => self.prepare_shell(index, request),
            Configurator::Template => {
                let (done, mut reads) = self.evaluate(index, Vec::new(), |inputs| {
                    let can_dry_run = !dry_run || inputs.given("dryrun")?.is_some_and(|value| python::truthy(&value));
                    let chosen =
                        if dry_run { inputs.get("dryrun")?.filter(|value| value.as_map().is_some()) } else { None };
                    let run = match chosen {
                        Some(run) => Some(run),
                        None => inputs.get("run")?,
                    };
                    Ok((run, inputs.given("done")?.unwrap_or_default(), can_dry_run))
                })?;
                let (run, done, can_dry_run) = done;
                if !can_dry_run {
                    let outcome = Outcome::not_run("could not run: dry run not supported");
                    return Ok((Prepared::Nothing(outcome), reads));
                }
                let mut outcome = Outcome::of_done(&done);
                let run = run.unwrap_or_default();
                if outcome.result.is_null() {
                    let outputs = done.get("outputs").cloned().unwrap_or_default();
                    let wrapped = || Val::record([("run", run.clone()), ("outputs", outputs.clone())]);
                    outcome.result = if run.as_map().is_some() { run.clone() } else { wrapped() };
                }
                let vars = outcome.result.as_map().cloned().unwrap_or_default();
                let (updates, more) = self.result_template(index, request, vars);
                reads.attributes.extend(more);
                match updates {
                    Ok(updates) => Ok((Prepared::Computed(outcome, updates), reads)),
                    Err(error) => {
                        self.tell(index, &error);
                        outcome.success = Some(false);
                        outcome.is_reported = true;
                        Ok((Prepared::Computed(outcome, Vec::new()), reads))
                    }
                }
            }
            Configurator::Delegate => self.prepare_delegate(index, request),
            Configurator::Mock => Ok((Prepared::Nothing(Outcome::success()), Default::default())),
            _ => Ok((Prepared::Nothing(Outcome::failure("missing command to execute")), Default::default())),
        }
    }

    /// Evaluates what a template computes before the job begins; its results are computed later.
    pub(super) fn try_template(&mut self, index: usize) -> Result<()> {
        let dry_run = self.options.dry_run;
        let rendered = self.evaluate(index, Vec::new(), |inputs| {
            let dry = if dry_run { inputs.given("dryrun")? } else { None };
            if dry.is_none_or(|dry| dry.as_map().is_none()) {
                inputs.given("run")?;
            }
            Ok(())
        });
        rendered.map(|_| ())
    }

    fn prepare_delegate(&mut self, index: usize, request: &Request) -> Result<(Prepared, Reads)> {
        if self.delegating.len() >= MOST_DELEGATED {
            return Err(Error::new(Kind::Limit, "operations delegate to each other without end"));
        }
        let ((when, operation, target), reads) = self.evaluate(index, Vec::new(), |inputs| {
            let when = inputs.get("when")?.is_none_or(|when| python::truthy(&when));
            Ok((when, inputs.given("operation")?, inputs.given("target")?))
        })?;
        let own = ecow::eco_format!("{}.{}", request.operation.interface, request.operation.name);
        let operation = operation.and_then(|name| name.as_str().map(EcoString::from)).unwrap_or(own);
        let target = match target.as_ref().map(|target| &target.data) {
            None | Some(Data::Null) => request.target,
            Some(Data::Node(id)) => *id,
            Some(_) => {
                let why = "`target` of a delegated operation: expected an instance, such as `eval: ::NAME`";
                return Ok((Prepared::Refused(why.to_owned()), reads));
            }
        };
        let (interface, name) = operation.rsplit_once('.').unwrap_or(("Standard", &operation));
        let Some(mut found) = self.ensemble.operation(target, interface, name) else {
            let other = &self.ensemble.tree.node(target).name;
            return Ok((Prepared::LeftOut(format!("`{other}` has no operation `{operation}`")), reads));
        };
        if !when {
            return Ok((Prepared::Nothing(Outcome { modified: Some(false), ..Outcome::success() }), reads));
        }
        if let Some(Data::Map(given)) = request.operation.inputs.get(&MapKey::from("inputs")).map(|inputs| &inputs.data)
        {
            found.inputs.extend(given.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        let name = self.config_name(index);
        let subtask = Request {
            target,
            operation: Rc::new(found),
            reason: ecow::eco_format!("subtask: {name}"),
            workflow: None,
            group: None,
            start_state: None,
            is_final: false,
            is_skipped: false,
            task: None,
            is_complete: false,
            parent: Some(index),
            planned: self.status(target),
            installs: request.installs,
        };
        Ok((Prepared::Delegated(subtask), reads))
    }

    fn prepare_shell(&mut self, index: usize, request: &Request) -> Result<(Prepared, Reads)> {
        let dry_run = self.options.dry_run && !request.installs;
        let folder = self.ensemble.manifest.folder.clone();
        let root = self.session.world.root().to_owned();
        let operation = Rc::clone(&request.operation);
        let (found, reads) = self.evaluate(index, Vec::new(), |inputs| {
            let command = inputs.given("command")?;
            let dry = inputs.given("dryrun")?;
            if dry_run && !dry.as_ref().is_some_and(python::truthy) {
                return Ok(Err("could not run: dry run not supported".to_owned()));
            }
            let Some(command) = command.filter(python::truthy) else {
                return Ok(Err("could not run: configurator declined: missing command to execute".to_owned()));
            };
            let text = |value: &Val| inputs.ctx.text(value).map(|text| text.to_string());
            let cwd = inputs.given("cwd")?.map(|cwd| text(&cwd)).transpose()?;
            let folder = match cwd {
                Some(cwd) if path::is_absolute(&cwd) => path::within(&root, &path::normalize(&cwd)).to_owned(),
                Some(cwd) => path::join(&folder, &cwd),
                None => folder.clone(),
            };
            let dry = dry.filter(|_| dry_run).and_then(|dry| dry.as_str().map(str::to_owned));
            let (words, is_line) = match &command.data {
                Data::List(items) => (items.iter().map(&text).collect::<Result<Vec<_>>>()?, false),
                _ => (vec![text(&command)?], true),
            };
            let words = with_dry_run(words, is_line, dry.as_deref());
            let shell = inputs.get("shell")?;
            let keep_lines = inputs.get("keeplines")?.is_some_and(|keep| python::truthy(&keep));
            let shell = match shell.as_ref().map(|shell| &shell.data) {
                None | Some(Data::Null) => is_line.then(String::new),
                Some(Data::Str(program)) if !program.is_empty() => Some(program.to_string()),
                Some(_) => shell.as_ref().is_some_and(python::truthy).then(String::new),
            };
            let line = match is_line && !keep_lines {
                true => words.join(" ").replace('\n', " "),
                false => words.join(" "),
            };
            let words = match (shell.is_some(), is_line) {
                (true, _) => vec![line.clone()],
                (false, true) => split_words(&line).ok_or_else(|| {
                    Error::new(Kind::Value, format!("the command `{line}` has a quote that is not closed"))
                })?,
                (false, false) => words,
            };
            let env = match &operation.environment {
                Some(rules) => functions::environment::for_command(inputs.ctx, Some(rules))?,
                None => functions::environment::for_command(inputs.ctx, None)?,
            };
            Ok(Ok((words, shell, folder, env, command, line)))
        })?;
        let (words, shell, folder, env, command, line) = match found {
            Ok(found) => found,
            Err(why) => return Ok((Prepared::Nothing(Outcome::not_run(&why)), reads)),
        };
        // A dry run changes nothing: artifacts to install count as installed.
        if request.installs && self.options.dry_run {
            return Ok((Prepared::Nothing(Outcome { modified: Some(true), ..Outcome::success() }), reads));
        }
        let hidden = env.iter().filter_map(|(_, value)| value.as_ref()).filter(|value| value.is_tainted());
        let secrets: Vec<String> = hidden.filter_map(|value| value.as_str().map(str::to_owned)).collect();
        let text = |value: Option<Val>| value.map(|value| value.as_str().unwrap_or_default().to_owned());
        let shell = Shell {
            id: format!("{}.{}", self.ensemble.tree.node(request.target).name, request.operation.name),
            words,
            shell,
            env: env.into_iter().map(|(name, value)| (name, text(value))).collect(),
            folder,
            timeout: request
                .operation
                .timeout
                .and_then(|seconds| u64::try_from(seconds).ok())
                .filter(|seconds| *seconds > 0),
            secrets,
            span: request.operation.span,
        };
        Ok((Prepared::Command(Box::new(shell), command, line), reads))
    }
}

/// A command with the argument for a dry run, or without its place.
fn with_dry_run(mut words: Vec<String>, is_line: bool, dry: Option<&str>) -> Vec<String> {
    const PLACE: &str = "%dryrun%";
    if is_line {
        let line = words.concat();
        return vec![match dry {
            Some(dry) if line.contains(PLACE) => line.replace(PLACE, dry),
            Some(dry) => format!("{line} {dry}"),
            None => line.replace(PLACE, ""),
        }];
    }
    match (words.iter().position(|word| word == PLACE), dry) {
        (Some(at), Some(dry)) => {
            if let Some(word) = words.get_mut(at) {
                dry.clone_into(word);
            }
        }
        (Some(at), None) => {
            words.remove(at);
        }
        (None, Some(dry)) => words.push(dry.to_owned()),
        (None, None) => {}
    }
    words
}

/// The words of a line without quotes; none if a quote is not closed.
fn split_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\') => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_line_is_cut_into_words_as_a_shell_does() {
        let words = |line| split_words(line).unwrap();
        assert_eq!(words(r#"echo 'a b' "c \"d\"" e\ f"#), ["echo", "a b", "c \"d\"", "e f"]);
        assert_eq!(words(r#"x "" "a\n""#), ["x", "", "a\\n"]);
        assert_eq!(split_words("echo 'a"), None);
    }
}
