//! Builds an image: checks whether it exists; if not, runs its build command, pushes it and collects the results.

use super::builder::{Builder, Files, metadata_digest, printed_digest};
use super::{Image, SecretValue};
use crate::action::{Action, Command};
use crate::capture::Capture;
use crate::event::{Cause, End, Event, Failure};
use crate::executor::Job;
use crate::local::process::{Ended, Stream};
use crate::mask::Mask;
use crate::outputs::Outputs;
use crate::perform::{Performed, Performer, Report, cause_of, secret_names};
use purlin_host::named;
use serde_json::Value as Json;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

impl Performer<'_> {
    /// The earlier result to reuse: an image of the same name that still exists on this machine. If it is to be pushed,
    /// an earlier run must have pushed it. An image that was built under another tag gets the new one.
    pub(crate) fn image_is_there(
        &self,
        action: &Action,
        image: &Image,
        mask: &Mask,
        report: Report<'_>,
    ) -> Result<Option<Performed>, Failure> {
        let earlier = self.earlier(action);
        // A name identifies its content only as long as nothing else was built under it here.
        let is_unknown = || self.store.last(&action.subject).is_some() || !image.push.is_empty() || image.is_pinned;
        if earlier.is_none() && is_unknown() {
            return Ok(None);
        }
        let builder = match self.builder(action) {
            Ok(builder) => builder,
            // With a custom build command, there may be no builder to ask.
            Err(_) if image.command.is_some() => return Ok(earlier.filter(|(_, outputs, _)| is_named(outputs, image))),
            Err(failure) => return Err(failure),
        };
        // An image that is only in a registry is not looked up there: its record decides.
        if builder.pushes_itself(image) {
            return Ok(earlier.filter(|(_, outputs, _)| is_named(outputs, image)));
        }
        let Some(tag) = image.tags.first() else { return Ok(None) };
        let recorded = earlier.as_ref().and_then(|(_, outputs, _)| outputs.get("image")?.as_str());
        let before = recorded.unwrap_or(tag).to_owned();
        let mut session = Session::new(self, action, mask, report);
        let text = |name: &str| earlier.as_ref().and_then(|(_, outputs, _)| outputs.get(name)?.as_str());
        // Another image may have been built under the name since; the earlier image may still have a name of its own.
        let names = [Some(before.as_str()), text("tag").filter(|_| image.push.is_empty())];
        let mut there = None;
        for name in names.into_iter().flatten() {
            let found = session.ask(self.tool(builder.exists(name), image, Vec::new()))?;
            let is_same = |found: &String| text("imageId").is_none_or(|known| is_same_id(known, found));
            if found.filter(is_same).is_some() {
                there = Some(name.to_owned());
                break;
            }
        }
        let Some(before) = there else { return Ok(None) };
        let Some((end, outputs, secret)) = earlier else {
            return Ok(Some((End::Ready, image.outputs.clone(), Vec::new())));
        };
        if before == *tag {
            return Ok(Some((end, outputs, secret)));
        }
        let scratch = self.store.scratch().map_err(|error| self.io(action, "create a folder for outputs", &error))?;
        let files = Files { folder: scratch.path() };
        session.run(self.tool(builder.tag(&before, tag), image, Vec::new()))?;
        let digest = session.push(builder, image, &files)?;
        let id = outputs.get("imageId").and_then(Json::as_str).map(str::to_owned);
        Ok(Some((end, session.outcome(builder, image, id, digest)?, secret)))
    }

    fn builder(&self, action: &Action) -> Result<Builder, Failure> {
        self.executor.builder().map_err(|why| self.failure(action, Cause::Other(why)))
    }

    fn tool(&self, words: Vec<String>, image: &Image, env: Vec<(String, String)>) -> Command {
        let folder = if named::is_folder(&image.context) { image.context.clone() } else { "/".into() };
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
        let builder = self.builder(action);
        if image.command.is_none()
            && let Err(failure) = builder
        {
            return Err(failure);
        }
        if image.command.is_none() && !named::is_file(&image.dockerfile) {
            let why = format!(
                "no Dockerfile at `{}`; it may be excluded by `include`, `exclude` or an ignore file",
                image.dockerfile.display()
            );
            return Err(self.failure(action, Cause::Other(why)));
        }
        let scratch = self.store.scratch().map_err(|error| self.io(action, "create a folder for outputs", &error))?;
        let files = Files { folder: scratch.path() };
        write_secrets(image, &files).map_err(|error| self.io(action, "write a secret for the builder", &error))?;
        let (image, env) = hide_arguments(image, mask, &self.executor.surroundings().env);
        let own = builder.as_ref().map(|builder| builder.environment()).unwrap_or_default();
        let env: Vec<(String, String)> = env.into_iter().chain(own).collect();
        let mut session = Session::new(self, action, mask, report);
        session.hooks("pre-build", &image.before)?;
        let (id, digest) = match (&image.command, builder) {
            (Some(command), builder) => {
                session.run(command.clone())?;
                match builder {
                    Ok(builder) => session.find(builder, &image)?,
                    Err(_) => (None, None),
                }
            }
            (None, Ok(builder)) => {
                let words = builder.build(&image, &files);
                if words.iter().any(|word| mask.finds(word)) {
                    let text = "a secret is part of the builder's arguments, which other users of this machine can read; \
                                use `secrets` or the values of `buildArgs`";
                    report(&Event::Warning { id: &action.id, text });
                }
                session.run(self.tool(words, &image, env))?;
                let digest = session.push(builder, &image, &files)?;
                let digest = digest.or_else(|| metadata_digest(&read(&files.metadata())?));
                (session.id_of(builder, &image, read(&files.image_id()))?, digest)
            }
            (None, Err(failure)) => return Err(failure),
        };
        let outputs = match self.builder(action) {
            Ok(builder) => session.outcome(builder, &image, id, digest)?,
            Err(_) => {
                let text = "its digest is not known, because no container builder is installed that could be asked";
                report(&Event::Warning { id: &action.id, text });
                with_tag(image.outputs.clone(), &image, None)
            }
        };
        session.hooks("post-build", &image.after)?;
        session.finish();
        let secret = secret_names(&outputs, mask);
        Ok((End::Done, outputs, secret))
    }
}

/// Whether a result is an image with the requested name.
fn is_named(outputs: &Outputs, image: &Image) -> bool {
    let recorded = outputs.get("image").and_then(Json::as_str);
    recorded.is_none() || recorded == image.tags.first().map(String::as_str)
}

/// Whether two ids are the same; some tools add the digest's algorithm, and some print no id.
fn is_same_id(one: &str, other: &str) -> bool {
    let plain = |id: &str| id.trim().trim_start_matches("sha256:").to_owned();
    other.trim().is_empty() || plain(one) == plain(other)
}

/// Outputs with the name under which other actions use the image.
fn with_tag(mut outputs: Outputs, image: &Image, pinned: Option<String>) -> Outputs {
    if image.is_pinned {
        let tag = pinned.or_else(|| image.tags.first().cloned()).unwrap_or_default();
        outputs.insert("tag".to_owned(), Json::from(tag));
    }
    outputs
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

impl<'s, 'm> Session<'s, 'm> {
    fn new(performer: &'s Performer<'s>, action: &'s Action, mask: &'m Mask, report: Report<'s>) -> Self {
        Session { performer, action, mask, report, capture: None, began: Instant::now() }
    }

    /// Runs hooks, and reports them.
    fn hooks(&mut self, phase: &str, hooks: &[Command]) -> Result<(), Failure> {
        if hooks.is_empty() {
            return Ok(());
        }
        let (action, report) = (self.action, self.report);
        let say = |text: &str| report(&Event::Line { id: &action.id, stream: Stream::Out, text });
        say(&format!("Starting {phase} hooks..."));
        for hook in hooks {
            self.run(hook.clone())?;
        }
        say(&format!("Completed {phase} hooks"));
        Ok(())
    }

    /// Pushes an image under all its names; returns the last digest.
    fn push(&mut self, builder: Builder, image: &Image, files: &Files<'_>) -> Result<Option<String>, Failure> {
        let mut digest = None;
        for (tag, words) in builder.pushes(image, files) {
            if let Some(first) = image.tags.first().filter(|_| !image.tags.iter().any(|own| own == tag)) {
                self.run(self.performer.tool(builder.tag(first, tag), image, Vec::new()))?;
            }
            let printed = self.run(self.performer.tool(words, image, Vec::new()))?;
            digest = read(&files.digest()).or_else(|| printed_digest(&printed).map(str::to_owned)).or(digest);
        }
        Ok(digest)
    }

    /// The builder's id of an image that it has built. The id it wrote during the build may be that of a part.
    fn id_of(&mut self, builder: Builder, image: &Image, written: Option<String>) -> Result<Option<String>, Failure> {
        let Some(tag) = image.tags.first().filter(|_| !builder.pushes_itself(image)) else { return Ok(written) };
        let found = self.ask(self.performer.tool(builder.exists(tag), image, Vec::new()))?;
        let found = found.filter(|id| !id.is_empty());
        let is_same = written.as_ref().zip(found.as_ref()).is_some_and(|(written, found)| is_same_id(written, found));
        Ok(if is_same { written } else { found.or(written) })
    }

    /// The id and digest of an image that a custom build command has built.
    fn find(&mut self, builder: Builder, image: &Image) -> Result<(Option<String>, Option<String>), Failure> {
        let Some(tag) = image.tags.first() else { return Ok((None, None)) };
        let mut digest = None;
        if !image.push.is_empty() {
            for words in builder.remote_digest(tag, &image.insecure) {
                digest = self.ask(self.performer.tool(words, image, Vec::new()))?;
            }
            digest = digest.and_then(|text| Some(text.get(text.find("sha256:")?..)?.to_owned()));
            if digest.is_none() {
                let text = format!("the registry has no image `{tag}`, or it could not be asked");
                (self.report)(&Event::Warning { id: &self.action.id, text: &text });
            }
        }
        let id = self.ask(self.performer.tool(builder.exists(tag), image, Vec::new()))?;
        Ok((id.filter(|id| !id.is_empty()), digest))
    }

    /// The outputs of a build. An image that is not pushed is also named by its id.
    fn outcome(
        &mut self,
        builder: Builder,
        image: &Image,
        id: Option<String>,
        digest: Option<String>,
    ) -> Result<Outputs, Failure> {
        let tag = image.tags.first().map(String::as_str).unwrap_or_default();
        let mut pinned = digest.as_ref().map(|digest| format!("{tag}@{digest}"));
        if let (None, Some(id), true) = (&pinned, &id, image.is_pinned && image.push.is_empty()) {
            let name = format!("{}:{}", purlin_value::image::parts(tag).name, id.trim_start_matches("sha256:"));
            let tagged = self.ask(self.performer.tool(builder.tag(tag, &name), image, Vec::new()))?;
            pinned = tagged.map(|_| name);
        }
        let mut outputs = with_tag(image.outputs.clone(), image, pinned);
        outputs.extend(id.map(|id| ("imageId".to_owned(), Json::from(id))));
        outputs.extend(digest.map(|digest| ("digest".to_owned(), Json::from(digest))));
        Ok(outputs)
    }

    /// The output of a command that may fail; `None` if it did. Nothing of it is shown.
    fn ask(&mut self, command: Command) -> Result<Option<String>, Failure> {
        let job = Job { command: &command, timeout: self.left(), stop: self.performer.stop };
        let mut printed = Vec::new();
        let ended = self.performer.executor.execute(&job, &mut |stream, bytes| {
            if stream == Stream::Out && printed.len() < PRINTED {
                printed.extend_from_slice(bytes);
            }
        });
        let ended = ended.map_err(|why| self.performer.not_started(self.action, &command, self.mask, why))?;
        match ended {
            Ended::Exit(0) => Ok(Some(String::from_utf8_lossy(&printed).trim().to_owned())),
            Ended::Stopped => Err(self.performer.failure(self.action, Cause::Stopped)),
            _ => Ok(None),
        }
    }

    fn left(&self) -> Option<Duration> {
        self.action.timeout.map(|timeout| timeout.saturating_sub(self.began.elapsed()))
    }

    /// Runs a command to its end; returns its standard output.
    fn run(&mut self, command: Command) -> Result<String, Failure> {
        let (action, performer, mask, report) = (self.action, self.performer, self.mask, self.report);
        let left = self.left();
        let capture =
            self.capture.get_or_insert_with(|| Capture::new(mask, Some(performer.store.log(&action.subject))));
        let mut printed = Vec::new();
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

    /// Ends the log; returns its last lines.
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

/// Maximum length of the output that is searched for a digest.
const PRINTED: usize = 1 << 20;

fn read(file: &Path) -> Option<String> {
    let text = named::read_text(file, named::LARGEST).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Writes secrets to files that only the user may read; they are removed with their folder.
fn write_secrets(image: &Image, files: &Files<'_>) -> std::io::Result<()> {
    for (number, secret) in image.secrets.iter().enumerate() {
        if let SecretValue::Text(text) = &secret.value {
            named::create_private(&files.secret(number))?.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

/// Whether a builder, or its launcher, interprets a variable: a build argument must not override it.
fn is_obeyed(name: &str) -> bool {
    let prefixes =
        ["DOCKER", "BUILDKIT", "BUILDX", "BUILDAH", "CONTAINER", "PODMAN", "REGISTRY", "XDG_", "LD_", "SSH_", "GO"];
    let is_proxy = name.to_ascii_lowercase().ends_with("_proxy");
    is_proxy
        || matches!(name, "PATH" | "HOME" | "TMPDIR" | "USER")
        || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Passes arguments that contain a secret in the environment: other users can see the arguments of a process.
fn hide_arguments(
    image: &Image,
    mask: &Mask,
    around: &std::collections::BTreeMap<String, String>,
) -> (Image, Vec<(String, String)>) {
    let mut image = image.clone();
    let mut env = Vec::new();
    for (key, value) in &mut image.args {
        if !(around.contains_key(key) && is_obeyed(key)) && value.as_ref().is_some_and(|value| mask.finds(value)) {
            env.extend(value.take().map(|value| (key.clone(), value)));
        }
    }
    (image, env)
}
