//! Renders the templates of a chart and of all charts inside it: one namespace, one heap, Helm's order.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use purlin_gotmpl::ast::Tree;
use purlin_gotmpl::hole::{Hole, Holes};
use purlin_gotmpl::machine::{Call, SourceFile};
use purlin_gotmpl::value::{MapType, Str};
use purlin_gotmpl::{ExecError, Limits, Machine, Namespace, Outside, ParseError, Reads, Rope, STACK_BYTES, Set, Val};
use purlin_value::stack::with_stack;
use purlin_value::{Piece, Session, Value};

use crate::capabilities::Capabilities;
use crate::chart::Chart;
use crate::context::{Contexts, Release, import, origin_number, origin_of};
use crate::edition::{HELM_4, Helm};

/// Why a chart could not be rendered.
#[derive(Debug)]
pub enum RenderError {
    /// A template cannot be parsed.
    Parse(ParseError),
    /// A template failed.
    Exec(Box<ExecError>),
    /// No thread could be started for rendering.
    Thread,
}

impl RenderError {
    /// The template that is at fault.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            RenderError::Parse(error) => Some(&error.file),
            RenderError::Exec(error) => Some(&error.file),
            RenderError::Thread => None,
        }
    }

    /// The text that a version of Helm prints.
    pub fn text_of(&self, helm: &Helm) -> String {
        match self {
            Self::Exec(error) if !helm.traces_errors && error.stop_message().is_none() => error.go_text(),
            _ => self.helm_text(),
        }
    }

    /// The text Helm prints.
    pub fn helm_text(&self) -> String {
        match self {
            Self::Parse(error) => {
                let text = error.go_text();
                let message = text.rsplit(": ").next().unwrap_or_default();
                format!("parse error at ({}:{}): {message}", error.file, error.line)
            }
            Self::Exec(error) => error.helm_text(),
            Self::Thread => "no thread to render on".to_owned(),
        }
    }
}

/// Templates of a chart, parsed; made once, rendered many times.
#[derive(Debug)]
pub struct Compiled {
    set: Arc<Set>,
    /// Files to execute, in order: full name, and the path of the chart they belong to.
    files: Vec<(Str, String)>,
}

impl Compiled {
    /// The templates as a namespace to start a render with.
    pub fn namespace(&self) -> std::rc::Rc<purlin_gotmpl::Namespace> {
        self.set.namespace()
    }

    /// The templates that a file defines, the file itself among them.
    pub(crate) fn templates_in(&self, file: &str) -> Option<&[Arc<Tree>]> {
        self.set.templates_in(file)
    }
}

/// Everything a render needs besides the templates.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The root chart.
    pub chart: &'a Chart,
    /// Its values, coalesced.
    pub values: &'a Value,
    /// `.Release`
    pub release: &'a Release,
    /// `.Capabilities`
    pub capabilities: &'a Capabilities,
    /// Clock, seed, recording.
    pub outside: &'a Outside,
    /// Limits.
    pub limits: &'a Limits,
    /// Whether the other files are rendered after one fails; its error is then in [`Rendered::failed`].
    pub keep_going: bool,
}

/// Result of rendering.
#[derive(Debug, Default)]
pub struct Rendered {
    /// Every executed file with its text, in the order of their names.
    pub files: Vec<(String, Rope)>,
    /// The files that places in ropes refer to.
    pub sources: Vec<SourceFile>,
    /// The calls that pieces refer to.
    pub calls: Vec<Call>,
    /// Placeholders for values not known yet.
    pub holes: Holes,
    /// Files rendered after a collection may have been changed, with what decides on that and is not known yet.
    pub unsure: BTreeMap<String, Hole>,
    /// Files that could not be rendered, with `keep_going`.
    pub failed: Vec<ExecError>,
    /// Messages of `required` and `fail` that did not stop linting, as Helm logs them.
    pub logged: Vec<String>,
    /// For each file what it has read of the values, if that was recorded.
    pub parts: Vec<Part>,
    /// Whether a file has changed collections that others see; noted only where reads are recorded.
    pub has_changed: bool,
}

/// What a file has read of the values.
#[derive(Debug)]
pub struct Part {
    /// The file.
    pub path: String,
    /// Its reads.
    pub reads: Reads,
    /// The steps that it took.
    pub steps: u64,
}

/// A template file found in a chart or in one inside it.
struct Found<'c> {
    name: String,
    chart: String,
    bytes: &'c [u8],
}

fn collect<'c>(chart: &'c Chart, path: &str, out: &mut Vec<Found<'c>>) {
    let library = chart.is_library();
    for file in &chart.templates {
        let base = file.name.rsplit('/').next().unwrap_or_default();
        if library && !base.starts_with('_') {
            continue;
        }
        out.push(Found { name: format!("{path}/{}", file.name), chart: path.to_owned(), bytes: &file.bytes });
    }
    for child in &chart.dependencies {
        collect(child, &format!("{path}/charts/{}", child.name()), out);
    }
}

/// The same for a chart that the variants of a project render with values of their own: templates are parsed once.
pub fn compile_for(session: &Session, chart: &Chart, helm: &Helm) -> Result<Arc<Compiled>, RenderError> {
    if !session.has_variants() {
        return compile_as(chart, helm).map(Arc::new);
    }
    let kept = session.in_common(&key_of(chart), || Kept(compile(chart).ok().map(Arc::new)));
    match &kept.0 {
        Some(compiled) => Ok(compiled.clone()),
        None => compile(chart).map(Arc::new),
    }
}

/// A text that is the same for the same templates. Copies of a chart share the bytes of its files, which live as long
/// as the variants do.
pub(crate) fn key_of(chart: &Chart) -> String {
    let mut found = Vec::new();
    collect(chart, chart.name(), &mut found);
    found.iter().map(|file| format!("{} {:?}\n", file.name, file.bytes.as_ptr())).collect()
}

/// The templates of a chart; `None` if one of them cannot be parsed.
struct Kept(Option<Arc<Compiled>>);

/// Parses all templates of a chart, the deepest and last ones first, so that shallow and early ones win.
pub fn compile(chart: &Chart) -> Result<Compiled, RenderError> {
    compile_as(chart, &HELM_4)
}

pub(crate) fn compile_as(chart: &Chart, helm: &Helm) -> Result<Compiled, RenderError> {
    let mut found = Vec::new();
    collect(chart, chart.name(), &mut found);
    let depth = |name: &str| name.bytes().filter(|b| *b == b'/').count();
    found.sort_by(|a, b| depth(&b.name).cmp(&depth(&a.name)).then_with(|| b.name.cmp(&a.name)));
    let mut set = Set::with_functions(helm.functions);
    let mut files = Vec::new();
    for file in &found {
        set.add(&file.name, file.bytes).map_err(RenderError::Parse)?;
        let base = file.name.rsplit('/').next().unwrap_or_default();
        if !base.starts_with('_') {
            files.push((Str::from(file.name.as_str()), file.chart.clone()));
        }
    }
    Ok(Compiled { set: Arc::new(set), files })
}

/// Renders all files, with room for deep recursion.
pub fn render(compiled: &Compiled, inputs: Inputs<'_>) -> Result<Rendered, RenderError> {
    on_deep_stack(|| render_here(compiled, inputs))
}

/// Renders the files that are wanted, and records what each has read of the values.
pub(crate) fn render_recorded(
    compiled: &Compiled,
    inputs: Inputs<'_>,
    is_wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Rendered, RenderError> {
    if !compiled.files.iter().any(|(name, _)| is_wanted(&name.text())) {
        return Ok(Rendered::default());
    }
    on_deep_stack(|| {
        let (machine, _, contexts) = prepared(compiled.set.namespace(), inputs, true);
        render_with(machine, compiled, &contexts, inputs, is_wanted)
    })
}

/// Runs a function with as much stack as a render may need.
pub(crate) fn on_deep_stack<T: Send>(work: impl FnOnce() -> Result<T, RenderError> + Send) -> Result<T, RenderError> {
    with_stack(STACK_BYTES, work).unwrap_or(Err(RenderError::Thread))
}

/// A machine for a chart, the root object of its templates, and those of each chart inside, by the path of the chart.
pub(crate) fn prepare(namespace: Rc<Namespace>, inputs: Inputs<'_>) -> (Machine<'_>, Val, BTreeMap<String, Val>) {
    prepared(namespace, inputs, false)
}

fn prepared(
    namespace: Rc<Namespace>,
    inputs: Inputs<'_>,
    is_recorded: bool,
) -> (Machine<'_>, Val, BTreeMap<String, Val>) {
    let mut machine = Machine::new(namespace, inputs.outside, inputs.limits);
    let values = import(&mut machine.heap, inputs.values);
    if is_recorded {
        machine.heap.watch(&values);
    }
    let mut contexts = Vec::new();
    let origins = machine.outside.track.then(|| machine.outside.origins.clone());
    let mut builder = Contexts::new(&mut machine.heap, inputs.release, inputs.capabilities).noting(origins);
    let root = builder.build(inputs.chart, values, true, inputs.chart.name(), &mut contexts);
    // Of charts with the same path, the first one counts.
    (machine, root, contexts.into_iter().rev().collect())
}

fn render_here(compiled: &Compiled, inputs: Inputs<'_>) -> Result<Rendered, RenderError> {
    let (machine, _, contexts) = prepare(compiled.set.namespace(), inputs);
    render_with(machine, compiled, &contexts, inputs, &|_| true)
}

fn render_with(
    mut machine: Machine<'_>,
    compiled: &Compiled,
    contexts: &BTreeMap<String, Val>,
    inputs: Inputs<'_>,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Rendered, RenderError> {
    let mut rendered = Rendered::default();
    execute(&mut machine, compiled, contexts, is_wanted, inputs.keep_going, &mut rendered)?;
    rendered.has_changed = machine.heap.has_changed();
    // The next render gets the remaining budget.
    let _ = inputs.limits.meter.charge(machine.spent(), 0);
    rendered.sources = machine.take_sources();
    rendered.calls = std::mem::take(&mut machine.calls);
    rendered.logged = std::mem::take(&mut machine.logged);
    rendered.holes = std::mem::take(&mut machine.heap.holes);
    Ok(rendered)
}

/// Executes the files that are wanted, each in the context of its chart.
pub(crate) fn execute(
    machine: &mut Machine<'_>,
    compiled: &Compiled,
    contexts: &BTreeMap<String, Val>,
    is_wanted: &dyn Fn(&str) -> bool,
    keep_going: bool,
    rendered: &mut Rendered,
) -> Result<(), RenderError> {
    let own = |chart: &String| contexts.get(chart).and_then(Val::as_map);
    machine.contexts = compiled.files.iter().filter_map(|(name, chart)| Some((name.clone(), own(chart)?))).collect();
    for (name, chart) in compiled.files.iter().filter(|(name, _)| is_wanted(&name.text())) {
        let Some(context) = contexts.get(chart) else { continue };
        let named = named_by(machine, contexts, chart);
        set_template(machine, context, name, chart, named);
        // Functions of the host may keep values from one file to the next.
        let is_plain = machine.natives.is_none();
        if is_plain {
            machine.heap.begin();
        }
        machine.heap.take_reads();
        let before = machine.spent();
        let rope = machine.execute_named(name, context.clone());
        if is_plain {
            machine.heap.end();
        }
        let reads = machine.heap.take_reads();
        let rope = match rope {
            Ok(rope) => rope,
            // A limit exceeded by one file is exceeded for the run.
            Err(error) if keep_going && error.limit().is_none() => {
                rendered.failed.push(*error);
                continue;
            }
            Err(error) => return Err(RenderError::Exec(error)),
        };
        let rope = purlin_gotmpl::funcs::templates::without_no_value(rope);
        machine.keep(&rope).map_err(|limit| RenderError::Exec(machine.stopped(name, limit)))?;
        let (path, steps) = (name.text().into_owned(), machine.spent().saturating_sub(before));
        rendered.parts.extend(reads.map(|reads| Part { path, reads, steps }));
        if let Some(pending) = &machine.unsure {
            rendered.unsure.insert(name.text().into_owned(), pending.clone());
        }
        rendered.files.push((name.text().into_owned(), rope));
    }
    rendered.files.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(())
}

/// Origin of the path of a chart: its name, and those of the charts around it.
pub(crate) fn named_by(machine: &Machine<'_>, contexts: &BTreeMap<String, Val>, chart: &str) -> u32 {
    if !machine.outside.track {
        return 0;
    }
    let around = chart.match_indices('/').map(|(end, _)| &chart[..end]).chain([chart]);
    let name = |context: &Val| {
        let chart = machine.heap.lookup(context.as_map()?, b"Chart")?;
        machine.heap.lookup(chart.as_map()?, b"Name")
    };
    let names = around.filter_map(|path| name(contexts.get(path)?)).map(|name| name.origin);
    match names.filter(|origin| *origin != 0).collect::<Vec<u32>>().as_slice() {
        [] => 0,
        [one] => *one,
        all => {
            let pieces = all.iter().map(|origin| Piece::whole(origin_of(*origin))).collect();
            origin_number(machine.outside.origins.derived("names of charts", None, pieces))
        }
    }
}

/// Puts `.Template` of the file into its chart's context.
pub(crate) fn set_template(machine: &mut Machine<'_>, context: &Val, name: &Str, chart: &str, named_by: u32) {
    let Some(map) = context.as_map() else { return };
    let text = |text: Val| text.at(named_by);
    let entries = [
        (Str::from("Name"), text(Val::str(name.clone()))),
        (Str::from("BasePath"), text(Val::str(format!("{chart}/templates")))),
    ];
    let template = machine.heap.map(MapType::Values, entries.into());
    machine.heap.set(map, Str::from("Template"), template);
}
