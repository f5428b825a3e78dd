//! Functions and constraints that scriptlets define: values go in and come out as JSON. The engine is `purlin_script`.

use super::Evaluator;
use super::budget::FUEL_PER_CHECK;
use crate::scripts::{CONSTRAINT, FUNCTION};
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_script::Failure;
use purlin_syntax::Message;
use purlin_syntax::json_text::{self, Build};
use purlin_syntax::write::JsonFlavor;
use purlin_syntax::write::json::quote;
use purlin_value::rules::{LIMIT_FUEL, LIMIT_MEMORY};
use std::fmt::Write as _;
use std::sync::Arc;

/// Values beyond this depth are not passed to scripts.
const MAX_DEPTH: usize = purlin_syntax::limits::COLLECTION_LEVELS as usize;

/// Fuel for a call, beside that for its steps.
const FUEL_PER_CALL: u64 = 500;

impl Evaluator<'_> {
    /// The result of a function defined in a scriptlet; none if no scriptlet defines it.
    pub(crate) fn scripted(&mut self, value: &Val, name: &str, args: &[Val]) -> Option<Result<Val, Message>> {
        let module = self.module(FUNCTION, name)?;
        let answer = self.run(&module, "evaluate", args);
        Some(answer.and_then(|json| {
            let read = json_text::read(json.as_bytes(), MAX_DEPTH, &mut Reader { like: value });
            read.map_err(|_| Message::from("the scriptlet gives a value that is too deep".to_owned()))
        }))
    }

    /// Whether a value satisfies a constraint defined in a scriptlet, or why it does not; none if no scriptlet defines
    /// it.
    pub(crate) fn scripted_constraint(&mut self, name: &str, args: &[Val]) -> Option<Result<Verdict, Message>> {
        let (module, like) = (self.module(CONSTRAINT, name)?, args.first()?);
        let answer = self.run(&module, "validate", args);
        Some(answer.map(|json| match json.as_str() {
            "true" => Verdict::Holds,
            json => match json_text::read(json.as_bytes(), MAX_DEPTH, &mut Reader { like }).map(|v| v.data) {
                Ok(Data::Str(reason)) if !reason.is_empty() => Verdict::Fails(Some(reason)),
                _ => Verdict::Fails(None),
            },
        }))
    }

    fn module(&self, prefix: &str, name: &str) -> Option<String> {
        let modules = &self.model.scripts.modules;
        if modules.is_empty() {
            return None;
        }
        Some(format!("{prefix}{name}")).filter(|module| modules.has(module))
    }

    fn run(&mut self, module: &str, export: &str, args: &[Val]) -> Result<String, Message> {
        self.spend(FUEL_PER_CALL)?;
        let mut text = String::from("[");
        for (at, arg) in args.iter().enumerate() {
            self.afford(arg)?;
            text.push_str(if at > 0 { "," } else { "" });
            json(arg, 0, &mut text)?;
        }
        text.push(']');
        let bounds = self.budget.of_script();
        match self.model.scripts.modules.call(module, export, &text, bounds) {
            Ok(answer) => {
                self.spend(answer.checks.saturating_mul(FUEL_PER_CHECK))?;
                self.afford_text(answer.json.len())?;
                Ok(answer.json)
            }
            Err(Failure::Thrown(reason)) => Err(format!("the scriptlet `{module}` failed: {reason}").into()),
            Err(Failure::Missing) => Err(format!("the scriptlet `{module}` exports no function `{export}`").into()),
            Err(Failure::Steps) => {
                let _ = self.spend(bounds.checks.saturating_mul(FUEL_PER_CHECK));
                Err(self.over(&LIMIT_FUEL, format!("the scriptlet `{module}` needs more steps than allowed")))
            }
            Err(Failure::Memory) => {
                Err(self.over(&LIMIT_MEMORY, format!("the scriptlet `{module}` needs more memory than allowed")))
            }
        }
    }
}

/// The result of a constraint.
pub(crate) enum Verdict {
    Holds,
    /// It does not hold; scriptlets may say why.
    Fails(Option<EcoString>),
}

/// Writes a value as JSON: quantities, versions and times in their coerced form.
fn json(value: &Val, depth: usize, out: &mut String) -> Result<(), Message> {
    if depth > MAX_DEPTH {
        return Err("the value is too deep for a scriptlet".to_owned().into());
    }
    match &value.data {
        Data::Null => out.push_str("null"),
        Data::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Data::Int(number) => write(out, number),
        Data::Float(number) if number.is_finite() => write(out, number),
        Data::Float(_) => out.push_str("null"),
        Data::Str(text) | Data::Timestamp(text) => out.push_str(&quote(text, JsonFlavor::Plain)),
        Data::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                json(item, depth + 1, out)?;
            }
            out.push(']');
        }
        Data::Map(entries) => {
            out.push('{');
            for (at, (key, item)) in entries.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                match key.as_str() {
                    Some(name) => out.push_str(&quote(name, JsonFlavor::Plain)),
                    None => {
                        let mut name = String::new();
                        json(key, depth + 1, &mut name)?;
                        out.push_str(&quote(&name, JsonFlavor::Plain));
                    }
                }
                out.push(':');
                json(item, depth + 1, out)?;
            }
            out.push('}');
        }
        Data::Call(_) | Data::Pending(_) | Data::Poison => {
            return Err("a part of the arguments is not known yet".to_owned().into());
        }
    }
    Ok(())
}

fn write(out: &mut String, number: impl std::fmt::Display) {
    let _ = write!(out, "{number}");
}

/// Turns a script's result into values with the location and origin of the call.
struct Reader<'v> {
    like: &'v Val,
}

impl Build for Reader<'_> {
    type Value = Val;

    fn null(&mut self) -> Val {
        self.like.with(Data::Null)
    }

    fn bool(&mut self, truth: bool) -> Val {
        self.like.with(Data::Bool(truth))
    }

    fn number(&mut self, text: &str) -> Option<Val> {
        let whole = text.parse().ok().map(Data::Int);
        Some(self.like.with(whole.or_else(|| text.parse().ok().map(Data::Float))?))
    }

    fn string(&mut self, text: String) -> Val {
        self.like.with(Data::Str(text.into()))
    }

    fn list(&mut self, items: Vec<Val>) -> Val {
        self.like.with(Data::List(Arc::new(items)))
    }

    fn map(&mut self, entries: Vec<(String, Val)>) -> Val {
        let entries = entries.into_iter().map(|(key, value)| (self.like.with(Data::Str(key.into())), value)).collect();
        self.like.with(Data::Map(Arc::new(entries)))
    }
}
