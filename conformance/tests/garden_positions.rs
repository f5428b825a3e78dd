//! Every error that the original reports for a recorded Garden project is one of ours with a location: a file, a line
//! and a column. `tests/suite/garden/positions.md` has a case of our own for each of them, with the same id.

#![allow(clippy::disallowed_methods, clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use purlin_conformance::ratchet;
use purlin_garden::resolve::resolve;
use purlin_model::Request;
use purlin_syntax::Diagnostic;
use purlin_value::{MemoryWorld, Session};
use serde_json::Value as Json;
use std::path::Path;
use std::sync::Arc;

/// Projects that the original refuses and we accept intentionally; see crates/garden/compat.md.
const ACCEPTED: &[&str] = &["own-12-outputs", "tp-get-variables-command"];

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/suite/garden/positions.md");
    std::fs::read_to_string(page).expect("the page of positions is there")
}

fn read_folder(world: MemoryWorld, folder: &Path, prefix: &str) -> MemoryWorld {
    let entries = std::fs::read_dir(folder).expect("a recorded project is a folder").flatten();
    entries.fold(world, |world, entry| {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            return read_folder(world, &entry.path(), &format!("{name}/"));
        }
        world.bytes(&name, &std::fs::read(entry.path()).unwrap_or_default())
    })
}

/// Whether the original reports an error, for the project or for one of its actions.
fn is_refused(expected: &Json) -> bool {
    let own = ["error", "outputsError", "renderError"].iter().any(|key| expected[key].is_string());
    let actions = expected["actions"].as_object().into_iter().flat_map(|map| map.values());
    own || actions.flat_map(|action| [&action["versionError"], &action["resolveError"]]).any(Json::is_string)
}

fn problems(session: &Session, request: &Request) -> Vec<Diagnostic> {
    if let Some(resolution) = resolve(session, request) {
        purlin_garden::resolved_project(&resolution);
    }
    session.sink.take().into_iter().filter(Diagnostic::is_error).collect()
}

/// What is wrong with the location of a problem, if anything.
fn misplaced(session: &Session, problem: &Diagnostic) -> Option<&'static str> {
    let Some(span) = problem.span else { return Some("has no place") };
    let Some(source) = session.sources.get(span.file) else { return Some("is in a file that does not exist") };
    let (start, end) = (source.position(span.start), source.position(span.end));
    let length = u32::try_from(source.text().len()).unwrap_or(u32::MAX);
    match () {
        () if span.end > length => Some("lies behind the end of the file"),
        () if span.start == 0 && span.end == length => Some("is the whole file"),
        () if end.line > start.line => Some("is more than one line"),
        () => None,
    }
}

#[test]
fn every_recorded_error_has_a_place_and_a_case_of_our_own() {
    let Some(data) = ratchet::data_folder().map(|data| data.join("garden-projects")).filter(|data| data.is_dir())
    else {
        purlin_skipped::skipped("recorded data");
        return;
    };
    let index = std::fs::read_to_string(data.join("index.json")).expect("the index is there");
    let cases: Vec<Json> = serde_json::from_str(&index).expect("the index is JSON");
    let (page, mut wrong, mut seen) = (page(), Vec::new(), 0);
    for case in &cases {
        let id = case["id"].as_str().unwrap_or("");
        let folder = data.join(case["dir"].as_str().unwrap_or(""));
        let variant = id.split_once("--").map_or(String::new(), |(_, variant)| format!("--{variant}"));
        let expected = std::fs::read_to_string(folder.join(format!("expected{variant}.json"))).unwrap_or_default();
        if !serde_json::from_str::<Json>(&expected).is_ok_and(|expected| is_refused(&expected)) {
            continue;
        }
        seen += 1;
        if !page.contains(&format!("`{id}`")) {
            wrong.push(format!("{id}: positions.md has no case for it"));
        }
        let session = Session::new(Arc::new(read_folder(MemoryWorld::new(), &folder.join("files"), "")));
        let environment = case["environment"].as_str().map(str::to_owned);
        let request = Request { path: ".".to_owned(), environment, ..Request::default() };
        let problems = problems(&session, &request);
        if problems.is_empty() != ACCEPTED.contains(&id) {
            wrong.push(format!("{id}: {} problems", problems.len()));
        }
        for problem in &problems {
            if let Some(why) = misplaced(&session, problem) {
                wrong.push(format!("{id}: `{}` {why}", problem.message));
            }
        }
    }
    assert!(seen > 0, "no recorded error was found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
