//! Expressions, from the loosest operator to the tightest, with filters, tests and arguments.

use super::super::ast::{Args, Comparison, Expr, FilterCall, Operator};
use super::super::lexer::TokenKind;
use super::Parser;
use crate::error::Result;
use crate::val::Val;
use ecow::EcoString;

impl Parser<'_> {
    pub(super) fn filter_chain(&mut self) -> Result<Vec<FilterCall>> {
        let mut calls = vec![self.filter_call()?];
        while self.take_op("|") {
            calls.push(self.filter_call()?);
        }
        Ok(calls)
    }

    pub(super) fn filter_call(&mut self) -> Result<FilterCall> {
        let start = self.place();
        let name = self.dotted_name()?;
        let at = self.since(start);
        let args = if self.is_op("(") { self.arguments()? } else { Args::default() };
        Ok(FilterCall { name, args, at })
    }

    /// `ansible.builtin.name` is `name`.
    pub(super) fn dotted_name(&mut self) -> Result<EcoString> {
        let mut name = self.expect_name()?;
        while self.take_op(".") {
            let part = self.expect_name()?;
            name = ecow::eco_format!("{name}.{part}");
        }
        Ok(name.strip_prefix("ansible.builtin.").map_or(name.clone(), EcoString::from))
    }

    pub(super) fn arguments(&mut self) -> Result<Args> {
        let mut args = Args::default();
        self.expect_op("(")?;
        while !self.take_op(")") {
            if self.take_op("**") {
                args.spread_named = Some(Box::new(self.expr()?));
            } else if self.take_op("*") {
                args.spread = Some(Box::new(self.expr()?));
            } else {
                let named = matches!(self.tokens.get(self.at + 1).map(|t| &t.kind), Some(TokenKind::Op("=")));
                if named && matches!(self.peek(), Some(TokenKind::Name(_))) {
                    let name = self.expect_name()?;
                    self.expect_op("=")?;
                    args.named.push((name, self.expr()?));
                } else {
                    args.positional.push(self.expr()?);
                }
            }
            if !self.take_op(",") {
                self.expect_op(")")?;
                break;
            }
        }
        Ok(args)
    }

    /// An expression, or several separated by commas.
    pub(super) fn tuple(&mut self) -> Result<Expr> {
        let first = self.expr()?;
        if !self.is_op(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.take_op(",") {
            if matches!(self.peek(), Some(TokenKind::VariableEnd | TokenKind::BlockEnd | TokenKind::Op(")"))) {
                break;
            }
            items.push(self.expr()?);
        }
        Ok(Expr::Tuple(items))
    }

    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.deeper(Parser::conditional)
    }

    pub(super) fn conditional(&mut self) -> Result<Expr> {
        let mut expr = self.or()?;
        while self.take_name("if") {
            let condition = self.or()?;
            let otherwise = if self.take_name("else") { Some(Box::new(self.expr()?)) } else { None };
            expr = Expr::If(Box::new(condition), Box::new(expr), otherwise);
        }
        Ok(expr)
    }

    /// The expression of a `for` or an `if`: an `if` after it belongs to the statement.
    pub(super) fn without_condition(&mut self) -> Result<Expr> {
        let first = self.deeper(Parser::or)?;
        if !self.is_op(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.take_op(",") {
            items.push(self.deeper(Parser::or)?);
        }
        Ok(Expr::Tuple(items))
    }

    pub(super) fn or(&mut self) -> Result<Expr> {
        let mut left = self.and()?;
        while self.take_name("or") {
            let right = self.and()?;
            left = Expr::Or(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    pub(super) fn and(&mut self) -> Result<Expr> {
        let mut left = self.not()?;
        while self.take_name("and") {
            let right = self.not()?;
            left = Expr::And(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    pub(super) fn not(&mut self) -> Result<Expr> {
        if self.take_name("not") {
            let inner = self.deeper(Parser::not)?;
            return Ok(Expr::Not(Box::new(inner)));
        }
        self.comparison()
    }

    pub(super) fn comparison(&mut self) -> Result<Expr> {
        let start = self.place();
        let left = self.sum()?;
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparison_operator() {
            rest.push((comparison, self.sum()?));
        }
        if rest.is_empty() {
            return Ok(left);
        }
        let at = self.since(start);
        Ok(Expr::Compare(Box::new(left), rest, at))
    }

    pub(super) fn comparison_operator(&mut self) -> Option<Comparison> {
        let found = match self.peek()? {
            TokenKind::Op("==") => Comparison::Eq,
            TokenKind::Op("!=") => Comparison::Ne,
            TokenKind::Op("<") => Comparison::Lt,
            TokenKind::Op("<=") => Comparison::Le,
            TokenKind::Op(">") => Comparison::Gt,
            TokenKind::Op(">=") => Comparison::Ge,
            TokenKind::Name(name) if name == "in" => Comparison::In,
            TokenKind::Name(name) if name == "not" => {
                let next = self.tokens.get(self.at + 1).map(|token| &token.kind);
                if !matches!(next, Some(TokenKind::Name(name)) if name == "in") {
                    return None;
                }
                self.at += 1;
                Comparison::NotIn
            }
            _ => return None,
        };
        self.at += 1;
        Some(found)
    }

    pub(super) fn sum(&mut self) -> Result<Expr> {
        let start = self.place();
        let mut left = self.concat()?;
        loop {
            let operator = match self.peek() {
                Some(TokenKind::Op("+")) => Operator::Add,
                Some(TokenKind::Op("-")) => Operator::Sub,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.concat()?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right), self.since(start));
        }
    }

    pub(super) fn concat(&mut self) -> Result<Expr> {
        let first = self.product()?;
        if !self.is_op("~") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.take_op("~") {
            items.push(self.product()?);
        }
        Ok(Expr::Concat(items))
    }

    pub(super) fn product(&mut self) -> Result<Expr> {
        let start = self.place();
        let mut left = self.power()?;
        loop {
            let operator = match self.peek() {
                Some(TokenKind::Op("*")) => Operator::Mul,
                Some(TokenKind::Op("/")) => Operator::Div,
                Some(TokenKind::Op("//")) => Operator::FloorDiv,
                Some(TokenKind::Op("%")) => Operator::Mod,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.power()?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right), self.since(start));
        }
    }

    /// Powers group to the left, and their bases may carry filters.
    pub(super) fn power(&mut self) -> Result<Expr> {
        let start = self.place();
        let mut left = self.unary(true)?;
        while self.take_op("**") {
            let right = self.unary(true)?;
            left = Expr::Binary(Operator::Pow, Box::new(left), Box::new(right), self.since(start));
        }
        Ok(left)
    }

    pub(super) fn unary(&mut self, filters: bool) -> Result<Expr> {
        let start = self.place();
        let expr = if self.take_op("-") {
            let inner = self.deeper(|parser| parser.unary(false))?;
            Expr::Negative(Box::new(inner), self.since(start))
        } else if self.take_op("+") {
            let inner = self.deeper(|parser| parser.unary(false))?;
            Expr::Positive(Box::new(inner), self.since(start))
        } else {
            let primary = self.primary()?;
            self.postfix(primary)?
        };
        if filters { self.filters_and_tests(expr) } else { Ok(expr) }
    }

    pub(super) fn primary(&mut self) -> Result<Expr> {
        let at = self.place();
        match self.next() {
            Some(TokenKind::Name(name)) => Ok(match name.as_str() {
                "true" | "True" => Expr::Const(Val::bool(true)),
                "false" | "False" => Expr::Const(Val::bool(false)),
                "none" | "None" => Expr::Const(Val::null()),
                _ => Expr::Name(name, at),
            }),
            Some(TokenKind::Str(mut text)) => {
                while let Some(TokenKind::Str(more)) = self.peek() {
                    text.push_str(more);
                    self.at += 1;
                }
                Ok(Expr::Const(Val::str(text)))
            }
            Some(TokenKind::Int(n)) => Ok(Expr::Const(Val::int(n))),
            Some(TokenKind::Float(x)) => Ok(Expr::Const(Val::float(x))),
            Some(TokenKind::Op("(")) => {
                if self.take_op(")") {
                    return Ok(Expr::Tuple(Vec::new()));
                }
                let inner = self.deeper(Parser::tuple)?;
                self.expect_op(")")?;
                Ok(inner)
            }
            Some(TokenKind::Op("[")) => {
                let mut items = Vec::new();
                while !self.take_op("]") {
                    items.push(self.expr()?);
                    if !self.take_op(",") {
                        self.expect_op("]")?;
                        break;
                    }
                }
                Ok(Expr::List(items))
            }
            Some(TokenKind::Op("{")) => {
                let mut entries = Vec::new();
                while !self.take_op("}") {
                    let key = self.expr()?;
                    self.expect_op(":")?;
                    entries.push((key, self.expr()?));
                    if !self.take_op(",") {
                        self.expect_op("}")?;
                        break;
                    }
                }
                Ok(Expr::Dict(entries))
            }
            _ => {
                self.at -= 1;
                Err(self.unexpected("an expression"))
            }
        }
    }

    pub(super) fn postfix(&mut self, mut expr: Expr) -> Result<Expr> {
        let start = self.place();
        loop {
            if self.take_op(".") {
                let at = self.place();
                match self.next() {
                    Some(TokenKind::Name(name)) => expr = Expr::Attribute(Box::new(expr), name, at),
                    Some(TokenKind::Int(n)) => {
                        expr = Expr::Item(Box::new(expr), Box::new(Expr::Const(Val::int(n))), at);
                    }
                    _ => {
                        self.at -= 1;
                        return Err(self.unexpected("a name or number"));
                    }
                }
            } else if self.take_op("[") {
                expr = self.subscript(expr)?;
            } else if self.is_op("(") {
                let args = self.arguments()?;
                expr = Expr::Call(Box::new(expr), Box::new(args), self.since(start));
            } else {
                return Ok(expr);
            }
        }
    }

    pub(super) fn subscript(&mut self, expr: Expr) -> Result<Expr> {
        let start = self.place();
        let mut parts: [Option<Box<Expr>>; 3] = [None, None, None];
        let mut index = 0;
        let mut slice = false;
        while !self.is_op("]") {
            if self.take_op(":") {
                slice = true;
                index += 1;
                if index > 2 {
                    return Err(self.unexpected("']'"));
                }
                continue;
            }
            let part = self.tuple()?;
            if let Some(slot) = parts.get_mut(index) {
                *slot = Some(Box::new(part));
            }
            if !self.is_op(":") && !self.is_op("]") {
                return Err(self.unexpected("']'"));
            }
        }
        self.expect_op("]")?;
        if slice {
            return Ok(Expr::Slice(Box::new(expr), parts));
        }
        let [first, ..] = parts;
        match first {
            Some(key) => Ok(Expr::Item(Box::new(expr), key, self.since(start))),
            None => Err(self.error("expected an index or key between `[` and `]`")),
        }
    }

    pub(super) fn filters_and_tests(&mut self, mut expr: Expr) -> Result<Expr> {
        loop {
            if self.take_op("|") {
                let call = self.filter_call()?;
                expr = Expr::Filter(Box::new(expr), Box::new(call));
            } else if self.take_name("is") {
                expr = self.test(expr)?;
            } else if self.is_op("(") {
                let at = self.place();
                let args = self.arguments()?;
                expr = Expr::Call(Box::new(expr), Box::new(args), at);
            } else {
                return Ok(expr);
            }
        }
    }

    pub(super) fn test(&mut self, expr: Expr) -> Result<Expr> {
        let negated = self.take_name("not");
        let start = self.place();
        let name = self.dotted_name()?;
        let at = self.since(start);
        let mut args = Args::default();
        if self.is_op("(") {
            args = self.arguments()?;
        } else if self.starts_argument() {
            let primary = self.primary()?;
            args.positional.push(self.postfix(primary)?);
        }
        let test = Expr::Test(Box::new(expr), Box::new(FilterCall { name, args, at }));
        Ok(if negated { Expr::Not(Box::new(test)) } else { test })
    }

    pub(super) fn starts_argument(&self) -> bool {
        match self.peek() {
            Some(TokenKind::Name(name)) => !matches!(name.as_str(), "else" | "or" | "and" | "is" | "if" | "in" | "not"),
            Some(TokenKind::Str(_) | TokenKind::Int(_) | TokenKind::Float(_)) => true,
            Some(TokenKind::Op(op)) => matches!(*op, "[" | "{"),
            _ => false,
        }
    }
}
