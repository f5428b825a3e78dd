//! Evaluates a parsed template.

use super::arithmetic;
use super::ast::{Args, Comparison, Expr, FilterCall, For, Macro, Stmt, Target};
use super::object::{Loop, Object};
use super::{Template, filters, literal, lookup, methods, tests};
use crate::error::{Error, Kind, Result, limit, missing, type_error};
use crate::eval::Ctx;
use crate::eval::engine::piece;
use crate::eval::path::{is_list, list_items, place};
use crate::functions::{self, Call};
use crate::limits::{MAX_ITEMS, MAX_STRING};
use crate::python;
use crate::val::{Data, MapKey, Undefined, Val, ValMap};
use ecow::EcoString;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::rc::Rc;

/// Most pieces of a text whose origin is kept.
const MOST_PIECES: usize = 64;

/// Filters whose text is never read as a literal.
const EXACT_TEXT: &[&str] = &["string", "to_json", "to_nice_json", "to_yaml", "to_nice_yaml", "ppretty", "json"];

/// Renders a template to its native value.
pub fn run(ctx: &Ctx<'_, '_>, template: &Template) -> Result<Val> {
    let mut render = Renderer::new(ctx, &template.text);
    let mut out = Output::default();
    render.statements(&template.body, &mut out).map_err(|error| error.within(&template.text))?;
    render.native(out).map_err(|error| error.within(&template.text))
}

/// What a template printed so far.
#[derive(Default)]
pub struct Output {
    nodes: Vec<Printed>,
    bytes: usize,
}

struct Printed {
    value: Val,
    exact: bool,
}

impl Output {
    fn push(&mut self, value: Val, exact: bool) -> Result<()> {
        if let Data::Str(text) = &value.data {
            self.bytes += text.len();
            if self.bytes > MAX_STRING {
                return arithmetic::too_long();
            }
        }
        if self.nodes.len() >= MAX_ITEMS {
            return limit(format!("a template prints more than {MAX_ITEMS} parts"));
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

    /// Whether an argument is a secret.
    pub fn tainted(&self) -> bool {
        self.positional.iter().chain(self.named.iter().map(|(_, value)| value)).any(Val::tainted_within)
    }
}

/// A template being rendered.
pub struct Renderer<'c, 'e, 'w> {
    /// The expression's context.
    pub ctx: &'c Ctx<'e, 'w>,
    text: &'c str,
    scopes: Vec<Vec<(EcoString, Val)>>,
    loops: usize,
}

impl<'c, 'e, 'w> Renderer<'c, 'e, 'w> {
    fn new(ctx: &'c Ctx<'e, 'w>, text: &'c str) -> Self {
        Renderer { ctx, text, scopes: vec![Vec::new()], loops: 0 }
    }

    /// The value a template's output stands for.
    fn native(&self, mut out: Output) -> Result<Val> {
        if out.nodes.len() > 1 {
            let text = self.concat(out)?;
            let (tainted, origin) = (text.tainted, text.origin);
            return Ok(read_literal(text).taint_if(tainted).from_origin(origin));
        }
        let Some(only) = out.nodes.pop() else {
            return Ok(Val::null());
        };
        if let Data::Undefined(undefined) = &only.value.data {
            self.refuse_undefined(&only.value)?;
            return Ok(Val::str(undefined.text.clone()));
        }
        if matches!(only.value.data, Data::List(_) | Data::Map(_)) {
            self.refuse_undefined(&only.value)?;
        }
        if matches!(only.value.data, Data::Lazy(_)) {
            // Evaluated here, so that the template knows of every secret in it.
            return self.ctx.engine.force(only.value);
        }
        if only.exact || !matches!(only.value.data, Data::Str(_)) {
            return Ok(only.value);
        }
        let (tainted, origin) = (only.value.tainted, only.value.origin);
        Ok(read_literal(only.value).taint_if(tainted).from_origin(origin))
    }

    /// All that was printed as one text.
    fn concat(&self, out: Output) -> Result<Val> {
        let mut text = EcoString::with_capacity(out.bytes);
        let mut tainted = false;
        let mut pieces = Vec::new();
        for printed in out.nodes {
            tainted |= printed.value.tainted_within();
            self.refuse_undefined(&printed.value)?;
            let start = text.len();
            text.push_str(&self.ctx.text(&printed.value)?);
            if printed.value.origin.is_known() && pieces.len() < MOST_PIECES {
                pieces.push(piece(start, text.len(), printed.value.origin));
            }
            if text.len() > MAX_STRING {
                return arithmetic::too_long();
            }
        }
        let value = Val::str(text).taint_if(tainted);
        if pieces.is_empty() {
            return Ok(value);
        }
        Ok(value.from_origin(self.ctx.engine.session.origins.derived("template", None, pieces)))
    }

    fn captured(&mut self, body: &[Stmt]) -> Result<Val> {
        let mut out = Output::default();
        self.statements(body, &mut out)?;
        self.concat(out)
    }

    /// Undefined values are errors where rules are strict.
    fn refuse_undefined(&self, value: &Val) -> Result<()> {
        let strict = self.ctx.strict() && !self.ctx.frame.mode.safe;
        match &value.data {
            Data::Undefined(undefined) if strict => Err(undefined_error(undefined)),
            Data::List(items) if strict => items.iter().try_for_each(|item| self.refuse_undefined(item)),
            Data::Map(entries) if strict => entries.values().try_for_each(|item| self.refuse_undefined(item)),
            _ => Ok(()),
        }
    }

    fn statements(&mut self, body: &[Stmt], out: &mut Output) -> Result<()> {
        for stmt in body {
            self.ctx.engine.spend(1)?;
            self.statement(stmt, out)?;
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &Stmt, out: &mut Output) -> Result<()> {
        match stmt {
            Stmt::Text(text) => out.push(Val::str(text.clone()), false),
            Stmt::Print(expr) => {
                let (value, exact) = self.printed(expr)?;
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
                        None => Ok((undefined("", false, ""), false)),
                    }
                }
            }
            _ => self.expr(expr).map(|value| (value, false)),
        }
    }

    /// Whether a condition holds; a secret condition makes what depends on it secret.
    fn condition(&mut self, expr: &Expr) -> Result<bool> {
        let value = self.expr(expr)?;
        self.truth(&value)
    }

    fn truth(&self, value: &Val) -> Result<bool> {
        self.ctx.engine.note_read(value);
        if matches!(value.data, Data::Undefined(_)) {
            self.refuse_undefined(value)?;
        }
        Ok(match &value.data {
            Data::Attributes(id) => !self.ctx.engine.tree.node(*id).attributes.is_empty(),
            _ => python::truthy(value),
        })
    }

    fn scoped<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.scopes.push(Vec::new());
        let result = self.ctx.engine.deeper(|| run(self));
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

    fn assign(&mut self, target: &Target, value: Val) -> Result<()> {
        match target {
            Target::Name(name) => self.bind(name, value),
            Target::Attribute(name, attribute) => match self.name(name)?.data {
                Data::Object(object) => match &*object {
                    Object::Namespace(entries) => {
                        entries.borrow_mut().insert(MapKey::Str(attribute.clone()), value);
                    }
                    _ => return type_error(format!("`{name}` is no namespace")),
                },
                _ => return type_error(format!("`{name}` is no namespace")),
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
        self.ctx.engine.note_read(&iterated);
        let tainted = iterated.tainted;
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
            self.ctx.engine.spend(1)?;
            let Some(item) = items.get(index).cloned() else { break };
            let state = Loop { items: Rc::clone(&items), index, depth, seen: RefCell::new(None) };
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
                    self.ctx.engine.deeper(|| self.for_loop(each, items, depth + 1, out))?;
                }
                None => self.statement(stmt, out)?,
            }
        }
        Ok(())
    }

    fn include(&mut self, name: &Expr, optional: bool, out: &mut Output) -> Result<()> {
        if self.ctx.frame.mode.safe {
            return missing("no loader for this environment specified");
        }
        let name = self.expr(name)?;
        let names = if is_list(&name) { list_items(self.ctx, &name)? } else { vec![name] };
        for name in &names {
            let path = self.ctx.text(name)?;
            let Some(bytes) = functions::files::read_optional(self.ctx, &path)? else {
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
        Err(Error::new(Kind::Io, format!("there is no template `{}`", names.join("`, `"))))
    }

    /// The items a value has in a loop.
    pub fn iterate(&self, value: &Val) -> Result<Vec<Val>> {
        Ok(match &value.data {
            Data::List(items) => items.to_vec(),
            Data::Lazy(lazy) if lazy.is_list() => list_items(self.ctx, value)?,
            Data::Map(entries) => entries.keys().map(MapKey::to_val).collect(),
            Data::Lazy(lazy) => (0..lazy.len()).filter_map(|at| lazy.key_at(at)).map(MapKey::to_val).collect(),
            Data::Attributes(id) => {
                self.ctx.engine.tree.node(*id).attributes.keys().map(|name| Val::str(name.clone())).collect()
            }
            Data::AllNodes | Data::AllAttributes => {
                self.ctx.engine.tree.named().map(|(name, _)| Val::str(name.clone())).collect()
            }
            Data::Str(text) => text.chars().map(|c| Val::str(c.to_string())).collect(),
            Data::Bytes(bytes) => bytes.iter().map(|b| Val::int(i64::from(*b))).collect(),
            Data::External(external) => return self.iterate(&external.value),
            Data::Undefined(_) => {
                self.refuse_undefined(value)?;
                Vec::new()
            }
            _ => return type_error(format!("'{}' object is not iterable", python::type_name(value))),
        })
    }

    /// Evaluates an expression.
    pub fn expr(&mut self, expr: &Expr) -> Result<Val> {
        self.ctx.engine.spend(1)?;
        match expr {
            Expr::Const(value) => Ok(value.clone()),
            Expr::Name(name, at) => self.name(name).map_err(|error| error.at(at.0, at.1)),
            Expr::List(items) => {
                let items: Result<Vec<Val>> = items.iter().map(|item| self.inner(item)).collect();
                Ok(Val::list(items?))
            }
            Expr::Dict(entries) => {
                let mut map = ValMap::default();
                let mut secret_key = false;
                for (key, value) in entries {
                    let key = self.inner(key)?;
                    secret_key |= key.tainted;
                    let Some(name) = key.to_key() else {
                        return type_error(format!("unhashable type: '{}'", python::type_name(&key)));
                    };
                    map.insert(name, self.inner(value)?);
                }
                Ok(Val::map(map).taint_if(secret_key))
            }
            Expr::Attribute(base, name, at) => {
                let base = self.inner(base)?;
                let found = self.attribute(&base, name).map_err(|error| error.at(at.0, at.1))?;
                Ok(found.unwrap_or_else(|| self.not_there(&base, name, expr)).taint_if(base.tainted))
            }
            Expr::Item(base, key, at) => {
                let base = self.inner(base)?;
                let key = self.inner(key)?.plain();
                let found = self.item(&base, &key).map_err(|error| error.at(at.0, at.1))?;
                let tainted = base.tainted || key.tainted;
                match found {
                    Some(found) => Ok(found.taint_if(tainted)),
                    None => {
                        let name = self.ctx.text(&key)?;
                        Ok(self.not_there(&base, &name, expr))
                    }
                }
            }
            Expr::Slice(base, parts) => self.slice(base, parts),
            Expr::Call(callee, args, at) => {
                let result = self.ctx.engine.deeper(|| self.call(callee, args));
                result.map_err(|error| error.at(at.0, at.1))
            }
            Expr::Filter(base, call) => {
                let base = self.inner(base)?;
                self.filter(base, call)
            }
            Expr::Test(base, call) => {
                let base = self.inner(base)?;
                let args = self.values(&call.args)?;
                let tainted = base.tainted || args.tainted();
                let held = tests::run(self, &call.name, &base, &args);
                Ok(Val::bool(held.map_err(|error| error.at(call.at.0, call.at.1))?).taint_if(tainted))
            }
            _ => self.operation(expr),
        }
    }

    fn inner(&mut self, expr: &Expr) -> Result<Val> {
        match expr {
            Expr::Const(value) => Ok(value.clone()),
            _ => self.ctx.engine.deeper(|| self.expr(expr)),
        }
    }

    fn operation(&mut self, expr: &Expr) -> Result<Val> {
        match expr {
            Expr::Not(inner) => {
                let value = self.inner(inner)?;
                Ok(Val::bool(!self.truth(&value)?).taint_if(value.tainted))
            }
            Expr::Negative(inner, at) => {
                let value = self.inner(inner)?;
                let zero = Val::int(0);
                let result = arithmetic::apply(super::ast::Operator::Sub, &zero, &value);
                result.map_err(|error| error.at(at.0, at.1))
            }
            Expr::Positive(inner) => self.inner(inner),
            Expr::Binary(operator, left, right, at) => {
                let left = self.operand(left)?;
                let right = self.operand(right)?;
                arithmetic::apply(*operator, &left, &right).map_err(|error| error.at(at.0, at.1))
            }
            Expr::Compare(first, rest, at) => {
                let mut left = self.operand(first)?;
                let mut tainted = left.tainted_within();
                for (comparison, right) in rest {
                    let right = self.operand(right)?;
                    tainted |= right.tainted_within();
                    if !self.compare(*comparison, &left, &right).map_err(|error| error.at(at.0, at.1))? {
                        return Ok(Val::bool(false).taint_if(tainted));
                    }
                    left = right;
                }
                Ok(Val::bool(true).taint_if(tainted))
            }
            Expr::And(left, right) => {
                let value = self.inner(left)?;
                if !self.truth(&value)? {
                    return Ok(value);
                }
                self.inner(right).map(|result| result.taint_if(value.tainted))
            }
            Expr::Or(left, right) => {
                let value = self.inner(left)?;
                if self.truth(&value)? {
                    return Ok(value);
                }
                self.inner(right).map(|result| result.taint_if(value.tainted))
            }
            Expr::If(condition, yes, no) => {
                if self.condition(condition)? {
                    return self.inner(yes);
                }
                match no {
                    Some(no) => self.inner(no),
                    None => Ok(undefined("", false, "")),
                }
            }
            Expr::Concat(items) => {
                let mut out = Output::default();
                for item in items {
                    let value = self.inner(item)?;
                    out.push(value, false)?;
                }
                self.concat(out)
            }
            _ => Ok(Val::null()),
        }
    }

    /// An operand, evaluated completely.
    fn operand(&mut self, expr: &Expr) -> Result<Val> {
        let value = self.inner(expr)?;
        self.whole(value)
    }

    /// A value evaluated completely; undefined is refused.
    pub fn whole(&self, value: Val) -> Result<Val> {
        if let Data::Undefined(undefined) = &value.data {
            return Err(undefined_error(undefined));
        }
        Ok(self.ctx.engine.force(value)?.plain())
    }

    /// Applies a comparison to evaluated values.
    pub fn compare(&self, comparison: Comparison, left: &Val, right: &Val) -> Result<bool> {
        let ordered = |wanted: fn(Ordering) -> bool, symbol: &str| match python::compare(left, right) {
            Some(order) => Ok(wanted(order)),
            None => type_error(format!(
                "'{symbol}' not supported between instances of '{}' and '{}'",
                python::type_name(left),
                python::type_name(right)
            )),
        };
        match comparison {
            Comparison::Eq => Ok(python::equal(left, right)),
            Comparison::Ne => Ok(!python::equal(left, right)),
            Comparison::Lt => ordered(Ordering::is_lt, "<"),
            Comparison::Le => ordered(Ordering::is_le, "<="),
            Comparison::Gt => ordered(Ordering::is_gt, ">"),
            Comparison::Ge => ordered(Ordering::is_ge, ">="),
            Comparison::In => self.contains(right, left),
            Comparison::NotIn => Ok(!self.contains(right, left)?),
        }
    }

    /// Whether a value is among another's items or keys.
    pub fn contains(&self, haystack: &Val, needle: &Val) -> Result<bool> {
        Ok(match &haystack.data {
            Data::Str(text) => match needle.as_str() {
                Some(part) => text.contains(part),
                None => {
                    let found = python::type_name(needle);
                    return type_error(format!("'in <string>' requires string as left operand, not {found}"));
                }
            },
            Data::Map(entries) => needle.to_key().is_some_and(|key| entries.contains_key(&key)),
            Data::Attributes(id) => {
                needle.as_str().is_some_and(|name| self.ctx.engine.tree.node(*id).attributes.contains_key(name))
            }
            _ => self.iterate(haystack)?.iter().any(|item| python::equal(item, needle)),
        })
    }

    fn name(&self, name: &str) -> Result<Val> {
        for scope in self.scopes.iter().rev() {
            if let Some((_, value)) = scope.iter().rev().find(|(bound, _)| bound == name) {
                return Ok(value.clone());
            }
        }
        if let Some(value) = self.ctx.variable(name)? {
            return Ok(value);
        }
        Ok(match self.injected(name) {
            Some(value) => value,
            None => undefined(name, false, &format!("{{{{ {name} }}}}")),
        })
    }

    /// Names every template sees.
    fn injected(&self, name: &str) -> Option<Val> {
        let frame = &self.ctx.frame;
        let object = |object: Object| Some(Data::Object(Rc::new(object)).into());
        match name {
            "SELF" => match &frame.current.data {
                Data::Node(id) => Some(Data::Attributes(*id).into()),
                _ => match &frame.start.data {
                    Data::Node(id) => Some(Data::Attributes(*id).into()),
                    _ => None,
                },
            },
            "NODES" if frame.mode.attribute => Some(Data::AllAttributes.into()),
            "ROOT" | "TOPOLOGY" if frame.mode.attribute => crate::ensemble::root_value(self.ctx).ok(),
            "__unfurl" => object(Object::Unfurl),
            "__now" => {
                let seconds = self.ctx.engine.session.world.now().0 as f64 / 1e9;
                Some(Val::float(seconds))
            }
            "__python_executable" => Some(Val::str("python3")),
            _ => {
                let global = GLOBALS.iter().find(|global| global.name == name)?;
                if frame.mode.safe && !global.safe {
                    return None;
                }
                object(Object::Global(global.name))
            }
        }
    }

    /// An attribute of a value: a method, or an entry.
    pub fn attribute(&self, base: &Val, name: &str) -> Result<Option<Val>> {
        if let Data::Undefined(_) = &base.data {
            return Ok(Some(base.clone()));
        }
        if let Data::Object(object) = &base.data {
            return Ok(self.object_attribute(object, name));
        }
        if methods::exists(base, name) {
            let method = Object::Method(base.clone(), name.into());
            return Ok(Some(Data::Object(Rc::new(method)).into()));
        }
        if let Some(field) = enum_field(base, name) {
            return Ok(Some(field));
        }
        self.entry(base, name)
    }

    fn entry(&self, base: &Val, name: &str) -> Result<Option<Val>> {
        match &base.data {
            Data::Node(id) if name.starts_with('.') || is_instance_field(name) => {
                let text = if name.starts_with('.') { name.to_owned() } else { format!(".{name}") };
                match crate::special::Special::parse(&text) {
                    Some(special) => crate::eval::special::get(self.ctx, *id, special).map(Some),
                    None => Ok(None),
                }
            }
            _ => {
                let found = crate::eval::path::by_name(self.ctx, base, name)?;
                // Nobody of that name is not there, rather than null.
                Ok(found.filter(|value| !(matches!(base.data, Data::AllNodes) && value.is_null())))
            }
        }
    }

    fn object_attribute(&self, object: &Rc<Object>, name: &str) -> Option<Val> {
        match &**object {
            Object::Unfurl => {
                let function = functions::find(name).filter(|f| f.safe || !self.ctx.frame.mode.safe)?;
                Some(Data::Object(Rc::new(Object::Function(function))).into())
            }
            Object::Namespace(entries) => entries.borrow().get(&MapKey::Str(name.into())).cloned(),
            Object::Loop(state) => loop_field(state, name, object),
            Object::Cycler(items, at) if name == "current" => items.get(at.get()).cloned(),
            Object::Moment(nanos) => super::time::field(*nanos, name),
            Object::Macro(macro_, _) if name == "name" => Some(Val::str(macro_.name.clone())),
            _ if methods::exists_on_object(object, name) => {
                let method = Object::Method(Data::Object(Rc::clone(object)).into(), name.into());
                Some(Data::Object(Rc::new(method)).into())
            }
            _ => None,
        }
    }

    /// The item of a value under a key or index.
    pub fn item(&self, base: &Val, key: &Val) -> Result<Option<Val>> {
        match (&base.data, &key.data) {
            (Data::Undefined(_), _) => Ok(Some(base.clone())),
            (Data::List(items), Data::Int(n)) => Ok(place(*n, items.len()).and_then(|at| items.get(at)).cloned()),
            (Data::Lazy(lazy), Data::Int(n)) if lazy.is_list() => match place(*n, lazy.len()) {
                Some(at) => self.ctx.engine.item(lazy, at),
                None => Ok(None),
            },
            (Data::Str(text), Data::Int(n)) => {
                let found = place(*n, text.chars().count()).and_then(|at| text.chars().nth(at));
                Ok(found.map(|c| Val::str(c.to_string())))
            }
            (Data::Map(entries), _) => match key.to_key() {
                Some(name) => match entries.get(&name) {
                    Some(value) => Ok(Some(value.clone())),
                    None => self.method_by_key(base, key),
                },
                None => type_error(format!("unhashable type: '{}'", python::type_name(key))),
            },
            (Data::Object(object), Data::Str(name)) => Ok(self.object_attribute(object, name)),
            (_, Data::Str(name)) => match self.entry(base, name)? {
                Some(value) => Ok(Some(value)),
                None => self.method_by_key(base, key),
            },
            (Data::External(external), _) => self.item(&external.value, key),
            (Data::Lazy(lazy), _) => match key.to_key().and_then(|key| lazy.index_of(&key)) {
                Some(at) => self.ctx.engine.item(lazy, at),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn method_by_key(&self, base: &Val, key: &Val) -> Result<Option<Val>> {
        let Some(name) = key.as_str().filter(|name| methods::exists(base, name)) else {
            return Ok(None);
        };
        Ok(Some(Data::Object(Rc::new(Object::Method(base.clone(), name.into()))).into()))
    }

    fn not_there(&self, base: &Val, name: &str, expr: &Expr) -> Val {
        if matches!(base.data, Data::Undefined(_)) {
            return base.clone();
        }
        undefined(name, true, &format!("{{{{ {} }}}}", source_of(expr, self.text)))
    }

    fn slice(&mut self, base: &Expr, parts: &[Option<Box<Expr>>; 3]) -> Result<Val> {
        let base = self.operand(base)?;
        let mut bounds = [None; 3];
        for (bound, part) in bounds.iter_mut().zip(parts) {
            if let Some(part) = part {
                *bound = match self.operand(part)?.data {
                    Data::Int(n) => Some(n),
                    Data::Null => None,
                    _ => return type_error("slice indices must be integers or None"),
                };
            }
        }
        let text: Option<Vec<char>> = base.as_str().map(|text| text.chars().collect());
        let length = text.as_ref().map_or_else(|| base.as_list().map_or(0, <[Val]>::len), Vec::len);
        let picks = slice_places(bounds, length)?;
        let result = match &text {
            Some(chars) => Val::str(picks.iter().filter_map(|at| chars.get(*at)).collect::<String>()),
            None => match base.as_list() {
                Some(items) => Val::list(picks.iter().filter_map(|at| items.get(*at)).cloned().collect()),
                None => return type_error(format!("{} cannot be sliced", base.kind())),
            },
        };
        Ok(result.taint_if(base.tainted))
    }

    fn filter_chain(&mut self, mut value: Val, calls: &[FilterCall]) -> Result<Val> {
        for call in calls {
            value = self.filter(value, call)?;
        }
        Ok(value)
    }

    fn filter(&mut self, base: Val, call: &FilterCall) -> Result<Val> {
        let args = self.values(&call.args)?;
        self.apply_filter(&call.name, base, &args).map_err(|error| error.at(call.at.0, call.at.1))
    }

    /// Applies a filter by name.
    pub fn apply_filter(&mut self, name: &str, base: Val, args: &Values) -> Result<Val> {
        self.ctx.engine.deeper(|| filters::run(self, name, base, args))
    }

    fn values(&mut self, args: &Args) -> Result<Values> {
        let mut values = Values::default();
        for arg in &args.positional {
            values.positional.push(self.inner(arg)?);
        }
        for (name, arg) in &args.named {
            values.named.push((name.clone(), self.inner(arg)?));
        }
        if let Some(spread) = &args.spread {
            let spread = self.inner(spread)?;
            values.positional.extend(self.iterate(&spread)?);
        }
        if let Some(spread) = &args.spread_named {
            let spread = self.operand(spread)?;
            for (key, value) in spread.as_map().into_iter().flatten() {
                values.named.extend(key.as_str().map(|key| (EcoString::from(key), value.clone())));
            }
        }
        Ok(values)
    }

    fn call(&mut self, callee: &Expr, args: &Args) -> Result<Val> {
        let callee_value = self.expr(callee)?;
        let args = self.values(args)?;
        self.call_value(&callee_value, args)
    }

    /// Calls a value with evaluated arguments.
    pub fn call_value(&mut self, callee: &Val, args: Values) -> Result<Val> {
        let object = match &callee.data {
            Data::Object(object) => Rc::clone(object),
            Data::Undefined(undefined) => return Err(undefined_error(undefined)),
            _ => return type_error(format!("'{}' object is not callable", python::type_name(callee))),
        };
        match &*object {
            Object::Function(function) => self.call_function(function, args),
            Object::Global(name) => self.call_global(name, args),
            Object::Method(base, name) => {
                let tainted = base.tainted || args.tainted();
                methods::call(self, base, name, args).map(|value| value.taint_if(tainted))
            }
            Object::Macro(macro_, around) => self.call_macro(macro_, around, args),
            Object::Joiner(separator, started) => {
                Ok(Val::str(if started.replace(true) { separator.clone() } else { EcoString::new() }))
            }
            _ => type_error("this object cannot be called"),
        }
    }

    /// `__unfurl.name(…)`: a single list is the argument, otherwise the arguments are.
    fn call_function(&mut self, function: &'static functions::Function, args: Values) -> Result<Val> {
        let mut entries = ValMap::default();
        for (name, value) in &args.named {
            entries.insert(MapKey::Str(name.clone()), self.ctx.engine.force(value.clone())?);
        }
        let mut positional: Vec<Val> = Vec::new();
        for value in args.positional {
            positional.push(self.ctx.engine.force(value)?);
        }
        let arg = match positional.as_slice() {
            [only] if only.as_list().is_some() => only.clone(),
            [only, rest @ ..] if !function.positional.is_empty() => {
                for (name, value) in function.positional.iter().zip(rest) {
                    entries.insert(MapKey::from(*name), value.clone());
                }
                only.clone()
            }
            _ => Val::list(positional),
        };
        (function.run)(self.ctx, &Call { name: function.name, arg: &arg, entries: &entries, ready: true })
    }

    fn call_macro(&mut self, macro_: &Rc<Macro>, around: &[(EcoString, Val)], args: Values) -> Result<Val> {
        let mut bound = Vec::new();
        for (at, (name, default)) in macro_.params.iter().enumerate() {
            let value = match (args.get(at, name), default) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => self.inner(default)?,
                (None, None) => undefined(name, false, &format!("{{{{ {name} }}}}")),
            };
            bound.push((name.clone(), value));
        }
        let extra: Vec<Val> = args.positional.into_iter().skip(macro_.params.len()).collect();
        self.scoped(|render| {
            for (name, value) in around.iter().cloned().chain(bound) {
                render.bind(&name, value);
            }
            render.bind("varargs", Val::list(extra));
            render.captured(&macro_.body)
        })
    }

    fn call_global(&mut self, name: &str, args: Values) -> Result<Val> {
        match name {
            "range" => self.range(&args),
            "dict" => {
                let mut map = match args.positional.first() {
                    Some(first) => self.whole(first.clone())?.as_map().cloned().unwrap_or_default(),
                    None => ValMap::default(),
                };
                map.extend(args.named.into_iter().map(|(name, value)| (MapKey::Str(name), value)));
                Ok(Val::map(map))
            }
            "namespace" => {
                let map = args.named.into_iter().map(|(name, value)| (MapKey::Str(name), value)).collect();
                Ok(Data::Object(Rc::new(Object::Namespace(RefCell::new(map)))).into())
            }
            "cycler" => Ok(Data::Object(Rc::new(Object::Cycler(args.positional, Cell::new(0)))).into()),
            "joiner" => {
                let separator = args.get(0, "sep").and_then(Val::as_str).unwrap_or(", ").into();
                Ok(Data::Object(Rc::new(Object::Joiner(separator, Cell::new(false)))).into())
            }
            "now" => Ok(Data::Object(Rc::new(Object::Moment(self.ctx.engine.session.world.now().0))).into()),
            "undef" => Ok(undefined("undef", false, "")),
            "lookup" | "query" | "q" => {
                let Some((plugin, rest)) = args.positional.split_first() else {
                    return type_error("`lookup` needs the name of a lookup");
                };
                let plugin = self.ctx.text(plugin)?;
                let mut terms = Vec::new();
                for term in rest {
                    terms.push(self.ctx.engine.force(term.clone())?);
                }
                let found = lookup::lookup(self.ctx, &plugin, terms, &args.named)?;
                if name != "lookup" || args.get(usize::MAX, "wantlist").is_some_and(python::truthy) {
                    return Ok(Val::list(found));
                }
                lookup::join(self.ctx, found)
            }
            _ => missing(format!("there is no function `{name}`")),
        }
    }

    fn range(&self, args: &Values) -> Result<Val> {
        let mut numbers = Vec::new();
        for arg in &args.positional {
            match &arg.data {
                Data::Int(n) => numbers.push(*n),
                _ => {
                    let found = python::type_name(arg);
                    return type_error(format!("'{found}' object cannot be interpreted as an integer"));
                }
            }
        }
        let (start, stop, step) = match numbers.as_slice() {
            [stop] => (0, *stop, 1),
            [start, stop] => (*start, *stop, 1),
            [start, stop, step] if *step != 0 => (*start, *stop, *step),
            _ => return type_error("`range` takes one to three whole numbers"),
        };
        let count = (stop.saturating_sub(start)) / step;
        if usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX) > MAX_ITEMS {
            return limit(format!("a range has more than {MAX_ITEMS} items"));
        }
        let mut items = Vec::new();
        let mut at = start;
        while (step > 0 && at < stop) || (step < 0 && at > stop) {
            items.push(Val::int(at));
            at = at.saturating_add(step);
        }
        self.ctx.engine.spend(items.len())?;
        Ok(Val::list(items))
    }
}

/// A function every template sees.
pub struct Global {
    /// Its name.
    pub name: &'static str,
    /// Whether it is there in safe mode.
    pub safe: bool,
}

/// Functions every template sees.
pub const GLOBALS: &[Global] = &[
    Global { name: "range", safe: true },
    Global { name: "dict", safe: true },
    Global { name: "namespace", safe: true },
    Global { name: "cycler", safe: true },
    Global { name: "joiner", safe: true },
    Global { name: "lookup", safe: false },
    Global { name: "query", safe: false },
    Global { name: "q", safe: false },
    Global { name: "now", safe: false },
    Global { name: "undef", safe: false },
];

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
    Data::Undefined(Rc::new(Undefined { name: name.into(), attribute, text: text.into() })).into()
}

/// The error of using an undefined value.
pub fn undefined_error(undefined: &Undefined) -> Box<Error> {
    let what = if undefined.attribute { "missing attribute or key" } else { "missing variable" };
    Error::new(Kind::Missing, format!("{what}: \"{}\"", undefined.name))
}

fn enum_field(base: &Val, name: &str) -> Option<Val> {
    let (text, number) = match &base.data {
        Data::Status(status) => (status.name(), *status as i64),
        Data::State(state) => (state.name(), i64::from(state.0)),
        Data::Priority(priority) => (priority.name(), *priority as i64),
        _ => return None,
    };
    match name {
        "name" => Some(Val::str(text)),
        "value" => Some(Val::int(number)),
        _ => None,
    }
}

/// Fields of an instance that templates may use without the dot.
fn is_instance_field(name: &str) -> bool {
    matches!(name, "name" | "type" | "status" | "state" | "attributes" | "parent" | "key" | "root" | "template")
}

fn loop_field(state: &Loop, name: &str, object: &Rc<Object>) -> Option<Val> {
    let length = state.items.len();
    Some(match name {
        "index" => Val::len(state.index + 1),
        "index0" => Val::len(state.index),
        "revindex" => Val::len(length - state.index),
        "revindex0" => Val::len(length - state.index - 1),
        "first" => Val::bool(state.index == 0),
        "last" => Val::bool(state.index + 1 == length),
        "length" => Val::len(length),
        "depth" => Val::len(state.depth + 1),
        "depth0" => Val::len(state.depth),
        "previtem" => state.index.checked_sub(1).and_then(|at| state.items.get(at)).cloned()?,
        "nextitem" => state.items.get(state.index + 1).cloned()?,
        "cycle" | "changed" => {
            let method = Object::Method(Data::Object(Rc::clone(object)).into(), name.into());
            Data::Object(Rc::new(method)).into()
        }
        _ => return None,
    })
}

/// The places a slice picks.
fn slice_places(bounds: [Option<i64>; 3], length: usize) -> Result<Vec<usize>> {
    let [start, stop, step] = bounds;
    let step = step.unwrap_or(1);
    if step == 0 {
        return type_error("slice step cannot be zero");
    }
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let clamp = |bound: i64, low: i64, high: i64| {
        let bound = if bound < 0 { bound.saturating_add(length) } else { bound };
        bound.clamp(low, high)
    };
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let mut at = start.map_or(if step > 0 { low } else { high }, |bound| clamp(bound, low, high));
    let end = stop.map_or(if step > 0 { high } else { low }, |bound| clamp(bound, low, high));
    let mut places = Vec::new();
    while (step > 0 && at < end) || (step < 0 && at > end) {
        places.extend(usize::try_from(at).ok());
        at += step;
    }
    Ok(places)
}

/// The text of a chain of names, as written.
fn source_of(expr: &Expr, text: &str) -> String {
    match expr {
        Expr::Name(name, _) => name.to_string(),
        Expr::Attribute(base, name, _) => format!("{}.{name}", source_of(base, text)),
        Expr::Item(base, _, at) => {
            let key = text.get(at.0 as usize..at.1 as usize).unwrap_or("");
            format!("{}[{}", source_of(base, text), key)
        }
        _ => String::new(),
    }
}
