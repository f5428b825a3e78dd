//! Errors of parsing and rendering, with locations and the whole chain of templates.
//!
//! Keeps the chain as data; Go's and Helm's messages are made from it on demand.

use crate::cause::{Cause, Misread};
use crate::quote::quote;
use purlin_syntax::Rule;
use purlin_syntax::rules::{LIMIT_DEPTH, LIMIT_FILE, LIMIT_NODES};

/// A template that could not be parsed.
#[derive(Clone, Debug)]
pub struct ParseError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The message, in Go's words.
    pub message: String,
    /// The same as data.
    pub what: Misread,
}

impl ParseError {
    /// Go's text.
    pub fn go_text(&self) -> String {
        format!("template: {}:{}: {}", self.file, self.line, self.message)
    }
}

/// A limit that stops a render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Evaluation steps.
    Fuel,
    /// Nested templates.
    Depth,
    /// Bytes of output.
    Output,
    /// Bytes of one string.
    Text,
    /// Elements of one list.
    Items,
    /// Bytes of values.
    Heap,
    /// Bytes of a compiled regular expression.
    Regex,
    /// A limit on the content of a parsed text; the rule of the limit.
    Read(&'static Rule),
}

impl Limit {
    /// The limit in a chart author's words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Fuel => "the template takes too many steps",
            Self::Depth => "templates call each other too deeply",
            Self::Output => "the output is too large",
            Self::Text => "a string is too large",
            Self::Items => "a list has too many elements",
            Self::Heap => "the templates hold too much at once",
            Self::Regex => "a regular expression is too large",
            Self::Read(rule) if *rule == LIMIT_DEPTH => "the text is nested too deep",
            Self::Read(rule) if *rule == LIMIT_NODES => "the text holds too many keys, values and collections",
            Self::Read(rule) if *rule == LIMIT_FILE => "the text is too large",
            Self::Read(_) => "aliases expand the text beyond reason",
        }
    }
}

/// Why a function or statement failed.
#[derive(Clone, Debug)]
pub enum Fault {
    /// A plain message.
    Message(String),
    /// A failure that is distinguished.
    Cause(Box<Cause>),
    /// `fail` or `required` stopped the render; the message is the chart author's.
    Stop(String),
    /// A template called by `include` failed.
    Inner(Box<ExecError>),
    /// The text of `tpl` could not be parsed.
    TplParse(String, ParseError),
    /// The text of `tpl` failed.
    TplExec(String, Box<ExecError>),
    /// A limit was reached.
    Limit(Limit),
}

impl Fault {
    /// A plain message.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }

    /// The same fault of a call with a secret argument: its message may quote it.
    #[must_use]
    pub fn without_words(self) -> Self {
        let hidden = "one of its arguments is a secret, so the reason is hidden";
        match self {
            Self::Stop(_) => Self::Stop(hidden.to_owned()),
            Self::Message(_) | Self::Cause(_) | Self::TplParse(..) | Self::TplExec(..) => {
                Self::Message(hidden.to_owned())
            }
            // A fault without a location concerns the requested template, whose name is the secret.
            Self::Inner(inner) if inner.line == 0 => Self::Message(hidden.to_owned()),
            Self::Inner(_) | Self::Limit(_) => self,
        }
    }

    /// Go's text of the fault.
    pub fn go_text(&self) -> String {
        match self {
            Self::Message(message) | Self::Stop(message) => message.clone(),
            Self::Cause(cause) => cause.to_string(),
            Self::Inner(inner) => inner.go_text(),
            Self::TplParse(text, error) => {
                format!("cannot parse template {}: {}", quote(text.as_bytes()), error.go_text())
            }
            Self::TplExec(text, inner) => {
                format!("error during tpl function execution for {}: {}", quote(text.as_bytes()), inner.go_text())
            }
            Self::Limit(limit) => limit.describe().to_owned(),
        }
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}
impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

/// A failure while executing, at one level of the chain of templates.
#[derive(Clone, Debug)]
pub struct ExecError {
    /// The file, line (from 1) and byte column (from 0) of the node.
    pub file: String,
    /// Line from 1.
    pub line: u32,
    /// Byte column, from 0.
    pub column: u32,
    /// Byte offset in the file.
    pub offset: u32,
    /// The template being executed.
    pub template: String,
    /// The node as Go prints it.
    pub node: String,
    /// The function that failed, if one did.
    pub function: Option<String>,
    /// The reason.
    pub fault: Fault,
    /// The origin of the value that the failing node used, 0 if none.
    pub origin: u32,
}

impl ExecError {
    /// `file:line:column`
    pub fn location(&self) -> String {
        if self.line == 0 {
            return self.file.clone();
        }
        format!("{}:{}:{}", self.file, self.line, self.column)
    }

    /// Go's text, the whole chain on one line.
    pub fn go_text(&self) -> String {
        let fault = self.fault.go_text();
        if self.line == 0 {
            return format!("template: {fault}");
        }
        let calling = self.function.as_ref().map(|name| format!("error calling {name}: ")).unwrap_or_default();
        let (location, template) = (self.location(), quote(self.template.as_bytes()));
        format!("template: {location}: executing {template} at <{}>: {calling}{fault}", self.node)
    }

    /// The innermost level of the chain.
    pub fn innermost(&self) -> &Self {
        match &self.fault {
            Fault::Inner(inner) | Fault::TplExec(_, inner) => inner.innermost(),
            _ => self,
        }
    }

    /// The levels of the chain, outermost first.
    pub fn chain(&self) -> Vec<&Self> {
        let mut levels = vec![self];
        let mut current = self;
        while let Fault::Inner(inner) | Fault::TplExec(_, inner) = &current.fault {
            levels.push(inner);
            current = inner;
        }
        levels
    }

    /// The message of `fail` or `required`, if that stopped the render.
    pub fn stop_message(&self) -> Option<&str> {
        match &self.innermost().fault {
            Fault::Stop(message) => Some(message),
            _ => None,
        }
    }

    /// The limit that was reached, if one was.
    pub fn limit(&self) -> Option<Limit> {
        match &self.innermost().fault {
            Fault::Limit(limit) => Some(*limit),
            _ => None,
        }
    }

    /// Helm's message: one block for each level, or the raw chain where a link is a plain error.
    pub fn helm_text(&self) -> String {
        if let Some(message) = self.stop_message() {
            return format!("execution error at ({}): {message}", self.location());
        }
        let levels = self.chain();
        let plain_link = levels.iter().any(|level| match &level.fault {
            Fault::Inner(_) => false,
            Fault::Message(_) | Fault::Cause(_) => level.function.is_some(),
            _ => true,
        });
        if plain_link {
            return self.go_text();
        }
        let mut out = String::new();
        for level in levels {
            let message = match (&level.fault, &level.function) {
                (Fault::Inner(_), Some(name)) => format!("error calling {name}:"),
                (fault, _) => fault.go_text(),
            };
            if !out.is_empty() {
                out.push('\n');
            }
            if level.line == 0 {
                out.push_str(&message);
                continue;
            }
            let template = quote(level.template.as_bytes());
            out.push_str(&format!("{}\n  executing {template} at <{}>:\n    {message}", level.location(), level.node));
        }
        out
    }
}
