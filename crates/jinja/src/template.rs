//! A text as a template: whether it is one, its parsed form, its value.

use crate::arithmetic;
use crate::ast::{self, Stmt};
use crate::error::{Error, Kind, Result};
use crate::filters;
use crate::host::Ctx;
use crate::lexer::{self, Delimiters, TokenKind};
use crate::limits::MAX_EXPRESSION;
use crate::parser;
use crate::val::Val;
use ecow::EcoString;
use std::rc::Rc;

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

/// Filters of a template that are unknown to the language and to its host, with their positions. None for a template
/// that cannot be parsed.
pub fn unknown_filters(text: &str, known_to_host: fn(&str) -> bool) -> Vec<(EcoString, u32, u32)> {
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
        (TokenKind::Op("|"), TokenKind::Name(text), _) if filters::find(text).is_none() && !known_to_host(text) => {
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
    pub(crate) body: Vec<Stmt>,
}

impl Template {
    /// Parses a template with the usual delimiters, or those set by its `#jinja2:` header.
    pub fn parse(text: &str) -> Result<Template> {
        Template::parse_with(text, Delimiters::default())
    }

    /// Parses a template with the given delimiters.
    pub fn parse_with(text: &str, mut marks: Delimiters) -> Result<Template> {
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
pub fn render(ctx: Ctx<'_>, text: &str) -> Result<Val> {
    render_with(ctx, text, || ctx.evaluation.template(text))
}

/// Renders a text with its own delimiters.
pub fn render_marked(ctx: Ctx<'_>, text: &str, marks: Delimiters) -> Result<Val> {
    render_with(ctx, text, || Template::parse_with(text, marks).map(Rc::new))
}

fn render_with(ctx: Ctx<'_>, text: &str, parse: impl FnOnce() -> Result<Rc<Template>>) -> Result<Val> {
    let evaluation = ctx.evaluation;
    let outer = evaluation.saw_secret.replace(false);
    let result = parse().and_then(|template| evaluation.deeper(|| crate::render::run(ctx, &template)));
    let saw = evaluation.saw_secret.get();
    evaluation.saw_secret.set(outer || saw);
    match result {
        Ok(value) => Ok(value.taint_if(saw)),
        Err(error) if ctx.strict() || error.kind.is_final() => Err(error),
        // A template with an undefined name is kept as written.
        Err(error) if error.kind == Kind::Undefined && !ctx.mode.safe => Ok(Val::str(text.trim()).taint_if(saw)),
        Err(error) => {
            let message = in_result(&error, text, ctx.mode.safe);
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
