//! The arguments of a helper function, with the checks that all functions share.

use super::Helper;
use crate::expr::shown_type;
use crate::number;
use purlin_value::function::{Count, Function};
use purlin_value::{Data, EcoString, Session, Value};

/// What a helper function was called with.
pub struct Arguments<'a> {
    /// The function.
    pub function: &'static Function<Helper>,
    /// The arguments, evaluated throughout.
    pub values: &'a [Value],
    /// The run, for limits, parsing and randomness.
    pub session: &'a Session,
    /// Makes calls at different places differ where they should (`uuidv4`).
    pub salt: u64,
}

impl Arguments<'_> {
    /// Whether every required argument is there.
    pub fn check_count(&self) -> Result<(), String> {
        for (index, parameter) in self.function.parameters.iter().enumerate() {
            if parameter.count == Count::One && self.values.get(index).is_none() {
                return Err(format!("argument `{}` of `{}` is missing", parameter.name, self.function.name));
            }
        }
        Ok(())
    }

    /// An argument, if it was given.
    pub fn get(&self, index: usize) -> Option<&Value> {
        self.values.get(index)
    }

    /// A sentence about a bad argument.
    pub fn bad(&self, index: usize, why: &str) -> String {
        let name = self.function.parameters.get(index).map_or("", |p| p.name);
        format!("argument `{name}` of `{}` {why}", self.function.name)
    }

    fn wrong(&self, index: usize, wanted: &str) -> String {
        let got = self.get(index).map_or("nothing", shown_type);
        self.bad(index, &format!("must be {wanted}, not {got}"))
    }

    /// A string that is not empty.
    pub fn text(&self, index: usize) -> Result<&EcoString, String> {
        let text = self.any_text(index)?;
        if text.is_empty() { Err(self.bad(index, "must not be empty")) } else { Ok(text) }
    }

    /// A string, possibly empty.
    pub fn any_text(&self, index: usize) -> Result<&EcoString, String> {
        match self.get(index).map(|v| &v.data) {
            Some(Data::Str(text)) => Ok(text),
            _ => Err(self.wrong(index, "a string")),
        }
    }

    /// A number, or text that reads as one.
    pub fn number(&self, index: usize) -> Result<f64, String> {
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
    pub fn count(&self, index: usize) -> Result<usize, String> {
        let number = self.number(index)?;
        if number.fract() != 0.0 {
            return Err(self.bad(index, "must be an integer"));
        }
        if number < 0.0 {
            return Err(self.bad(index, "must be 0 or more"));
        }
        Ok(number as usize)
    }

    /// A truth value, false if it was not given.
    pub fn flag(&self, index: usize) -> Result<bool, String> {
        match self.get(index) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(index, "a boolean")),
        }
    }

    /// A list.
    pub fn list(&self, index: usize) -> Result<&[Value], String> {
        self.get(index).and_then(Value::as_list).ok_or_else(|| self.wrong(index, "a list"))
    }

    /// One of the words.
    pub fn word(&self, index: usize, words: &[&str]) -> Result<&EcoString, String> {
        let text = self.any_text(index)?;
        if words.contains(&text.as_str()) {
            return Ok(text);
        }
        Err(self.bad(index, &format!("must be one of {}", words.join(", "))))
    }
}
