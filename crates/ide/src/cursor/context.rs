//! The language and the context at a position.

use crate::Ide;
use crate::facts::{is_chart_template, is_values_file};
use crate::outline::{Cursor, cursor};
use purlin_compiler::{SchemaOf, schema_by};
use purlin_value::{Value, World, path};
use std::ops::Range;
use std::sync::Arc;

/// The language at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// `${…}` of Garden.
    Garden,
    /// `{{…}}` of a chart.
    Go,
    /// `{{…}}` of an ensemble.
    Jinja,
}

/// A position in an embedded language.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    pub language: Language,
    /// The bytes between the marks, up to the end of the text if it is incomplete.
    pub range: Range<usize>,
}

/// The position of a request.
pub(crate) struct Context {
    pub file: String,
    pub text: Arc<str>,
    pub offset: usize,
    pub cursor: Cursor,
    pub of: Option<SchemaOf>,
    pub inside: Option<Inside>,
}

impl Ide {
    /// The context of an offset of a file.
    pub(crate) fn context(&self, file: &str, offset: usize) -> Option<Context> {
        let file = path::normalize(file);
        let text = self.text(&file)?;
        let offset = offset.min(text.len());
        if is_chart_template(&file) && self.chart_folder(&file).is_some() {
            let inside = between(&text, offset, "{{", "}}").map(|range| Inside { language: Language::Go, range });
            // What actions print is not known; the YAML around them is that of an object.
            let cursor = cursor(&without_actions(&text), offset);
            let of = schema_by(&file, |key| cursor.root(key));
            return Some(Context { cursor, of, inside, file, text, offset });
        }
        let cursor = cursor(&text, offset);
        let of = schema_by(&file, |key| cursor.root(key));
        let of = of
            .or_else(|| (is_values_file(&file) && self.chart_folder(&file).is_some()).then_some(SchemaOf::ChartValues));
        let of = of.or_else(|| self.schema_by_project(&file));
        let inside = match of {
            Some(SchemaOf::Garden) => {
                between(&text, offset, "${", "}").map(|range| Inside { language: Language::Garden, range })
            }
            Some(SchemaOf::Skaffold(_)) => {
                between(&text, offset, "{{", "}}").map(|range| Inside { language: Language::Go, range })
            }
            Some(SchemaOf::Ensemble | SchemaOf::Tosca(_)) => {
                between(&text, offset, "{{", "}}").map(|range| Inside { language: Language::Jinja, range })
            }
            _ => None,
        };
        Some(Context { file, text, offset, cursor, of, inside })
    }

    /// The format of a project's file whose version is missing or incomplete.
    fn schema_by_project(&self, file: &str) -> Option<SchemaOf> {
        let picture = self.picture();
        let outcome = picture.outcomes.iter().find(|outcome| outcome.good().files.contains(file))?;
        match outcome.claim.dialect().name {
            "garden" if purlin_garden::files::is_config_file(path::file_name(file)) => Some(SchemaOf::Garden),
            "skaffold" => Some(SchemaOf::Skaffold(purlin_skaffold::editions::LATEST)),
            "tosca" => Some(SchemaOf::Tosca(purlin_tosca::edition::V1_3)),
            "unfurl" if outcome.claim.file() == file => Some(SchemaOf::Ensemble),
            "unfurl" => Some(SchemaOf::Tosca(purlin_tosca::edition::EXTENDED)),
            _ => None,
        }
    }

    /// The schema that describes the document at a place.
    pub(crate) fn schema_for(&self, context: &Context) -> Option<Arc<Value>> {
        match context.of? {
            SchemaOf::ChartValues => {
                let folder = self.chart_folder(&context.file)?;
                let defaults = self.facts(&path::join(&folder, "values.yaml"))?;
                Some(Arc::new(purlin_charts::json_schema::described(&defaults.tree)))
            }
            of => Some(self.schema(of)),
        }
    }

    /// The folder of the chart that a file belongs to.
    pub(crate) fn chart_folder(&self, file: &str) -> Option<String> {
        let mut folder = path::parent(file).to_owned();
        loop {
            if self.desk.exists(&path::join(&folder, "Chart.yaml")) {
                return Some(folder);
            }
            let parent = path::parent(&folder).to_owned();
            if parent == folder || folder == "." || folder.is_empty() {
                return None;
            }
            folder = parent;
        }
    }
}

/// A template with its actions left out: lines that hold nothing else are blank, others keep a word in their place.
fn without_actions(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut from = 0;
    while let Some(start) = text.get(from..).and_then(|rest| rest.find("{{")).map(|at| from + at) {
        let end = text.get(start..).and_then(|rest| rest.find("}}")).map_or(text.len(), |at| start + at + 2);
        let line = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let is_alone = text.get(line..start).is_some_and(|before| before.trim().is_empty())
            && text.get(end..).is_some_and(|rest| rest.lines().next().unwrap_or_default().trim().is_empty());
        for byte in bytes.iter_mut().take(end).skip(start).filter(|byte| **byte != b'\n') {
            *byte = if is_alone { b' ' } else { b'x' };
        }
        from = end;
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Maximum distance to an opening mark.
const FAR: usize = 4_000;

/// The bytes after the opening mark before an offset, unless it is closed before the offset.
fn between(text: &str, offset: usize, open: &str, close: &str) -> Option<Range<usize>> {
    let mut from = offset.saturating_sub(FAR);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..offset)?;
    let start = before.rfind(open)? + open.len();
    if before.get(start..)?.contains(close) {
        return None;
    }
    let start = from + start;
    let line_end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
    let end = text[offset..line_end].find(close).map_or(line_end, |at| offset + at);
    Some(start..end)
}
