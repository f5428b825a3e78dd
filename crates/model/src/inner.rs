//! What one dialect may ask of another: a project inside a project, resolved into nodes, outputs and manifests.
//!
//! Dialects do not know each other. The façade has the list of engines and hands it in with the request; a dialect asks
//! by name, and decides when: an action of a Garden project is asked when its outputs are first read.

use crate::dialect::{Answer, Question};
use crate::project::{Request, Resolved};
use purlin_syntax::Span;
use purlin_value::{Session, Value};

/// What is asked of an engine.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The folder or file of the inner project, as the world reads it.
    pub path: &'a str,
    /// Names, files and options, as a user would give them. Paths are those of the world.
    pub request: Request,
    /// Values or inputs, over those of files and under those of options. Some may be pending or broken.
    pub values: Value,
    /// Where the asking dialect names the project.
    pub span: Option<Span>,
}

/// Resolves what is asked. `None` if that fails, which is reported.
pub type Resolve = fn(&Session, &Ask<'_>) -> Option<Resolved>;

/// Evaluates an expression of the inner project's dialect.
pub type Evaluate = fn(&Session, &Ask<'_>, &Question) -> Option<Answer>;

/// An engine: a name that a dialect asks for, and what answers.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// Its name: `chart`, `tosca`.
    pub name: &'static str,
    /// Resolves a project.
    pub resolve: Resolve,
    /// Evaluates an expression, if its dialect has any.
    pub eval: Option<Evaluate>,
}

impl Engine {
    /// Resolves an inner project apart from the problems found so far: an engine goes on only as far as what it reads is
    /// sound. Its problems tell who asked.
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
