//! Arguments of Unfurl's commands.

use crate::personality::{assigned, belongs_to};
use purlin_unfurl::export::Format;
use purlin_unfurl::job::options::{ChangeDetection, Options, Repair, Workflow};
use purlin_unfurl::val::Val;

/// The parsed arguments.
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
    /// The status from which on a job's exit code is 64; never if `None`.
    pub exit_at: Option<&'static str>,
    /// The export format.
    pub format: Option<Format>,
    /// The target file of an export.
    pub file: Option<String>,
    /// The treatment of existing files.
    pub overwrite: Option<String>,
    /// The planned workflow.
    pub workflow: Option<Workflow>,
    pub job: Options,
}

/// Options without effect: `--upgrade` has no effect in Unfurl either, and Purlin prints all messages without
/// `--verbose`.
const WITHOUT_EFFECT: &[&str] = &["verbose", "upgrade"];

const ANSWERS: &[&str] = &["query", "trace", "output", "use-environment", "var"];
const WHICH: &[&str] = &["instance", "template", "force", "starttime"];
const CONTROL: &[&str] = &["dryrun", "commit", "push", "dirty", "message", "jobexitcode"];
const APPROVAL: &[&str] = &["approve"];
const NEW: &[&str] = &["skip-new", "change-detection"];
const CHANGES: &[&str] = &["repair", "upgrade", "prune", "check"];
const UNMANAGED: &[&str] = &["destroyunmanaged"];

/// The options of each command. All commands have `--quiet` and `--verbose`.
const OPTIONS: &[(&str, &[&[&str]])] = &[
    ("deploy", &[ANSWERS, WHICH, CONTROL, APPROVAL, NEW, CHANGES, UNMANAGED]),
    ("check", &[ANSWERS, WHICH, CONTROL, APPROVAL, NEW]),
    ("discover", &[ANSWERS, WHICH, CONTROL, APPROVAL]),
    ("stop", &[ANSWERS, WHICH, CONTROL, APPROVAL]),
    ("undeploy", &[ANSWERS, WHICH, CONTROL, APPROVAL, UNMANAGED]),
    ("teardown", &[ANSWERS, WHICH, CONTROL, APPROVAL, UNMANAGED]),
    ("plan", &[ANSWERS, WHICH, NEW, CHANGES, UNMANAGED, &["workflow"]]),
    ("status", &[ANSWERS]),
    ("validate", &[ANSWERS, &["as-template"]]),
    ("export", &[&["format", "use-environment", "file", "overwrite", "python-target"]]),
    ("version", &[&["semver", "remote"]]),
];

/// Unsupported options, each with an alternative.
const REFUSED: &[(&str, &str)] = &[
    ("commit", "commit the changed files with `git commit` afterwards"),
    ("push", "push with `git push` afterwards"),
    ("message", "commit the changed files with `git commit -m` afterwards"),
    ("starttime", "set `SOURCE_DATE_EPOCH` for a fixed clock"),
    ("as-template", "validate an ensemble that includes the template"),
    ("python-target", "exports are JSON"),
    ("semver", "`purlin --version` prints the version alone"),
    ("remote", "`purlin --version` prints the version of this program"),
    ("runtime", "commands run on this machine as it is"),
    ("logfile", "redirect standard error to the file"),
    ("home", "home projects are not read; put what the ensemble needs of it into the project's `unfurl.yaml`"),
    ("tmp", "set `TMPDIR`"),
];

/// Global options before the command without effect: Purlin fetches nothing by default, has no runtime and prints all
/// messages.
const GLOBAL: &[&str] = &["verbose", "no-runtime", "skip-upstream-check", "no-version-check"];

/// Those that are followed by a value.
const GLOBAL_WITH_VALUE: &[&str] = &["loglevel", "version-check"];

/// Reads the options before the command. Returns the index of the command, and whether only errors are shown.
pub(super) fn read_global(args: &[String]) -> Result<(usize, bool), String> {
    let mut is_quiet = false;
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.starts_with('-')) {
        at += 1;
        let Some(name) = arg.strip_prefix("--") else {
            match arg.as_str() {
                "-q" => is_quiet = true,
                "-v" | "-vv" | "-vvv" => {}
                other => return Err(unknown(other)),
            }
            continue;
        };
        let (name, value) = assigned(name);
        match name {
            "quiet" => is_quiet = true,
            name if GLOBAL.contains(&name) => {}
            name if GLOBAL_WITH_VALUE.contains(&name) => at += usize::from(value.is_none()),
            // An empty path disables the home project, and Purlin never reads one.
            "home" if value.as_ref().or(args.get(at)).is_some_and(String::is_empty) => {
                at += usize::from(value.is_none())
            }
            name => return Err(refusal(name, &format!("-{name}")).unwrap_or_else(|| unknown(arg))),
        }
    }
    Ok((at, is_quiet))
}

fn unknown(option: &str) -> String {
    format!("unknown option `{option}`; `purlin help unfurl` lists them")
}

/// Whether a command of that name is supported.
pub(super) fn is_command(name: &str) -> bool {
    OPTIONS.iter().any(|(command, _)| *command == name)
}

/// Refuses an option that the original's command does not have, if another of its commands has it.
fn belongs(command: &str, option: &str) -> Result<(), String> {
    let has = |groups: &[&[&str]]| groups.iter().any(|group| group.contains(&option));
    let takes = OPTIONS.iter().find(|(name, _)| *name == command).is_none_or(|(_, groups)| has(groups));
    let mut with = OPTIONS.iter().filter(|(_, groups)| has(groups)).map(|(name, _)| *name).peekable();
    match takes || with.peek().is_none() {
        true => Ok(()),
        false => Err(belongs_to(option, command, with)),
    }
}

impl Flags {
    pub(super) fn read(command: &str, args: &[String]) -> Result<Flags, String> {
        let mut flags = Flags::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some(name) = arg.strip_prefix("--") else {
                flags.short(arg)?;
                continue;
            };
            let (name, given) = assigned(name);
            belongs(command, name)?;
            if name == "trace" {
                // The original has numeric levels; here there is only one.
                let level = given.as_deref().or(rest.as_slice().first().map(String::as_str));
                let level: Option<u32> = level.and_then(|level| level.parse().ok());
                if level.is_some() && given.is_none() {
                    rest.next();
                }
                flags.trace = level != Some(0);
                continue;
            }
            let mut value =
                || given.clone().or_else(|| rest.next().cloned()).ok_or_else(|| format!("`--{name}` needs a value"));
            match name {
                "query" => flags.queries.push(value()?),
                "workflow" => flags.workflow = Some(workflow(&value()?)?),
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
            other if other.starts_with('-') && other.len() > 1 => return Err(unknown(other)),
            path => {
                if self.path.replace(path.to_owned()).is_some() {
                    return Err("only one ensemble can be named".to_owned());
                }
            }
        }
        Ok(())
    }

    /// Options of jobs. Values other than the defaults are stored with the job.
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
            name if WITHOUT_EFFECT.contains(&name) => {}
            name => {
                let unknown = || unknown(&format!("--{name}"));
                return Err(refusal(name, &format!("-{name}")).unwrap_or_else(unknown));
            }
        }
        Ok(())
    }

    /// The options of a job, with values other than the defaults in the order in which they are stored.
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

fn workflow(name: &str) -> Result<Workflow, String> {
    let names = ["deploy", "undeploy", "stop", "check", "discover"];
    super::jobs::workflow(name).ok_or_else(|| one_of("workflow", name, &names))
}

/// Supported export formats, and those that only the original has.
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
