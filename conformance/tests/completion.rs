//! How often completion proposes the recorded text: random keys and names of the recorded projects are deleted, and
//! must be among the first five proposals.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use purlin_conformance::ratchet;
use purlin_ide::{Buffers, Desk, Ide, Workspace};
use purlin_syntax::{FileId, Flavor, Source, yaml};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Deterministic pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides.max(1)
    }
}

struct Opened {
    ide: Ide,
    buffers: Arc<Buffers>,
    files: Vec<String>,
}

fn open(folder: &Path) -> Option<Opened> {
    let (session, path) = purlin_conformance::open(folder)?;
    let buffers = Arc::new(Buffers::default());
    let desk = Arc::new(Desk::new(session.world.clone(), buffers.clone()));
    let mut workspace = Workspace::new(desk.clone(), &path, session.limits.clone());
    let picture = workspace.refresh(&[], &buffers, &|| false)?;
    let mut files: Vec<String> = picture.outcomes.iter().flat_map(|outcome| outcome.files.iter().cloned()).collect();
    // A chart is read as a whole.
    if folder.join("Chart.yaml").is_file() {
        files.push("values.yaml".to_owned());
        let templates = std::fs::read_dir(folder.join("templates")).into_iter().flatten().flatten();
        files.extend(templates.map(|entry| format!("templates/{}", entry.file_name().to_string_lossy())));
    }
    files.retain(|file| [".yaml", ".yml", ".tpl"].iter().any(|end| file.ends_with(end)) && folder.join(file).is_file());
    files.sort();
    files.dedup();
    let ide = Ide::new(desk, buffers.clone(), session.limits.clone());
    ide.show(picture);
    Some(Opened { ide, buffers, files })
}

/// A key of the tables, or a name declared elsewhere.
struct Token {
    what: &'static str,
    start: usize,
    end: usize,
}

fn tokens(opened: &Opened, file: &str, text: &str) -> Vec<Token> {
    let tree =
        yaml::parse(Arc::new(Source::new(FileId(0), file, text)), Flavor::Core, &purlin_syntax::Limits::default());
    let mut found = Vec::new();
    words(opened, file, text, &mut found);
    if file.contains("templates/") {
        return found;
    }
    let count = u32::try_from(tree.len()).unwrap();
    for node in (0..count).filter_map(|index| tree.node(index)).filter(|node| node.is_scalar() && !node.is_alias()) {
        let (start, end) = (node.span().start as usize, node.span().end as usize);
        let written = text.get(start..end).unwrap_or("");
        if written.len() < 2 || written.contains(['\n', '"', '\'', '{', '[']) {
            continue;
        }
        let is_key = text[end..].starts_with(':');
        if is_key {
            let known =
                opened.ide.hover(file, start + 1).is_some_and(|hover| hover.text.contains(&format!("**{written}**")));
            let declared = opened.ide.symbols(file).iter().any(|symbol| symbol.place.bytes.0 as usize == start);
            if known && !declared {
                found.push(Token { what: "key", start, end });
            }
        } else if !written.contains(' ') {
            let places = opened.ide.definition(file, start + 1);
            let refers = opened.ide.references(file, start + 1, false);
            if !refers.is_empty() && places.iter().any(|place| place.bytes.0 as usize != start || place.file != file) {
                found.push(Token { what: "name", start, end });
            }
        }
    }
    found
}

/// Names inside expressions that refer to something.
fn words(opened: &Opened, file: &str, text: &str, found: &mut Vec<Token>) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    for (open, close) in [("${", "}"), ("{{", "}}")] {
        for (from, _) in text.match_indices(open) {
            let Some(length) = text[from..].find(close) else { continue };
            let (mut at, end) = (from + open.len(), from + length);
            while at < end {
                let is_quoted = text[..at].ends_with('"');
                let goes_on = |c: &char| is_part(*c) || (is_quoted && *c == '.');
                let word: usize = text[at..end].chars().take_while(goes_on).map(char::len_utf8).sum();
                if word >= 2 && text[..at].ends_with(['.', '"']) {
                    let places = opened.ide.definition(file, at + 1);
                    if places.iter().any(|place| place.file != file || place.bytes.0 as usize != at) {
                        found.push(Token { what: "inner", start: at, end: at + word });
                    }
                }
                at += word.max(text[at..].chars().next().map_or(1, char::len_utf8));
            }
        }
    }
}

fn folders(suite: &Path, depth: usize) -> Vec<PathBuf> {
    let mut level = vec![suite.to_owned()];
    for _ in 0..depth {
        let below = |folder: &PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
        level = level.iter().flat_map(below).filter(|path| path.is_dir()).collect();
        level.sort();
    }
    level
}

/// Recorded projects, with their depth below a folder.
const RECORDED: &[(&str, usize)] = &[
    ("garden-projects/projects", 1),
    ("skaffold", 2),
    ("tosca/src/puccini-0.21-examples", 1),
    ("tosca/src/tosca-parser", 1),
    ("unfurl-services", 1),
];

/// Folders from a list, to check other projects: one line per folder with a name and the folder.
fn listed(list: &str) -> Vec<(String, Vec<PathBuf>)> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (name, folder) in list.lines().filter_map(|line| line.split_once(' ')) {
        found.entry(name.to_owned()).or_default().push(PathBuf::from(folder));
    }
    found.into_iter().collect()
}

#[test]
fn completion_proposes_what_was_written() {
    let Some(data) = ratchet::data_folder() else {
        purlin_skipped::skipped("recorded data");
        return;
    };
    let wanted: usize = std::env::var("PURLIN_POSITIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let suites = match std::env::var("PURLIN_COMPLETION_FOLDERS") {
        Ok(list) => listed(&std::fs::read_to_string(list).unwrap()),
        Err(_) => RECORDED
            .iter()
            .map(|(suite, depth)| ((*suite).to_owned(), folders(&data.join(suite), *depth)))
            .collect::<Vec<_>>(),
    };
    let mut dice = Dice(11);
    let mut counts: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    let mut misses: Vec<String> = Vec::new();
    for (suite, all) in &suites {
        let each = wanted / suites.len();
        let (mut done, mut tries) = (0, 0);
        while done < each && tries < each * 4 && !all.is_empty() {
            tries += 1;
            let Some(opened) = open(&all[dice.roll(all.len())]) else { continue };
            if opened.files.is_empty() {
                continue;
            }
            let file = opened.files[dice.roll(opened.files.len())].clone();
            let Some(text) = opened.ide.text(&file) else { continue };
            if text.len() > 40_000 {
                continue;
            }
            let mut all = tokens(&opened, &file, &text);
            // There are many keys; names must count too.
            if dice.roll(2) == 0 {
                let names = all.iter().filter(|token| token.what != "key").count();
                all.retain(|token| names == 0 || token.what != "key");
            }
            // A few positions of each file: opening a project costs more than completing in it.
            for _ in 0..all.len().min(4) {
                let token = &all[dice.roll(all.len())];
                let written = &text[token.start..token.end];
                opened.buffers.set(&file, &format!("{}{}", &text[..token.start], &text[token.end..]));
                let proposals = opened.ide.complete(&file, token.start);
                opened.buffers.close(&file);
                let hit = proposals.iter().take(5).any(|proposal| proposal.text == written);
                let count = counts.entry((suite.as_str(), token.what)).or_default();
                count.1 += 1;
                count.0 += usize::from(hit);
                done += 1;
                if !hit {
                    let first: Vec<&str> = proposals.iter().take(5).map(|proposal| proposal.text.as_str()).collect();
                    misses.push(format!("{suite} {file}: {} `{written}` not in {first:?}", token.what));
                }
            }
        }
    }
    let (hits, all) = counts.values().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    println!("{hits} of {all}: {counts:?}");
    misses.iter().take(400).for_each(|miss| println!("{miss}"));
    assert!(all >= wanted / 2 && hits * 100 >= all * 80, "{hits} of {all}");
}
