//! `purlin puccini-tosca`: parse, compile and validate with that tool's own arguments.
//!
//! The Clout goes to stdout (or to a file), problems to stderr. Ids and order are stable, unlike the original's.

mod format;
mod markup;
mod packed;
mod problems;

use super::{Personality, option, usage, version};
use crate::args::{DiagnosticFormat, Global, When};
use crate::invocation::{Exit, Invocation};
use crate::project::{Setup, named, open_session};
use crate::report::{Style, exit_of, findings, report};
use purlin_syntax::Severity;
use purlin_syntax::write::Emit;
use purlin_tosca::clout::{self, Form, Out};
use purlin_tosca::compile::{Compiled, Settings, Substitution, compile, unknown_quirk};
use purlin_tosca::problem::Problems;
use purlin_tosca::quirks::Quirks;
use purlin_tosca::render::MissingInputs;
use purlin_tosca::{dump, inputs, load};
use purlin_value::glob::{Glob, Notation};
use purlin_value::{Session, path};
use std::io::Read;
use std::path::{Path, PathBuf};

pub(crate) use format::Format;

/// The personality.
pub(super) const PUCCINI_TOSCA: Personality = Personality {
    name: "puccini-tosca",
    summary: "Compiles, parses and validates TOSCA as Puccini does.",
    commands: &[
        ("compile [SERVICE]", "print the Clout of a service template or CSAR"),
        ("parse [SERVICE]", "stop after parsing; `--dump` prints phases"),
        ("validate [SERVICE]", "compile and coerce, print nothing but problems"),
        ("version", "the version of Purlin"),
    ],
    options: &[
        ("-i, --input K=V", "set an input"),
        ("-n, --inputs FILE", "read inputs from a file"),
        ("-t, --template NAME", "service template in an archive"),
        ("-b, --path DIR", "folder to search for imports"),
        ("    --profile-path DIR", "folder to search for profiles"),
        ("-x, --quirk NAME", "accept a deviation from the specification"),
        ("-c, --coerce", "coerce values"),
        ("-r, --resolve", "resolve requirements (compile)"),
        ("-f, --format FORMAT", "yaml, json, xjson, xml, cbor or messagepack"),
        ("-p, --pretty=false", "JSON and XML on one line"),
        ("    --base64", "CBOR and MessagePack as Base64"),
        ("-o, --output FILE", "write to a file"),
        ("-s, --stop N", "stop after a phase (parse)"),
        ("-d, --dump N,…", "print phases (parse)"),
        ("-m, --problems-format FORMAT", "problems as data: a format as above"),
        ("-z, --colorize WHEN", "always, never or auto"),
        ("-q, --quiet", "print no Clout"),
    ],
    refused: &["completion"],
    run,
};

/// The parsed arguments.
#[derive(Default, Debug)]
struct Flags {
    path: Option<String>,
    inputs: Vec<(String, String)>,
    input_files: Vec<String>,
    quirks: Vec<String>,
    template: String,
    bases: Vec<String>,
    resolve: bool,
    coerce: bool,
    format: Format,
    compact: bool,
    base64: bool,
    /// The format of problems written as data.
    problems: Option<Format>,
    output: Option<String>,
    stop: Option<u8>,
    dump: Vec<u8>,
    filter: Vec<String>,
    quiet: bool,
    profile_paths: Vec<String>,
    /// Permissions, and the format of problems.
    global: Global,
    /// Given options of the original that have no effect here.
    without_effect: Vec<String>,
}

/// Runs `purlin puccini-tosca ARGS`.
fn run(invocation: &mut Invocation<'_>, args: &[String]) -> Result<Exit, Exit> {
    let Some((command, rest)) = args.split_first() else {
        return Err(usage(invocation, "name a command: compile, parse or validate"));
    };
    let flags = Flags::read(command, rest).map_err(|message| usage(invocation, &message))?;
    match command.as_str() {
        "compile" | "parse" | "validate" => work(invocation, command, &flags),
        "version" => Ok(version(invocation)),
        other => Err(super::unknown(invocation, &PUCCINI_TOSCA, other)),
    }
}

impl Flags {
    fn read(command: &str, args: &[String]) -> Result<Flags, String> {
        let mut flags = Flags { resolve: true, coerce: command == "validate", ..Flags::default() };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some((name, given)) = option(arg) else {
                if flags.path.replace(arg.clone()).is_some() {
                    return Err("only one service template can be named".to_owned());
                }
                continue;
            };
            flags.set(command, name, given, &mut rest)?;
        }
        Ok(flags)
    }

    fn set(
        &mut self,
        command: &str,
        name: &str,
        given: Option<String>,
        rest: &mut std::slice::Iter<'_, String>,
    ) -> Result<(), String> {
        let mut value =
            || given.clone().or_else(|| rest.next().cloned()).ok_or_else(|| format!("`{name}` needs a value"));
        let truth = || given.as_deref() != Some("false");
        match name {
            "i" | "input" => {
                let text = value()?;
                let (name, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=VALUE"))?;
                self.inputs.push((name.to_owned(), value.to_owned()));
            }
            "n" | "inputs" => self.input_files.push(value()?),
            "x" | "quirk" => self.quirks.push(value()?),
            "t" | "template" => self.template = value()?,
            "b" | "path" => self.bases.push(value()?),
            "r" if command == "parse" => self.filter.push(value()?),
            "filter" => self.filter.push(value()?),
            "r" | "resolve" => self.resolve = truth(),
            "c" | "coerce" => self.coerce = truth(),
            "f" | "format" => self.format = Format::named(&value()?)?,
            "p" | "pretty" => self.compact = !truth(),
            "base64" => self.base64 = truth(),
            "o" | "output" => self.output = Some(value()?),
            "s" | "stop" => {
                self.stop = Some(value()?.parse().map_err(|_| "a phase is a number from 1 to 5".to_owned())?)
            }
            "d" | "dump" => {
                for phase in value()?.split(',') {
                    self.dump.push(phase.trim().parse().map_err(|_| "phases are numbers from 1 to 5".to_owned())?);
                }
            }
            "q" | "quiet" => self.quiet = truth(),
            "v" | "verbose" | "vv" | "vvv" | "y" | "strict" | "trace" => {}
            "z" | "colorize" => {
                self.global.color = match value()?.as_str() {
                    "always" | "true" | "force" => When::Always,
                    "never" | "false" => When::Never,
                    _ => When::Auto,
                };
            }
            "m" | "problems-format" => {
                self.problems = match value()?.as_str() {
                    "" | "text" => None,
                    name => Some(Format::named(name)?),
                };
            }
            "l" | "log" | "timeout" => {
                value()?;
                self.without_effect.push(name.to_owned());
            }
            "u" | "map-url" => return Err("`--map-url` is not supported: use `--path DIR`".to_owned()),
            "e" | "exec" | "a" | "argument" => {
                return Err(format!("`{name}` is not supported: JavaScript plugins of Puccini are not run"));
            }
            "profile-path" => self.profile_paths.push(value()?),
            "allow-path" => self.global.allow_path.push(value()?.into()),
            "allow-net" => self.global.allow_net.push(value()?),
            "offline" => self.global.offline = truth(),
            "update" => self.global.update = truth(),
            "limit" => self.global.limit.push(value()?),
            other => return Err(unknown_flag(other)),
        }
        Ok(())
    }
}

impl Flags {
    /// The tool's own options for colours and formats override those before its name.
    fn style(&self, invocation: &Invocation<'_>) -> Style {
        let own = self.global.color != When::default() || self.global.diagnostics != DiagnosticFormat::default();
        if own || invocation.given.is_none() { Style::new(invocation, &self.global) } else { Style::given(invocation) }
    }
}

/// The options as users write them, for suggestions.
const OPTIONS: &[&str] = &[
    "input",
    "inputs",
    "quirk",
    "template",
    "path",
    "resolve",
    "coerce",
    "format",
    "output",
    "stop",
    "dump",
    "filter",
    "quiet",
    "colorize",
    "problems-format",
    "profile-path",
    "allow-path",
    "allow-net",
    "offline",
    "update",
    "limit",
];

fn unknown_flag(name: &str) -> String {
    let near = purlin_syntax::suggest::did_you_mean(name, OPTIONS.iter().copied());
    let dashes = if name.len() == 1 { "-" } else { "--" };
    format!("unknown option `{dashes}{name}`{}", near.map(|near| format!("; {near}")).unwrap_or_default())
}

fn work(invocation: &mut Invocation<'_>, command: &str, flags: &Flags) -> Result<Exit, Exit> {
    for option in &flags.without_effect {
        let _ = writeln!(invocation.stderr, "warning: `{option}` has no effect");
    }
    let named = flags.path.as_deref().filter(|path| *path != "-");
    // Standard input and remote files are read from the working directory.
    let folder = named.filter(|path| !load::is_remote(path)).unwrap_or(".");
    let setup = Setup::from_flags(Path::new(folder), &flags.global);
    let mut setup = setup.map_err(|message| usage(invocation, &message))?;
    // Files named by the user may be read wherever they are.
    let lists = [&flags.input_files, &flags.bases, &flags.profile_paths];
    setup.permissions.paths.extend(lists.into_iter().flatten().map(PathBuf::from));
    let (session, path) = open_session(invocation, &setup)?;
    let path = match named {
        Some(address) if load::is_remote(address) => address.to_owned(),
        Some(_) => path,
        None => piped(invocation, &session, &path)?,
    };
    let compiled = compiled(invocation, &session, &path, command, flags);
    compiled.problems.report(&session);
    let sound = session.sink.count(Severity::Error) == 0;
    for phase in &flags.dump {
        let out = filtered(dump::phase(&compiled, *phase), &flags.filter);
        write(invocation, flags, |emit| out.emit(emit))?;
    }
    if command == "compile" && sound && !flags.quiet {
        let form = if flags.coerce { Form::Coerced } else { Form::Raw };
        let options = clout::Options { form, resolved: flags.resolve };
        write(invocation, flags, |emit| clout::write(&compiled, options, emit))?;
    }
    let style = flags.style(invocation);
    match flags.problems {
        Some(format) if !sound => {
            let found = findings(&session, style);
            let written = written(flags, format, |emit| problems::emit(&compiled, &found, &session.sources, emit))?;
            invocation.stderr.write_all(&written).map_err(|_| Exit::Io)?;
            Ok(exit_of(&found))
        }
        _ => Ok(report(invocation, &session, style)),
    }
}

/// The name of piped input in the overlay of this run. Its imports are relative to the working directory.
const PIPED: &str = ".stdin.yaml";

/// The path of piped input, below the working directory.
fn piped(invocation: &mut Invocation<'_>, session: &Session, folder: &str) -> Result<String, Exit> {
    let mut bytes = Vec::new();
    let most = session.limits.file_bytes;
    // One byte more than allowed, so that truncation is noticed.
    let read = match invocation.stdin.as_mut() {
        Some(stdin) => stdin.take(most.saturating_add(1)).read_to_end(&mut bytes),
        None => std::io::stdin().take(most.saturating_add(1)).read_to_end(&mut bytes),
    };
    if bytes.len() as u64 > most {
        let message = format!("standard input has more than {most} bytes (limit `file-size`)");
        return Err(invocation.refuse(&message, Exit::Limit));
    }
    let path = path::join(folder, PIPED);
    let laid = read
        .map_err(|error| error.to_string())
        .and_then(|_| session.world.write(&path, &bytes).map_err(|error| error.diagnostic("standard input").message));
    laid.map_err(|message| invocation.refuse(&format!("cannot read standard input: {message}"), Exit::Io))?;
    Ok(path)
}

fn compiled(invocation: &Invocation<'_>, session: &Session, path: &str, command: &str, flags: &Flags) -> Compiled {
    let named = |paths: &[String]| paths.iter().map(|path| named(invocation, session, path)).collect::<Vec<_>>();
    let mut problems = Problems::new();
    let mut settings = Settings::default();
    let (quirks, unknown) = Quirks::parse(flags.quirks.iter().map(String::as_str));
    unknown.into_iter().for_each(|name| problems.push(unknown_quirk(name)));
    settings.options.quirks = quirks.as_in_puccini();
    settings.options.template = flags.template.clone();
    settings.options.bases = named(&flags.bases);
    settings.options.profile_paths = named(&flags.profile_paths);
    settings.inputs = inputs::read(session, &named(&flags.input_files), &flags.inputs, &mut problems);
    settings.missing = match command {
        _ if problems.any() => Some(MissingInputs::Accept), // they may be in the file that could not be read
        "compile" => Some(MissingInputs::Refuse),
        _ => None,
    };
    settings.substitution = Substitution::Leave;
    settings.unresolved = !flags.resolve;
    settings.unevaluated = !flags.coerce;
    settings.stop = if command == "parse" { Some(flags.stop.unwrap_or(5)) } else { None };
    let mut compiled = compile(session, path, &settings);
    for problem in problems.list() {
        compiled.problems.add(problem.clone());
    }
    compiled
}

/// Writes to stdout or to the named file.
fn write(invocation: &mut Invocation<'_>, flags: &Flags, drive: impl FnOnce(&mut dyn Emit)) -> Result<(), Exit> {
    let bytes = written(flags, flags.format, drive)?;
    let written = match &flags.output {
        Some(path) => crate::border::write_atomically(&invocation.cwd.join(path), &bytes),
        None => invocation.stdout.write_all(&bytes),
    };
    written.map_err(|error| invocation.refuse(&error.to_string(), Exit::Io))
}

/// A value in a format, with the layout of the options.
fn written(flags: &Flags, format: Format, drive: impl FnOnce(&mut dyn Emit)) -> Result<Vec<u8>, Exit> {
    format.laid_out(!flags.compact, flags.base64).write(drive).map_err(|_| Exit::Limit)
}

/// The entries whose path matches a filter such as `node_types.tosca.nodes.*`; all without a filter.
fn filtered(out: Out, filters: &[String]) -> Out {
    if filters.is_empty() {
        return out;
    }
    let Out::Map(entries) = out else { return out };
    let filters: Vec<Glob> = filters.iter().filter_map(|filter| Glob::read(filter, Notation::NAMES)).collect();
    let wanted = |path: &str| filters.iter().any(|filter| filter.matches(path));
    let mut kept = Vec::new();
    for (key, value) in entries {
        match value {
            _ if wanted(&key) => kept.push((key, value)),
            Out::Map(inner) => {
                let inner: Vec<_> =
                    inner.into_iter().filter(|(name, _)| wanted(&format!("{key}.{name}")) || wanted(name)).collect();
                if !inner.is_empty() {
                    kept.push((key, Out::Map(inner)));
                }
            }
            _ => {}
        }
    }
    Out::Map(kept)
}
