//! Embeds the pages of the rules, so that `purlin explain` works wherever the program is.

#![allow(clippy::disallowed_methods)] // The surface is where the outside is touched.

use std::fmt::Write;
use std::path::Path;

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // `rules` is a link, so that packages hold the pages too. Where git does not make links, it is a file.
    let linked = here.join("rules");
    let folder = if linked.is_dir() { linked } else { here.join("../../docs/rules") };
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages: Vec<_> =
        std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    pages.sort();
    if pages.is_empty() {
        println!("cargo::error=no pages of rules in {}", folder.display());
    }
    let mut code = String::from("&[\n");
    for page in pages.iter().filter(|page| page.extension().is_some_and(|ending| ending == "md")) {
        let name = page.file_stem().unwrap_or_default().to_string_lossy();
        let _ = writeln!(code, "    ({name:?}, include_str!({page:?})),");
    }
    code.push_str("]\n");
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    if let Err(error) = std::fs::write(Path::new(&out).join("rule_pages.rs"), code) {
        println!("cargo::error=cannot write the list of rule pages: {error}");
    }
}
