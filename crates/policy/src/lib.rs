//! Policies in Rego and CEL, evaluated over JSON, and the values that their findings depend on.
//!
//! Evaluation gets a question and writes an answer line by line, so that it can run in a process of its own: steps are
//! counted here, but memory is bounded only by the process. This must not know dialects, values, files or processes.

mod cause;
mod cel;
mod heads;
mod imports;
mod question;
mod rego;
mod text;

pub use question::{
    Body, Counts, File, Found, Input, Level, Line, Name, Over, Policy, Question, Step, Stop, StopKind, Verdict,
};

use cause::{causes, missing};
use serde_json::Value as Json;
use std::io::Write;

/// A policy that can be evaluated.
trait Evaluate {
    /// The verdicts about one input. Evaluation must not depend on earlier calls.
    fn evaluate(&mut self, input: &Json, file: &str) -> Result<Vec<Verdict>, Stop>;
    /// The paths of the input that the text of the rule names.
    fn mentions(&self, verdict: &Verdict) -> Vec<Vec<Step>>;
    /// The counts of the last evaluation.
    fn counts(&self) -> Counts {
        Counts::default()
    }
}

/// The result of evaluation that could not go on: the reader is gone.
pub type Written = std::io::Result<()>;

/// Answers a question that is JSON, one JSON document per line.
pub fn answer(question: &str, out: &mut dyn Write) -> Written {
    let Ok(question) = serde_json::from_str::<Question>(question) else {
        return line(out, &Line::Ended);
    };
    for (index, policy) in question.policies.iter().enumerate() {
        line(out, &Line::Began { policy: index })?;
        let inputs = question.inputs.iter().filter(|input| input.over == policy.over);
        let inputs: Vec<&Input> = inputs.collect();
        match load(policy, &question) {
            Ok(mut evaluator) => judge(index, evaluator.as_mut(), &inputs, out)?,
            Err(stop) => line(out, &Line::Stopped { policy: index, stop })?,
        }
    }
    line(out, &Line::Ended)
}

/// Reads the answer to a question. Without its end, evaluation was cut off in the policy that began last.
pub fn read_answer(text: &str) -> Vec<Line> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn load(policy: &Policy, question: &Question) -> Result<Box<dyn Evaluate>, Stop> {
    match &policy.body {
        Body::Rego { files, data, namespaces } => {
            Ok(Box::new(rego::Rego::load(files, data, namespaces, &question.environment, question.steps)?))
        }
        Body::Cel { when, assert, message } => {
            let texts = (when.as_deref(), assert.as_str(), message.as_deref());
            Ok(Box::new(cel::Assertion::load(policy.over, texts, &question.environment)?))
        }
    }
}

fn judge(policy: usize, evaluator: &mut dyn Evaluate, inputs: &[&Input], out: &mut dyn Write) -> Written {
    let mut counts = Counts::default();
    for (index, input) in inputs.iter().enumerate() {
        let verdicts = match evaluator.evaluate(&input.value, &input.file) {
            Ok(verdicts) => verdicts,
            Err(stop) => return line(out, &Line::Stopped { policy, stop }),
        };
        counts.add(evaluator.counts());
        if verdicts.is_empty() {
            continue;
        }
        let mut causes = causes(&input.value, &verdicts, &mut |changed| evaluator.evaluate(changed, &input.file).ok());
        for (at, verdict) in verdicts.into_iter().enumerate() {
            let mut causes = causes.get_mut(at).map(std::mem::take).unwrap_or_default();
            let mentions = if verdict.path.is_none() { evaluator.mentions(&verdict) } else { Vec::new() };
            if let Some(missing) = missing(&input.value, &causes, &mentions) {
                causes.insert(0, missing);
            }
            line(out, &Line::Found(Found { policy, input: index, verdict, causes }))?;
        }
    }
    line(out, &Line::Counted { policy, counts })
}

fn line(out: &mut dyn Write, line: &Line) -> Written {
    let text = serde_json::to_string(line).unwrap_or_default();
    writeln!(out, "{text}")
}
