//! Why an evaluation stopped.

use ecow::EcoString;
use purlin_syntax::{Hint, Message, Rule};
use purlin_value::{Origin, Pending};
use std::sync::Arc;

/// A range of bytes within an expression's or template's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// First byte.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// The kind of a problem; it decides the rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The text does not follow the grammar.
    Syntax,
    /// A name, key, function, filter or instance that is not there.
    Missing,
    /// A name of a template that is undefined where a value is needed.
    Undefined,
    /// A value of the wrong kind.
    Type,
    /// A value that cannot be computed.
    Value,
    /// A property that does not conform to its type.
    Invalid,
    /// Something the user did not allow.
    Refused,
    /// A file that is missing or cannot be read.
    Io,
    /// A limit was hit.
    Limit,
    /// A reference that leads back to itself.
    Cycle,
    /// The same where something required is part of it, which may not be null.
    RequiredCycle,
    /// A value that is not known yet; not an error.
    Pending,
    /// Something broken that was reported where it comes from.
    Reported,
}

impl Kind {
    /// Whether nothing is reported: the value itself carries the reason.
    pub fn is_silent(self) -> bool {
        matches!(self, Kind::Pending | Kind::Reported)
    }

    /// Whether it must reach the caller, even where problems are tolerated.
    pub fn is_final(self) -> bool {
        self == Kind::Limit || self.is_silent()
    }
}

/// An evaluation that stopped: the reason, and the location in the expression.
#[derive(Clone, Debug)]
pub struct Error {
    /// The kind of problem.
    pub kind: Kind,
    /// The message, in the words of the original where it has some. Secrets never appear here.
    pub message: String,
    /// The problem as data, and the message for people where that of the original differs.
    pub plain: Option<Message>,
    /// Where in the expression's or template's text.
    pub at: Option<Range>,
    /// The hint.
    pub hint: Option<Hint>,
    /// The expression the position refers to.
    pub text: Option<EcoString>,
    /// Where the expression is written.
    pub origin: Origin,
    /// The attributes that led here, innermost first.
    pub through: Vec<String>,
    /// The rule of the limit that was hit, where it has one of its own.
    pub limit: Option<&'static Rule>,
    /// The missing data of a pending value.
    pub pending: Option<Arc<Pending>>,
}

/// A result of evaluation.
pub type Result<T> = std::result::Result<T, Box<Error>>;

impl Error {
    /// A problem without a position.
    pub fn new(kind: Kind, message: impl Into<Message>) -> Box<Self> {
        let message = message.into();
        let plain = message.is_data().then(|| message.clone());
        Box::new(Error {
            kind,
            message: message.into(),
            plain,
            at: None,
            hint: None,
            text: None,
            origin: Origin::NONE,
            through: Vec::new(),
            limit: None,
            pending: None,
        })
    }

    /// A value that is not known yet.
    pub fn pending(pending: &Arc<Pending>) -> Box<Self> {
        let mut error = Error::new(Kind::Pending, format!("`{}` is not known yet", pending.what));
        error.pending = Some(Arc::clone(pending));
        error
    }

    /// Adds a position unless there is one.
    pub fn at(mut self: Box<Self>, start: u32, end: u32) -> Box<Self> {
        self.at.get_or_insert(Range { start, end });
        self
    }

    /// Sets the text that the position refers to, unless it is known.
    pub fn within(mut self: Box<Self>, text: &str) -> Box<Self> {
        self.text.get_or_insert_with(|| text.into());
        self
    }

    /// The same without the reason, which may quote a secret that something was made from.
    pub fn hiding(mut self: Box<Self>, secret: bool) -> Box<Self> {
        if secret && !self.kind.is_final() {
            self.message = "this cannot be evaluated; it is about a secret, so the reason is hidden".to_owned();
            self.plain = None;
            self.hint = None;
        }
        self
    }

    /// Sets the message for people.
    pub fn plain(mut self: Box<Self>, message: impl Into<Message>) -> Box<Self> {
        self.plain = Some(message.into());
        self
    }

    /// Adds a hint.
    pub fn hint(mut self: Box<Self>, hint: impl Into<Hint>) -> Box<Self> {
        self.hint = Some(hint.into());
        self
    }
}

/// A value of the wrong kind.
pub fn type_error<T>(message: impl Into<Message>) -> Result<T> {
    Err(Error::new(Kind::Type, message))
}

/// A value that cannot be computed.
pub fn value_error<T>(message: impl Into<Message>) -> Result<T> {
    Err(Error::new(Kind::Value, message))
}

/// Something that is not there.
pub fn missing<T>(message: impl Into<Message>) -> Result<T> {
    Err(Error::new(Kind::Missing, message))
}

/// A limit that was hit.
pub fn limit<T>(message: impl Into<Message>) -> Result<T> {
    Err(Error::new(Kind::Limit, message))
}

/// A limit of the run that was hit, under its own rule.
pub fn limit_of<T>(rule: &'static Rule, message: impl Into<Message>) -> Result<T> {
    let mut error = Error::new(Kind::Limit, message);
    error.limit = Some(rule);
    Err(error)
}
