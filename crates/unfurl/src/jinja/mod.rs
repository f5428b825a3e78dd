//! Ansible-flavoured Jinja2 templates, evaluated on [`Val`]s so that taint and instances survive.
//!
//! A template of one expression evaluates to that expression's value; text that reads as a Python literal becomes that
//! value. The result of a template is data: it is never rendered again.

pub(crate) mod arithmetic;
mod ast;
pub(crate) mod filters;
mod format;
mod lexer;
mod literal;
mod lookup;
mod methods;
pub mod moment;
pub mod object;
mod parser;
mod render;
mod tests;
mod time;

use crate::error::{Error, Kind, Result};
use crate::eval::Ctx;
use crate::limits::MAX_EXPRESSION;
use crate::val::Val;
use ast::Stmt;
use ecow::EcoString;
use lexer::TokenKind;
use std::rc::Rc;

pub use filters::{FILTERS, Filter, percent_encode, round_to, shell_quote};
pub use lexer::Delimiters;
pub use lookup::{LOOKUPS, lookup};
pub use tests::TESTS;

/// Whether a text is a template. Comments alone do not make one.
pub fn is_template(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 2 {
        return false;
    }
    memchr::memchr2_iter(b'{', b'}', bytes).any(|at| {
        let next = bytes.get(at + 1);
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        match bytes.get(at) {
            Some(b'{') => matches!(next, Some(b'{' | b'%')),
            _ => next == Some(&b'}') || before == Some(&b'%'),
        }
    })
}

/// Unknown filters of a template, with their positions. None for a template that cannot be parsed.
pub fn unknown_filters(text: &str) -> Vec<(EcoString, u32, u32)> {
    if !text.contains('|') || text.len() > MAX_EXPRESSION || text.starts_with("#jinja2:") {
        return Vec::new();
    }
    let tokens = lexer::tokens(text, &Delimiters::default()).unwrap_or_default();
    let named = tokens.windows(3).filter_map(|three| match three {
        [pipe, name, next] => Some((pipe, name, next)),
        _ => None,
    });
    let unknown = named.filter_map(|(pipe, name, next)| match (&pipe.kind, &name.kind, &next.kind) {
        // A name with dots is that of a collection.
        (_, _, TokenKind::Op(".")) => None,
        (TokenKind::Op("|"), TokenKind::Name(text), _) if filters::find(text).is_none() => {
            Some((text.clone(), name.start, name.end))
        }
        _ => None,
    });
    unknown.collect()
}

/// A parsed template.
#[derive(Debug)]
pub struct Template {
    /// Its text, without the header and blanks around.
    pub text: EcoString,
    body: Vec<Stmt>,
}

impl Template {
    /// Parses a template with the usual delimiters, or those set by its `#jinja2:` header.
    pub fn parse(text: &str) -> Result<Template> {
        Template::parse_with(text, Delimiters::default())
    }

    /// Parses a template with the given delimiters.
    pub(crate) fn parse_with(text: &str, mut marks: Delimiters) -> Result<Template> {
        if text.len() > MAX_EXPRESSION {
            let message = format!("the template is longer than {MAX_EXPRESSION} bytes");
            return Err(Error::new(Kind::Limit, message));
        }
        let mut text = text.trim();
        if let Some(header) = text.strip_prefix("#jinja2:") {
            let (line, rest) = header.split_once('\n').unwrap_or((header, ""));
            read_header(line, &mut marks)?;
            text = rest;
        }
        let tokens = lexer::tokens(text, &marks)?;
        let body = parser::parse(tokens, text)?;
        Ok(Template { text: text.into(), body })
    }
}

/// `#jinja2: variable_start_string: '<%', trim_blocks: True`
fn read_header(line: &str, marks: &mut Delimiters) -> Result<()> {
    for pair in line.split(',') {
        let Some((key, value)) = pair.split_once(':') else {
            continue;
        };
        let value = value.trim().trim_matches(['\'', '"']);
        if !marks.set(key.trim(), value) {
            let message = format!("`{}` is not a setting of a template", key.trim());
            return Err(Error::new(Kind::Syntax, message));
        }
    }
    Ok(())
}

/// Renders a text as a template. Where undefined values are tolerated, errors are too: their text is the result.
pub fn render(ctx: &Ctx<'_, '_>, text: &str) -> Result<Val> {
    render_with(ctx, text, || ctx.engine.template(text))
}

/// Renders a text with its own delimiters.
pub(crate) fn render_marked(ctx: &Ctx<'_, '_>, text: &str, marks: Delimiters) -> Result<Val> {
    render_with(ctx, text, || Template::parse_with(text, marks).map(Rc::new))
}

fn render_with(ctx: &Ctx<'_, '_>, text: &str, parse: impl FnOnce() -> Result<Rc<Template>>) -> Result<Val> {
    let engine = ctx.engine;
    let outer = engine.saw_secret.replace(false);
    let result = parse().and_then(|template| engine.deeper(|| render::run(ctx, &template)));
    let saw = engine.saw_secret.get();
    engine.saw_secret.set(outer || saw);
    match result {
        Ok(value) => Ok(value.taint_if(saw)),
        Err(error) if ctx.strict() || error.kind.is_final() => Err(error),
        // A template with an undefined name is kept as written.
        Err(error) if error.kind == Kind::Undefined && !ctx.frame.mode.safe => Ok(Val::str(text.trim()).taint_if(saw)),
        Err(error) => {
            let message = in_result(&error, text, ctx.frame.mode.safe);
            Ok(Val::str(format!("<<Error rendering template: {message}>>")).taint_if(saw))
        }
    }
}

/// The text of an error where it becomes the result.
fn in_result(error: &Error, text: &str, safe: bool) -> String {
    let message = &error.message;
    match error.kind {
        Kind::Syntax if !safe => {
            format!("template error while templating string: {message}. String: {text}. {message}")
        }
        _ => message.clone(),
    }
}

/// Applies an operator of templates to evaluated values.
pub fn operator(symbol: &str, left: &Val, right: &Val) -> Result<Val> {
    let operator = match symbol {
        "+" => ast::Operator::Add,
        "-" => ast::Operator::Sub,
        "*" => ast::Operator::Mul,
        "/" => ast::Operator::Div,
        "//" => ast::Operator::FloorDiv,
        "%" => ast::Operator::Mod,
        _ => ast::Operator::Pow,
    };
    arithmetic::apply(operator, left, right)
}
