//! The syntax tree of template strings. Plain data, made by [`super::parse`], read by evaluation and by the static
//! walk.
//!
//! Chains of operators are flat lists, so that neither evaluating nor dropping a long chain needs a deep machine stack.

use ecow::EcoString;

/// A range of bytes in the text of a template string.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct At {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl At {
    /// A range from byte offsets; texts are limited to far less than 4 GiB.
    pub fn new(start: usize, end: usize) -> Self {
        At { start: u32::try_from(start).unwrap_or(u32::MAX), end: u32::try_from(end).unwrap_or(u32::MAX) }
    }

    /// From the start of this range to the end of another.
    pub fn to(self, other: At) -> Self {
        At { start: self.start, end: other.end }
    }
}

/// A parsed template string: a sequence of segments.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Template {
    /// The segments in order.
    pub segments: Vec<Segment>,
}

/// One part of a template string.
#[derive(Clone, PartialEq, Debug)]
pub enum Segment {
    /// Literal text.
    Text(EcoString, At),
    /// `$${…}`: the text after the first dollar sign.
    Escaped(EcoString, At),
    /// `${…}`.
    Expr(Node),
    /// `${if …}…${else}…${endif}`.
    If(Box<Branch>),
    /// A string that consists of `${if X}` alone, which means X.
    LoneIf(Node),
}

/// An if-block.
#[derive(Clone, PartialEq, Debug)]
pub struct Branch {
    /// The condition.
    pub condition: Node,
    /// Result if true.
    pub then: Template,
    /// Result otherwise; empty text if absent.
    pub otherwise: Option<Template>,
    /// The whole block.
    pub at: At,
}

/// An expression with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The expression.
    pub expr: Expr,
    /// Where it is in the text.
    pub at: At,
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number; template numbers are doubles.
    Number(f64),
    /// A string literal without templates in it.
    Text(EcoString),
    /// A string literal that is itself a template.
    Nested(Box<Template>),
    /// `[a, b]`.
    List(Vec<Node>),
    /// `a.b[c]`.
    Lookup(Vec<Part>),
    /// `f(x)`.
    Call(Box<Call>),
    /// `f(x).a[0]`, `(x).a`: a lookup on a computed value.
    Member(Box<Node>, Vec<Part>),
    /// Prefix operators, outermost first.
    Unary(Vec<UnaryOp>, Box<Node>),
    /// `a op b op c`, all of one precedence, evaluated from the left.
    Chain(Box<Node>, Vec<(BinaryOp, Node)>),
    /// `c1 ? a1 : c2 ? a2 : b`.
    Choice(Vec<(Node, Node)>, Box<Node>),
}

/// One step of a lookup.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// The key.
    pub key: Key,
    /// Where it is written, without dot or brackets.
    pub at: At,
}

/// The key of one lookup step.
#[derive(Clone, PartialEq, Debug)]
pub enum Key {
    /// A name, or a literal in brackets.
    Name(EcoString),
    /// A computed key.
    Computed(Box<Node>),
}

/// A call of a helper function.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The function's name.
    pub name: EcoString,
    /// Where the name is.
    pub name_at: At,
    /// The arguments.
    pub args: Vec<Node>,
}

/// A prefix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `!x`
    Not,
    /// `typeof x`
    Typeof,
    /// `-x`
    Negate,
}

/// A binary operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `contains`
    Contains,
}

impl BinaryOp {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Or => "||",
            BinaryOp::And => "&&",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::AtMost => "<=",
            BinaryOp::AtLeast => ">=",
            BinaryOp::Less => "<",
            BinaryOp::Greater => ">",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
            BinaryOp::Contains => "contains",
        }
    }
}

/// Shows every lookup of a template string, in all branches.
pub fn each_lookup(template: &Template, see: &mut dyn FnMut(&[Part])) {
    for segment in &template.segments {
        match segment {
            Segment::Text(..) | Segment::Escaped(..) => {}
            Segment::Expr(node) | Segment::LoneIf(node) => each_lookup_in(node, see),
            Segment::If(branch) => {
                each_lookup_in(&branch.condition, see);
                each_lookup(&branch.then, see);
                branch.otherwise.iter().for_each(|otherwise| each_lookup(otherwise, see));
            }
        }
    }
}

/// Depth is bounded by the parser.
fn each_lookup_in(node: &Node, see: &mut dyn FnMut(&[Part])) {
    let keys = |path: &[Part], see: &mut dyn FnMut(&[Part])| {
        for part in path {
            if let Key::Computed(node) = &part.key {
                each_lookup_in(node, see);
            }
        }
    };
    match &node.expr {
        Expr::Null | Expr::Bool(_) | Expr::Number(_) | Expr::Text(_) => {}
        Expr::Nested(template) => each_lookup(template, see),
        Expr::List(items) => items.iter().for_each(|item| each_lookup_in(item, see)),
        Expr::Lookup(path) => {
            see(path);
            keys(path, see);
        }
        Expr::Call(call) => call.args.iter().for_each(|argument| each_lookup_in(argument, see)),
        Expr::Member(of, path) => {
            each_lookup_in(of, see);
            keys(path, see);
        }
        Expr::Unary(_, operand) => each_lookup_in(operand, see),
        Expr::Chain(first, rest) => {
            each_lookup_in(first, see);
            rest.iter().for_each(|(_, operand)| each_lookup_in(operand, see));
        }
        Expr::Choice(choices, last) => {
            for (condition, then) in choices {
                each_lookup_in(condition, see);
                each_lookup_in(then, see);
            }
            each_lookup_in(last, see);
        }
    }
}
