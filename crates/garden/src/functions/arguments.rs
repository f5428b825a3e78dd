//! The arguments of a helper function, with the checks that all functions share.

use super::{Fault, Helper};
use crate::expr::shown_type;
use crate::number;
use purlin_syntax::what;
use purlin_value::function::{Count, Function};
use purlin_value::lazy::ITEM_BYTES;
use purlin_value::meter::{SLOW_STEPS, steps_for};
use purlin_value::rules::{LIMIT_LIST, LIMIT_STRING};
use purlin_value::weight::{surface, weight};
use purlin_value::{Cost, Data, EcoString, Session, Value};

/// Arguments of a call of a helper function.
pub struct Arguments<'a> {
    /// The function.
    pub function: &'static Function<Helper>,
    /// The arguments, evaluated throughout.
    pub values: &'a [Value],
    /// The run, for limits, parsing and randomness.
    pub session: &'a Session,
    /// Makes calls at different places differ where they should (`uuidv4`).
    pub salt: u64,
    /// Origins of the parts of the result, if the function provides them.
    pub pieces: std::cell::RefCell<Vec<purlin_value::Piece>>,
}

impl Arguments<'_> {
    /// Charges the cost of the function before it is called.
    pub fn charge(&self) -> Result<(), Fault> {
        let cost = self.function.cost;
        let looked = self.values.iter().enumerate().filter(|(at, _)| cost.looks_at(*at));
        let is_deep = matches!(cost, Cost::Deep | Cost::Slow);
        let bytes = looked.map(|(_, value)| if is_deep { weight(value) } else { surface(value) });
        let bytes = bytes.fold(0, u64::saturating_add);
        let most = self.session.limits.string_bytes;
        if is_deep && bytes > most.saturating_mul(4) {
            let message = format!("what `{}` is given has more than the {most} bytes of a text", self.function.name);
            return Err(Fault::limit(&LIMIT_STRING, message));
        }
        let steps = if cost == Cost::Slow { bytes.saturating_mul(SLOW_STEPS) } else { steps_for(bytes) };
        self.spend(steps.saturating_add(1), 0)
    }

    /// Charges steps, and bytes to be allocated.
    pub fn spend(&self, steps: u64, bytes: u64) -> Result<(), Fault> {
        let charged = self.session.meter.charge(steps, bytes);
        charged.map_err(|exceeded| Fault::limit(exceeded.rule(), exceeded.message()))
    }

    /// Charges a result, unless its function charges itself; an error if it is larger than allowed.
    pub fn made(&self, result: Value) -> Result<Value, Fault> {
        match &result.data {
            _ if self.function.cost == Cost::Own => {}
            Data::Str(text) => self.make_text(text.len() as u64)?,
            Data::List(list) => self.make_list(list.len() as u64)?,
            _ => {}
        }
        Ok(result)
    }

    /// Charges a text of this length that is about to be made.
    pub fn make_text(&self, bytes: u64) -> Result<(), Fault> {
        let most = self.session.limits.string_bytes;
        if bytes > most {
            let message = format!("the text `{}` makes has more than the {most} bytes allowed", self.function.name);
            return Err(Fault::limit(&LIMIT_STRING, message));
        }
        self.spend(steps_for(bytes), bytes)
    }

    /// Charges a list of this length that is about to be made.
    pub fn make_list(&self, items: u64) -> Result<(), Fault> {
        let most = self.session.limits.list_items;
        if items > most {
            let message = format!("`{}` would make more than the {most} items allowed", self.function.name);
            return Err(Fault::limit(&LIMIT_LIST, message));
        }
        self.spend(items, items.saturating_mul(ITEM_BYTES))
    }

    /// Checks that every required argument is given.
    pub fn check_count(&self) -> Result<(), Fault> {
        for (index, parameter) in self.function.parameters.iter().enumerate() {
            if parameter.count == Count::One && self.values.get(index).is_none() {
                let words = format!("argument `{}` of `{}` is missing", parameter.name, self.function.name);
                return Err(Fault::of(index, what::missing("argument", parameter.name).words(words)));
            }
        }
        Ok(())
    }

    /// An argument, if it was given.
    pub fn get(&self, index: usize) -> Option<&Value> {
        self.values.get(index)
    }

    /// A sentence about a bad argument.
    pub fn bad(&self, index: usize, why: &str) -> Fault {
        let name = self.function.parameters.get(index).map_or("", |p| p.name);
        Fault::of(index, format!("argument `{name}` of `{}` {why}", self.function.name))
    }

    /// The error for an argument of the wrong kind.
    pub fn must_be(&self, index: usize, wanted: &str) -> Fault {
        let name = self.function.parameters.get(index).map_or("", |p| p.name);
        Fault::of(index, what::must_be(format!("argument `{name}` of `{}`", self.function.name), wanted))
    }

    fn wrong(&self, index: usize, wanted: &str) -> Fault {
        let got = self.get(index).map_or("nothing", shown_type);
        let name = self.function.parameters.get(index).map_or("", |p| p.name);
        let of = format!("argument `{name}` of `{}`: ", self.function.name);
        Fault::of(index, what::expected(wanted, got).under(of))
    }

    /// A string that is not empty.
    pub fn text(&self, index: usize) -> Result<&EcoString, Fault> {
        let text = self.any_text(index)?;
        if text.is_empty() { Err(self.bad(index, "must not be empty")) } else { Ok(text) }
    }

    /// A string, possibly empty.
    pub fn any_text(&self, index: usize) -> Result<&EcoString, Fault> {
        match self.get(index).map(|v| &v.data) {
            Some(Data::Str(text)) => Ok(text),
            _ => Err(self.wrong(index, "a string")),
        }
    }

    /// A number, or text that reads as one.
    pub fn number(&self, index: usize) -> Result<f64, Fault> {
        self.loose_number(index).ok_or_else(|| self.wrong(index, "a number"))
    }

    /// A number or numeric text, if the argument is one.
    pub fn loose_number(&self, index: usize) -> Option<f64> {
        match &self.get(index)?.data {
            Data::Str(text) => number::from_text(text),
            _ => self.get(index)?.as_number(),
        }
    }

    /// A whole number that is not negative.
    pub fn count(&self, index: usize) -> Result<usize, Fault> {
        let number = self.number(index)?;
        if number.fract() != 0.0 {
            return Err(self.must_be(index, "an integer"));
        }
        if number < 0.0 {
            return Err(self.bad(index, "must be 0 or more"));
        }
        Ok(number as usize)
    }

    /// A truth value, false if it was not given.
    pub fn flag(&self, index: usize) -> Result<bool, Fault> {
        match self.get(index) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(index, "a boolean")),
        }
    }

    /// A list.
    pub fn list(&self, index: usize) -> Result<&[Value], Fault> {
        self.get(index).and_then(Value::as_list).ok_or_else(|| self.wrong(index, "a list"))
    }

    /// One of the words.
    pub fn word(&self, index: usize, words: &[&str]) -> Result<&EcoString, Fault> {
        let text = self.any_text(index)?;
        if words.contains(&text.as_str()) {
            return Ok(text);
        }
        Err(self.bad(index, &format!("must be one of {}", words.join(", "))))
    }
}
