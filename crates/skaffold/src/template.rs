//! Templates over environment variables, in the complete template language.
//!
//! No command is run: the original's `cmd` is rejected like any unknown function.

use purlin_gotmpl::{Heap, Limits, Machine, MapType, Misread, Outside, Set, Str, Val};
use purlin_syntax::credentials::is_secret_variable;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Output for an undefined name.
pub const MISSING: &str = "<no value>";

const NAME: &str = "envTemplate";

/// A template that cannot be read.
pub struct Unreadable {
    /// Why, as data.
    pub what: Misread,
    /// Why.
    pub message: String,
}

/// Checks the syntax of a template.
pub fn parse(text: &str) -> Result<(), Unreadable> {
    set(text).map(|_| ())
}

fn set(text: &str) -> Result<Set, Unreadable> {
    let mut set = Set::new();
    match set.add(NAME, text) {
        Ok(()) => Ok(set),
        Err(error) => {
            let message = format!("the template `{text}` cannot be read: {}", error.message);
            Err(Unreadable { what: error.what, message })
        }
    }
}

/// Expands a template with the given names.
fn execute(text: &str, make: impl FnOnce(&mut Heap) -> Val) -> Result<String, String> {
    let set = set(text).map_err(|why| why.message)?;
    let (outside, limits) = (Outside::default(), Limits::default());
    let mut machine = Machine::new(Arc::new(set).namespace(), &outside, &limits);
    let data = make(&mut machine.heap);
    match machine.execute(&Str::from(NAME), data) {
        Ok(rope) => Ok(String::from_utf8_lossy(&rope.bytes).into_owned()),
        Err(error) => Err(format!("the template `{text}` fails: {}", error.go_text())),
    }
}

/// Expands a template. Names that are not there print [`MISSING`].
pub fn expand(text: &str, names: &BTreeMap<String, String>) -> Result<String, String> {
    let entries = names.iter().map(|(name, value)| (Str::from(name.as_str()), Val::str(value.as_str())));
    execute(text, |heap| heap.map(MapType::Any, entries.collect()))
}

/// Names that a template can use beside the environment: those of images.
const OF_IMAGES: &[&str] = &["IMAGE_", "DIGEST"];

/// The fields of the data that a template reads, as `.NAME`.
pub fn fields(text: &str) -> impl Iterator<Item = &str> {
    let inner = text.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
    let fields = inner.flat_map(|inner| inner.split('.').skip(1));
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    fields.map(move |field| field.split(|c| !is_part(c)).next().unwrap_or_default())
}

/// The environment variables that a template reads.
pub fn variables(text: &str) -> impl Iterator<Item = &str> {
    fields(text).filter(|name| !name.is_empty() && OF_IMAGES.iter().all(|own| !name.starts_with(own)))
}

/// Whether a template reads a variable that holds a credential, by its name.
pub fn reads_secret(text: &str, names: &BTreeMap<String, String>) -> bool {
    variables(text).any(|name| is_secret_variable(name) && names.get(name).is_some_and(|value| !value.is_empty()))
}

/// An image that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// Name of the image.
    pub image: String,
    /// Tag to use for it.
    pub tag: String,
    /// Runtime of its language, if the artifact sets it.
    pub runtime: String,
}

/// Expands a template over the images that were built, as `.Builds` with `.ImageName`, `.Tag` and `.RuntimeType`.
pub fn builds(text: &str, built: &[Build]) -> Result<String, String> {
    execute(text, |heap| {
        let mut items = Vec::new();
        for build in built {
            let entries = [("ImageName", &build.image), ("Tag", &build.tag), ("RuntimeType", &build.runtime)];
            let entries = entries.map(|(key, value)| (Str::from(key), Val::str(value.as_str())));
            items.push(heap.any_map(entries.into_iter().collect()));
        }
        let list = heap.any_list(items);
        heap.any_map(BTreeMap::from([(Str::from("Builds"), list)]))
    })
}

/// A time in a Go layout and a zone; `None` if the zone is unknown.
pub fn time(nanos: i128, layout: &str, zone: &str) -> Option<String> {
    let time = purlin_gotmpl::time::Time::utc(nanos);
    match zone {
        "UTC" => Some(time.format(layout)),
        other => Some(purlin_gotmpl::zone::known(&time, other)?.format(layout)),
    }
}

/// Expands a template; a string with an undefined name stays as written.
pub fn expand_known(text: &str, names: &BTreeMap<String, String>) -> Result<String, String> {
    let expanded = expand(text, names)?;
    Ok(if expanded.contains(MISSING) { text.to_owned() } else { expanded })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_the_fields_that_a_template_reads() {
        let text = "a.b-{{ .CI_TOKEN | default .BRANCH }}:{{.IMAGE_TAG_web}}{{ $x := .Y }}";
        assert_eq!(variables(text).collect::<Vec<_>>(), ["CI_TOKEN", "BRANCH", "Y"]);
        let names = BTreeMap::from([("CI_TOKEN".to_owned(), "t".to_owned())]);
        assert!(reads_secret(text, &names) && !reads_secret("{{.BRANCH}}", &names));
        assert!(!reads_secret(text, &BTreeMap::new()));
    }

    #[test]
    fn a_text_with_something_missing_stays() {
        let names = BTreeMap::from([("A".to_owned(), "a".to_owned())]);
        assert_eq!(expand_known("{{.A}}", &names), Ok("a".to_owned()));
        assert_eq!(expand_known("x-{{.B}}", &names), Ok("x-{{.B}}".to_owned()));
        assert!(expand_known("{{.A", &names).is_err());
        assert!(parse("{{.A").is_err());
    }
}
