//! What templates ask of the program that renders them: variables, instances, files, functions.
//!
//! The language knows values and how they are written; which names exist and what lies behind an instance, only the
//! host knows. Everything a host does is charged to the same account ([`Evaluation`]).

use crate::error::Result;
use crate::evaluation::Evaluation;
use crate::filters::Filter;
use crate::frame::Mode;
use crate::instance::Instances;
use crate::lazy::Lazy;
use crate::python;
use crate::render::Values;
use crate::val::{Data, Val};
use ecow::EcoString;

/// A program that renders templates.
pub trait Host {
    /// Its instances.
    fn instances(&self) -> &dyn Instances;

    /// A variable's value; none if it does not exist.
    fn variable(&self, name: &str) -> Result<Option<Val>>;

    /// A name that every template sees beside its variables.
    fn injected(&self, name: &str) -> Option<Val>;

    /// A value with all its parts evaluated.
    fn force(&self, value: Val) -> Result<Val>;

    /// An item of a collection that is evaluated on access.
    fn item(&self, lazy: &Lazy, index: usize) -> Result<Option<Val>>;

    /// What a name selects in a value: an entry, or a field of an instance or a handle.
    fn field(&self, base: &Val, name: &str) -> Result<Option<Val>>;

    /// The name of a function under [`Object::Functions`](crate::object::Object::Functions).
    fn function(&self, name: &str) -> Option<&'static str>;

    /// Calls one of its functions.
    fn call(&self, function: &'static str, args: Values) -> Result<Val>;

    /// One of its own filters.
    fn filter(&self, name: &str) -> Option<&'static Filter>;

    /// The names of its own filters.
    fn filter_names(&self) -> Vec<&'static str>;

    /// Applies one of its own filters.
    fn apply(&self, filter: &'static Filter, input: Val, args: &Values) -> Result<Val>;

    /// What a lookup finds.
    fn lookup(&self, plugin: &str, terms: Vec<Val>, named: &[(EcoString, Val)]) -> Result<Vec<Val>>;

    /// The bytes of a file; none if there is none.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>>;

    /// The files that fit a pattern.
    fn glob(&self, pattern: &str) -> Result<Vec<EcoString>>;

    /// Whether a path passes a test of files: `exists`, `file`, `directory`, `link`.
    fn is_on_disk(&self, test: &str, path: &str) -> Result<bool>;

    /// The next random number of the run.
    fn random(&self) -> u64;
}

/// Where a template is rendered: the account, the rules that apply, the host.
#[derive(Clone, Copy)]
pub struct Ctx<'c> {
    /// The account of the evaluation.
    pub evaluation: &'c Evaluation<'c>,
    /// The rules that apply.
    pub mode: Mode,
    /// The program around it.
    pub host: &'c dyn Host,
}

impl Ctx<'_> {
    /// Whether undefined names are errors.
    pub fn strict(&self) -> bool {
        self.mode.strict
    }

    /// `str(value)`.
    pub fn text(&self, value: &Val) -> Result<EcoString> {
        if let Data::Str(text) = &value.data {
            return Ok(text.clone());
        }
        let value = self.host.force(value.clone())?;
        self.evaluation.note_parts(&value);
        Ok(python::to_text(&value, self.host.instances()))
    }

    /// The items of a list.
    pub fn list_items(&self, value: &Val) -> Result<Vec<Val>> {
        match &value.data {
            Data::List(items) => Ok(items.to_vec()),
            Data::Lazy(lazy) => {
                let mut items = Vec::with_capacity(lazy.len());
                for index in 0..lazy.len() {
                    items.extend(self.host.item(lazy, index)?);
                }
                Ok(items)
            }
            _ => Ok(Vec::new()),
        }
    }
}
