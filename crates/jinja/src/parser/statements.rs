//! Statements: `{% … %}` with what they enclose.

use super::super::ast::{Expr, For, Macro, Stmt, Target};
use super::super::lexer::TokenKind;
use super::Parser;
use crate::error::Result;
use ecow::EcoString;
use std::rc::Rc;

impl Parser<'_> {
    /// Statements up to one of the ending tags, whose name is returned; its own tokens after the name remain.
    pub(super) fn body(&mut self, ends: &[&str]) -> Result<(Vec<Stmt>, Option<EcoString>)> {
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
            Some(end) => {
                let error = self.error(format!("unexpected end of template, expected '{end}'"));
                Err(error.plain(format!("the template ends before `{end}`")).hint(format!("add `{{% {end} %}}`")))
            }
        }
    }

    /// The statements of a body that has one possible end.
    pub(super) fn block(&mut self, end: &str) -> Result<Vec<Stmt>> {
        let (body, _) = self.body(&[end])?;
        // `endblock name` and the like may repeat the name.
        if matches!(self.peek(), Some(TokenKind::Name(_))) {
            self.at += 1;
        }
        self.end_block()?;
        Ok(body)
    }

    pub(super) fn statement(&mut self, tag: &str) -> Result<Vec<Stmt>> {
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

    pub(super) fn if_statement(&mut self) -> Result<Stmt> {
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

    pub(super) fn for_statement(&mut self) -> Result<Stmt> {
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

    pub(super) fn set_statement(&mut self) -> Result<Stmt> {
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

    pub(super) fn with_statement(&mut self) -> Result<Stmt> {
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

    pub(super) fn include_statement(&mut self) -> Result<Stmt> {
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

    pub(super) fn target(&mut self) -> Result<Target> {
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

    pub(super) fn single_target(&mut self) -> Result<Target> {
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

    pub(super) fn parameters(&mut self) -> Result<Vec<(EcoString, Option<Expr>)>> {
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
}
