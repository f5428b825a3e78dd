//! The interface between dialects: a project inside a project, resolved into nodes, outputs and manifests.
//!
//! Dialects do not know each other. The façade has the list of engines and passes it in with the request; a dialect
//! selects one by name, and decides when: an action of a Garden project is resolved when its outputs are first read.

use crate::dialect::{Answer, Question};
use crate::project::{Request, Resolved};
use purlin_syntax::Span;
use purlin_value::{Session, Value};

/// A request to an engine.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The folder or file of the inner project, as a path of the world.
    pub path: &'a str,
    /// Names, files and options, as a user would give them. Paths are those of the world.
    pub request: Request,
    /// Values or inputs, overriding those of files and overridden by those of options. Some may be pending or broken.
    pub values: Value,
    /// Location of the project's name in the calling dialect.
    pub span: Option<Span>,
}

/// Resolves a request. `None` if that fails, which is reported.
pub type Resolve = fn(&Session, &Ask<'_>) -> Option<Resolved>;

/// Evaluates an expression of the inner project's dialect.
pub type Evaluate = fn(&Session, &Ask<'_>, &Question) -> Option<Answer>;

/// An engine: a name for dialects to select, and its functions.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// Its name: `chart`, `tosca`.
    pub name: &'static str,
    /// Resolves a project.
    pub resolve: Resolve,
    /// Evaluates an expression, if its dialect has expressions.
    pub eval: Option<Evaluate>,
}

impl Engine {
    /// Resolves an inner project apart from the problems found so far: an engine continues only as far as its input
    /// is sound. Its problems name the caller.
    pub fn resolve_for(self, session: &Session, ask: &Ask<'_>, who: &str) -> Option<Resolved> {
        apart(session, ask, who, || (self.resolve)(session, ask))
    }

    /// The same for an expression.
    pub fn eval_for(self, session: &Session, ask: &Ask<'_>, who: &str, question: &Question) -> Option<Answer> {
        let eval = self.eval?;
        apart(session, ask, who, || eval(session, ask, question))
    }
}

fn apart<T>(session: &Session, ask: &Ask<'_>, who: &str, work: impl FnOnce() -> T) -> T {
    let (done, own) = session.sink.apart(work);
    session.sink.extend(own.into_iter().map(|mut problem| {
        problem.span = problem.span.or(ask.span);
        match ask.span.filter(|span| problem.span != Some(*span)) {
            Some(span) => problem.through(span, format!("in {who}")),
            None => problem,
        }
    }));
    done
}

/// The engines of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Engines(pub &'static [Engine]);

impl Engines {
    /// The engine of a name, if this run has it.
    pub fn get(self, name: &str) -> Option<Engine> {
        self.0.iter().find(|engine| engine.name == name).copied()
    }
}
