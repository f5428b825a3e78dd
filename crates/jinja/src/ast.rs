//! The parsed form of a template.

use crate::val::Val;
use ecow::EcoString;

/// The location in the template's text: start and end byte.
pub type Place = (u32, u32);

/// A statement.
#[derive(Debug)]
pub enum Stmt {
    /// Text as it is.
    Text(EcoString),
    /// `{{ expr }}`
    Print(Expr),
    /// `{% if %}`
    If(Vec<(Expr, Vec<Stmt>)>, Vec<Stmt>),
    /// `{% for %}`
    For(Box<For>),
    /// `{% set a = expr %}`
    Set(Target, Expr),
    /// `{% set a %}…{% endset %}`
    SetBlock(EcoString, Vec<FilterCall>, Vec<Stmt>),
    /// `{% with a = expr %}…{% endwith %}`
    With(Vec<(Target, Expr)>, Vec<Stmt>),
    /// `{% filter name %}…{% endfilter %}`
    Filter(Vec<FilterCall>, Vec<Stmt>),
    /// `{% macro name(…) %}…{% endmacro %}`
    Macro(std::rc::Rc<Macro>),
    /// `{% call name(…) %}…{% endcall %}`
    CallBlock(std::rc::Rc<Macro>, Expr),
    /// `{% include 'file' %}`
    Include(Expr, bool, Place),
    /// `{% do expr %}`
    Do(Expr),
}

/// A loop.
#[derive(Debug)]
pub struct For {
    /// The names for each item.
    pub target: Target,
    /// The iterated collection.
    pub iter: Expr,
    /// Which items count.
    pub condition: Option<Expr>,
    /// For each item.
    pub body: Vec<Stmt>,
    /// The body for an empty collection.
    pub otherwise: Vec<Stmt>,
    /// Whether `loop(…)` may be called.
    pub recursive: bool,
    /// Where it is.
    pub at: Place,
}

/// A macro.
#[derive(Debug)]
pub struct Macro {
    /// Its name.
    pub name: EcoString,
    /// Its parameters and their defaults.
    pub params: Vec<(EcoString, Option<Expr>)>,
    /// What it renders.
    pub body: Vec<Stmt>,
}

/// The target of an assignment.
#[derive(Debug)]
pub enum Target {
    /// A name.
    Name(EcoString),
    /// An attribute of a namespace.
    Attribute(EcoString, EcoString),
    /// Several.
    Tuple(Vec<Target>),
}

/// A filter with its arguments.
#[derive(Debug)]
pub struct FilterCall {
    /// Its name.
    pub name: EcoString,
    /// Its arguments.
    pub args: Args,
    /// Where it is.
    pub at: Place,
}

/// Arguments of a call.
#[derive(Debug, Default)]
pub struct Args {
    /// By position.
    pub positional: Vec<Expr>,
    /// By name.
    pub named: Vec<(EcoString, Expr)>,
    /// `*args`
    pub spread: Option<Box<Expr>>,
    /// `**kwargs`
    pub spread_named: Option<Box<Expr>>,
}

/// An expression.
#[derive(Debug)]
pub enum Expr {
    /// A literal.
    Const(Val),
    /// A variable.
    Name(EcoString, Place),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `{a: b}`
    Dict(Vec<(Expr, Expr)>),
    /// `a.b`
    Attribute(Box<Expr>, EcoString, Place),
    /// `a[b]`
    Item(Box<Expr>, Box<Expr>, Place),
    /// `a[b:c:d]`
    Slice(Box<Expr>, [Option<Box<Expr>>; 3]),
    /// `a(…)`
    Call(Box<Expr>, Box<Args>, Place),
    /// `a | name(…)`
    Filter(Box<Expr>, Box<FilterCall>),
    /// `a is name(…)`
    Test(Box<Expr>, Box<FilterCall>),
    /// `not a`
    Not(Box<Expr>),
    /// `-a`
    Negative(Box<Expr>, Place),
    /// `+a`
    Positive(Box<Expr>, Place),
    /// `a + b` and the like
    Binary(Operator, Box<Expr>, Box<Expr>, Place),
    /// `a < b < c`
    Compare(Box<Expr>, Vec<(Comparison, Expr)>, Place),
    /// `a and b`
    And(Box<Expr>, Box<Expr>),
    /// `a or b`
    Or(Box<Expr>, Box<Expr>),
    /// `a if b else c`
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    /// `a ~ b`
    Concat(Vec<Expr>),
}

/// An arithmetic operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `//`
    FloorDiv,
    /// `%`
    Mod,
    /// `**`
    Pow,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `in`
    In,
    /// `not in`
    NotIn,
}
