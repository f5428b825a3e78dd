//! Parses expressions: the text between `${` and `}`.
//!
//! A hand-written precedence climber. It reads text and makes [`super::ast`]; it evaluates nothing and reports at most
//! one problem for each `${…}`.

use super::ast::{BinaryOp, Call, Expr, Key, Node, Part, UnaryOp};
use super::scan::{Cursor, Problem};
use super::template::parse_literal;
use purlin_syntax::rules::LIMIT_DEPTH;

/// How deeply expressions may nest; more is a mistake or an attack.
pub const MAX_DEPTH: usize = purlin_syntax::limits::EXPRESSION_LEVELS;

type Parsed<T> = Result<T, Problem>;

/// Binary operators by level, loosest first. `contains` binds tightest and does not chain.
const LEVELS: &[&[BinaryOp]] = &[
    &[BinaryOp::Or],
    &[BinaryOp::And],
    &[BinaryOp::Equal, BinaryOp::NotEqual],
    &[BinaryOp::AtMost, BinaryOp::AtLeast, BinaryOp::Less, BinaryOp::Greater],
    &[BinaryOp::Add, BinaryOp::Subtract],
    &[BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Remainder],
];

/// Words that cannot be names.
const RESERVED: &[&str] = &["null", "true", "false", "typeof"];

/// A whole expression: a chain of conditions, or an operator expression.
pub(super) fn expression(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Node> {
    if depth > MAX_DEPTH {
        let message = format!("this expression nests deeper than {MAX_DEPTH} levels");
        return Err(Problem { limit: Some(&LIMIT_DEPTH), ..cursor.problem(cursor.pos, cursor.pos + 1, message) });
    }
    let mut arms = Vec::new();
    loop {
        let node = operators(cursor, depth)?;
        let end = cursor.pos;
        cursor.skip_space()?;
        if !cursor.eat("?") {
            cursor.pos = end;
            return Ok(close_choice(arms, node));
        }
        cursor.skip_space()?;
        let then = expression(cursor, depth + 1)?;
        cursor.skip_space()?;
        if !cursor.eat(":") {
            let mut problem = cursor.expected("`:` and the other answer of `? :`");
            problem.hint =
                cursor.at_end().then_some("in YAML, a text with a colon and a space in it needs quotes around it");
            return Err(problem);
        }
        cursor.skip_space()?;
        arms.push((node, then));
    }
}

fn close_choice(arms: Vec<(Node, Node)>, otherwise: Node) -> Node {
    let Some((first, _)) = arms.first() else { return otherwise };
    let at = first.at.to(otherwise.at);
    Node { expr: Expr::Choice(arms, Box::new(otherwise)), at }
}

/// A pending chain while operators are read: the expressions read so far at each level.
struct Open {
    level: usize,
    first: Node,
    rest: Vec<(BinaryOp, Node)>,
    op: BinaryOp,
}

/// Operator expressions, with an explicit stack of the levels that are still open.
fn operators(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Node> {
    let mut open: Vec<Open> = Vec::new();
    let mut node = containment(cursor, depth)?;
    loop {
        let Some((level, op)) = operator(cursor)? else {
            while let Some(chain) = open.pop() {
                node = close_chain(chain, node);
            }
            return Ok(node);
        };
        while open.last().is_some_and(|chain| chain.level > level) {
            if let Some(chain) = open.pop() {
                node = close_chain(chain, node);
            }
        }
        match open.last_mut().filter(|chain| chain.level == level) {
            Some(chain) => {
                chain.rest.push((chain.op, node));
                chain.op = op;
            }
            None => open.push(Open { level, first: node, rest: Vec::new(), op }),
        }
        node = containment(cursor, depth)?;
    }
}

fn close_chain(chain: Open, last: Node) -> Node {
    let Open { first, mut rest, op, .. } = chain;
    let at = first.at.to(last.at);
    rest.push((op, last));
    Node { expr: Expr::Chain(Box::new(first), rest), at }
}

/// The next binary operator, with white space around it skipped; if there is no operator, nothing is consumed.
fn operator(cursor: &mut Cursor<'_>) -> Parsed<Option<(usize, BinaryOp)>> {
    let before = cursor.pos;
    cursor.skip_space()?;
    let spaced = cursor.pos > before;
    // Most expressions end here, so the usual characters after one are recognised first.
    if !cursor.byte().is_some_and(|byte| b"|&=!<>+-*/%".contains(&byte)) {
        cursor.pos = before;
        return Ok(None);
    }
    for (level, ops) in LEVELS.iter().enumerate() {
        for &op in *ops {
            if !cursor.rest().starts_with(op.symbol()) {
                continue;
            }
            let start = cursor.pos;
            cursor.pos += op.symbol().len();
            let after = cursor.pos;
            cursor.skip_space()?;
            // `n-1` is a name and `1 -1` two terms, so the original insists on white space here.
            if matches!(op, BinaryOp::Add | BinaryOp::Subtract) && !(spaced && cursor.pos > after) {
                let mut problem =
                    cursor.problem(start, after, format!("`{}` needs white space on both sides", op.symbol()));
                problem.hint = Some("names may contain dashes, so write `a - b`, not `a-b` or `a -b`");
                return Err(problem);
            }
            return Ok(Some((level, op)));
        }
    }
    cursor.pos = before;
    Ok(None)
}

/// `x contains y`, or just `x`.
fn containment(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Node> {
    let left = unary(cursor, depth)?;
    let end = cursor.pos;
    cursor.skip_space()?;
    if cursor.byte() != Some(b'c') || !cursor.word("contains") {
        cursor.pos = end;
        return Ok(left);
    }
    cursor.eat("contains");
    cursor.skip_space()?;
    let right = unary(cursor, depth)?;
    let at = left.at.to(right.at);
    Ok(Node { expr: Expr::Chain(Box::new(left), vec![(BinaryOp::Contains, right)]), at })
}

fn unary(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Node> {
    let start = cursor.pos;
    let mut ops = Vec::new();
    loop {
        if cursor.byte() == Some(b'!') && cursor.byte_at(1) != Some(b'=') {
            cursor.pos += 1;
            ops.push(UnaryOp::Not);
        } else if cursor.byte() == Some(b't') && cursor.word("typeof") {
            cursor.eat("typeof");
            ops.push(UnaryOp::Typeof);
        } else if cursor.byte() == Some(b'-') && cursor.byte_at(1) != Some(b'-') {
            cursor.pos += 1;
            ops.push(UnaryOp::Negate);
        } else {
            break;
        }
        cursor.skip_space()?;
    }
    let node = postfix(cursor, depth)?;
    Ok(match (ops.as_slice(), node) {
        ([], node) => node,
        ([UnaryOp::Negate], Node { expr: Expr::Number(n), at }) => {
            Node { expr: Expr::Number(-n), at: cursor.at(start, cursor.pos).to(at) }
        }
        (_, node) => {
            let at = cursor.at(start, start).to(node.at);
            Node { expr: Expr::Unary(ops, Box::new(node)), at }
        }
    })
}

/// A primary, with lookups on it.
fn postfix(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Node> {
    let start = cursor.pos;
    let node = primary(cursor, depth)?;
    // Numbers and literal strings have no keys; `1.x` is an error.
    if !matches!(node.expr, Expr::Lookup(_) | Expr::Call(_) | Expr::List(_))
        && cursor.text.as_bytes().get(start) != Some(&b'(')
    {
        return Ok(node);
    }
    let parts = lookup_parts(cursor, depth)?;
    if parts.is_empty() {
        return Ok(node);
    }
    let at = cursor.at(start, cursor.pos);
    Ok(match node.expr {
        // A name in parentheses is looked up as a whole first.
        Expr::Lookup(mut path) if cursor.text.as_bytes().get(start) != Some(&b'(') => {
            path.extend(parts);
            Node { expr: Expr::Lookup(path), at }
        }
        _ => Node { expr: Expr::Member(Box::new(node), parts), at },
    })
}

fn primary(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Node> {
    let start = cursor.pos;
    match cursor.byte() {
        Some(b'\'' | b'"') => text(cursor, depth),
        Some(b'(') => {
            cursor.pos += 1;
            cursor.skip_space()?;
            let inner = expression(cursor, depth + 1)?;
            cursor.skip_space()?;
            if !cursor.eat(")") {
                return Err(cursor.expected("`)`"));
            }
            Ok(inner)
        }
        Some(b'[') => list(cursor, depth),
        Some(b) if b == b'.' || b.is_ascii_digit() => match cursor.number() {
            Some(number) => Ok(Node { expr: Expr::Number(number), at: cursor.at(start, cursor.pos) }),
            None => named(cursor, depth),
        },
        _ => named(cursor, depth),
    }
}

/// A keyword, a call, or the first name of a lookup.
fn named(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Node> {
    let start = cursor.pos;
    let Some((name, at)) = cursor.name() else { return Err(cursor.expected("an expression")) };
    let literal = match name.as_str() {
        "null" => Some(Expr::Null),
        "true" => Some(Expr::Bool(true)),
        "false" => Some(Expr::Bool(false)),
        _ => None,
    };
    if let Some(expr) = literal {
        return Ok(Node { expr, at });
    }
    if name == "typeof" {
        return Err(cursor.expected("something after `typeof`"));
    }
    let end = cursor.pos;
    cursor.skip_space()?;
    if cursor.eat("(") {
        let args = arguments(cursor, depth)?;
        let call = Call { name, name_at: at, args };
        return Ok(Node { expr: Expr::Call(Box::new(call)), at: cursor.at(start, cursor.pos) });
    }
    cursor.pos = end;
    // `01` is no number; the original takes it for the key `1`.
    let name = if name.bytes().all(|b| b.is_ascii_digit()) { number_key(&name) } else { name };
    Ok(Node { expr: Expr::Lookup(vec![Part { key: Key::Name(name), at }]), at })
}

fn number_key(digits: &str) -> ecow::EcoString {
    let trimmed = digits.trim_start_matches('0');
    if trimmed.is_empty() { "0".into() } else { trimmed.into() }
}

fn arguments(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Vec<Node>> {
    let mut args = Vec::new();
    cursor.skip_space()?;
    if cursor.eat(")") {
        return Ok(args);
    }
    loop {
        cursor.skip_space()?;
        args.push(expression(cursor, depth + 1)?);
        cursor.skip_space()?;
        if cursor.eat(")") {
            return Ok(args);
        }
        if !cursor.eat(",") {
            return Err(Problem { hint: Some("close the call with `)`"), ..cursor.expected("`,` or `)`") });
        }
    }
}

/// `[a, b]`; one trailing comma is allowed.
fn list(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Node> {
    let start = cursor.pos;
    cursor.pos += 1;
    let mut items = Vec::new();
    loop {
        cursor.skip_space()?;
        if cursor.eat("]") {
            return Ok(Node { expr: Expr::List(items), at: cursor.at(start, cursor.pos) });
        }
        items.push(expression(cursor, depth + 1)?);
        cursor.skip_space()?;
        if !cursor.eat(",") && cursor.byte() != Some(b']') {
            return Err(cursor.expected("`,` or `]`"));
        }
    }
}

/// `.a`, `[b]`, directly after their operand.
fn lookup_parts(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Vec<Part>> {
    let mut parts = Vec::new();
    loop {
        if cursor.eat(".") {
            let start = cursor.pos;
            let Some((name, at)) = cursor.name() else { return Err(cursor.expected("a key after `.`")) };
            if RESERVED.contains(&name.as_str()) {
                let mut problem = cursor.problem(start, cursor.pos, format!("`{name}` cannot be a key after `.`"));
                problem.hint = Some("write it in brackets and quotes: `x['null']`");
                return Err(problem);
            }
            parts.push(Part { key: Key::Name(name), at });
        } else if cursor.eat("[") {
            cursor.skip_space()?;
            let inner = expression(cursor, depth + 1)?;
            cursor.skip_space()?;
            if !cursor.eat("]") {
                return Err(cursor.expected("`]`"));
            }
            parts.push(bracket_part(inner));
        } else {
            return Ok(parts);
        }
    }
}

/// Literal keys in brackets are names, which keeps static analysis simple.
fn bracket_part(inner: Node) -> Part {
    let at = inner.at;
    let key = match inner.expr {
        Expr::Text(text) => Key::Name(text),
        Expr::Number(number) => Key::Name(crate::number::to_text(number)),
        _ => Key::Computed(Box::new(inner)),
    };
    Part { key, at }
}

/// A string literal, which may itself be a template.
fn text(cursor: &mut Cursor<'_>, depth: usize) -> Parsed<Node> {
    let literal = cursor.literal()?;
    let expr = parse_literal(&literal.text, literal.offsets, depth + 1)?;
    Ok(Node { expr, at: literal.at })
}
