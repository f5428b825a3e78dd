//! The operations of a profile's patches, as in RFC 6902, on a configuration with its empty values left out.
//!
//! Every failure names the operation, the path and the reason. It must not know the schema.

use crate::item::{Active, Data, Entry, Form, Item, Step, View};
use crate::profile::pointer::{END, Pointer, at, at_mut, child, index};
use crate::rules;
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Hint, Rule, Span, suggest};
use purlin_value::Meter;

/// Why a patch does not apply.
pub struct Problem {
    /// The rule it is reported under.
    pub rule: &'static Rule,
    /// The problem.
    pub message: Message,
    /// Advice.
    pub hint: Option<Hint>,
    /// Its location, if not the patch as a whole.
    pub span: Option<Span>,
}

type Done = Result<(), Problem>;

/// A patch that applies to another part of the document.
pub(crate) fn not_here(patch: View<'_, '_>) -> Problem {
    let path = patch.text_of("path");
    let mut problem = problem(format!("`{path}` leads to no module"), patch.get("path").and_then(View::span));
    problem.hint = Some("patches change what is in a module, as `/modules/0/…` or `/modules/name=NAME/…`".into());
    problem
}

/// Applies one patch at a path of the configuration.
pub fn apply<'f>(config: &mut Item<'f>, patch: View<'_, 'f>, path: &str, profile: &Active, meter: &Meter) -> Done {
    let op = patch.text_of("op");
    let op = if op.is_empty() { "replace" } else { op.as_ref() };
    let span = patch.get("path").and_then(View::span);
    let pointer = Pointer::parse(path).map_err(|message| {
        let hint = (!path.is_empty()).then(|| Hint::from(format!("write `/{path}`")));
        Problem { hint, ..problem(format!("`{op}`: {message}"), span) }
    })?;
    let way = Way { op, path, pointer: &pointer, span, meter };
    let value = patch.raw("value").map(|value| {
        let from = value.to_item();
        from.stepped(Step::Patch(profile.clone()), None, patch.span())
    });
    match op {
        "add" => way.add(config, value),
        "replace" => way.replace(config, value),
        "remove" => way.remove(config),
        "test" => way.test(config, value),
        "copy" | "move" => {
            let from = patch.text_of("from");
            way.transfer(config, &from, op == "move", profile, patch.span())
        }
        _ => {
            let hint = "use `add`, `remove`, `replace`, `move`, `copy` or `test`";
            let message = what::unknown("patch operation", op).and(format!(" (path `{path}`)"));
            let span = patch.get("op").and_then(View::span);
            Err(Problem { hint: Some(hint.into()), ..problem(message, span) })
        }
    }
}

fn problem(message: impl Into<Message>, span: Option<Span>) -> Problem {
    Problem { rule: &rules::PATCH, message: message.into(), hint: None, span }
}

/// One operation on its way to a place.
struct Way<'p> {
    op: &'p str,
    path: &'p str,
    pointer: &'p Pointer,
    span: Option<Span>,
    meter: &'p Meter,
}

/// Number of representations a copied value has before it is printed: here, upgraded, resolved and with its origins.
const FORMS: usize = 4;

impl Way<'_> {
    fn fail(&self, why: &str) -> Problem {
        problem(format!("`{}` of `{}` fails: {why}", self.op, self.path), self.span)
    }

    /// Charges steps for moved items of a list, and bytes for copies.
    fn charge(&self, steps: usize, copied: usize) -> Done {
        let bytes = copied * FORMS * size_of::<Entry<'_>>();
        self.meter.charge(steps as u64 + 1, bytes as u64).map_err(|exceeded| Problem {
            rule: exceeded.rule(),
            hint: Some(exceeded.hint().into()),
            ..self.fail(&exceeded.message())
        })
    }

    fn value<'f>(&self, value: Option<Item<'f>>) -> Result<Item<'f>, Problem> {
        value.ok_or_else(|| Problem { hint: Some("add `value:`".into()), ..self.fail("it has no `value`") })
    }

    /// The places the operation works on.
    fn parents(&self, config: &Item<'_>) -> Result<Vec<Vec<EcoString>>, Problem> {
        let places = self.pointer.parents(config.view());
        if !places.is_empty() {
            return Ok(places);
        }
        let existing = self.pointer.existing(config.view());
        let there = if existing.is_empty() { "nothing of it".to_owned() } else { format!("only `{existing}`") };
        let mut problem = self.fail(&format!("{there} is there"));
        let near = self.pointer.near(config.view());
        let near = near.map(|near| Hint::meant(self.path, near));
        let hint = || "values that are empty or filled in by default do not count; add the parent first".into();
        problem.hint = Some(near.unwrap_or_else(hint));
        Err(problem)
    }

    fn each<'f>(&self, config: &mut Item<'f>, run: impl Fn(&mut Item<'f>, &str) -> Done) -> Done {
        for place in self.parents(config)? {
            if let Some(parent) = at_mut(config, &place) {
                run(parent, self.pointer.last())?;
            }
        }
        Ok(())
    }

    fn add<'f>(&self, config: &mut Item<'f>, value: Option<Item<'f>>) -> Done {
        let value = self.value(value)?;
        let copied = expanded(value.view());
        self.each(config, |parent, last| match parent.view().form() {
            Form::Map => {
                self.charge(copied, copied)?;
                parent.set(last, value.clone());
                Ok(())
            }
            Form::List => {
                let items = parent.list();
                let place = if last == END { Some(items.len()) } else { index(last) };
                match place {
                    Some(place) if place <= items.len() => {
                        self.charge(items.len() - place + copied, copied)?;
                        items.insert(place, value.clone());
                        Ok(())
                    }
                    _ => Err(self.fail(&format!("the list has {} items", items.len()))),
                }
            }
            _ => Err(self.fail("its parent is neither a map nor a list")),
        })
    }

    fn replace<'f>(&self, config: &mut Item<'f>, value: Option<Item<'f>>) -> Done {
        let value = self.value(value)?;
        let copied = expanded(value.view());
        self.each(config, |parent, last| {
            self.charge(copied, copied)?;
            let over = match child(parent.view(), last) {
                Some(old) if old.form() != Form::Null => old.span(),
                _ => {
                    let mut problem = self.fail(&format!("`{last}` is not set"));
                    let keys = parent.view().entries().map(|pair| pair.key);
                    let near = suggest::did_you_mean(last, keys);
                    problem.hint = Some(near.unwrap_or_else(|| "use `add` for what is not there yet".into()));
                    return Err(problem);
                }
            };
            let mut value = value.clone();
            if let Some(trail) = &value.trail {
                let mut trail = (**trail).clone();
                trail.over = over;
                value.trail = Some(trail.into());
            }
            put(parent, last, value);
            Ok(())
        })
    }

    fn remove(&self, config: &mut Item<'_>) -> Done {
        self.each(config, |parent, last| {
            child(parent.view(), last).ok_or_else(|| self.fail(&format!("`{last}` is not there")))?;
            match parent.view().form() {
                Form::List => {
                    if let Some(place) = index(last) {
                        self.charge(parent.list().len() - place, 0)?;
                        parent.list().remove(place);
                    }
                }
                _ => parent.map().retain(|entry| entry.key != last),
            }
            Ok(())
        })
    }

    fn test<'f>(&self, config: &mut Item<'f>, value: Option<Item<'f>>) -> Done {
        let value = value.unwrap_or_else(|| Data::Null.into());
        self.each(config, |parent, last| match child(parent.view(), last) {
            Some(found) if same(found, value.view()) => Ok(()),
            Some(found) if found.form() == Form::Scalar => {
                Err(self.fail(&format!("the value is `{}`, not `{}`", found.text(), value.view().text())))
            }
            Some(_) => Err(self.fail("the value is another one")),
            None => Err(self.fail(&format!("`{last}` is not there"))),
        })
    }

    fn transfer<'f>(
        &self,
        config: &mut Item<'f>,
        from: &str,
        take: bool,
        profile: &Active,
        at_span: Option<Span>,
    ) -> Done {
        let source = Pointer::parse(from).map_err(|message| self.fail(&format!("`from`: {message}")))?;
        let place = source.parents(config.view()).into_iter().next();
        let found = place.as_ref().and_then(|place| child(at(config.view(), place)?, source.last()));
        let Some(found) = found else { return Err(self.fail(&format!("`{from}` is not there"))) };
        let copied = expanded(found);
        self.charge(copied, copied)?;
        let value = found.to_item().stepped(Step::Patch(profile.clone()), None, at_span);
        if take && let Some(parent) = place.and_then(|place| at_mut(config, &place)) {
            match parent.view().form() {
                Form::List => {
                    if let Some(place) = index(source.last()).filter(|place| *place < parent.list().len()) {
                        self.charge(parent.list().len() - place, 0)?;
                        parent.list().remove(place);
                    }
                }
                _ => parent.map().retain(|entry| entry.key != source.last()),
            }
        }
        self.each(config, |parent, last| {
            if parent.view().form() == Form::List && index(last).is_none() {
                return Err(self.fail("a list needs a number here"));
            }
            if !matches!(parent.view().form(), Form::List | Form::Map) {
                return Err(self.fail("its parent is neither a map nor a list"));
            }
            self.charge(copied, copied)?;
            put(parent, last, value.clone());
            Ok(())
        })
    }
}

/// Number of values when written out. A copy of a value from a file only refers to it, but is printed in full.
pub(crate) fn expanded(view: View<'_, '_>) -> usize {
    match view.form() {
        Form::List => view.all_items().map(expanded).sum::<usize>() + 1,
        Form::Map => view.entries().map(|pair| expanded(pair.value)).sum::<usize>() + 1,
        _ => 1,
    }
}

/// Sets a key, or an item of a list, which is extended if need be by one.
fn put<'f>(parent: &mut Item<'f>, last: &str, value: Item<'f>) {
    if parent.view().form() != Form::List {
        return parent.set(last, value);
    }
    let items = parent.list();
    match index(last).and_then(|place| items.get_mut(place)) {
        Some(slot) => *slot = value,
        None => items.push(value),
    }
}

/// Whether two values are equal in meaning.
pub fn same(a: View<'_, '_>, b: View<'_, '_>) -> bool {
    match (a.form(), b.form()) {
        (Form::Map, Form::Map) => {
            a.entries().count() == b.entries().count()
                && a.entries().all(|pair| b.raw(pair.key).is_some_and(|other| same(pair.value, other)))
        }
        (Form::List, Form::List) => {
            a.all_items().count() == b.all_items().count() && a.all_items().zip(b.all_items()).all(|(x, y)| same(x, y))
        }
        (Form::Scalar, Form::Scalar) => a.text() == b.text(),
        (x, y) => x == y,
    }
}
