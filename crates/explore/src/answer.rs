//! Answers requests of the page from a resolved project.

use crate::assets;
use crate::data;
use crate::graph::{Wish, picture};
use crate::node;
use crate::project::{Project, Side, Source};
use purlin_compiler::{affects, affects_value};
use purlin_host::serve::{Asked, Served};
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{Secrets, Value};

const JSON: &str = "application/json";

/// A project, and the revision it is compared with.
pub struct Answers {
    project: Project,
    /// Number of resolutions so far.
    version: u64,
    /// The last requested revision, with its variants.
    revision: Option<(String, Result<Vec<Side>, String>)>,
}

impl Answers {
    /// Answers for a project.
    pub fn of(project: Project) -> Self {
        Answers { project, version: 1, revision: None }
    }

    /// Replaces the project after it was resolved again.
    pub fn replace(&mut self, project: Project) {
        self.project = project;
        self.version += 1;
    }

    /// Number of resolutions so far.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The project shown.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Answers a request. The other side of a comparison may have to be resolved first.
    pub fn answer(&mut self, asked: &Asked, source: &mut dyn Source) -> Served {
        if let Some((kind, body)) = assets::page(&asked.path) {
            return Served::found(kind, body.as_bytes());
        }
        for name in ["compare", "from", "to"] {
            if let Some(revision) = asked.get(name).and_then(|side| side.strip_prefix("rev:")) {
                self.look_up(revision, source);
            }
        }
        let path = asked.path.strip_prefix("/data/").unwrap_or_default();
        if path == "problems" {
            return Served::found(JSON, data::problems(&self.project).into_bytes());
        }
        let found = match path {
            "project" => self.side(asked).map(|side| data::project(&self.project, side, self.version)),
            "picture" => {
                let before =
                    match asked.get("compare").filter(|name| !name.is_empty()).map(|name| self.named(name, asked)) {
                        Some(Err(why)) => return Served::refused(404, &why),
                        Some(Ok(side)) => Some(side),
                        None => None,
                    };
                self.side(asked).and_then(|side| picture(side, before, &wish(asked)))
            }
            "node" => asked.get("id").and_then(|id| node::node(&self.project, id)),
            "why" => self.side(asked).and_then(|side| {
                node::why(&self.project, side, asked.get("id")?, asked.get("field").unwrap_or_default())
            }),
            "file" => asked.get("path").and_then(|path| data::file(&self.project, path)),
            "affects" => self.affected(asked),
            "compare" => {
                let sides = (asked.get("from").unwrap_or_default(), asked.get("to").unwrap_or_default());
                match (self.named(sides.0, asked), self.named(sides.1, asked)) {
                    (Ok(before), Ok(after)) => Some(data::compared(before, after, sides)),
                    (Err(why), _) | (_, Err(why)) => return Served::refused(404, &why),
                }
            }
            _ => None,
        };
        match found {
            Some(value) => json(&value),
            None => Served::refused(404, "unknown node, value or file"),
        }
    }

    fn side(&self, asked: &Asked) -> Option<&Side> {
        self.project.side(asked.get("env"))
    }

    /// Resolves a revision, unless it was the last one requested.
    fn look_up(&mut self, revision: &str, source: &mut dyn Source) {
        if self.revision.as_ref().is_none_or(|(known, _)| known != revision) {
            self.revision = Some((revision.to_owned(), source.at_revision(revision)));
        }
    }

    /// One side of a comparison: `env:NAME`, or `rev:REVISION` in the shown variant.
    fn named(&self, name: &str, asked: &Asked) -> Result<&Side, String> {
        if let Some(name) = name.strip_prefix("env:") {
            let side = self.project.sides.iter().find(|side| side.name == name);
            return side.ok_or_else(|| format!("there is no {} `{name}`", self.project.noun));
        }
        let Some(revision) = name.strip_prefix("rev:") else {
            return Err("name a side: `env:NAME` or `rev:REVISION`".to_owned());
        };
        let (_, sides) = self.revision.as_ref().filter(|(known, _)| known == revision).ok_or("ask again")?;
        let sides = sides.as_ref().map_err(Clone::clone)?;
        let shown = self.side(asked).map(|side| side.name.as_str()).unwrap_or_default();
        let same = sides.iter().find(|side| side.name == shown);
        same.or_else(|| sides.first()).ok_or_else(|| format!("`{revision}` has nothing of this project"))
    }

    /// The values that a line of a file contributes to.
    fn affected(&self, asked: &Asked) -> Option<Value> {
        let (side, file) = (self.side(asked)?, asked.get("file")?);
        let line = asked.get("line")?.parse().ok()?;
        let sources = &side.session.sources;
        let source = sources.all().into_iter().find(|source| sources.shown(source.path()) == file)?;
        let mut found = affects(&side.session, &side.resolved, source.path(), line);
        found.iter_mut().for_each(|affected| affected.environment.clone_from(&side.name));
        Some(affects_value(file, line, &found))
    }
}

/// A JSON response. Secrets are hidden by the serializer.
fn json(value: &Value) -> Served {
    match to_json(value, Secrets::Hide, JsonLayout::Compact) {
        Ok(text) => Served::found(JSON, text.into_bytes()),
        Err(_) => Served::refused(413, "the answer is larger than allowed"),
    }
}

fn wish(asked: &Asked) -> Wish {
    let texts = |name: &'static str| asked.all(name).filter(|text| !text.is_empty()).map(str::to_owned);
    Wish {
        group: asked.get("group").unwrap_or_default().to_owned(),
        open: asked.get("open").map(|_| texts("open").collect()),
        direction: asked.get("direction").unwrap_or_default().to_owned(),
        focus: texts("focus").next(),
        depth: asked.get("depth").and_then(|depth| depth.parse().ok()),
        kinds: texts("kind").collect(),
        dialects: texts("dialect").collect(),
    }
}
