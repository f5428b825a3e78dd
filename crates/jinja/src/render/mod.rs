//! Evaluates a parsed template.

mod calls;
mod expressions;

use super::arithmetic;
use super::ast::{Expr, For, Stmt, Target};
use super::object::{Loop, Object};
use super::{Template, literal};
use crate::error::{Error, Kind, Result, limit_of, missing, type_error};
use crate::evaluation::{Evaluation, piece};
use crate::host::Ctx;
use crate::limits::{MAX_ITEMS, MAX_STRING};
use crate::python;
use crate::val::is_list;
use crate::val::{Data, MapKey, Undefined, Val};
use ecow::EcoString;
use purlin_syntax::what;
use purlin_value::rules::LIMIT_LIST;
use std::rc::Rc;

/// Most pieces of a text whose origin is kept.
const MOST_PIECES: usize = 64;

/// Steps of a round of a loop: it has a scope and a state of its own.
const STEPS_PER_ROUND: usize = 16;

/// Steps of a statement.
const STEPS_PER_STATEMENT: usize = 4;

/// Values searched for secrets in one step.
const LOOKED_PER_STEP: usize = 4;

/// Filters whose text is never read as a literal.
const EXACT_TEXT: &[&str] = &["string", "to_json", "to_nice_json", "to_yaml", "to_nice_yaml", "ppretty", "json"];

/// Renders a template to its native value.
pub fn run(ctx: Ctx<'_>, template: &Template) -> Result<Val> {
    let mut render = Renderer::new(ctx, &template.text);
    let mut out = Output::default();
    render.statements(&template.body, &mut out).map_err(|error| error.within(&template.text))?;
    render.native(out).map_err(|error| error.within(&template.text))
}

/// The output of a template so far.
#[derive(Default)]
pub struct Output {
    nodes: Vec<Printed>,
    bytes: usize,
}

struct Printed {
    value: Val,
    exact: bool,
}

impl Printed {
    /// Appends text to preceding text, if neither has an origin or a secret to keep.
    fn continues(&mut self, value: &Val, exact: bool) -> bool {
        let is_plain = |value: &Val| !value.is_tainted() && !value.origin.is_known();
        if exact || self.exact || !is_plain(value) || !is_plain(&self.value) {
            return false;
        }
        let (Data::Str(text), Data::Str(more)) = (&mut self.value.data, &value.data) else { return false };
        text.push_str(more);
        true
    }
}

impl Output {
    fn push(&mut self, value: Val, exact: bool) -> Result<()> {
        if let Data::Str(text) = &value.data {
            self.bytes += text.len();
            if self.bytes > MAX_STRING {
                return arithmetic::too_long();
            }
        }
        if self.nodes.last_mut().is_some_and(|last| last.continues(&value, exact)) {
            return Ok(());
        }
        if self.nodes.len() >= MAX_ITEMS {
            return limit_of(&LIMIT_LIST, format!("a template prints more than {MAX_ITEMS} parts"));
        }
        self.nodes.push(Printed { value, exact });
        Ok(())
    }
}

/// Evaluated arguments of a call.
#[derive(Debug, Default, Clone)]
pub struct Values {
    /// By position.
    pub positional: Vec<Val>,
    /// By name.
    pub named: Vec<(EcoString, Val)>,
}

impl Values {
    /// An argument by its position or its name.
    pub fn get(&self, index: usize, name: &str) -> Option<&Val> {
        let named = self.named.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        self.positional.get(index).or(named)
    }

    /// Whether an argument is a secret, or contains one. The search is charged.
    pub fn tainted(&self, evaluation: &Evaluation<'_>) -> Result<bool> {
        let mut looked = 0;
        let mut all = self.positional.iter().chain(self.named.iter().map(|(_, value)| value));
        let found = all.any(|value| value.tainted_counting(&mut looked));
        evaluation.spend(looked / LOOKED_PER_STEP)?;
        Ok(found)
    }
}

/// A template being rendered.
pub struct Renderer<'c> {
    /// The expression's context.
    pub ctx: Ctx<'c>,
    text: &'c str,
    scopes: Vec<Vec<(EcoString, Val)>>,
    loops: usize,
}

impl<'c> Renderer<'c> {
    fn new(ctx: Ctx<'c>, text: &'c str) -> Self {
        Renderer { ctx, text, scopes: vec![Vec::new()], loops: 0 }
    }

    /// The value of a template's output.
    fn native(&self, mut out: Output) -> Result<Val> {
        if out.nodes.len() > 1 {
            let text = self.concat(out)?;
            let (tainted, origin) = (text.is_tainted(), text.origin);
            return Ok(read_literal(text).taint_if(tainted).from_origin(origin));
        }
        let Some(only) = out.nodes.pop() else {
            return Ok(Val::null());
        };
        if let Data::Undefined(undefined) = &only.value.data {
            self.refuse_undefined(&only.value)?;
            return Ok(if undefined.lenient { Val::null() } else { Val::str(undefined.text.clone()) });
        }
        if matches!(only.value.data, Data::List(_) | Data::Map(_)) {
            self.refuse_undefined(&only.value)?;
        }
        if matches!(only.value.data, Data::Lazy(_)) {
            // Evaluated here, so that the template knows of every secret in it.
            return self.ctx.host.force(only.value);
        }
        if only.exact || !matches!(only.value.data, Data::Str(_)) {
            return Ok(only.value);
        }
        let (tainted, origin) = (only.value.is_tainted(), only.value.origin);
        Ok(read_literal(only.value).taint_if(tainted).from_origin(origin))
    }

    /// All that was printed as one text.
    fn concat(&self, out: Output) -> Result<Val> {
        let mut text = EcoString::with_capacity(out.bytes);
        let mut tainted = false;
        let mut pieces = Vec::new();
        for printed in out.nodes {
            let secret = printed.value.tainted_within();
            tainted |= secret;
            self.refuse_undefined(&printed.value)?;
            let start = text.len();
            let shown = self.ctx.text(&printed.value)?;
            text.push_str(&shown);
            if secret {
                // A command that holds it may print it alone.
                self.ctx.evaluation.note_secret(&Val::str(shown));
            }
            if printed.value.origin.is_known() && pieces.len() < MOST_PIECES {
                pieces.push(piece(start, text.len(), printed.value.origin));
            }
            if text.len() > MAX_STRING {
                return arithmetic::too_long();
            }
        }
        let value = Val::str(text).taint_if(tainted);
        self.ctx.evaluation.made(&value)?;
        if pieces.is_empty() {
            return Ok(value);
        }
        Ok(value.from_origin(self.ctx.evaluation.session.origins.derived("template", None, pieces)))
    }

    fn captured(&mut self, body: &[Stmt]) -> Result<Val> {
        let mut out = Output::default();
        self.statements(body, &mut out)?;
        self.concat(out)
    }

    /// Whether undefined values may be printed, tested and compared.
    fn tolerates_undefined(&self) -> bool {
        !self.ctx.strict() || self.ctx.mode.safe
    }

    /// Undefined values are errors where rules are strict.
    fn refuse_undefined(&self, value: &Val) -> Result<()> {
        let strict = !self.tolerates_undefined();
        match &value.data {
            Data::Undefined(undefined) if strict && !undefined.lenient => Err(undefined_error(undefined)),
            Data::List(items) if strict => items.iter().try_for_each(|item| self.refuse_undefined(item)),
            Data::Map(entries) if strict => entries.values().try_for_each(|item| self.refuse_undefined(item)),
            _ => Ok(()),
        }
    }

    fn statements(&mut self, body: &[Stmt], out: &mut Output) -> Result<()> {
        for stmt in body {
            self.ctx.evaluation.spend(STEPS_PER_STATEMENT)?;
            self.statement(stmt, out)?;
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &Stmt, out: &mut Output) -> Result<()> {
        match stmt {
            Stmt::Text(text) => out.push(Val::str(text.clone()), false),
            Stmt::Print(expr) => {
                let (value, exact) = self.printed(expr)?;
                self.ctx.evaluation.weigh(&value)?;
                out.push(value, exact)
            }
            Stmt::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if self.condition(condition)? {
                        return self.statements(body, out);
                    }
                }
                self.statements(otherwise, out)
            }
            Stmt::For(each) => {
                let items = self.expr(&each.iter)?;
                self.for_loop(each, items, 0, out)
            }
            Stmt::Set(target, expr) => {
                let value = self.expr(expr)?;
                self.assign(target, value)
            }
            Stmt::SetBlock(name, calls, body) => {
                let text = self.captured(body)?;
                let value = self.filter_chain(text, calls)?;
                self.bind(name, value);
                Ok(())
            }
            Stmt::With(assignments, body) => {
                let mut bound = Vec::new();
                for (target, expr) in assignments {
                    bound.push((target, self.expr(expr)?));
                }
                self.scoped(|render| {
                    for (target, value) in bound {
                        render.assign(target, value)?;
                    }
                    render.statements(body, out)
                })
            }
            Stmt::Filter(calls, body) => {
                let text = self.captured(body)?;
                let value = self.filter_chain(text, calls)?;
                let exact = calls.last().is_some_and(|call| EXACT_TEXT.contains(&call.name.as_str()));
                out.push(value, exact)
            }
            Stmt::Macro(macro_) => {
                let around = self.visible();
                let object = Object::Macro(Rc::clone(macro_), around);
                self.bind(&macro_.name, Data::Object(Rc::new(object)).into());
                Ok(())
            }
            Stmt::CallBlock(caller, call) => {
                let around = self.visible();
                let object = Object::Macro(Rc::clone(caller), around);
                let value = self.scoped(|render| {
                    render.bind("caller", Data::Object(Rc::new(object)).into());
                    render.expr(call)
                })?;
                out.push(value, false)
            }
            Stmt::Include(name, optional, at) => {
                let result = self.include(name, *optional, out);
                result.map_err(|error| error.at(at.0, at.1))
            }
            Stmt::Do(expr) => self.expr(expr).map(|_| ()),
        }
    }

    /// The value of a printed expression, and whether its text is kept as it is.
    fn printed(&mut self, expr: &Expr) -> Result<(Val, bool)> {
        match expr {
            Expr::Filter(_, call) => {
                let value = self.expr(expr)?;
                Ok((value, EXACT_TEXT.contains(&call.name.as_str())))
            }
            Expr::If(condition, yes, no) => {
                if self.condition(condition)? {
                    self.printed(yes)
                } else {
                    match no {
                        Some(no) => self.printed(no),
                        None => Ok((absent(), false)),
                    }
                }
            }
            _ => self.expr(expr).map(|value| (value, false)),
        }
    }

    /// Whether a condition holds; a secret condition makes dependent values secret.
    fn condition(&mut self, expr: &Expr) -> Result<bool> {
        let value = self.expr(expr)?;
        self.truth(&value)
    }

    /// Whether a value counts as true; undefined ones are errors in strict mode.
    pub fn truth(&self, value: &Val) -> Result<bool> {
        self.ctx.evaluation.note_read(value);
        if matches!(value.data, Data::Undefined(_)) {
            self.refuse_undefined(value)?;
        }
        Ok(match &value.data {
            Data::Attributes(id) => self.ctx.host.instances().has_attributes(*id),
            _ => python::truthy(value),
        })
    }

    fn scoped<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.scopes.push(Vec::new());
        let result = self.ctx.evaluation.deeper(|| run(self));
        self.scopes.pop();
        result
    }

    /// The template's own variables, innermost last.
    fn visible(&self) -> Vec<(EcoString, Val)> {
        self.scopes.iter().flatten().cloned().collect()
    }

    fn bind(&mut self, name: &str, value: Val) {
        if let Some(scope) = self.scopes.last_mut() {
            match scope.iter_mut().find(|(bound, _)| bound == name) {
                Some((_, slot)) => *slot = value,
                None => scope.push((name.into(), value)),
            }
        }
    }

    /// Rebinds a variable of this template, in the scope that defines it.
    fn rebind(&mut self, name: &str, value: Val) {
        match self.slot(name) {
            Some(slot) => *slot = value,
            None => self.bind(name, value),
        }
    }

    /// Where a variable of this template is held.
    fn slot(&mut self, name: &str) -> Option<&mut Val> {
        let mut all = self.scopes.iter_mut().rev().flatten();
        all.find(|(bound, _)| bound == name).map(|(_, slot)| slot)
    }

    fn assign(&mut self, target: &Target, value: Val) -> Result<()> {
        match target {
            Target::Name(name) => self.bind(name, value),
            Target::Attribute(name, attribute) => match self.name(name)?.data {
                Data::Object(object) => match &*object {
                    Object::Namespace(entries) => {
                        entries.borrow_mut().insert(MapKey::Str(attribute.clone()), value);
                    }
                    _ => return type_error(format!("`{name}` is not a namespace")),
                },
                _ => return type_error(format!("`{name}` is not a namespace")),
            },
            Target::Tuple(targets) => {
                let items = self.iterate(&value)?;
                if items.len() != targets.len() {
                    let (have, want) = (items.len(), targets.len());
                    return type_error(format!("{have} values cannot be assigned to {want} names"));
                }
                for (target, item) in targets.iter().zip(items) {
                    self.assign(target, item)?;
                }
            }
        }
        Ok(())
    }

    fn for_loop(&mut self, each: &For, iterated: Val, depth: usize, out: &mut Output) -> Result<()> {
        self.ctx.evaluation.note_read(&iterated);
        let tainted = iterated.is_tainted();
        let mut items: Vec<Val> = Vec::new();
        let all = self.iterate(&iterated).map_err(|error| error.at(each.at.0, each.at.1))?;
        for item in all {
            let item = item.taint_if(tainted);
            let keep = match &each.condition {
                None => true,
                Some(condition) => self.scoped(|render| {
                    render.assign(&each.target, item.clone())?;
                    render.condition(condition)
                })?,
            };
            if keep {
                items.push(item);
            }
        }
        if items.is_empty() {
            return self.statements(&each.otherwise, out);
        }
        let items = Rc::new(items);
        self.loops += 1;
        for index in 0..items.len() {
            self.ctx.evaluation.spend(STEPS_PER_ROUND)?;
            let Some(item) = items.get(index).cloned() else { break };
            let state = Loop { items: Rc::clone(&items), index, depth };
            self.scoped(|render| {
                render.bind("loop", Data::Object(Rc::new(Object::Loop(state))).into());
                render.assign(&each.target, item)?;
                if each.recursive {
                    return render.recursive_body(each, depth, out);
                }
                render.statements(&each.body, out)
            })?;
        }
        self.loops -= 1;
        Ok(())
    }

    /// The body of a recursive loop, where `{{ loop(items) }}` runs the loop again.
    fn recursive_body(&mut self, each: &For, depth: usize, out: &mut Output) -> Result<()> {
        for stmt in &each.body {
            let inner = match stmt {
                Stmt::Print(Expr::Call(callee, args, _)) => match &**callee {
                    Expr::Name(name, _) if name == "loop" => args.positional.first(),
                    _ => None,
                },
                _ => None,
            };
            match inner {
                Some(items) => {
                    let items = self.expr(items)?;
                    self.ctx.evaluation.deeper(|| self.for_loop(each, items, depth + 1, out))?;
                }
                None => self.statement(stmt, out)?,
            }
        }
        Ok(())
    }

    fn include(&mut self, name: &Expr, optional: bool, out: &mut Output) -> Result<()> {
        if self.ctx.mode.safe {
            return missing("no loader for this environment specified");
        }
        let name = self.expr(name)?;
        let names = if is_list(&name) { self.ctx.list_items(&name)? } else { vec![name] };
        for name in &names {
            let path = self.ctx.text(name)?;
            let Some(bytes) = self.ctx.host.read(&path)? else {
                continue;
            };
            let Ok(text) = std::str::from_utf8(&bytes) else {
                return type_error(format!("`{path}` is not text"));
            };
            // One line break at the end of a file does not count.
            let text = text.strip_suffix('\n').unwrap_or(text);
            let tokens = super::lexer::tokens(text, &super::Delimiters::default())?;
            let body = super::parser::parse(tokens, text)?;
            return self.scoped(|render| render.statements(&body, out));
        }
        if optional {
            return Ok(());
        }
        let names: Vec<EcoString> = names.iter().filter_map(|name| name.as_str().map(EcoString::from)).collect();
        Err(Error::new(Kind::Io, format!("unknown template `{}`", names.join("`, `"))))
    }

    /// The items a value has in a loop.
    pub fn iterate(&self, value: &Val) -> Result<Vec<Val>> {
        Ok(match &value.data {
            Data::List(items) => items.to_vec(),
            Data::Lazy(lazy) if lazy.is_list() => self.ctx.list_items(value)?,
            Data::Map(entries) => entries.iter().map(|(key, value)| self.ctx.evaluation.key(key, value)).collect(),
            Data::Lazy(lazy) => (0..lazy.len()).filter_map(|at| lazy.key_at(at)).map(MapKey::to_val).collect(),
            Data::Attributes(id) => self.ctx.host.instances().attributes(*id).into_iter().map(Val::str).collect(),
            Data::AllNodes(root) | Data::AllAttributes(root) => {
                self.ctx.host.instances().named_in(*root).into_iter().map(Val::str).collect()
            }
            Data::Str(text) => {
                self.ctx.evaluation.afford_list(text.chars().count())?;
                text.chars().map(|c| Val::str(c.to_string())).collect()
            }
            Data::Bytes(bytes) => {
                self.ctx.evaluation.afford_list(bytes.len())?;
                bytes.iter().map(|b| Val::int(i64::from(*b))).collect()
            }
            Data::External(external) => return self.iterate(&external.value),
            Data::Undefined(_) => {
                self.refuse_undefined(value)?;
                Vec::new()
            }
            _ => return type_error(format!("'{}' object is not iterable", python::type_name(value))),
        })
    }
}

/// A string that reads as a Python literal becomes that value; a quoted string keeps its quotes.
fn read_literal(value: Val) -> Val {
    let Data::Str(text) = &value.data else {
        return value;
    };
    match literal::parse(text) {
        None => value,
        Some(Val { data: Data::Str(inner), .. }) => {
            let quote = text.chars().next().unwrap_or('\'');
            Val::str(format!("{quote}{inner}{quote}"))
        }
        Some(read) => read,
    }
}

/// An undefined value.
pub fn undefined(name: &str, attribute: bool, text: &str) -> Val {
    Data::Undefined(Rc::new(Undefined { name: name.into(), attribute, text: text.into(), lenient: false })).into()
}

/// The value of `a if b` without an `else`: prints as the empty string.
pub fn absent() -> Val {
    let undefined = Undefined { name: EcoString::new(), attribute: false, text: EcoString::new(), lenient: true };
    Data::Undefined(Rc::new(undefined)).into()
}

/// The error of using an undefined value.
pub fn undefined_error(undefined: &Undefined) -> Box<Error> {
    let name = &undefined.name;
    if undefined.attribute {
        let error = Error::new(Kind::Undefined, format!("missing attribute or key: \"{name}\""));
        return error.plain(what::unknown("attribute or key", name));
    }
    let plain = what::unknown("variable", name).words(format!("undefined variable `{name}`"));
    Error::new(Kind::Undefined, format!("missing variable: \"{name}\"")).plain(plain)
}
