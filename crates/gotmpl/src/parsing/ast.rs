//! The parsed template: nodes with their positions, and Go's way of printing a node back, which errors quote.
//!
//! Knows neither values nor how a node is evaluated.

use std::fmt::{self, Write};

use crate::func::Func;
use crate::value::Str;

/// Byte offset in the template's text.
pub type Pos = u32;

/// One parsed template: a file's own body, or a `define` in it.
#[derive(Debug)]
pub struct Tree {
    /// Its name for `include` and `template`.
    pub name: Str,
    /// The file it was written in and its text.
    pub file: std::sync::Arc<File>,
    /// The body.
    pub root: Vec<Stmt>,
}

/// The text a tree was parsed from.
#[derive(Debug)]
pub struct File {
    /// The name errors print.
    pub name: String,
    /// The file's start in the render's combined sources.
    pub text: Str,
    /// Where this file starts in the render's line of sources.
    pub base: u32,
}

/// A statement.
#[derive(Debug)]
pub enum Stmt {
    /// Literal text.
    Text(Text),
    /// `{{ pipeline }}`
    Action(Pipe),
    /// `{{ if }}`
    If(Box<Branch>),
    /// `{{ with }}`
    With(Box<Branch>),
    /// `{{ range }}`
    Range(Box<Branch>),
    /// `{{ template "name" pipeline }}`
    Template(Box<Invoke>),
    /// `{{ break }}`
    Break(Pos),
    /// `{{ continue }}`
    Continue(Pos),
}

/// Literal text, trimmed.
#[derive(Debug)]
pub struct Text {
    /// Start position.
    pub pos: Pos,
    /// End position.
    pub end: Pos,
}

/// `if`, `with` or `range`.
#[derive(Debug)]
pub struct Branch {
    /// The condition or collection.
    pub pipe: Pipe,
    /// The body.
    pub body: Vec<Stmt>,
    /// The `else` body.
    pub otherwise: Option<Vec<Stmt>>,
}

/// A `template` action.
#[derive(Debug)]
pub struct Invoke {
    /// Position of the name.
    pub pos: Pos,
    /// The template's name.
    pub name: Str,
    /// Its data.
    pub pipe: Option<Pipe>,
}

/// A pipeline.
#[derive(Debug)]
pub struct Pipe {
    /// Position of its first token.
    pub pos: Pos,
    /// `=` instead of `:=`.
    pub assigns: bool,
    /// The variables it declares or assigns.
    pub decl: Vec<Variable>,
    /// The commands.
    pub cmds: Vec<Command>,
}

/// A variable with optional fields.
#[derive(Debug)]
pub struct Variable {
    /// Position.
    pub pos: Pos,
    /// Index of the name in the tree's list.
    pub slot: u32,
    /// `$name`
    pub name: String,
    /// Fields after it.
    pub fields: Vec<Str>,
}

/// One command of a pipeline.
#[derive(Debug)]
pub struct Command {
    /// Position.
    pub pos: Pos,
    /// The operands; never empty.
    pub args: Vec<Expr>,
}

/// An operand.
#[derive(Debug)]
pub enum Expr {
    /// `.`
    Dot(Pos),
    /// `nil`
    Nil(Pos),
    /// `true` or `false`
    Bool(Pos, bool),
    /// A number or character constant.
    Number(Box<Number>),
    /// A quoted string.
    Str(Box<Quoted>),
    /// `.A.B`
    Field(Box<Fields>),
    /// `$x.A`
    Variable(Box<Variable>),
    /// A function's row in the function list.
    Func(Pos, &'static Func),
    /// `(…).A` or `func.A`
    Chain(Box<Chain>),
    /// `( pipeline )`
    Pipe(Box<Pipe>),
}

/// A string constant.
#[derive(Debug)]
pub struct Quoted {
    /// Position.
    pub pos: Pos,
    /// As written.
    pub source: String,
    /// The unquoted text.
    pub text: Str,
}

/// Fields of dot.
#[derive(Debug)]
pub struct Fields {
    /// Position.
    pub pos: Pos,
    /// The names.
    pub names: Vec<Str>,
}

/// Fields of an operand.
#[derive(Debug)]
pub struct Chain {
    /// Position of the first field.
    pub pos: Pos,
    /// The operand.
    pub node: Expr,
    /// The names.
    pub fields: Vec<Str>,
}

/// A number constant, which adapts to the required type.
#[derive(Debug, Default, Clone)]
pub struct Number {
    /// Position.
    pub pos: Pos,
    /// As written.
    pub source: String,
    /// As a signed integer, if it is one.
    pub int: Option<i64>,
    /// As an unsigned integer, if it is one.
    pub uint: Option<u64>,
    /// As a float, if it is one.
    pub float: Option<f64>,
    /// The imaginary part, if it is complex.
    pub imaginary: Option<f64>,
    /// Whether it is a character constant.
    pub is_char: bool,
}

/// A reference to any node, for error locations.
#[derive(Clone, Copy, Debug)]
pub enum NodeRef<'t> {
    /// Before anything was evaluated.
    None,
    /// A statement.
    Stmt(&'t Stmt),
    /// A pipeline.
    Pipe(&'t Pipe),
    /// A command.
    Command(&'t Command),
    /// An operand.
    Expr(&'t Expr),
}

impl Expr {
    /// Position of the operand.
    pub fn pos(&self) -> Pos {
        match self {
            Self::Dot(pos) | Self::Nil(pos) | Self::Bool(pos, _) | Self::Func(pos, ..) => *pos,
            Self::Number(number) => number.pos,
            Self::Str(quoted) => quoted.pos,
            Self::Field(fields) => fields.pos,
            Self::Variable(variable) => variable.pos,
            Self::Chain(chain) => chain.pos,
            Self::Pipe(pipe) => pipe.pos,
        }
    }
}

impl NodeRef<'_> {
    /// Position of the node.
    pub fn pos(&self) -> Option<Pos> {
        Some(match self {
            Self::None => return None,
            Self::Stmt(stmt) => match stmt {
                Stmt::Text(text) => text.pos,
                Stmt::Action(pipe) => pipe.pos,
                Stmt::If(branch) | Stmt::With(branch) | Stmt::Range(branch) => branch.pipe.pos,
                Stmt::Template(invoke) => invoke.pos,
                Stmt::Break(pos) | Stmt::Continue(pos) => *pos,
            },
            Self::Pipe(pipe) => pipe.pos,
            Self::Command(command) => command.pos,
            Self::Expr(expr) => expr.pos(),
        })
    }
}

impl fmt::Display for NodeRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Stmt(stmt) => write!(f, "{stmt}"),
            Self::Pipe(pipe) => write!(f, "{pipe}"),
            Self::Command(command) => write!(f, "{command}"),
            Self::Expr(expr) => write!(f, "{expr}"),
        }
    }
}

impl fmt::Display for Stmt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => f.write_str("text"),
            Self::Action(pipe) => write!(f, "{{{{{pipe}}}}}"),
            Self::If(branch) => write!(f, "{{{{if {}}}}}", branch.pipe),
            Self::With(branch) => write!(f, "{{{{with {}}}}}", branch.pipe),
            Self::Range(branch) => write!(f, "{{{{range {}}}}}", branch.pipe),
            Self::Template(invoke) => {
                write!(f, "{{{{template {}", crate::quote::quote(invoke.name.bytes()))?;
                if let Some(pipe) = &invoke.pipe {
                    write!(f, " {pipe}")?;
                }
                f.write_str("}}")
            }
            Self::Break(_) => f.write_str("{{break}}"),
            Self::Continue(_) => f.write_str("{{continue}}"),
        }
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, variable) in self.decl.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{variable}")?;
        }
        if !self.decl.is_empty() {
            f.write_str(if self.assigns { " = " } else { " := " })?;
        }
        for (index, command) in self.cmds.iter().enumerate() {
            if index > 0 {
                f.write_str(" | ")?;
            }
            write!(f, "{command}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        write_fields(f, &self.fields)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, arg) in self.args.iter().enumerate() {
            if index > 0 {
                f.write_char(' ')?;
            }
            write!(f, "{arg}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dot(_) => f.write_char('.'),
            Self::Nil(_) => f.write_str("nil"),
            Self::Bool(_, truth) => write!(f, "{truth}"),
            Self::Number(number) => f.write_str(&number.source),
            Self::Str(quoted) => f.write_str(&quoted.source),
            Self::Field(fields) => write_fields(f, &fields.names),
            Self::Variable(variable) => write!(f, "{variable}"),
            Self::Func(_, func) => f.write_str(func.name),
            Self::Chain(chain) => {
                write!(f, "{}", chain.node)?;
                write_fields(f, &chain.fields)
            }
            Self::Pipe(pipe) => write!(f, "({pipe})"),
        }
    }
}

fn write_fields(f: &mut fmt::Formatter<'_>, names: &[Str]) -> fmt::Result {
    for name in names {
        write!(f, ".{}", name.text())?;
    }
    Ok(())
}
