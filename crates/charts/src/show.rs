//! `helm show`: the parts of a chart as Helm prints them.

use purlin_syntax::write::{GoStyle, GoYamlWriter};
use purlin_value::{EcoString, Map, Secrets, Value, emit};

use crate::chart::{Chart, Dependency, Metadata, Word};
use crate::template;

/// Output of `helm show`; `None` for an unknown part.
pub fn show(chart: &Chart, what: &str) -> Option<String> {
    let mut out = String::new();
    let is_all = what == "all";
    let mut add = |separator: bool, text: &str| {
        if separator {
            out.push_str("---\n");
        }
        out.push_str(text);
        out.push('\n');
    };
    if !["chart", "values", "readme", "crds", "all"].contains(&what) {
        return None;
    }
    if is_all || what == "chart" {
        add(false, &metadata_text(&chart.metadata));
    }
    let values = chart.written.iter().find(|file| file.name == "values.yaml");
    if let Some(values) = values.filter(|_| is_all || what == "values") {
        add(is_all, &String::from_utf8_lossy(&values.bytes));
    }
    if let Some(readme) = readme(chart).filter(|_| is_all || what == "readme") {
        add(is_all, &readme);
    }
    if is_all || what == "crds" {
        for (_, text) in template::definitions(chart, chart.name()) {
            add(!text.starts_with("---"), &text);
        }
    }
    Some(out)
}

fn readme(chart: &Chart) -> Option<String> {
    let is_readme = |name: &str| ["readme.md", "readme.txt", "readme"].contains(&name.to_lowercase().as_str());
    let file = chart.files.iter().find(|file| is_readme(&file.name))?;
    Some(String::from_utf8_lossy(&file.bytes).into_owned())
}

/// Contents of `Chart.yaml`, by Helm's fields and in the order of their names.
pub(crate) fn metadata_text(data: &Metadata) -> String {
    let mut fields: Vec<(&str, Value)> = Vec::new();
    let texts = [
        ("name", &data.name),
        ("home", &data.home),
        ("version", &data.version),
        ("description", &data.description),
        ("icon", &data.icon),
        ("apiVersion", &data.api_version),
        ("condition", &data.condition),
        ("tags", &data.tags),
        ("appVersion", &data.app_version),
        ("kubeVersion", &data.kube_version),
        ("type", &data.kind),
    ];
    fields.extend(texts.into_iter().map(|(key, text)| (key, Value::from(text.as_str()))));
    fields.push(("sources", words(&data.sources)));
    fields.push(("keywords", words(&data.keywords)));
    fields.push(("deprecated", if data.deprecated { Value::from(true) } else { Value::null() }));
    let person = |[name, email, url]: &[Word; 3]| {
        mapping(
            [("name", name), ("email", email), ("url", url)].map(|(key, word)| (key, Value::from(word.text.as_str()))),
        )
    };
    fields.push(("maintainers", Value::list(data.maintainers.iter().map(person).collect())));
    let notes =
        data.annotations.iter().map(|(key, word)| (EcoString::from(key.as_str()), Value::from(word.text.as_str())));
    let mut notes: Vec<(EcoString, Value)> = notes.collect();
    notes.sort_by(|a, b| a.0.cmp(&b.0));
    fields.push(("annotations", Value::map(notes.into_iter().collect::<Map>())));
    fields.push(("dependencies", Value::list(data.dependencies.iter().map(dependency).collect())));
    let mut writer = GoYamlWriter::new(GoStyle::Kubernetes);
    emit(&mapping(fields), Secrets::Reveal, &mut writer);
    // No part of it is longer than its source file.
    writer.finish().unwrap_or_default()
}

fn words(words: &[Word]) -> Value {
    Value::list(words.iter().map(|word| Value::from(word.text.as_str())).collect())
}

fn dependency(one: &Dependency) -> Value {
    let mut fields: Vec<(&str, Value)> = vec![
        ("version", Value::from(one.version.as_str())),
        ("condition", Value::from(one.condition.as_str())),
        ("alias", Value::from(one.alias.as_str())),
        ("tags", Value::list(one.tags.iter().map(|tag| Value::from(tag.as_str())).collect())),
        ("import-values", Value::list(one.import_values.clone())),
    ];
    fields.retain(|(_, value)| !is_empty(value));
    fields.extend(
        [("name", one.name.as_str()), ("repository", one.repository.as_str())].map(|(k, v)| (k, Value::from(v))),
    );
    sorted(fields)
}

/// The fields that are not empty, in the order of their names.
fn mapping<'k>(fields: impl IntoIterator<Item = (&'k str, Value)>) -> Value {
    sorted(fields.into_iter().filter(|(_, value)| !is_empty(value)).collect())
}

fn sorted(mut fields: Vec<(&str, Value)>) -> Value {
    fields.sort_by_key(|(key, _)| *key);
    Value::map(fields.into_iter().map(|(key, value)| (EcoString::from(key), value)).collect::<Map>())
}

fn is_empty(value: &Value) -> bool {
    value.is_null()
        || value.as_str() == Some("")
        || value.as_list().is_some_and(|list| list.is_empty())
        || value.as_map().is_some_and(|map| map.is_empty())
}
