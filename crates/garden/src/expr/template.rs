//! Parses the structure of a template string: text, `$${…}`, `${…}` and if-blocks.

use super::ast::{At, Branch, Expr, Node, Segment, Template};
use super::parse::{MAX_DEPTH, expression};
use super::scan::{Cursor, Offsets, Problem};
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::limits::EXPRESSION_BYTES;
use purlin_syntax::rules::{LIMIT_DEPTH, LIMIT_EXPRESSION};
use purlin_syntax::what;

/// Whether a string can contain a template at all.
pub fn is_template(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"${").is_some()
}

/// Problems of one string, at most; more would only repeat themselves.
const MOST_PROBLEMS: usize = 20;

/// Parses a template string. Each `${…}` that cannot be read is a problem of its own.
pub fn parse(text: &str) -> Result<Template, Vec<Problem>> {
    let mut problems = Vec::new();
    let template = segments(Cursor::new(text), 0, &mut problems);
    if problems.is_empty() { Ok(template) } else { Err(problems) }
}

/// Parses a single expression without `${` and `}` around it.
pub fn parse_expression(text: &str) -> Result<Template, Problem> {
    let mut cursor = Cursor::new(text);
    cursor.skip_space()?;
    let node = expression(&mut cursor, 0)?;
    cursor.skip_space()?;
    if !cursor.at_end() {
        return Err(cursor.expected("the end of the expression"));
    }
    Ok(Template { segments: vec![Segment::Expr(node)] })
}

/// The content of a string literal inside an expression.
pub(super) fn parse_literal(text: &EcoString, offsets: Offsets, depth: usize) -> Result<Expr, Problem> {
    if !is_template(text) {
        return Ok(Expr::Text(text.clone()));
    }
    let mut problems = Vec::new();
    let template = segments(Cursor::nested(text, offsets), depth, &mut problems);
    match problems.into_iter().next() {
        Some(problem) => Err(problem),
        None => Ok(Expr::Nested(Box::new(template))),
    }
}

/// A block that is still open.
struct Open {
    condition: Node,
    then: Option<Template>,
    at: At,
    /// Opened by `${else if …}`: closed together with the block around it.
    joined: bool,
}

/// Collects segments; if-blocks nest through an explicit stack.
struct Builder {
    open: Vec<(Open, Vec<Segment>)>,
    current: Vec<Segment>,
}

fn segments(mut cursor: Cursor<'_>, depth: usize, problems: &mut Vec<Problem>) -> Template {
    let mut builder = Builder { open: Vec::new(), current: Vec::new() };
    while !cursor.at_end() {
        let rest = cursor.rest();
        if rest.starts_with("${") {
            if let Err(problem) = format(&mut cursor, &mut builder, depth) {
                problems.push(problem);
                if problems.len() >= MOST_PROBLEMS {
                    return Template::default();
                }
                resume(&mut cursor);
            }
        } else if let Some(length) = escaped_length(rest) {
            let start = cursor.pos;
            cursor.pos += length;
            let body = rest.get(1..length).unwrap_or("");
            builder.current.push(Segment::Escaped(body.into(), cursor.at(start, cursor.pos)));
        } else {
            let start = cursor.pos;
            cursor.pos += text_length(rest);
            let text = cursor.text.get(start..cursor.pos).unwrap_or("");
            builder.current.push(Segment::Text(text.into(), cursor.at(start, cursor.pos)));
        }
    }
    finish(builder).unwrap_or_else(|problem| {
        problems.push(problem);
        Template::default()
    })
}

/// Continues after an expression that cannot be parsed: behind its `}`, or at the next `${` if that comes first.
fn resume(cursor: &mut Cursor<'_>) {
    let rest = cursor.rest();
    let open = memchr::memmem::find(rest.as_bytes(), b"${").unwrap_or(rest.len());
    let close = rest.as_bytes().get(..open).and_then(|before| memchr::memchr(b'}', before));
    // The `}` of a block word or of a finished expression is behind us already.
    let behind = cursor.text.as_bytes().get(..cursor.pos).is_some_and(|read| read.ends_with(b"}"));
    cursor.pos += if behind { 0 } else { close.map_or(open, |at| at + 1) };
}

/// `$${…}` up to the first closing brace.
fn escaped_length(rest: &str) -> Option<usize> {
    rest.strip_prefix("$${")?;
    Some(memchr::memchr(b'}', rest.as_bytes())? + 1)
}

/// Length of the literal text at the start.
fn text_length(rest: &str) -> usize {
    // An escape that is never closed is text as a whole.
    let step = |tail: &str| if tail.starts_with("$${") { 3 } else { 1 };
    let mut from = step(rest);
    while let Some(found) = rest.as_bytes().get(from..).and_then(|b| memchr::memchr(b'$', b)) {
        let at = from + found;
        let tail = rest.get(at..).unwrap_or("");
        if tail.starts_with("${") || escaped_length(tail).is_some() {
            return at;
        }
        from = at + step(tail);
    }
    rest.len()
}

/// One `${…}`.
fn format(cursor: &mut Cursor<'_>, builder: &mut Builder, depth: usize) -> Result<(), Problem> {
    let start = cursor.pos;
    cursor.pos += 2;
    cursor.skip_space()?;
    if let Some(at) = block_word(cursor, start, "endif")? {
        return builder.endif(at);
    }
    if let Some(at) = block_word(cursor, start, "else")? {
        return builder.otherwise(at);
    }
    let joined = else_if(cursor)?;
    let conditional = joined || cursor.word("if") && cursor.eat("if");
    while conditional && {
        cursor.skip_space()?;
        cursor.word("if")
    } {
        cursor.eat("if");
    }
    let read = whole_expression(cursor, start, depth + builder.open.len());
    let at = cursor.at(start, cursor.pos);
    // A block whose condition cannot be parsed is still a block.
    let node = match read {
        Err(problem) if conditional && !joined => {
            let condition = Node { expr: Expr::Null, at };
            let open = Open { condition, then: None, at, joined };
            builder.open.push((open, std::mem::take(&mut builder.current)));
            return Err(problem);
        }
        read => read?,
    };
    if cursor.pos - start > EXPRESSION_BYTES {
        let message = format!("the expression is longer than {EXPRESSION_BYTES} bytes");
        return Err(Problem { limit: Some(&LIMIT_EXPRESSION), ..cursor.problem(start, start + 2, message) });
    }
    if joined {
        builder.otherwise(at)?;
    }
    if !conditional {
        builder.current.push(Segment::Expr(node));
        return Ok(());
    }
    if builder.open.len() >= MAX_DEPTH {
        let message = format!("if-blocks nest deeper than {MAX_DEPTH} levels");
        return Err(Problem { limit: Some(&LIMIT_DEPTH), ..cursor.problem(start, cursor.pos, message) });
    }
    let open = Open { condition: node, then: None, at, joined };
    builder.open.push((open, std::mem::take(&mut builder.current)));
    Ok(())
}

/// An expression up to its closing brace.
fn whole_expression(cursor: &mut Cursor<'_>, start: usize, depth: usize) -> Result<Node, Problem> {
    let node = expression(cursor, depth)?;
    cursor.skip_space()?;
    if cursor.eat("}") { Ok(node) } else { Err(unclosed(cursor, start)) }
}

fn unclosed(cursor: &Cursor<'_>, start: usize) -> Problem {
    if cursor.at_end() {
        let problem = cursor.problem(start, cursor.pos, "this `${` has no closing `}`");
        return Problem { hint: Some("add `}`"), ..problem };
    }
    cursor.expected("an operator or `}`")
}

/// `else` or `endif` alone between the braces.
fn block_word(cursor: &mut Cursor<'_>, start: usize, word: &str) -> Result<Option<At>, Problem> {
    if !cursor.word(word) {
        return Ok(None);
    }
    let before = cursor.pos;
    cursor.eat(word);
    cursor.skip_space()?;
    if cursor.eat("}") {
        return Ok(Some(cursor.at(start, cursor.pos)));
    }
    cursor.pos = before;
    Ok(None)
}

/// `else if`, which needs no `${endif}` of its own.
fn else_if(cursor: &mut Cursor<'_>) -> Result<bool, Problem> {
    if !cursor.word("else") {
        return Ok(false);
    }
    let before = cursor.pos;
    cursor.eat("else");
    cursor.skip_space()?;
    let found = cursor.word("if") && cursor.eat("if");
    if !found {
        cursor.pos = before;
    }
    Ok(found)
}

impl Builder {
    fn otherwise(&mut self, at: At) -> Result<(), Problem> {
        let Some((open, _)) = self.open.last_mut() else {
            return Err(block_problem(at, "found `${else}` without a preceding `${if …}`"));
        };
        if open.then.is_some() {
            return Err(block_problem(at, "found a second `${else}` for the same `${if …}`"));
        }
        open.then = Some(Template { segments: std::mem::take(&mut self.current) });
        Ok(())
    }

    fn endif(&mut self, at: At) -> Result<(), Problem> {
        loop {
            let Some((open, before)) = self.open.pop() else {
                return Err(block_problem(
                    at,
                    Message::advising(
                        "found `${endif}` without a preceding `${if …}`",
                        "remove it, or add `${if …}` before it",
                    ),
                ));
            };
            let body = Template { segments: std::mem::replace(&mut self.current, before) };
            let (then, otherwise) = match open.then {
                Some(then) => (then, Some(body)),
                None => (body, None),
            };
            let branch = Branch { condition: open.condition, then, otherwise, at: open.at.to(at) };
            self.current.push(Segment::If(Box::new(branch)));
            if !open.joined {
                return Ok(());
            }
        }
    }
}

fn block_problem(at: At, message: impl Into<Message>) -> Problem {
    Problem { at, message: message.into(), hint: None, limit: None }
}

fn finish(mut builder: Builder) -> Result<Template, Problem> {
    let Some((open, before)) = builder.open.pop() else {
        return Ok(Template { segments: builder.current });
    };
    // Older projects write `${if x}` for `${x}`.
    if builder.open.is_empty() && before.is_empty() && builder.current.is_empty() && open.then.is_none() {
        return Ok(Template { segments: vec![Segment::LoneIf(open.condition)] });
    }
    Err(block_problem(open.at, what::missing("", "${endif}").and(" after this `${if …}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECES: &[&str] = &[
        "${", "}", "$", "$${", "{", "if ", "else", "endif", "var.x", ".", "[", "]", "(", ")", "'", "\"", " + ", "-",
        "?", ":", "||", "1", "é", "\\", "\n", "/*", "//", "text", " ",
    ];

    /// For any input, parsing ends, and every problem has a location in it.
    #[test]
    fn reading_goes_on_after_every_problem() {
        let mut state: u32 = 7;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text.push_str(PIECES.get((state >> 8) as usize % PIECES.len()).copied().unwrap_or(""));
            }
            for problem in parse(&text).err().unwrap_or_default() {
                let (start, end) = (problem.at.start as usize, problem.at.end as usize);
                assert!(start <= end && end <= text.len() + 1, "{text:?}: {problem:?}");
            }
        }
    }

    #[test]
    fn every_expression_that_cannot_be_read_is_a_problem() {
        let found = parse("${a.} ${b} ${1 +} ${if }x${else}y${endif} ${endif}").err().unwrap_or_default();
        let starts: Vec<u32> = found.iter().map(|problem| problem.at.start).collect();
        assert_eq!(starts, [4, 15, 23, 42]);
        assert_eq!(parse(&"${".repeat(1_000)).err().map(|found| found.len()), Some(MOST_PROBLEMS));
    }
}
