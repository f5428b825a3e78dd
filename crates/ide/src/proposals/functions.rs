//! Functions of the embedded languages, from the lists of the dialects.

use crate::Ide;
use crate::context::Language;
use purlin_gotmpl::func::Func;
use purlin_tosca::functions::FUNCTIONS as TOSCA;
use purlin_value::function::Function;

/// A function signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The whole call: `join(list, separator?)`.
    pub label: String,
    /// The names of its parameters, as in the label.
    pub parameters: Vec<String>,
    /// One sentence.
    pub doc: String,
    /// The index of the parameter at the cursor.
    pub active: usize,
}

/// A known function.
pub(crate) struct Known {
    pub name: &'static str,
    pub label: String,
    pub parameters: Vec<String>,
    pub doc: &'static str,
}

impl<C> From<&'static Function<C>> for Known {
    fn from(function: &'static Function<C>) -> Self {
        Known {
            name: function.name,
            label: function.signature(),
            parameters: function.shown_parameters(),
            doc: function.summary,
        }
    }
}

impl From<&'static Func> for Known {
    fn from(func: &'static Func) -> Self {
        let (usage, doc) = func.usage();
        let parameters = usage.split(' ').skip(1).map(str::to_owned).collect();
        Known { name: func.name, label: usage.to_owned(), parameters, doc }
    }
}

/// All functions of a language.
pub(crate) fn functions(language: Language) -> Vec<Known> {
    match language {
        Language::Garden => purlin_garden::functions::FUNCTIONS.iter().map(Known::from).collect(),
        Language::Go => purlin_gotmpl::funcs::LISTS.iter().flat_map(|(_, list)| list.iter()).map(Known::from).collect(),
        Language::Jinja => purlin_unfurl::jinja::all_filters().map(Known::from).collect(),
    }
}

/// Functions of TOSCA that can be written as a key: the key, the signature, and a sentence.
pub(crate) fn tosca_functions(edition: purlin_model::schema::Edition) -> Vec<(String, String, &'static str)> {
    use purlin_tosca::edition::Standard;
    let mark = if edition.is_2() { "$" } else { "" };
    let known = TOSCA.iter().filter(|function| function.call.is_in(edition));
    known.map(|function| (format!("{mark}{}", function.name), function.signature(), function.summary)).collect()
}

impl Ide {
    /// The signature of the function call at an offset.
    pub fn signature(&self, file: &str, offset: usize) -> Option<Signature> {
        let context = self.context(file, offset)?;
        let inside = context.inside?;
        let before = context.text.get(inside.range.start..offset)?;
        let (name, active) = match inside.language {
            Language::Garden | Language::Jinja => call_with_parentheses(before)?,
            Language::Go => call_with_spaces(before)?,
        };
        let known = functions(inside.language).into_iter().find(|known| known.name == name)?;
        let active = active.min(known.parameters.len().saturating_sub(1));
        Some(Signature { label: known.label, parameters: known.parameters, doc: known.doc.to_owned(), active })
    }
}

/// The innermost open call: its name, and the number of commas written.
fn call_with_parentheses(before: &str) -> Option<(String, usize)> {
    let (mut depth, mut commas) = (0, 0);
    for (at, c) in before.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '[' | '{' if depth > 0 => depth -= 1,
            '(' if depth > 0 => depth -= 1,
            '(' => {
                let name: String = trailing_name(before.get(..at)?);
                return (!name.is_empty()).then_some((name, commas));
            }
            ',' if depth == 0 => commas += 1,
            _ => {}
        }
    }
    None
}

/// The function of the last command in the text: its name, and the number of complete arguments.
fn call_with_spaces(before: &str) -> Option<(String, usize)> {
    let command = before.rsplit(['(', '|']).next()?.trim_start_matches('-').trim_start();
    let mut words = command.split_whitespace();
    let name = words.next()?;
    let count = words.count();
    let complete = if command.ends_with(char::is_whitespace) { count } else { count.saturating_sub(1) };
    (command.len() > name.len()).then(|| (name.to_owned(), complete))
}

fn trailing_name(text: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let start = text.char_indices().rev().take_while(|(_, c)| is_name(*c)).last().map_or(text.len(), |(at, _)| at);
    text[start..].to_owned()
}
