//! Templates in ensembles: what the language asks of the evaluator.

pub mod filters;
mod lookup;

use crate::error::Result;
use crate::eval::{Ctx, path, special};
use crate::functions::{self, Call, files, random};
use crate::special::Special;
use crate::val::{Data, MapKey, Val, ValMap};
use ecow::EcoString;
use purlin_jinja::object::Object;
use purlin_jinja::{Host, Instances};
use std::rc::Rc;

pub use lookup::{LOOKUPS, lookup};
pub use purlin_jinja::{
    Delimiters, FILTERS, Filter, TESTS, Template, Values, arithmetic, is_template, methods, moment, object, operator,
    percent_encode, round_to, shell_quote,
};

/// All filters that templates of ensembles may use.
pub fn all_filters() -> impl Iterator<Item = &'static Filter> {
    FILTERS.iter().chain(filters::ROWS.iter().map(|row| &row.filter))
}

/// Unknown filters of a template, with their positions.
pub fn unknown_filters(text: &str) -> Vec<(EcoString, u32, u32)> {
    purlin_jinja::unknown_filters(text, |name| filters::find(name).is_some())
}

/// Renders a text as a template. Where undefined values are tolerated, errors are too: their text is the result.
pub fn render(ctx: &Ctx<'_, '_>, text: &str) -> Result<Val> {
    purlin_jinja::render(ctx.of_templates(), text)
}

/// Renders a text with its own delimiters.
pub(crate) fn render_marked(ctx: &Ctx<'_, '_>, text: &str, marks: Delimiters) -> Result<Val> {
    purlin_jinja::render_marked(ctx.of_templates(), text, marks)
}

/// Fields of an instance that templates may use without the dot.
const FIELDS: &[&str] = &["name", "type", "status", "state", "attributes", "parent", "key", "root", "template"];

impl<'w> Ctx<'_, 'w> {
    /// This place, as templates see it.
    fn of_templates(&self) -> purlin_jinja::Ctx<'_> {
        purlin_jinja::Ctx { evaluation: &self.engine.evaluation, mode: self.frame.mode, host: self }
    }
}

impl Host for Ctx<'_, '_> {
    fn instances(&self) -> &dyn Instances {
        self.engine.tree
    }

    fn variable(&self, name: &str) -> Result<Option<Val>> {
        Ctx::variable(self, name)
    }

    fn injected(&self, name: &str) -> Option<Val> {
        let frame = &self.frame;
        match name {
            "SELF" => match (&frame.current.data, &frame.start.data) {
                (Data::Node(id), _) | (_, Data::Node(id)) => Some(Data::Attributes(*id).into()),
                _ => None,
            },
            "NODES" if frame.mode.attribute => Some(Data::AllAttributes(self.instance()).into()),
            "ROOT" | "TOPOLOGY" if frame.mode.attribute => crate::ensemble::root_value(self).ok(),
            "__unfurl" => Some(Data::Object(Rc::new(Object::Functions)).into()),
            _ => None,
        }
    }

    fn force(&self, value: Val) -> Result<Val> {
        self.engine.force(value)
    }

    fn item(&self, lazy: &purlin_jinja::lazy::Lazy, index: usize) -> Result<Option<Val>> {
        self.engine.item(lazy, index)
    }

    fn field(&self, base: &Val, name: &str) -> Result<Option<Val>> {
        match &base.data {
            Data::Node(id) if name.starts_with('.') || FIELDS.contains(&name) => {
                let text = if name.starts_with('.') { name.to_owned() } else { format!(".{name}") };
                match Special::parse(&text) {
                    Some(key) => special::get(self, *id, key).map(Some),
                    None => Ok(None),
                }
            }
            _ => {
                let found = path::by_name(self, base, name)?;
                // A missing node is undefined, rather than null.
                Ok(found.filter(|value| !(matches!(base.data, Data::AllNodes(_)) && value.is_null())))
            }
        }
    }

    fn function(&self, name: &str) -> Option<&'static str> {
        let function = functions::find(name)?;
        (function.call.safe || !self.frame.mode.safe).then_some(function.name)
    }

    /// `__unfurl.name(…)`: a single list is the argument, otherwise the arguments are.
    fn call(&self, function: &'static str, args: Values) -> Result<Val> {
        let Some(function) = functions::find(function) else {
            return Ok(Val::null());
        };
        let mut entries = ValMap::default();
        for (name, value) in &args.named {
            entries.insert(MapKey::Str(name.clone()), self.engine.force(value.clone())?);
        }
        let mut positional: Vec<Val> = Vec::new();
        for value in args.positional {
            positional.push(self.engine.force(value)?);
        }
        let arg = match positional.as_slice() {
            [only] if only.as_list().is_some() => only.clone(),
            [only, rest @ ..] if function.call.by_place => {
                for (parameter, value) in function.parameters.iter().skip(1).zip(rest) {
                    entries.insert(MapKey::from(parameter.name), value.clone());
                }
                only.clone()
            }
            _ => Val::list(positional),
        };
        functions::call(function, self, &Call { name: function.name, arg: &arg, entries: &entries, ready: true })
    }

    fn filter(&self, name: &str) -> Option<&'static Filter> {
        filters::find(name)
    }

    fn filter_names(&self) -> Vec<&'static str> {
        filters::ROWS.iter().map(|row| row.filter.name).collect()
    }

    fn apply(&self, filter: &'static Filter, input: Val, args: &Values) -> Result<Val> {
        filters::apply(self, filter, input, args)
    }

    fn lookup(&self, plugin: &str, terms: Vec<Val>, named: &[(EcoString, Val)]) -> Result<Vec<Val>> {
        lookup(self, plugin, terms, named)
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>> {
        files::read_optional(self, path)
    }

    fn glob(&self, pattern: &str) -> Result<Vec<EcoString>> {
        files::glob(self, pattern)
    }

    fn is_on_disk(&self, test: &str, path: &str) -> Result<bool> {
        files::is(self, test, path)
    }

    fn random(&self) -> u64 {
        random::draw(self)
    }
}
