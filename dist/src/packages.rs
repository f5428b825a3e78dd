//! Each kind of package of one platform.

use crate::contents::{Contents, File};
use crate::packed::{self, EPOCH, Result};
use crate::target::{TARGETS, Target};
use serde_json::json;

const SUMMARY: &str = "Resolves deployment configuration and shows where every value comes from";
const LICENCE: &str = "MIT OR Apache-2.0";

/// Settings shared by all packages of a release.
pub struct Release {
    /// Its version.
    pub version: String,
    /// Compression level: 1 is fast, 9 is small.
    pub level: u32,
}

/// A package: the name of its file and its bytes.
pub type Package = (String, Vec<u8>);

impl Release {
    /// All packages of one platform.
    pub fn packages(&self, target: &Target, contents: &Contents) -> Result<Vec<Package>> {
        let mut all = vec![self.archive(target, contents)?];
        if let Some(architecture) = target.deb {
            all.push(self.deb(architecture, contents)?);
        }
        if let Some(architecture) = target.rpm {
            all.push(self.rpm(architecture, contents)?);
        }
        all.push(self.wheel(target, contents)?);
        all.push(self.npm(target, contents)?);
        Ok(all)
    }

    /// An archive to unpack by hand: `.zip` on Windows, `.tar.gz` elsewhere.
    fn archive(&self, target: &Target, contents: &Contents) -> Result<Package> {
        let name = format!("purlin-{}-{}", self.version, target.triple);
        let (files, above) = (contents.unpacked(target.program()), format!("{name}/"));
        if target.is_windows() {
            return Ok((format!("{name}.zip"), packed::zip(&files, &above, self.level)?));
        }
        Ok((format!("{name}.tar.gz"), packed::gzip(&packed::tar(&files, &above)?, self.level)?))
    }

    fn deb(&self, architecture: &str, contents: &Contents) -> Result<Package> {
        let mut files = contents.installed();
        let licences: Vec<&[u8]> = contents
            .texts
            .iter()
            .filter(|(name, _)| name.starts_with("LICENSE"))
            .map(|(_, text)| text.as_slice())
            .collect();
        files.push(text("share/doc/purlin/copyright", &String::from_utf8_lossy(&licences.join(&b"\n\n"[..]))));
        let size: usize = files.iter().map(|file| file.bytes.len()).sum();
        let control = format!(
            "Package: purlin\nVersion: {}\nArchitecture: {architecture}\nMaintainer: the Purlin authors <purlin@example.invalid>\n\
             Installed-Size: {}\nSection: devel\nPriority: optional\nDescription: {SUMMARY}\n",
            self.version,
            size.div_ceil(1024)
        );
        let control = packed::gzip(&packed::tar(&[text("control", &control)], "./")?, self.level)?;
        let data = packed::gzip(&packed::tar(&files, "./usr/")?, self.level)?;
        let members = [("debian-binary", &b"2.0\n"[..]), ("control.tar.gz", &control), ("data.tar.gz", &data)];
        Ok((format!("purlin_{}_{architecture}.deb", self.version), packed::ar(&members)))
    }

    fn rpm(&self, architecture: &str, contents: &Contents) -> Result<Package> {
        let level = rpm::CompressionWithLevel::Gzip(self.level);
        let time = u32::try_from(EPOCH)?;
        let config = rpm::BuildConfig::v4().source_date(time).compression(level);
        let mut package = rpm::PackageBuilder::new("purlin", &self.version, LICENCE, architecture, SUMMARY);
        package.using_config(config).build_host("localhost").description(SUMMARY).release("1");
        for file in contents.installed() {
            let mode = if file.is_program { 0o755 } else { 0o644 };
            let place = rpm::FileOptions::new(format!("/usr/{}", file.path));
            package.with_file_contents(file.bytes, place.permissions(mode).modified_at(time.into()))?;
        }
        let mut bytes = Vec::new();
        package.build()?.write(&mut bytes)?;
        Ok((format!("purlin-{}-1.{architecture}.rpm", self.version), bytes))
    }

    /// A Python wheel with the program as a script, which `pip` puts on the path.
    fn wheel(&self, target: &Target, contents: &Contents) -> Result<Package> {
        let info = format!("purlin-{}.dist-info", self.version);
        let readme = contents.texts.iter().find(|(name, _)| *name == "README.md").map(|(_, text)| text.as_slice());
        let metadata = format!(
            "Metadata-Version: 2.1\nName: purlin\nVersion: {}\nSummary: {SUMMARY}\nLicense: {LICENCE}\n\
             Requires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n{}",
            self.version,
            String::from_utf8_lossy(readme.unwrap_or_default())
        );
        let tags: String = tags(target).map(|tag| format!("Tag: py3-none-{tag}\n")).collect();
        let wheel = format!("Wheel-Version: 1.0\nGenerator: purlin-dist\nRoot-Is-Purelib: false\n{tags}");
        let script = format!("purlin-{}.data/scripts/{}", self.version, target.program());
        let mut files = vec![File { path: script, bytes: contents.program.clone(), is_program: true }];
        files.push(text(&format!("{info}/METADATA"), &metadata));
        files.push(text(&format!("{info}/WHEEL"), &wheel));
        for (name, licence) in contents.texts.iter().filter(|(name, _)| name.starts_with("LICENSE")) {
            files.push(File { path: format!("{info}/licenses/{name}"), bytes: licence.clone(), is_program: false });
        }
        let record = format!("{info}/RECORD");
        let rows: String = files
            .iter()
            .map(|file| format!("{},sha256={},{}\n", file.path, url_base64(&file.bytes), file.bytes.len()))
            .collect();
        files.push(text(&record, &format!("{rows}{record},,\n")));
        let name = format!("purlin-{}-py3-none-{}.whl", self.version, target.wheel);
        Ok((name, packed::zip(&files, "", self.level)?))
    }

    /// The npm package of one platform. `npx purlin` finds it through the main package.
    fn npm(&self, target: &Target, contents: &Contents) -> Result<Package> {
        let (system, architecture) = target.npm;
        let manifest = json!({
            "name": format!("@purlin/{system}-{architecture}"),
            "version": self.version,
            "description": format!("{SUMMARY} ({system} {architecture})"),
            "license": LICENCE,
            "os": [system],
            "cpu": [architecture],
            "files": ["bin", "LICENSE-MIT", "LICENSE-APACHE"],
        });
        let mut files = licences(contents);
        let program = format!("bin/{}", target.program());
        files.push(File { path: program, bytes: contents.program.clone(), is_program: true });
        files.push(text("package.json", &format!("{manifest:#}\n")));
        let name = format!("purlin-{system}-{architecture}-{}.tgz", self.version);
        Ok((name, packed::gzip(&packed::tar(&files, "package/")?, self.level)?))
    }

    /// The main npm package. It contains no program and starts the one of this platform.
    pub fn npm_front(&self, contents: &Contents) -> Result<Package> {
        let platforms: serde_json::Map<String, serde_json::Value> = TARGETS
            .iter()
            .map(|target| (format!("@purlin/{}-{}", target.npm.0, target.npm.1), json!(self.version)))
            .collect();
        let manifest = json!({
            "name": "purlin",
            "version": self.version,
            "description": SUMMARY,
            "license": LICENCE,
            "bin": { "purlin": "purlin.js" },
            "engines": { "node": ">=16" },
            "optionalDependencies": platforms,
        });
        let mut files = licences(contents);
        files.extend(contents.texts.iter().filter(|(name, _)| *name == "README.md").map(|(name, bytes)| File {
            path: (*name).to_owned(),
            bytes: bytes.clone(),
            is_program: false,
        }));
        files.push(text("package.json", &format!("{manifest:#}\n")));
        files.push(File { path: "purlin.js".to_owned(), bytes: STARTER.into(), is_program: true });
        Ok((format!("purlin-{}.tgz", self.version), packed::gzip(&packed::tar(&files, "package/")?, self.level)?))
    }
}

/// Starts the program of this platform with the same arguments, and exits with its code.
const STARTER: &str = r#"#!/usr/bin/env node
"use strict";
const { spawnSync } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "purlin.exe" : "purlin";
let path;
try {
  path = require.resolve(`@purlin/${platform}/bin/${program}`);
} catch {
  console.error(`error: there is no Purlin for ${platform}, or optional dependencies were not installed`);
  process.exit(1);
}
const ended = spawnSync(path, process.argv.slice(2), { stdio: "inherit" });
if (ended.error) {
  console.error(`error: could not start ${path}: ${ended.error.message}`);
  process.exit(1);
}
if (ended.signal) process.kill(process.pid, ended.signal);
process.exit(ended.status ?? 1);
"#;

/// The platform tags of a wheel, one by one.
fn tags(target: &Target) -> impl Iterator<Item = &'static str> {
    target.wheel.split('.')
}

fn licences(contents: &Contents) -> Vec<File> {
    let texts = contents.texts.iter().filter(|(name, _)| name.starts_with("LICENSE"));
    texts.map(|(name, bytes)| File { path: (*name).to_owned(), bytes: bytes.clone(), is_program: false }).collect()
}

fn text(path: &str, text: &str) -> File {
    File { path: path.to_owned(), bytes: text.as_bytes().to_vec(), is_program: false }
}

/// The SHA-256 of bytes in the alphabet of URLs without padding, as wheels record it.
fn url_base64(bytes: &[u8]) -> String {
    use sha2::Digest;
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digest = sha2::Sha256::digest(bytes);
    let mut out = String::new();
    for group in digest.chunks(3) {
        let number = group.iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for index in 0..=group.len() {
            let letter = (number >> (18 - 6 * index)) & 63;
            out.push(LETTERS.get(letter as usize).map_or('_', |byte| char::from(*byte)));
        }
    }
    out
}
