//! Costs of evaluation: steps, and the size of one value.
//!
//! Phase: evaluation. A value contained in several others is shared in memory, but each visitor goes through all of
//! it, so its parts are counted per visit. This must not know what functions do.

use super::{Evaluator, Failure};
use crate::topology::{Group, Interface, Interfaces, Node, Operation, Policy};
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::rules::LIMIT_DEPTH;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Limits, Rule, RuleClass, Span};
use purlin_value::pattern::{Refused, Work, compile};
use purlin_value::rules::{LIMIT_FUEL, LIMIT_LIST, LIMIT_MEMORY, LIMIT_REGEX, LIMIT_STRING};
use purlin_value::{Exceeded, Meter};
use regex::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Steps for each part of a value that is kept: it is copied, coerced and checked.
const STEPS_PER_PART: u64 = 32;
/// Steps for each candidate of a filter: every requirement applies it to every node of a suitable type.
const STEPS_PER_CANDIDATE: u64 = 80;
/// Parts visited in one step.
const PARTS_PER_STEP: u64 = 8;
/// Levels above parts visited in one step.
const LEVELS_PER_STEP: u64 = 64;
/// Bytes that a part of a collection takes.
const PART_BYTES: u64 = size_of::<Val>() as u64;
/// The number of properties, attributes, capabilities and requirements of a node that are free of charge.
const USUAL_MEMBERS: usize = 32;
/// Steps for each further member: it is made, evaluated, checked and shown for each node.
const STEPS_PER_MEMBER: u64 = 32;
const MEMBER_BYTES: u64 = 512;
/// The same for the contents of its capabilities, relationships and interfaces: values, operations and their inputs.
const USUAL_INNER: u64 = 64;
const STEPS_PER_INNER: u64 = 16;
const INNER_BYTES: u64 = 160;
/// Fuel for each interruption of a script by its engine: single steps of a script may be large.
pub(super) const FUEL_PER_CHECK: u64 = 1_000_000;
/// Bytes of text copied in one step.
pub(super) const BYTES_PER_STEP: u64 = 8;

/// The limits of one service, the steps left in the run, and the first limit exceeded.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    meter: Arc<Meter>,
    empty: AtomicBool,
    told: AtomicBool,
    first: OnceLock<Diagnostic>,
}

impl Default for Budget {
    fn default() -> Self {
        let limits = Limits::default();
        Budget::new(&limits, Arc::new(Meter::new(&limits)))
    }
}

impl Budget {
    /// The remaining steps of a run.
    pub fn new(limits: &Limits, meter: Arc<Meter>) -> Self {
        Budget {
            limits: limits.clone(),
            meter,
            empty: AtomicBool::new(false),
            told: AtomicBool::new(false),
            first: OnceLock::new(),
        }
    }

    /// A full one, with steps of its own.
    pub fn renewed(&self) -> Self {
        Budget::new(&self.limits, Arc::new(self.meter.renewed()))
    }

    /// The part of the run's steps and memory that one call of a script may use; a service may call many.
    pub(super) fn of_script(&self) -> purlin_script::Bounds {
        let memory = usize::try_from(self.limits.memory_floor / 24).unwrap_or(usize::MAX);
        purlin_script::Bounds { memory, checks: (self.limits.fuel / FUEL_PER_CHECK).saturating_mul(3) / 5 }
    }

    /// Most parts of a value.
    pub(crate) fn most_parts(&self) -> u64 {
        self.limits.list_items
    }

    /// The first limit exceeded.
    pub fn exceeded(&self) -> Option<&Diagnostic> {
        self.first.get()
    }

    /// Records the limit exceeded by a nested service.
    pub fn note(&self, diagnostic: &Diagnostic) {
        if diagnostic.rule.class == RuleClass::Limit {
            self.first.get_or_init(|| diagnostic.clone());
        }
    }

    /// Charges the bytes of a node's members beyond those of usual types: a type with thousands of properties and
    /// thousands of nodes of it are short to write.
    pub(crate) fn hold_members(&self, node: &Node) -> Result<(), Exceeded> {
        // Relationships of a count have a limit of their own.
        let requirements = node.requirements.iter().filter(|requirement| !requirement.is_counted()).count();
        let own = node.properties.len() + node.attributes.len() + node.capabilities.len() + requirements;
        let unusual = own.saturating_sub(USUAL_MEMBERS) as u64;
        self.take(unusual * STEPS_PER_MEMBER, unusual * MEMBER_BYTES)?;
        self.hold_inner(inner_members(node))
    }

    /// The same for a group, which before TOSCA 1.3 may have interfaces.
    pub(crate) fn hold_group(&self, group: &Group) -> Result<(), Exceeded> {
        self.hold_inner(group.properties.len() + of_interfaces(&group.interfaces))
    }

    /// The same for a policy.
    pub(crate) fn hold_policy(&self, policy: &Policy) -> Result<(), Exceeded> {
        self.hold_inner(policy.properties.len())
    }

    fn hold_inner(&self, members: usize) -> Result<(), Exceeded> {
        let unusual = (members as u64).saturating_sub(USUAL_INNER);
        self.take(unusual * STEPS_PER_INNER, unusual * INNER_BYTES)
    }

    fn take(&self, steps: u64, bytes: u64) -> Result<(), Exceeded> {
        if self.empty.load(Ordering::Relaxed) {
            return Err(Exceeded::Steps(self.limits.fuel));
        }
        let taken = self.meter.charge(steps, bytes);
        if let Err(Exceeded::Steps(_)) = taken {
            self.empty.store(true, Ordering::Relaxed);
        }
        taken
    }
}

/// The number of values and operations in the capabilities, relationships and interfaces of a node.
fn inner_members(node: &Node) -> usize {
    let capabilities = node.capabilities.values();
    let of_capabilities: usize = capabilities.map(|one| one.properties.len() + one.attributes.len()).sum();
    let relationships = node.requirements.iter().filter_map(|requirement| requirement.relationship.as_deref());
    let of_relationships: usize =
        relationships.map(|one| one.properties.len() + one.attributes.len() + of_interfaces(&one.interfaces)).sum();
    of_capabilities + of_relationships + of_interfaces(&node.interfaces)
}

fn of_interfaces(interfaces: &Interfaces) -> usize {
    let of_operation = |operation: &Operation| 1 + operation.inputs.len() + operation.outputs.len();
    let of_interface = |interface: &Interface| {
        let operations = interface.operations.values().chain(interface.notifications.values());
        1 + interface.inputs.len() + operations.map(of_operation).sum::<usize>()
    };
    interfaces.values().map(|interface| of_interface(interface)).sum()
}

/// The size of a value.
#[derive(Default)]
pub(super) struct Weight<'v> {
    parts: u64,
    bytes: u64,
    /// The depths of all parts together.
    depths: u64,
    /// The first part that is not known.
    pub opaque: Option<&'v Data>,
}

/// Patterns, compiled once; `None` for an invalid one.
pub(crate) type Patterns = HashMap<EcoString, Option<(Regex, Work)>>;

impl Evaluator<'_> {
    /// Whether a pattern occurs in a text; `shown` is its source text.
    pub(crate) fn is_match(&mut self, pattern: &str, shown: &str, text: &str) -> Result<bool, Message> {
        if !self.patterns.contains_key(pattern) {
            let compiled = self.compiled(pattern)?;
            self.patterns.insert(pattern.into(), compiled);
        }
        let Some(Some((regex, work))) = self.patterns.get(pattern) else {
            return Err(what::about([shown], format!("the pattern `{shown}` cannot be used")));
        };
        self.spend(work.first(text.len()))?;
        Ok(regex.is_match(text))
    }

    /// Whether a pattern matches the whole of a text. An invalid pattern decides nothing; one that exceeds a limit is
    /// reported, and decides nothing either.
    pub fn matches_whole(&mut self, pattern: &str, text: &str, at: Span) -> bool {
        let found = self.is_match(&format!("^(?:{pattern})$"), pattern, text);
        found.map_err(|message| self.limited(Failure::new(message, at))).unwrap_or(true)
    }

    fn compiled(&self, pattern: &str) -> Result<Option<(Regex, Work)>, Message> {
        let build = |most: usize| match RegexBuilder::new(pattern).size_limit(most).build() {
            Ok(regex) => Ok(Some(regex)),
            Err(regex::Error::CompiledTooBig(_)) => Ok(None),
            Err(error) => Err(error),
        };
        let most = self.budget.limits.regex_bytes;
        match compile(&self.budget.meter, most, build) {
            Ok((regex, bytes)) => Ok(Some((regex, Work::of(pattern, bytes)))),
            Err(Refused::Invalid(_)) => Ok(None),
            Err(Refused::TooLarge) => {
                Err(self
                    .over(&LIMIT_REGEX, format!("a pattern needs more than the {most} bytes allowed when compiled")))
            }
            Err(Refused::Exceeded(exceeded)) => Err(self.over(exceeded.rule(), exceeded.message())),
        }
    }

    /// Charges steps of evaluation.
    pub(super) fn spend(&self, steps: u64) -> Result<(), Message> {
        self.spend_and_hold(steps, 0)
    }

    /// Charges steps of evaluation, and bytes that are held from now on.
    fn spend_and_hold(&self, steps: u64, bytes: u64) -> Result<(), Message> {
        self.budget.take(steps, bytes).map_err(|exceeded| self.over(exceeded.rule(), exceeded.message()))
    }

    /// The error of an exceeded limit, under the limit's rule.
    pub(super) fn over(&self, rule: &'static Rule, message: impl Into<Message>) -> Message {
        self.overrun.set(Some(rule));
        message.into()
    }

    /// Whether no steps are left, which was reported.
    pub(crate) fn is_out_of_steps(&self) -> bool {
        self.budget.empty.load(Ordering::Relaxed)
    }

    /// Charges the steps to apply a filter to one candidate; an exhausted budget is reported.
    pub(crate) fn can_afford_candidate(&self, requirement: Span) -> bool {
        let paid = self.spend(STEPS_PER_CANDIDATE);
        paid.map_err(|message| self.limited(Failure::new(message, requirement))).is_ok()
    }

    /// Charges the steps to check a constraint of TOSCA 1.x; an exhausted budget is reported.
    pub(crate) fn can_afford_clause(&self, argument: &Val, value: &Val) -> bool {
        let text = value.as_str().map_or(0, str::len) as u64;
        let paid = self.spend(1 + argument.items().len() as u64 + text / BYTES_PER_STEP);
        paid.map_err(|message| self.limited(Failure::new(message, argument.span))).is_ok()
    }

    /// Charges the steps to check the parts of a collection; an exhausted budget is reported.
    pub(crate) fn can_afford_parts(&self, value: &Val) -> bool {
        let parts = match &value.data {
            Data::List(items) => items.len(),
            Data::Map(entries) => entries.len(),
            _ => return true,
        };
        let paid = self.spend(parts as u64 * STEPS_PER_PART);
        paid.map_err(|message| self.limited(Failure::new(message, value.span))).is_ok()
    }

    /// Checks the length of a text to be made, and charges the steps for it.
    pub(super) fn afford_text(&self, bytes: usize) -> Result<(), Message> {
        let (bytes, most) = (bytes as u64, self.budget.limits.string_bytes);
        if bytes > most {
            let message = format!("the text would have {bytes} bytes, more than the {most} allowed");
            return Err(self.over(&LIMIT_STRING, message));
        }
        self.spend_and_hold(bytes / BYTES_PER_STEP, bytes)
    }

    /// Checks the length of a list to be made, and charges the steps for it.
    pub(super) fn afford_list(&self, items: usize) -> Result<(), Message> {
        let (items, most) = (items as u64, self.budget.limits.list_items);
        if items > most {
            let message = format!("the list would have {items} items, more than the {most} allowed");
            return Err(self.over(&LIMIT_LIST, message));
        }
        self.spend_and_hold(items, items * PART_BYTES)
    }

    /// Searches a value once for parts that are not known.
    pub(super) fn looked_through<'v>(&self, value: &'v Val) -> Result<Weight<'v>, Message> {
        let weight = self.weigh(value)?;
        self.spend(weight.parts / PARTS_PER_STEP + weight.depths / LEVELS_PER_STEP + weight.bytes / BYTES_PER_STEP)?;
        Ok(weight)
    }

    /// The same for a value that is going to be kept.
    pub(super) fn afford<'v>(&self, value: &'v Val) -> Result<Weight<'v>, Message> {
        let weight = self.weigh(value)?;
        let text = weight.bytes / BYTES_PER_STEP;
        let steps = weight.parts * STEPS_PER_PART + weight.depths / LEVELS_PER_STEP + text;
        // Texts are shared; a lone scalar takes no room beyond its holder.
        self.spend_and_hold(steps, (weight.parts - 1) * PART_BYTES)?;
        Ok(weight)
    }

    fn weigh<'v>(&self, value: &'v Val) -> Result<Weight<'v>, Message> {
        let mut weight = Weight::default();
        self.add(value, 0, &mut weight)?;
        Ok(weight)
    }

    fn add<'v>(&self, value: &'v Val, depth: u32, weight: &mut Weight<'v>) -> Result<(), Message> {
        weight.parts += 1;
        weight.depths += u64::from(depth);
        match &value.data {
            Data::Poison | Data::Pending(_) => {
                weight.opaque.get_or_insert(&value.data);
            }
            Data::Str(text) | Data::Timestamp(text) => weight.bytes += text.len() as u64,
            Data::List(items) => {
                self.fits(depth, weight.parts + items.len() as u64)?;
                items.iter().try_for_each(|item| self.add(item, depth + 1, weight))?;
            }
            Data::Map(entries) => {
                self.fits(depth, weight.parts + entries.len() as u64)?;
                for (key, item) in entries.iter() {
                    self.add(key, depth + 1, weight)?;
                    self.add(item, depth + 1, weight)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn fits(&self, depth: u32, parts: u64) -> Result<(), Message> {
        let limits = &self.budget.limits;
        if depth > limits.depth {
            let message = format!("the value is nested more than {} levels deep", limits.depth);
            return Err(self.over(&LIMIT_DEPTH, message));
        }
        if parts > limits.list_items {
            let message = format!("the value has more than the {} parts allowed", limits.list_items);
            return Err(self.over(&LIMIT_LIST, message));
        }
        Ok(())
    }

    /// A failure under the rule of the limit that was exceeded, if it was one.
    pub(crate) fn limited(&self, failure: Failure) -> Failure {
        let Some(rule) = self.overrun.take() else { return failure };
        let failure = Failure { limit: Some(rule), astray: false, ..failure };
        self.budget.first.get_or_init(|| hinted(rule, Diagnostic::at(rule, failure.span, failure.message.clone())));
        failure
    }

    /// Whether a failure is still to be reported: an exhausted budget is reported once.
    pub(super) fn is_news(&self, failure: &Failure) -> bool {
        let is_of_run = failure.limit.is_some_and(|rule| *rule == LIMIT_FUEL || *rule == LIMIT_MEMORY);
        !is_of_run || !self.budget.told.swap(true, Ordering::Relaxed)
    }
}

/// A diagnostic with advice on its limit.
pub(super) fn hinted(rule: &'static Rule, diagnostic: Diagnostic) -> Diagnostic {
    let hint = match rule {
        rule if rule == &LIMIT_FUEL => "look for values that grow, or raise it with `--limit fuel=STEPS`",
        rule if rule == &LIMIT_MEMORY => Exceeded::Bytes(0).hint(),
        rule if rule == &LIMIT_STRING => "raise it with `--limit string-size=BYTES`",
        rule if rule == &LIMIT_LIST => "raise it with `--limit list-items=COUNT`",
        _ => return diagnostic,
    };
    diagnostic.hint(hint)
}
