//! Builds an image: is it there? if not, its build command, then what is pushed, and what came of it.

use super::builder::{Builder, Files, metadata_digest, printed_digest};
use super::{Image, SecretValue};
use crate::action::{Action, Command};
use crate::capture::Capture;
use crate::event::{Cause, End, Event, Failure};
use crate::executor::Job;
use crate::local::process::{Ended, Stream};
use crate::mask::Mask;
use crate::perform::{Performed, Performer, Report, cause_of, secret_names};
use serde_json::Value as Json;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Instant;

impl Performer<'_> {
    /// What stands for a new build: an image of the same name that is still on this machine. Where it is pushed, it
    /// must have been pushed by an earlier run.
    pub(crate) fn image_is_there(
        &self,
        action: &Action,
        image: &Image,
        mask: &Mask,
        report: Report<'_>,
    ) -> Result<Option<Performed>, Failure> {
        let earlier = self.earlier(action);
        if earlier.is_none() && !image.push.is_empty() {
            return Ok(None);
        }
        let builder = self.builder(action)?;
        // What is only in a registry is not asked for there: its record is what is known.
        if builder.pushes_itself(image) {
            return Ok(earlier);
        }
        let Some(tag) = image.tags.first() else { return Ok(None) };
        let command = self.tool(builder.exists(tag), image, Vec::new());
        let outcome = self.command(action, &command, action.timeout, mask, None, report)?;
        if outcome.ended != Ended::Exit(0) {
            return Ok(None);
        }
        Ok(Some(earlier.unwrap_or_else(|| (End::Ready, image.outputs.clone(), Vec::new()))))
    }

    fn builder(&self, action: &Action) -> Result<Builder, Failure> {
        self.executor.builder().map_err(|why| self.failure(action, Cause::Other(why)))
    }

    fn tool(&self, words: Vec<String>, image: &Image, env: Vec<(String, String)>) -> Command {
        let folder = if image.context.is_dir() { image.context.clone() } else { "/".into() };
        Command { words, shell: false, folder, env }
    }

    /// Builds and pushes.
    pub(crate) fn build_image(
        &self,
        action: &Action,
        image: &Image,
        mask: &Mask,
        report: Report<'_>,
    ) -> Result<Performed, Failure> {
        let builder = self.builder(action)?;
        if !image.dockerfile.is_file() {
            let why = format!(
                "there is no Dockerfile at `{}`; it may be left out by `include`, `exclude` or an ignore file",
                image.dockerfile.display()
            );
            return Err(self.failure(action, Cause::Other(why)));
        }
        let scratch = self.store.scratch().map_err(|error| self.io(action, "create a folder for outputs", &error))?;
        let files = Files { folder: scratch.path() };
        write_secrets(image, &files).map_err(|error| self.io(action, "write a secret for the builder", &error))?;
        let (image, env) = hide_arguments(image, mask, &self.executor.surroundings().env);
        let env: Vec<(String, String)> = env.into_iter().chain(builder.environment()).collect();
        let mut digest = None;
        let mut session = Session { performer: self, action, mask, report, capture: None, began: Instant::now() };
        session.run(self.tool(builder.build(&image, &files), &image, env))?;
        for (tag, words) in builder.pushes(&image, &files) {
            if builder.must_tag(&image, tag) {
                session.run(self.tool(
                    builder.tag(image.tags.first().map_or(tag, String::as_str), tag),
                    &image,
                    Vec::new(),
                ))?;
            }
            let printed = session.run(self.tool(words, &image, Vec::new()))?;
            digest = read(&files.digest()).or_else(|| printed_digest(&printed).map(str::to_owned)).or(digest);
        }
        session.finish();
        let digest = digest.or_else(|| metadata_digest(&read(&files.metadata())?));
        let mut outputs = image.outputs.clone();
        let mut add =
            |key: &str, value: Option<String>| outputs.extend(value.map(|value| (key.to_owned(), Json::from(value))));
        add("imageId", read(&files.image_id()));
        add("digest", digest);
        let secret = secret_names(&outputs, mask);
        Ok((End::Done, outputs, secret))
    }
}

/// The commands of one build, with one log.
struct Session<'s, 'm> {
    performer: &'s Performer<'s>,
    action: &'s Action,
    mask: &'m Mask,
    report: Report<'s>,
    capture: Option<Capture<'m>>,
    began: Instant,
}

impl Session<'_, '_> {
    /// Runs a command to its end; what it printed to standard output.
    fn run(&mut self, command: Command) -> Result<String, Failure> {
        let (action, performer, mask, report) = (self.action, self.performer, self.mask, self.report);
        let capture = self.capture.get_or_insert_with(|| Capture::new(mask, performer.store.log(&action.id)));
        let mut printed = Vec::new();
        let left = action.timeout.map(|timeout| timeout.saturating_sub(self.began.elapsed()));
        let job = Job { command: &command, timeout: left, stop: performer.stop };
        let ended = performer.executor.execute(&job, &mut |stream, bytes| {
            if stream == Stream::Out && printed.len() < PRINTED {
                printed.extend_from_slice(bytes);
            }
            capture.push(stream, bytes, &mut |text| report(&Event::Line { id: &action.id, stream, text }));
        });
        let ended = ended.map_err(|why| performer.not_started(action, &command, mask, why))?;
        match cause_of(ended, action.timeout) {
            None => Ok(String::from_utf8_lossy(&printed).into_owned()),
            Some(cause) => {
                let tail = self.finish();
                let command = Some(mask.text(&command.line()));
                Err(Failure { command, tail, ..performer.failure(action, cause) })
            }
        }
    }

    /// Ends the log; the last lines of it.
    fn finish(&mut self) -> Vec<String> {
        let (action, report) = (self.action, self.report);
        let Some(capture) = self.capture.take() else { return Vec::new() };
        let printed = capture.finish(&mut |text| report(&Event::Line { id: &action.id, stream: Stream::Out, text }));
        if let Some(error) = &printed.log_error {
            report(&Event::Warning { id: &action.id, text: &format!("could not write its log: {error}") });
        }
        printed.tail
    }
}

/// How much of what a command prints is looked at for a digest.
const PRINTED: usize = 1 << 20;

fn read(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Secrets as files that only the user may read, gone with their folder.
fn write_secrets(image: &Image, files: &Files<'_>) -> std::io::Result<()> {
    for (number, secret) in image.secrets.iter().enumerate() {
        if let SecretValue::Text(text) = &secret.value {
            let mut options = std::fs::File::options();
            let file = options.create_new(true).write(true).mode(0o600).open(files.secret(number));
            file?.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

/// Arguments that hold a secret are handed over in the environment: the arguments of a process can be seen by others.
fn hide_arguments(
    image: &Image,
    mask: &Mask,
    around: &std::collections::BTreeMap<String, String>,
) -> (Image, Vec<(String, String)>) {
    let mut image = image.clone();
    let mut env = Vec::new();
    for (key, value) in &mut image.args {
        if !around.contains_key(key) && value.as_ref().is_some_and(|value| mask.finds(value)) {
            env.extend(value.take().map(|value| (key.clone(), value)));
        }
    }
    (image, env)
}

impl Builder {
    /// Whether a name must be given to the image before it is pushed under it.
    fn must_tag(self, image: &Image, tag: &str) -> bool {
        !image.tags.iter().any(|own| own == tag)
    }
}
