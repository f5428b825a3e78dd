//! `purlin-dist pack` writes the packages of one platform, `purlin-dist list` the lists of a whole release.

#![allow(clippy::disallowed_methods)]

use purlin_dist::contents::{Contents, FORMATS};
use purlin_dist::lists;
use purlin_dist::packages::Release;
use purlin_dist::packed::{Result, sha256};
use purlin_dist::target::{TARGETS, Target};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: purlin-dist pack --target TRIPLE --binary FILE [--runnable FILE] [--out DIR] [--level 1..9]
       purlin-dist list --address URL [--out DIR] [--partial]

pack    archive, deb, rpm, wheel and npm package of one platform; `--runnable` is a binary for this machine
list    SHA256SUMS, purlin.cdx.json, the formulas of Homebrew and Scoop for the packages in DIR, and the entries
        of SchemaStore's catalogue for its schemas;
        fails if an archive of a platform is missing, unless --partial";

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Vec<String>) -> Result<()> {
    let value =
        |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).map(String::as_str);
    let out = PathBuf::from(value("--out").unwrap_or("target/dist"));
    std::fs::create_dir_all(&out)?;
    match args.first().map(String::as_str) {
        Some("pack") => {
            let triple = value("--target").ok_or(USAGE)?;
            let binary = Path::new(value("--binary").ok_or(USAGE)?);
            let runnable = value("--runnable").map_or(binary, Path::new);
            let level = value("--level").map_or(Ok(9), str::parse)?;
            pack(triple, binary, runnable, level, &out)
        }
        Some("list") => list(value("--address").ok_or(USAGE)?, args.iter().any(|arg| arg == "--partial"), &out),
        _ => Err(USAGE.into()),
    }
}

fn pack(triple: &str, binary: &Path, runnable: &Path, level: u32, out: &Path) -> Result<()> {
    let known = || TARGETS.iter().map(|target| target.triple).collect::<Vec<_>>().join(", ");
    let target = Target::named(triple).ok_or_else(|| format!("unknown target `{triple}`; known: {}", known()))?;
    let contents = Contents::gather(binary, runnable, &top())?;
    let release = Release { version: version(), level };
    let mut packages = release.packages(target, &contents)?;
    packages.push(release.npm_front(&contents)?);
    packages.extend(contents.schemas);
    for (name, bytes) in packages {
        std::fs::write(out.join(&name), &bytes)?;
        println!("{} {:.1} MB", out.join(name).display(), bytes.len() as f64 / 1e6);
    }
    Ok(())
}

fn list(address: &str, is_partial: bool, out: &Path) -> Result<()> {
    let mut packages = Vec::new();
    for entry in std::fs::read_dir(out)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let endings = [".tar.gz", ".zip", ".deb", ".rpm", ".whl", ".tgz"];
        if endings.iter().any(|ending| name.ends_with(ending)) {
            packages.push((name, sha256(&std::fs::read(&path)?)));
        }
    }
    packages.sort();
    let archives = |target: &&Target| !packages.iter().any(|(name, _)| name.contains(target.triple));
    let missing: Vec<&str> = TARGETS.iter().filter(archives).map(|target| target.triple).collect();
    if !missing.is_empty() && !is_partial {
        return Err(format!("{} has no archive for {}", out.display(), missing.join(", ")).into());
    }
    let lock = std::fs::read_to_string(top().join("Cargo.lock"))?;
    std::fs::write(out.join("SHA256SUMS"), lists::checksums(&packages))?;
    std::fs::write(out.join("purlin.cdx.json"), lists::bill_of_materials(&lock, &version())?)?;
    for format in FORMATS {
        let path = out.join(format!("{format}.schema.json"));
        if let Ok(text) = std::fs::read_to_string(&path) {
            std::fs::write(&path, lists::published(&text, format, &version(), address))?;
        }
    }
    let catalogue = std::fs::read_to_string(top().join("packaging/schemastore/catalog.json"))?;
    std::fs::write(out.join("catalog.json"), lists::filled(&catalogue, &version(), address, &packages)?)?;
    if missing.is_empty() {
        for (template, name) in [("homebrew/purlin.rb", "purlin.rb"), ("scoop/purlin.json", "purlin.json")] {
            let text = std::fs::read_to_string(top().join("packaging").join(template))?;
            std::fs::write(out.join(name), lists::filled(&text, &version(), address, &packages)?)?;
        }
    }
    Ok(())
}

fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// The repository.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
