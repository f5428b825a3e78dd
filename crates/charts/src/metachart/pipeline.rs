//! The native pipeline: kinds, resources, builds. Parallel over resources; the result does not depend on the number of
//! threads, since each resource draws its own randomness and is a function of values and templates alone. Of several
//! errors, that of the first resource is reported, in the order of kinds and names. Running out of steps is the
//! exception: whether it happens does not depend on the threads, but one thread alone may run out at a resource where
//! several get further, so the reported error may differ.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use purlin_gotmpl::ast::File;
use purlin_gotmpl::hole::{Hole, Holes};
use purlin_gotmpl::machine::{Call, SourceFile, Under};
use purlin_gotmpl::rope::Piece;
use purlin_gotmpl::{ExecError, Fault, Limit};
use purlin_value::Value;

use super::build::{Kind, Note, Workshop};
use super::checksums::{Computed, stopped};
use super::discover::discover;
use super::kinds::RESOURCES;
use super::natives::Helpers;
use crate::context::origin_number;
use crate::engine::{Compiled, Inputs, RenderError, Rendered, execute, on_deep_stack, prepare, set_template};

/// A resource the pipeline made.
#[derive(Debug)]
pub struct Made {
    /// Its kind's key in the values.
    pub kind: String,
    /// Its name in the values.
    pub name: String,
    /// The manifest as YAML.
    pub text: String,
    /// Origins of its parts, if recorded.
    pub pieces: Vec<Piece>,
}

/// Output of the pipeline.
#[derive(Debug, Default)]
pub struct Output {
    /// Resources by kind, then name.
    pub resources: Vec<Made>,
    /// The files that places refer to.
    pub sources: Vec<SourceFile>,
    /// The calls that pieces refer to.
    pub calls: Vec<Call>,
    /// Placeholders for values not known yet.
    pub holes: Holes,
    /// Decides whether a collection was changed, if that is not known yet.
    pub unsure: Option<Hole>,
    /// The number of the resource whose build set `unsure`.
    unsure_at: usize,
    /// The steps each resource took, by kind and name.
    pub costs: HashMap<(String, String), u64>,
    /// The chart's further templates, and those of the charts inside it.
    pub rendered: Rendered,
    /// Resources that could not be built, with `keep_going`, each with its number.
    failed: Vec<(usize, ExecError)>,
    /// Warnings.
    pub notes: BTreeSet<Note>,
}

impl Output {
    /// Everything that could not be rendered, in order.
    pub(crate) fn take_failed(&mut self) -> Vec<ExecError> {
        let mut failed = std::mem::take(&mut self.failed);
        failed.sort_by_key(|(at, _)| *at);
        let files = std::mem::take(&mut self.rendered.failed);
        failed.into_iter().map(|(_, error)| error).chain(files).collect()
    }
}

/// The resources of these kinds are rendered.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The templates.
    pub compiled: &'a Compiled,
    /// Kinds that are rendered.
    pub kinds: &'a [Kind],
    /// Origins of checksums.
    pub computed: &'a Arc<Computed>,
}

/// Renders all resources.
pub fn render(job: Job<'_>, inputs: Inputs<'_>, threads: usize) -> Result<Output, RenderError> {
    let wanted = count(inputs.values, job.kinds) / MIN_SHARE;
    let threads = threads.min(wanted).clamp(1, MAX_THREADS);
    if threads == 1 {
        let whole = on_deep_stack(|| Ok(render_share(job, inputs, 0, 1)))?;
        return within_fuel(whole.map_err(|failed| failed.error)?, inputs);
    }
    let shares: Vec<Result<Output, Failed>> = std::thread::scope(|scope| {
        let render = |share: usize| {
            on_deep_stack(|| Ok(render_share(job, inputs, share, threads)))
                .unwrap_or_else(|error| Err(Failed { at: 0, error }))
        };
        let workers: Vec<_> = (0..threads).map(|share| scope.spawn(move || render(share))).collect();
        let no_thread = |_| Err(Failed { at: 0, error: RenderError::Thread });
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(no_thread)).collect()
    });
    let mut all =
        Output { calls: vec![Call { site: 0, parent: 0, because: 0, under: Under::Call }], ..Output::default() };
    let common = job.compiled.namespace().end_of_sources();
    let mut first: Option<Failed> = None;
    for share in shares {
        match share {
            Ok(share) => all.join(share, common),
            Err(failed) if first.as_ref().is_none_or(|first| failed.at < first.at) => first = Some(failed),
            Err(_) => {}
        }
    }
    if let Some(failed) = first {
        return Err(failed.error);
    }
    all.resources.sort_by(|a, b| (&a.kind, &a.name).cmp(&(&b.kind, &b.name)));
    within_fuel(all, inputs)
}

/// Why a share was not rendered to its end.
struct Failed {
    /// The number of the resource that failed, among all.
    at: usize,
    error: RenderError,
}

/// Most threads that work at the same time.
const MAX_THREADS: usize = 16;

/// Fewer resources than this are not worth a thread, which has to copy the values first.
const MIN_SHARE: usize = 200;

/// Number of resources in the values, without those related to others.
fn count(values: &Value, kinds: &[Kind]) -> usize {
    kinds.iter().filter_map(|kind| values.get(&kind.key)?.as_map()).map(|resources| resources.len()).sum()
}

/// The output, unless its resources together took more steps than allowed. Each counts once, independent of the
/// requester, so that the result does not depend on the number of threads.
fn within_fuel(output: Output, inputs: Inputs<'_>) -> Result<Output, RenderError> {
    if output.costs.values().sum::<u64>() > inputs.limits.fuel {
        let stopped = stopped("resources", Fault::Limit(Limit::Fuel), 0);
        return Err(RenderError::Exec(Box::new(stopped)));
    }
    Ok(output)
}

impl Output {
    /// Adds another share. Places behind the templates that all have in common are moved behind those already here.
    fn join(&mut self, share: Output, common: u32) {
        let end = |source: &SourceFile| source.file.base.saturating_add(source.file.text.len() as u32 + 1);
        let moved = self.sources.last().map_or(0, |last| end(last).max(common) - common);
        let earlier = self.calls.len() as u32 - 1;
        let site = |site: u32| if site < common { site } else { site.saturating_add(moved) };
        let call = |call: u32| if call == 0 { 0 } else { call + earlier };
        let is_first = self.sources.is_empty();
        for source in share.sources {
            if source.file.base < common {
                self.sources.extend(is_first.then_some(source));
                continue;
            }
            let File { name, text, base } = source.file.as_ref();
            let file = Arc::new(File { name: name.clone(), text: text.clone(), base: site(*base) });
            self.sources.push(SourceFile { file, origin: source.origin, digested: source.digested.clone() });
        }
        let calls = share.calls.into_iter().skip(1);
        self.calls.extend(calls.map(|made| Call { site: site(made.site), parent: call(made.parent), ..made }));
        for mut resource in share.resources {
            for piece in &mut resource.pieces {
                (piece.site, piece.call) = (site(piece.site), call(piece.call));
            }
            self.resources.push(resource);
        }
        self.holes.extend(share.holes);
        if share.unsure.is_some() && (self.unsure.is_none() || share.unsure_at < self.unsure_at) {
            (self.unsure, self.unsure_at) = (share.unsure, share.unsure_at);
        }
        self.costs.extend(share.costs);
        self.failed.extend(share.failed);
        self.notes.extend(share.notes);
        // Only the first share has any, and its places are not moved.
        if is_first {
            self.rendered = share.rendered;
        }
    }
}

/// Builds every n-th resource; the first share also renders the other templates.
fn render_share(job: Job<'_>, inputs: Inputs<'_>, share: usize, of: usize) -> Result<Output, Failed> {
    let (mut machine, root, contexts) = prepare(job.compiled.namespace(), inputs);
    let template = format!("{}/{RESOURCES}", inputs.chart.name());
    let named = origin_number(inputs.chart.metadata.origin("name"));
    set_template(&mut machine, &root, &template.as_str().into(), inputs.chart.name(), named);
    let (found, conflicts) = discover(&mut machine.heap, &root, job.kinds);
    let mut output = Output::default();
    for conflict in conflicts {
        let error = stopped(&conflict.resource, Fault::Stop(conflict.message), conflict.origin);
        output.fail(0, Box::new(error), inputs.keep_going)?;
    }
    let order: Vec<(String, String)> =
        found.iter().flat_map(|(kind, resources)| resources.keys().map(|name| (kind.clone(), name.clone()))).collect();
    let kinds = job.kinds.iter().map(|kind| (kind.key.clone(), kind.clone())).collect();
    let workshop = Rc::new(Workshop::new(root, kinds, found, job.computed.clone()));
    machine.natives = Some(Rc::new(Helpers { workshop: workshop.clone() }));
    for (at, (kind, name)) in order.into_iter().enumerate().skip(share).step_by(of) {
        let was_sure = machine.unsure.is_none();
        let built = match workshop.build(&mut machine, &kind, &name, 0) {
            Ok(built) => built,
            Err(Fault::Inner(error)) => {
                output.fail(at, error, inputs.keep_going)?;
                continue;
            }
            Err(fault) => {
                output.fail(at, Box::new(stopped(&format!("{kind}/{name}"), fault, 0)), inputs.keep_going)?;
                continue;
            }
        };
        if was_sure && machine.unsure.is_some() {
            output.unsure_at = at;
        }
        let pieces = built.pieces().map(<[Piece]>::to_vec).unwrap_or_default();
        output.resources.push(Made { kind, name, text: built.text().into_owned(), pieces });
    }
    if share == 0 {
        let is_other = |name: &str| name != template;
        let before = machine.spent();
        execute(&mut machine, job.compiled, &contexts, &is_other, inputs.keep_going, &mut output.rendered)
            .map_err(|error| Failed { at: 0, error })?;
        output.costs.insert((String::new(), String::new()), machine.spent() - before);
    }
    // The helpers hold the workshop, which outlives the machine otherwise.
    machine.natives = None;
    (output.sources, output.calls) = (machine.take_sources(), std::mem::take(&mut machine.calls));
    output.holes = std::mem::take(&mut machine.heap.holes);
    output.costs.extend(workshop.costs.take());
    output.notes.extend(workshop.notes.take());
    output.unsure = machine.unsure.take();
    Ok(output)
}

impl Output {
    /// Keeps an error, or stops with it: at once unless `keep_going`, and always at a limit.
    fn fail(&mut self, at: usize, error: Box<ExecError>, keep_going: bool) -> Result<(), Failed> {
        if !keep_going || error.limit().is_some() {
            return Err(Failed { at, error: RenderError::Exec(error) });
        }
        self.failed.push((at, *error));
        Ok(())
    }
}
