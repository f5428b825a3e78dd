//! Tokens to [`Stmt`]s: reading tokens here, statements and expressions in their own files.

mod expressions;
mod statements;

use super::ast::{Place, Stmt};
use super::lexer::{Token, TokenKind};
use crate::error::{Error, Kind, Result};
use crate::limits::MAX_DEPTH;
use ecow::EcoString;
use purlin_syntax::Message;

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

    fn error(&self, message: impl Into<Message>) -> Box<Error> {
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
}
