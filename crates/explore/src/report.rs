//! The page as files: the same modules, with all answers next to them, for readers without a server.
//!
//! Each answer is a chunk with a name; a page requests chunks as it would request them from a server. Pictures are laid
//! out for the overview and for each box opened by itself.

use crate::answer::Answers;
use crate::assets;
use crate::data::{self, map, number, text};
use crate::graph::{Wish, picture};
use crate::node;
use crate::project::{Project, Side};
use purlin_compiler::{made, wholes, why_at};
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::encoding::base64;
use purlin_value::{Data, EcoString, Map, Secrets, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Up to this many nodes, the fully open picture is laid out as well.
const MOST_OPEN: usize = 400;

/// Nodes share a chunk until it has this many bytes. They are alike, so that together they take a third of the space when
/// they are compressed, and opening one still reads little.
const PACK: usize = 256 << 10;

/// The files of a report, by path.
pub type Report = Vec<(String, String)>;

/// The answers of a report, by name.
struct Chunks {
    list: Vec<(String, String)>,
}

impl Chunks {
    /// Stores an answer. Nothing in it can end the element that may contain it.
    fn write(&mut self, name: String, json: &str) {
        self.list.push((name, json.replace('<', "\\u003c")));
    }

    fn add(&mut self, name: String, value: &Value) {
        // If a value is too large to be written, the page says that it has nothing.
        if let Ok(text) = to_json(value, Secrets::Hide, JsonLayout::Compact) {
            self.write(name, &text);
        }
    }
}

/// A report as several files. `title` names the project; `before` are its variants as they were at a revision.
pub fn report(answers: &Answers, before: Option<(&str, &[Side])>) -> Report {
    let chunks = chunks(answers.project(), before);
    let document =
        assets::document("<link rel=\"stylesheet\" href=\"page.css\">", "<script src=\"page.js\" defer></script>");
    let mut files = vec![
        ("index.html".to_owned(), document),
        ("page.css".to_owned(), assets::style().to_owned()),
        ("page.js".to_owned(), assets::script()),
    ];
    for (name, json) in chunks.list {
        files.push((format!("data/{name}.js"), format!("purlinData({},{json});\n", quoted(&name))));
    }
    files
}

/// A report as one document.
pub fn single(answers: &Answers, before: Option<(&str, &[Side])>) -> String {
    let chunks = chunks(answers.project(), before);
    let (style, script) = (assets::style(), assets::script());
    let policy = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'\">",
        digest(&script),
        digest(style)
    );
    let mut held = String::new();
    for (name, json) in &chunks.list {
        held.push_str(&format!("<script type=\"application/json\" data-chunk={}>{json}</script>\n", quoted(name)));
    }
    assets::document(&format!("{policy}\n<style>{style}</style>"), &format!("{held}<script>{script}</script>"))
}

fn digest(text: &str) -> String {
    base64(&Sha256::digest(text.as_bytes()))
}

/// Names of chunks are our own: letters, digits, `-`.
fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn chunks(project: &Project, before: Option<(&str, &[Side])>) -> Chunks {
    let mut chunks = Chunks { list: Vec::new() };
    let mut index: Map = Map::new();
    let Some(chosen) = project.side(None) else { return chunks };
    for (at, side) in project.sides.iter().enumerate() {
        let revision = before.and_then(|(_, sides)| sides.iter().find(|old| old.name == side.name));
        chunks.add(format!("project-{at}"), &data::project(project, side, 1));
        chunks.add(format!("pictures-{at}"), &pictures(side, revision, side.name == chosen.name));
        let sides = project.sides.iter().filter(|other| other.name != side.name);
        let other = sides.map(|other| (format!("env:{}", other.name), other));
        let revision = before.zip(revision).map(|((name, _), old)| (format!("rev:{name}"), old));
        let to = format!("env:{}", side.name);
        let compared: Map = revision
            .into_iter()
            .chain(other)
            .map(|(name, other)| (EcoString::from(name.as_str()), data::compared(other, side, (&name, &to))))
            .collect();
        chunks.add(format!("compared-{at}"), &Value::map(compared));
    }
    let mut numbers = Map::new();
    let mut pack = Pack::default();
    for side in &project.sides {
        for (id, _) in wholes(&side.resolved) {
            if numbers.contains_key(id) {
                continue;
            }
            numbers.insert(id.into(), number(pack.number));
            let whys = project.sides.iter().map(|side| (EcoString::from(side.name.as_str()), whys(side, chosen, id)));
            let found = node::node(project, id).unwrap_or_default();
            pack.add(id, &map(vec![("node", found), ("why", Value::map(whys.collect()))]), &mut chunks);
        }
    }
    pack.close(&mut chunks);
    chunks.write("problems".to_owned(), &data::problems(project));
    chunks.add("files".to_owned(), &files(project));
    let names = project.sides.iter().map(|side| text(&side.name)).collect();
    index.insert("environments".into(), Value::list(names));
    index.insert("chosen".into(), text(&chosen.name));
    index.insert("nodes".into(), Value::map(numbers));
    index.insert("revision".into(), before.map_or_else(Value::null, |(name, _)| text(name)));
    chunks.add("index".to_owned(), &Value::map(index));
    chunks
}

/// The chunk that nodes are added to: one object, by node.
#[derive(Default)]
struct Pack {
    number: usize,
    members: String,
}

impl Pack {
    fn add(&mut self, id: &str, node: &Value, chunks: &mut Chunks) {
        let written = |value: &Value| to_json(value, Secrets::Hide, JsonLayout::Compact);
        // If a node is too large to be written, the page says that it has nothing.
        let (Ok(id), Ok(node)) = (written(&text(id)), written(node)) else { return };
        let comma = if self.members.is_empty() { "" } else { "," };
        self.members.push_str(&format!("{comma}{id}:{node}"));
        if self.members.len() >= PACK {
            self.close(chunks);
        }
    }

    fn close(&mut self, chunks: &mut Chunks) {
        let members = std::mem::take(&mut self.members);
        chunks.write(format!("nodes-{}", self.number), &format!("{{{members}}}"));
        self.number += 1;
    }
}

/// The texts of all files that values come from.
fn files(project: &Project) -> Value {
    let mut found = Map::new();
    for side in &project.sides {
        let sources = &side.session.sources;
        for path in sources.all().iter().map(|source| sources.shown(source.path())) {
            if !found.contains_key(path.as_str())
                && let Some(file) = data::file(project, &path)
            {
                found.insert(path.as_str().into(), file);
            }
        }
    }
    Value::map(found)
}

/// The derivation of each value of a node, by path; for other variants only where it differs.
fn whys(side: &Side, chosen: &Side, id: &str) -> Value {
    let one = |side: &Side, path: &str| {
        let whole = side.whole(id)?;
        let found = why_at(&side.session, &whole, path)?;
        let made = made(&side.session, &found.value);
        let value = purlin_compiler::why_value(id, path, &found, (&made, &|_| None), &[]);
        let kept = ["made", "because"].map(|key| (key, value.get(key).cloned().unwrap_or_default()));
        Some(map(kept.to_vec()))
    };
    let Some(whole) = side.whole(id) else { return Value::map(Map::new()) };
    let leaves = whole.leaves().filter_map(|(path, _)| {
        let own = one(side, &path)?;
        let is_other = side.name == chosen.name || one(chosen, &path).is_none_or(|known| known != own);
        is_other.then(|| (EcoString::from(path.as_str()), own))
    });
    Value::map(leaves.collect())
}

/// The overview, each box opened by itself, and everything open, by the requested view.
fn pictures(side: &Side, before: Option<&Side>, is_chosen: bool) -> Value {
    let mut found = Map::new();
    let groups: &[&str] = if is_chosen { &["", "folder", "dialect", "kind", "none"] } else { &[""] };
    for group in groups {
        let wish = |open: Option<BTreeSet<String>>| Wish { group: (*group).to_owned(), open, ..Wish::default() };
        let mut add = |open: Option<BTreeSet<String>>| {
            let name = match &open {
                None => format!("{group}|"),
                Some(ids) => format!("{group}|={}", ids.iter().cloned().collect::<Vec<_>>().join("\n")),
            };
            let drawn = picture(side, before, &wish(open));
            found.insert(name.as_str().into(), drawn.unwrap_or_default());
        };
        add(None);
        add(Some(BTreeSet::new()));
        if side.resolved.nodes.len() <= MOST_OPEN {
            add(Some(BTreeSet::from(["*".to_owned()])));
        }
        // In a large project, boxes are opened in the usual picture only.
        if !is_chosen || (side.resolved.nodes.len() > MOST_OPEN && !group.is_empty()) {
            continue;
        }
        let all = picture(side, None, &wish(Some(BTreeSet::from(["*".to_owned()]))));
        for chain in openable(&all.unwrap_or_default()) {
            add(Some(chain));
        }
    }
    Value::map(found)
}

/// The boxes that can be opened, each with the boxes that contain it.
fn openable(picture: &Value) -> Vec<BTreeSet<String>> {
    let shapes = picture.get("shapes").and_then(Value::as_list).unwrap_or(&[]);
    let int = |value: Option<&Value>| match value.map(|value| &value.data) {
        Some(Data::Int(n)) => usize::try_from(*n).ok(),
        _ => None,
    };
    let has_contents = |shape: &&Value| shape.get("contents").is_some();
    let chain = |shape: &Value| {
        let mut ids = BTreeSet::new();
        let mut at = Some(shape);
        while let Some(shape) = at {
            ids.extend(shape.get("id").and_then(Value::as_str).map(str::to_owned));
            at = int(shape.get("parent")).and_then(|parent| shapes.get(parent));
        }
        ids
    };
    shapes.iter().filter(has_contents).map(chain).collect()
}
