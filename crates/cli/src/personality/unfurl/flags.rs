//! Arguments of Unfurl's commands.

use purlin_unfurl::export::Format;
use purlin_unfurl::job::options::{ChangeDetection, Options, Repair, Workflow};
use purlin_unfurl::val::Val;

/// What the arguments say.
#[derive(Default, Debug)]
pub(super) struct Flags {
    pub path: Option<String>,
    pub environment: Option<String>,
    pub queries: Vec<String>,
    pub vars: Vec<(String, String)>,
    pub trace: bool,
    pub json: bool,
    pub no_summary: bool,
    pub is_quiet: bool,
    pub is_approved: bool,
    /// The status from which on a job's exit code is 64; never if none.
    pub exit_at: Option<&'static str>,
    /// What is exported.
    pub format: Option<Format>,
    /// Where an export is written.
    pub file: Option<String>,
    /// What happens to a file that exists.
    pub overwrite: Option<String>,
    pub job: Options,
}

/// Options that do nothing here: what they ask for is so anyway, or is only said more loudly.
const IGNORED: &[&str] = &["verbose", "required", "upgrade", "skip-save"];

/// Options that ask for what is not done, each with what to do instead.
const REFUSED: &[(&str, &str)] = &[
    ("commit", "commit the changed files with `git commit` afterwards"),
    ("push", "push with `git push` afterwards"),
    ("message", "commit the changed files with `git commit -m` afterwards"),
    ("starttime", "set `SOURCE_DATE_EPOCH` for a fixed clock"),
];

impl Flags {
    pub(super) fn read(args: &[String]) -> Result<Flags, String> {
        let mut flags = Flags::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some(name) = arg.strip_prefix("--") else {
                flags.short(arg)?;
                continue;
            };
            let (name, given) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            let mut value =
                || given.clone().or_else(|| rest.next().cloned()).ok_or_else(|| format!("`--{name}` needs a value"));
            match name {
                "query" => flags.queries.push(value()?),
                "trace" => flags.trace = true,
                "use-environment" => flags.environment = Some(value()?),
                "output" => match value()?.as_str() {
                    "json" => flags.json = true,
                    "none" => flags.no_summary = true,
                    "text" => {}
                    other => return Err(one_of("output", other, &["text", "json", "none"])),
                },
                "var" => {
                    let text = value()?;
                    let (name, text) = match text.split_once('=') {
                        Some((name, text)) => (name.to_owned(), text.to_owned()),
                        None => (text, value()?),
                    };
                    let name = name.strip_prefix("input_").map(str::to_owned).unwrap_or(name);
                    flags.vars.push((name, text));
                }
                "quiet" => flags.is_quiet = true,
                "format" => flags.format = Some(format(&value()?)?),
                "file" => flags.file = Some(value()?),
                "overwrite" => match value()? {
                    word if matches!(word.as_str(), "auto" | "always" | "never" | "older") => {
                        flags.overwrite = Some(word);
                    }
                    other => return Err(one_of("overwrite", &other, &["auto", "always", "never", "older"])),
                },
                _ => {
                    let name = name.to_owned();
                    flags.of_job(&name, &mut value)?;
                }
            }
        }
        Ok(flags)
    }

    fn short(&mut self, arg: &str) -> Result<(), String> {
        match arg {
            "-a" => self.is_approved = true,
            "-q" => self.is_quiet = true,
            "-v" | "-vv" | "-vvv" => {}
            "-m" => return Err(refusal("message", "m").unwrap_or_default()),
            other if other.starts_with('-') && other.len() > 1 => {
                return Err(format!("unknown option `{other}`; `purlin help unfurl` lists them"));
            }
            path => {
                if self.path.replace(path.to_owned()).is_some() {
                    return Err("only one ensemble can be named".to_owned());
                }
            }
        }
        Ok(())
    }

    /// Options of jobs. What differs from the usual is stored with the job.
    fn of_job(&mut self, name: &str, value: &mut dyn FnMut() -> Result<String, String>) -> Result<(), String> {
        let job = &mut self.job;
        let yes = || Val::bool(true);
        match name {
            "approve" => self.is_approved = true,
            "dryrun" => {
                job.dry_run = true;
                job.stored.push(("dryrun", yes()));
            }
            "force" => {
                job.force = true;
                job.stored.push(("force", yes()));
            }
            "check" => {
                job.check = true;
                job.stored.push(("check", yes()));
            }
            "prune" => {
                job.prune = true;
                job.stored.push(("prune", yes()));
            }
            "destroyunmanaged" => {
                job.destroy_unmanaged = true;
                job.stored.push(("destroyunmanaged", yes()));
            }
            "skip-new" => {
                job.skip_new = true;
                job.stored.push(("skip_new", yes()));
            }
            "instance" => job.instances.push(value()?),
            "template" => {
                let template = value()?;
                job.stored.push(("template", Val::str(template.as_str())));
                job.template = Some(template);
            }
            "repair" => {
                let text = value()?;
                job.repair = match text.as_str() {
                    "error" => Repair::Error,
                    "degraded" => Repair::Degraded,
                    "none" => Repair::None,
                    other => return Err(one_of("repair", other, &["error", "degraded", "none"])),
                };
                job.stored.push(("repair", Val::str(text)));
            }
            "change-detection" => {
                let text = value()?;
                job.change_detection = match text.as_str() {
                    "evaluate" => ChangeDetection::Evaluate,
                    "always" => ChangeDetection::Always,
                    "skip" => ChangeDetection::Skip,
                    other => return Err(one_of("change-detection", other, &["skip", "always", "evaluate"])),
                };
                job.stored.push(("change_detection", Val::str(text)));
            }
            "jobexitcode" => {
                self.exit_at = match value()?.as_str() {
                    "error" => Some("error"),
                    "degraded" => Some("degraded"),
                    "never" => None,
                    other => return Err(one_of("jobexitcode", other, &["error", "degraded", "never"])),
                };
            }
            "dirty" => match value()?.as_str() {
                "ok" | "auto" => {}
                "abort" => return Err("`--dirty=abort` is not supported; look with `git status` before".to_owned()),
                other => return Err(one_of("dirty", other, &["abort", "ok", "auto"])),
            },
            name if IGNORED.contains(&name) => {}
            name => {
                let unknown = || format!("unknown option `--{name}`; `purlin help unfurl` lists them");
                return Err(refusal(name, &format!("-{name}")).unwrap_or_else(unknown));
            }
        }
        Ok(())
    }

    /// What a job is asked for, with options that differ from the usual in the order they are stored.
    pub(super) fn options(&self, workflow: Workflow) -> Options {
        let mut options = Options { workflow, ..self.job.clone() };
        if !options.instances.is_empty() {
            let names = options.instances.iter().map(|name| Val::str(name.as_str())).collect();
            options.stored.push(("instances", Val::list(names)));
        }
        if self.is_quiet {
            options.stored.push(("verbose", Val::int(-1)));
        }
        options
    }
}

/// What can be exported, and what only the original can.
fn format(word: &str) -> Result<Format, String> {
    match word {
        "blueprint" => Ok(Format::Blueprint),
        "deployment" => Ok(Format::Deployment),
        "python" | "environments" | "deployments" => {
            Err(format!("`--format {word}` is not supported; expected `blueprint` or `deployment`"))
        }
        other => Err(one_of("format", other, &["blueprint", "deployment"])),
    }
}

fn one_of(name: &str, found: &str, known: &[&str]) -> String {
    format!("`--{name}`: expected {}, found `{found}`", known.join(", "))
}

fn refusal(name: &str, shown: &str) -> Option<String> {
    let (_, instead) = REFUSED.iter().find(|(known, _)| *known == name)?;
    Some(format!("`-{shown}` is not supported; {instead}"))
}
