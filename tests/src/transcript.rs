//! Runs `purlin` in process and records its output as a console session.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The output and exit code of a command.
pub struct Ran {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs `purlin ARGS` in a folder, with this environment only.
pub fn run(args: &[String], cwd: &Path, env: &BTreeMap<String, String>) -> Ran {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let code = purlin_cli::run(purlin_cli::Invocation {
        args: args.to_vec(),
        cwd: cwd.to_owned(),
        env: env.clone(),
        stdin: None,
        stdout: &mut stdout,
        stderr: &mut stderr,
        terminal: false,
        project_env: std::collections::BTreeMap::default(),
        given: None,
        last: false,
        veil: purlin_cli::Veil::default(),
    });
    // Paths of the scratch folder change from run to run.
    let place = cwd.to_string_lossy().into_owned();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace(&place, "<PROJECT>");
    Ran { code, stdout: text(stdout), stderr: text(stderr) }
}

/// Runs `purlin` in this process, for a test that starts itself again.
pub fn as_program(args: Vec<String>, stdout: &mut (dyn Write + Send)) -> ExitCode {
    let code = purlin_cli::run(purlin_cli::Invocation {
        args,
        cwd: std::env::current_dir().unwrap_or_default(),
        env: std::env::vars().collect(),
        stdin: None,
        stdout,
        stderr: &mut std::io::stderr(),
        terminal: false,
        project_env: std::collections::BTreeMap::default(),
        given: None,
        last: true,
        veil: purlin_cli::Veil::default(),
    });
    ExitCode::from(u8::try_from(code).unwrap_or(255))
}

/// The environment of every case, with its own `env` lines.
pub fn environment(lines: &str) -> BTreeMap<String, String> {
    let fixed = [("TZ", "UTC"), ("SOURCE_DATE_EPOCH", "1700000000"), ("HOME", "/nonexistent"), ("USER", "user")];
    let mut env: BTreeMap<String, String> = fixed.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    if let Ok(path) = std::env::var("PATH") {
        env.insert("PATH".to_owned(), path);
    }
    // The suite can be run with any number of threads.
    if let Ok(threads) = std::env::var("PURLIN_THREADS") {
        env.insert("PURLIN_THREADS".to_owned(), threads);
    }
    // Results of one command count for the next only if the key that seals them can be kept.
    let state = std::env::temp_dir().join(format!("purlin-suite-{}", std::process::id()));
    env.insert("XDG_STATE_HOME".to_owned(), state.to_string_lossy().into_owned());
    env.extend(lines.lines().filter_map(|line| line.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())));
    env
}

/// Splits a command line as a shell would: quotes and backslashes, nothing more.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(q)) if c == q => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Runs the line of a session in a folder; `None` if it is not supported.
pub(crate) type Player = fn(&str, &Path, &BTreeMap<String, String>) -> Option<Ran>;

/// Runs a line that starts `purlin`, possibly after variables of the environment, in process.
pub(crate) fn in_process(line: &str, cwd: &Path, env: &BTreeMap<String, String>) -> Option<Ran> {
    let all = words(line);
    let split = all.iter().position(|word| !word.contains('=') || word.starts_with('-')).unwrap_or(all.len());
    let (extra, rest) = all.split_at(split);
    let (program, args) = rest.split_first()?;
    let mut env = env.clone();
    env.extend(extra.iter().filter_map(|pair| pair.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())));
    match (program.as_str(), args) {
        ("purlin", args) => Some(run(args, cwd, &env)),
        // A file written by a command.
        ("cat", [file]) => {
            let read = std::fs::read_to_string(cwd.join(file));
            let code = i32::from(read.is_err());
            Some(Ran { code, stdout: read.unwrap_or_default(), stderr: String::new() })
        }
        _ => None,
    }
}

/// Runs a line in a shell with the programs of `PATH` and nothing else of this process's environment.
pub(crate) fn in_shell(line: &str, cwd: &Path, env: &BTreeMap<String, String>) -> Option<Ran> {
    let mut shell = std::process::Command::new("/bin/sh");
    let output = shell.args(["-c", line]).current_dir(cwd).env_clear().envs(env).output().ok()?;
    let place = cwd.to_string_lossy().into_owned();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace(&place, "<PROJECT>");
    Some(Ran { code: output.status.code()?, stdout: text(output.stdout), stderr: text(output.stderr) })
}

/// Replays a session: runs each line after `$ ` and replaces the text below it by the current output. Standard output
/// comes first, then standard error, then `[exit N]` unless it is 0.
pub(crate) fn replay(session: &str, cwd: &Path, env: &BTreeMap<String, String>, player: Player) -> String {
    let mut out = String::new();
    for line in session.lines() {
        let Some(command) = line.strip_prefix("$ ") else { continue };
        out.push_str(line);
        out.push('\n');
        let Some(ran) = player(command, cwd, env) else {
            out.push_str("(only `purlin` can be run here)\n");
            continue;
        };
        for text in [&ran.stdout, &ran.stderr] {
            out.push_str(text.trim_end_matches('\n'));
            if !text.trim_end_matches('\n').is_empty() {
                out.push('\n');
            }
        }
        if ran.code != 0 {
            out.push_str(&format!("[exit {}]\n", ran.code));
        }
    }
    out
}
