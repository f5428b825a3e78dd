//! Runs `purlin` in process and writes down what it printed, as a console session.

use std::collections::BTreeMap;
use std::path::Path;

/// What a command printed and how it ended.
pub struct Ran {
    /// Exit code.
    pub code: i32,
    /// Data.
    pub stdout: String,
    /// Everything else.
    pub stderr: String,
}

/// Runs `purlin ARGS` in a folder. Only the environment given here is seen.
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
        given: None,
        last: false,
    });
    // Paths of the scratch folder change from run to run.
    let place = cwd.to_string_lossy().into_owned();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace(&place, "<PROJECT>");
    Ran { code, stdout: text(stdout), stderr: text(stderr) }
}

/// The environment of every case, and what its own `env` lines add.
pub fn environment(lines: &str) -> BTreeMap<String, String> {
    let fixed = [("TZ", "UTC"), ("SOURCE_DATE_EPOCH", "1700000000"), ("HOME", "/nonexistent"), ("USER", "user")];
    let mut env: BTreeMap<String, String> = fixed.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    if let Ok(path) = std::env::var("PATH") {
        env.insert("PATH".to_owned(), path);
    }
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

/// Replays a session: each `$ purlin …` line is run, and what follows is replaced by what it printed now. Standard
/// output comes first, then standard error, then `[exit N]` unless it is 0.
pub(crate) fn replay(session: &str, cwd: &Path, env: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    for line in session.lines() {
        let Some(command) = line.strip_prefix("$ ") else { continue };
        out.push_str(line);
        out.push('\n');
        let (extra, rest): (Vec<String>, Vec<String>) = {
            let all = words(command);
            let split = all.iter().position(|word| !word.contains('=') || word.starts_with('-')).unwrap_or(all.len());
            let (extra, rest) = all.split_at(split);
            (extra.to_vec(), rest.to_vec())
        };
        if rest.first().is_none_or(|program| program != "purlin") {
            out.push_str("(only `purlin` can be run here)\n");
            continue;
        }
        let mut env = env.clone();
        env.extend(extra.iter().filter_map(|pair| pair.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())));
        let ran = run(rest.get(1..).unwrap_or(&[]), cwd, &env);
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
