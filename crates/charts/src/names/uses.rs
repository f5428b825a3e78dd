//! Notes how templates use values: what their types are inferred from.

use super::{Meaning, Place, Walk};
use crate::value_types::{Constant, Use};
use purlin_gotmpl::ast::Expr;

impl Walk<'_> {
    /// Notes a use of values.
    pub(super) fn note_use(&self, meaning: &Meaning, of: Use) {
        for place in meaning {
            if let Place::Value(chart, path) = place {
                let key = self.key(*chart, path);
                self.read(|reads| _ = reads.uses.entry(key).or_default().insert(of));
            }
        }
    }

    /// Notes the arguments of a function; the last one is [`usize::MAX`], whatever its number.
    pub(super) fn note_given(&self, name: &'static str, operands: &[Expr], given: &[Meaning]) {
        let is_comparison = matches!(name, "eq" | "ne" | "lt" | "le" | "gt" | "ge");
        let constant = operands.iter().find_map(|operand| match operand {
            Expr::Str(_) => Some(Constant::Text),
            Expr::Number(_) => Some(Constant::Number),
            Expr::Bool(..) => Some(Constant::Truth),
            _ => None,
        });
        for (index, meaning) in given.iter().enumerate() {
            match constant.filter(|_| is_comparison) {
                Some(constant) => self.note_use(meaning, Use::Compared(constant)),
                None if name == "not" => self.note_use(meaning, Use::Tested),
                None => self.note_use(meaning, Use::Given(name, index)),
            }
            if index + 1 == given.len() && !is_comparison {
                self.note_use(meaning, Use::Given(name, usize::MAX));
            }
        }
    }
}
