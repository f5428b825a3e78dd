//! What every package holds: the program, its manual pages and completions, licences and the front page.
//!
//! Manual pages and completions come from a program that runs here: the packaged one, or one for this machine.

use std::path::Path;
use std::process::Command;

/// A file of a package.
#[derive(Clone)]
pub struct File {
    /// Its path in an archive, and below `/usr` where packages are installed.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it can be run.
    pub is_program: bool,
}

/// The contents of a package.
pub struct Contents {
    /// The program.
    pub program: Vec<u8>,
    /// Manual pages: file name and text.
    pub manuals: Vec<(String, Vec<u8>)>,
    /// Completions: shell and text.
    pub completions: Vec<(&'static str, Vec<u8>)>,
    /// Licences and front page: file name and text.
    pub texts: Vec<(&'static str, Vec<u8>)>,
}

/// Shells, and where each looks for completions below `share`.
pub const SHELLS: &[(&str, &str)] = &[
    ("bash", "bash-completion/completions/purlin"),
    ("zsh", "zsh/site-functions/_purlin"),
    ("fish", "fish/vendor_completions.d/purlin.fish"),
];

const TEXTS: &[&str] = &["LICENSE-MIT", "LICENSE-APACHE", "README.md"];

impl Contents {
    /// Reads the program, and asks `runnable` for the rest. `top` is the repository.
    pub fn gather(program: &Path, runnable: &Path, top: &Path) -> Result<Contents, String> {
        let read =
            |path: &Path| std::fs::read(path).map_err(|error| format!("could not read {}: {error}", path.display()));
        let manual = ask(runnable, &["man"])?;
        let completions = SHELLS.iter().map(|(shell, _)| Ok((*shell, ask(runnable, &["completions", shell])?)));
        let texts = TEXTS.iter().map(|name| Ok((*name, read(&top.join(name))?)));
        Ok(Contents {
            program: read(program)?,
            manuals: vec![("purlin.1".to_owned(), manual)],
            completions: completions.collect::<Result<_, String>>()?,
            texts: texts.collect::<Result<_, String>>()?,
        })
    }

    /// Files in the order of their paths, as they lie below a prefix such as `/usr`.
    pub fn installed(&self) -> Vec<File> {
        let text = |path: String, bytes: &[u8]| File { path, bytes: bytes.to_vec(), is_program: false };
        let mut files = vec![File { path: "bin/purlin".to_owned(), bytes: self.program.clone(), is_program: true }];
        files.extend(self.manuals.iter().map(|(name, bytes)| text(format!("share/man/man1/{name}"), bytes)));
        files.extend(self.completions.iter().map(|(shell, bytes)| {
            let place = SHELLS.iter().find(|(known, _)| known == shell).map_or("", |(_, place)| *place);
            text(format!("share/{place}"), bytes)
        }));
        files.extend(self.texts.iter().map(|(name, bytes)| text(format!("share/doc/purlin/{name}"), bytes)));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }

    /// Files of an archive that is unpacked by hand.
    pub fn unpacked(&self, program: &str) -> Vec<File> {
        let text = |path: String, bytes: &[u8]| File { path, bytes: bytes.to_vec(), is_program: false };
        let mut files = vec![File { path: program.to_owned(), bytes: self.program.clone(), is_program: true }];
        files.extend(self.manuals.iter().map(|(name, bytes)| text(format!("man/{name}"), bytes)));
        files.extend(self.completions.iter().map(|(shell, bytes)| text(format!("completions/purlin.{shell}"), bytes)));
        files.extend(self.texts.iter().map(|(name, bytes)| text((*name).to_owned(), bytes)));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }
}

fn ask(program: &Path, args: &[&str]) -> Result<Vec<u8>, String> {
    let shown = || format!("{} {}", program.display(), args.join(" "));
    let run =
        Command::new(program).args(args).output().map_err(|error| format!("could not run {}: {error}", shown()))?;
    if !run.status.success() {
        return Err(format!("`{}` failed: {}", shown(), String::from_utf8_lossy(&run.stderr).trim()));
    }
    Ok(run.stdout)
}
