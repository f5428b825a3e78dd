//! Tokens to [`Stmt`]s.

use super::ast::{Args, Comparison, Expr, FilterCall, For, Macro, Operator, Place, Stmt, Target};
use super::lexer::{Token, TokenKind};
use crate::error::{Error, Kind, Result};
use crate::limits::MAX_DEPTH;
use crate::val::Val;
use ecow::EcoString;
use std::rc::Rc;

/// Parses a template's tokens.
pub fn parse(tokens: Vec<Token>, text: &str) -> Result<Vec<Stmt>> {
    let mut parser = Parser { tokens, at: 0, depth: 0, text };
    let (body, end) = parser.body(&[])?;
    match end {
        None => Ok(body),
        Some(tag) => Err(parser.error(format!("Encountered unknown tag '{tag}'."))),
    }
}

struct Parser<'t> {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    text: &'t str,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn next(&mut self) -> Option<TokenKind> {
        let token = self.tokens.get(self.at).map(|token| token.kind.clone());
        self.at += 1;
        token
    }

    fn place(&self) -> Place {
        match self.tokens.get(self.at).or_else(|| self.tokens.last()) {
            Some(token) => (token.start, token.end),
            None => (0, 0),
        }
    }

    /// From a place to the token just read.
    fn since(&self, start: Place) -> Place {
        let end = self.tokens.get(self.at.saturating_sub(1)).map_or(start.1, |token| token.end);
        (start.0, end)
    }

    fn error(&self, message: impl Into<String>) -> Box<Error> {
        let (start, end) = self.place();
        Error::new(Kind::Syntax, message).at(start, end).within(self.text)
    }

    fn is_op(&self, op: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Op(found)) if *found == op)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Name(found)) if found == name)
    }

    fn take_op(&mut self, op: &str) -> bool {
        let found = self.is_op(op);
        self.at += usize::from(found);
        found
    }

    fn take_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        self.at += usize::from(found);
        found
    }

    fn expect_op(&mut self, op: &str) -> Result<()> {
        if self.take_op(op) {
            return Ok(());
        }
        Err(self.unexpected(&format!("'{op}'")))
    }

    fn unexpected(&self, wanted: &str) -> Box<Error> {
        let found = match self.peek() {
            None => "end of template".to_owned(),
            Some(TokenKind::VariableEnd) => "end of print statement".to_owned(),
            Some(TokenKind::BlockEnd) => "end of statement block".to_owned(),
            Some(TokenKind::Op(op)) => format!("'{op}'"),
            Some(TokenKind::Name(name)) => format!("'{name}'"),
            Some(TokenKind::Str(_)) => "a string".to_owned(),
            Some(TokenKind::Int(_) | TokenKind::Float(_)) => "a number".to_owned(),
            Some(_) => "text".to_owned(),
        };
        self.error(format!("unexpected {found}, expected {wanted}"))
    }

    fn expect_name(&mut self) -> Result<EcoString> {
        if let Some(TokenKind::Name(name)) = self.peek() {
            let name = name.clone();
            self.at += 1;
            return Ok(name);
        }
        Err(self.unexpected("a name"))
    }

    fn end_block(&mut self) -> Result<()> {
        if self.peek() == Some(&TokenKind::BlockEnd) {
            self.at += 1;
            return Ok(());
        }
        Err(self.unexpected("end of statement block"))
    }

    fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let mut error = self.error(format!("the template is nested deeper than {MAX_DEPTH}"));
            error.kind = Kind::Limit;
            return Err(error);
        }
        let result = run(self);
        self.depth -= 1;
        result
    }

    /// Statements up to one of the ending tags, whose name is returned; its own tokens after the name remain.
    fn body(&mut self, ends: &[&str]) -> Result<(Vec<Stmt>, Option<EcoString>)> {
        let mut out = Vec::new();
        while let Some(token) = self.next() {
            match token {
                TokenKind::Text(text) => out.push(Stmt::Text(text)),
                TokenKind::VariableStart => {
                    let expr = self.tuple()?;
                    if self.next() != Some(TokenKind::VariableEnd) {
                        self.at -= 1;
                        return Err(self.unexpected("end of print statement"));
                    }
                    out.push(Stmt::Print(expr));
                }
                TokenKind::BlockStart => {
                    let tag = self.expect_name()?;
                    if ends.contains(&tag.as_str()) {
                        return Ok((out, Some(tag)));
                    }
                    out.extend(self.deeper(|parser| parser.statement(&tag))?);
                }
                _ => return Err(self.error("unexpected token")),
            }
        }
        match ends.last() {
            None => Ok((out, None)),
            Some(end) => Err(self.error(format!("unexpected end of template, expected '{end}'"))),
        }
    }

    /// The statements of a body that has one possible end.
    fn block(&mut self, end: &str) -> Result<Vec<Stmt>> {
        let (body, _) = self.body(&[end])?;
        // `endblock name` and the like may repeat the name.
        if matches!(self.peek(), Some(TokenKind::Name(_))) {
            self.at += 1;
        }
        self.end_block()?;
        Ok(body)
    }

    fn statement(&mut self, tag: &str) -> Result<Vec<Stmt>> {
        Ok(vec![match tag {
            "if" => self.if_statement()?,
            "for" => self.for_statement()?,
            "set" => self.set_statement()?,
            "with" => self.with_statement()?,
            "filter" => {
                let calls = self.filter_chain()?;
                self.end_block()?;
                Stmt::Filter(calls, self.block("endfilter")?)
            }
            "macro" => {
                let name = self.expect_name()?;
                let params = self.parameters()?;
                self.end_block()?;
                let body = self.block("endmacro")?;
                Stmt::Macro(Rc::new(Macro { name, params, body }))
            }
            "call" => {
                let params = if self.is_op("(") { self.parameters()? } else { Vec::new() };
                let call = self.expr()?;
                self.end_block()?;
                let body = self.block("endcall")?;
                Stmt::CallBlock(Rc::new(Macro { name: "caller".into(), params, body }), call)
            }
            "include" => self.include_statement()?,
            "do" => {
                let expr = self.tuple()?;
                self.end_block()?;
                Stmt::Do(expr)
            }
            "block" => {
                self.expect_name()?;
                while matches!(self.peek(), Some(TokenKind::Name(_))) {
                    self.at += 1;
                }
                self.end_block()?;
                return self.block("endblock");
            }
            "autoescape" => {
                self.expr()?;
                self.end_block()?;
                return self.block("endautoescape");
            }
            _ => {
                self.at -= 1;
                return Err(self.error(format!("Encountered unknown tag '{tag}'.")));
            }
        }])
    }

    fn if_statement(&mut self) -> Result<Stmt> {
        let mut branches = Vec::new();
        loop {
            let condition = self.without_condition()?;
            self.end_block()?;
            let (body, end) = self.body(&["elif", "else", "endif"])?;
            branches.push((condition, body));
            match end.as_deref() {
                Some("elif") => {}
                Some("else") => {
                    self.end_block()?;
                    let otherwise = self.block("endif")?;
                    return Ok(Stmt::If(branches, otherwise));
                }
                _ => {
                    self.end_block()?;
                    return Ok(Stmt::If(branches, Vec::new()));
                }
            }
        }
    }

    fn for_statement(&mut self) -> Result<Stmt> {
        let at = self.place();
        let target = self.target()?;
        if !self.take_name("in") {
            return Err(self.unexpected("'in'"));
        }
        let iter = self.without_condition()?;
        let condition = if self.take_name("if") { Some(self.expr()?) } else { None };
        let recursive = self.take_name("recursive");
        self.end_block()?;
        let (body, end) = self.body(&["else", "endfor"])?;
        let otherwise = if end.as_deref() == Some("else") {
            self.end_block()?;
            self.block("endfor")?
        } else {
            self.end_block()?;
            Vec::new()
        };
        let at = (at.0, at.1);
        Ok(Stmt::For(Box::new(For { target, iter, condition, body, otherwise, recursive, at })))
    }

    fn set_statement(&mut self) -> Result<Stmt> {
        let target = self.target()?;
        if self.take_op("=") {
            let value = self.tuple()?;
            self.end_block()?;
            return Ok(Stmt::Set(target, value));
        }
        let Target::Name(name) = target else {
            return Err(self.unexpected("'='"));
        };
        let calls = if self.take_op("|") { self.filter_chain()? } else { Vec::new() };
        self.end_block()?;
        Ok(Stmt::SetBlock(name, calls, self.block("endset")?))
    }

    fn with_statement(&mut self) -> Result<Stmt> {
        let mut assignments = Vec::new();
        while self.peek() != Some(&TokenKind::BlockEnd) {
            let name = self.expect_name()?;
            self.expect_op("=")?;
            assignments.push((Target::Name(name), self.expr()?));
            if !self.take_op(",") {
                break;
            }
        }
        self.end_block()?;
        Ok(Stmt::With(assignments, self.block("endwith")?))
    }

    fn include_statement(&mut self) -> Result<Stmt> {
        let at = self.place();
        let name = self.expr()?;
        let mut optional = false;
        while let Some(TokenKind::Name(word)) = self.peek() {
            match word.as_str() {
                "ignore" | "missing" => optional = true,
                "with" | "without" | "context" => {}
                _ => return Err(self.unexpected("end of statement block")),
            }
            self.at += 1;
        }
        self.end_block()?;
        Ok(Stmt::Include(name, optional, at))
    }

    fn target(&mut self) -> Result<Target> {
        let mut targets = vec![self.single_target()?];
        let mut several = false;
        while self.take_op(",") {
            several = true;
            if !matches!(self.peek(), Some(TokenKind::Name(_) | TokenKind::Op("("))) || self.is_name("in") {
                break;
            }
            targets.push(self.single_target()?);
        }
        Ok(match targets.pop() {
            Some(only) if !several && targets.is_empty() => only,
            Some(last) => {
                targets.push(last);
                Target::Tuple(targets)
            }
            None => Target::Tuple(Vec::new()),
        })
    }

    fn single_target(&mut self) -> Result<Target> {
        if self.take_op("(") {
            let target = self.deeper(Parser::target)?;
            self.expect_op(")")?;
            return Ok(target);
        }
        let name = self.expect_name()?;
        if self.take_op(".") {
            return Ok(Target::Attribute(name, self.expect_name()?));
        }
        Ok(Target::Name(name))
    }

    fn parameters(&mut self) -> Result<Vec<(EcoString, Option<Expr>)>> {
        let mut params = Vec::new();
        self.expect_op("(")?;
        while !self.take_op(")") {
            let name = self.expect_name()?;
            let default = if self.take_op("=") { Some(self.expr()?) } else { None };
            params.push((name, default));
            if !self.take_op(",") {
                self.expect_op(")")?;
                break;
            }
        }
        Ok(params)
    }

    fn filter_chain(&mut self) -> Result<Vec<FilterCall>> {
        let mut calls = vec![self.filter_call()?];
        while self.take_op("|") {
            calls.push(self.filter_call()?);
        }
        Ok(calls)
    }

    fn filter_call(&mut self) -> Result<FilterCall> {
        let start = self.place();
        let name = self.dotted_name()?;
        let at = self.since(start);
        let args = if self.is_op("(") { self.arguments()? } else { Args::default() };
        Ok(FilterCall { name, args, at })
    }

    /// `ansible.builtin.name` is `name`.
    fn dotted_name(&mut self) -> Result<EcoString> {
        let mut name = self.expect_name()?;
        while self.take_op(".") {
            let part = self.expect_name()?;
            name = ecow::eco_format!("{name}.{part}");
        }
        Ok(name.strip_prefix("ansible.builtin.").map_or(name.clone(), EcoString::from))
    }

    fn arguments(&mut self) -> Result<Args> {
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
    fn tuple(&mut self) -> Result<Expr> {
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

    fn expr(&mut self) -> Result<Expr> {
        self.deeper(Parser::conditional)
    }

    fn conditional(&mut self) -> Result<Expr> {
        let mut expr = self.or()?;
        while self.take_name("if") {
            let condition = self.or()?;
            let otherwise = if self.take_name("else") { Some(Box::new(self.expr()?)) } else { None };
            expr = Expr::If(Box::new(condition), Box::new(expr), otherwise);
        }
        Ok(expr)
    }

    /// What a `for` iterates or an `if` tests: an `if` after it belongs to the statement.
    fn without_condition(&mut self) -> Result<Expr> {
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

    fn or(&mut self) -> Result<Expr> {
        let mut left = self.and()?;
        while self.take_name("or") {
            let right = self.and()?;
            left = Expr::Or(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr> {
        let mut left = self.not()?;
        while self.take_name("and") {
            let right = self.not()?;
            left = Expr::And(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Expr> {
        if self.take_name("not") {
            let inner = self.deeper(Parser::not)?;
            return Ok(Expr::Not(Box::new(inner)));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Expr> {
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

    fn comparison_operator(&mut self) -> Option<Comparison> {
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

    fn sum(&mut self) -> Result<Expr> {
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

    fn concat(&mut self) -> Result<Expr> {
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

    fn product(&mut self) -> Result<Expr> {
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

    /// Powers group to the left, and what they raise may carry filters.
    fn power(&mut self) -> Result<Expr> {
        let start = self.place();
        let mut left = self.unary(true)?;
        while self.take_op("**") {
            let right = self.unary(true)?;
            left = Expr::Binary(Operator::Pow, Box::new(left), Box::new(right), self.since(start));
        }
        Ok(left)
    }

    fn unary(&mut self, filters: bool) -> Result<Expr> {
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

    fn primary(&mut self) -> Result<Expr> {
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

    fn postfix(&mut self, mut expr: Expr) -> Result<Expr> {
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

    fn subscript(&mut self, expr: Expr) -> Result<Expr> {
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

    fn filters_and_tests(&mut self, mut expr: Expr) -> Result<Expr> {
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

    fn test(&mut self, expr: Expr) -> Result<Expr> {
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

    fn starts_argument(&self) -> bool {
        match self.peek() {
            Some(TokenKind::Name(name)) => !matches!(name.as_str(), "else" | "or" | "and" | "is" | "if" | "in" | "not"),
            Some(TokenKind::Str(_) | TokenKind::Int(_) | TokenKind::Float(_)) => true,
            Some(TokenKind::Op(op)) => matches!(*op, "[" | "{"),
            _ => false,
        }
    }
}
