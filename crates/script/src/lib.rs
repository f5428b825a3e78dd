//! JavaScript modules that projects bring along: named texts, called with JSON, bounded, and isolated from the
//! outside.
//!
//! Each call has an engine of its own: no state survives a call, and the order of calls does not matter. There is no
//! clock, randomness, file or network. This must not know dialects or values.

use indexmap::IndexMap;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Object, Runtime};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// The environment of scripts: other modules and `puccini`.
const PRELUDE: &str = include_str!("prelude.js");

/// Bytes of the machine stack that one call may use.
const STACK: usize = 512 << 10;

/// Bounds of one call. A single step may go through all of its memory, so both bounds together bound the time.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most bytes of its memory.
    pub memory: usize,
    /// Most interruptions by the engine: one per 10,000 branches and calls.
    pub checks: u64,
}

/// Texts of modules, by name.
#[derive(Clone, Debug, Default)]
pub struct Modules {
    texts: IndexMap<String, Arc<str>>,
}

/// The result of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The value as JSON.
    pub json: String,
    /// The number of interruptions by the engine.
    pub checks: u64,
}

/// The reasons for a call to fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The script threw this, or could not be read.
    Thrown(String),
    /// The module has no such function.
    Missing,
    /// It ran too long.
    Steps,
    /// It used too much memory.
    Memory,
}

impl Modules {
    /// Adds a module; one of the same name is replaced.
    pub fn insert(&mut self, name: &str, text: Arc<str>) {
        self.texts.insert(name.to_owned(), text);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether there is a module of this name.
    pub fn has(&self, name: &str) -> bool {
        self.texts.contains_key(name)
    }

    /// The modules with their texts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<str>)> {
        self.texts.iter().map(|(name, text)| (name.as_str(), text))
    }

    /// Calls an export of a module with a JSON list of arguments.
    pub fn call(&self, module: &str, export: &str, arguments: &str, bounds: Bounds) -> Result<Answer, Failure> {
        self.run(bounds, |entries| entries.get::<_, Function>("call")?.call((module, export, arguments)))
    }

    /// Makes an engine for one call. The first letter of the result tells its kind: `v` for a value, `e` for an
    /// exception, `m` for a missing function.
    fn run(
        &self,
        bounds: Bounds,
        enter: impl FnOnce(&Object<'_>) -> rquickjs::Result<String>,
    ) -> Result<Answer, Failure> {
        let checks = Rc::new(Cell::new(0));
        let runtime = Runtime::new().map_err(|_| Failure::Memory)?;
        runtime.set_memory_limit(bounds.memory);
        runtime.set_max_stack_size(STACK);
        let counted = Rc::clone(&checks);
        runtime.set_interrupt_handler(Some(Box::new(move || {
            counted.set(counted.get() + 1);
            counted.get() > bounds.checks
        })));
        let context = Context::full(&runtime).map_err(|_| Failure::Memory)?;
        let said = context.with(|ctx| {
            let answer = self.entries(&ctx).and_then(|entries| enter(&entries));
            answer.catch(&ctx).map_err(|error| thrown(&error))
        });
        if checks.get() > bounds.checks {
            return Err(Failure::Steps);
        }
        let said = said?;
        let rest = said.get(1..).unwrap_or_default().to_owned();
        match said.chars().next() {
            Some('v') => Ok(Answer { json: rest, checks: checks.get() }),
            Some('m') => Err(Failure::Missing),
            _ if rest == OUT_OF_MEMORY => Err(Failure::Memory),
            _ => Err(Failure::Thrown(rest)),
        }
    }

    fn entries<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
        let texts = Object::new(ctx.clone())?;
        for (name, text) in &self.texts {
            texts.set(name.as_str(), text.as_ref())?;
        }
        ctx.eval::<Function, _>(PRELUDE)?.call((texts,))
    }
}

/// The engine's error when its memory is used up.
const OUT_OF_MEMORY: &str = "InternalError: out of memory";

fn thrown(error: &CaughtError<'_>) -> Failure {
    match error {
        CaughtError::Error(rquickjs::Error::Allocation) => Failure::Memory,
        CaughtError::Exception(exception) => match exception.message() {
            Some(message) if OUT_OF_MEMORY.ends_with(&message) => Failure::Memory,
            message => Failure::Thrown(message.unwrap_or_else(|| "an exception without a message".to_owned())),
        },
        _ => Failure::Thrown("the engine stopped".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(texts: &[(&str, &str)]) -> Modules {
        let mut modules = Modules::default();
        texts.iter().for_each(|(name, text)| modules.insert(name, (*text).into()));
        modules
    }

    const FEW: Bounds = Bounds { memory: 4 << 20, checks: 30 };

    fn call(text: &str, arguments: &str) -> Result<String, Failure> {
        let helper = "exports.shout = s => s.toUpperCase() + '!';";
        let modules = modules(&[("m", text), ("helper", helper)]);
        modules.call("m", "evaluate", arguments, FEW).map(|answer| answer.json)
    }

    #[test]
    fn values_go_in_and_come_out_as_json() {
        assert_eq!(call("exports.evaluate = v => v * 2;", "[21]").as_deref(), Ok("42"));
        let kinds = "exports.evaluate = () => ({ n: null, u: undefined, f: 1.5, l: [1, 'a', undefined], x: NaN });";
        assert_eq!(call(kinds, "[]").as_deref(), Ok(r#"{"n":null,"u":null,"f":1.5,"l":[1,"a",null],"x":null}"#));
        assert_eq!(call("exports.evaluate = () => {};", "[]").as_deref(), Ok("null"));
        assert_eq!(call("exports.evaluate = a => require('helper').shout(a);", "[\"hi\"]").as_deref(), Ok("\"HI!\""));
        let printed = "exports.evaluate = (a, b) => puccini.sprintf('%s-%d%%|%v|%q', a, b, [1], 'x');";
        assert_eq!(call(printed, "[\"a\", 3]").as_deref(), Ok(r#""a-3%|[1]|\"x\"""#));
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert_eq!(
            call("exports.evaluate = a => { throw 'oops ' + a; };", "[1]"),
            Err(Failure::Thrown("oops 1".into()))
        );
        assert!(
            matches!(call("exports.evaluate = a => a.b.c;", "[1]"), Err(Failure::Thrown(text)) if text.starts_with("TypeError"))
        );
        assert!(
            matches!(call("exports.evaluate = (;", "[1]"), Err(Failure::Thrown(text)) if text.starts_with("SyntaxError"))
        );
        assert!(matches!(call("require('nothing');", "[]"), Err(Failure::Thrown(text)) if text.contains("nothing")));
        assert_eq!(call("var x = 1;", "[]"), Err(Failure::Missing));
    }

    #[test]
    fn nothing_leads_outside_and_nothing_differs_between_runs() {
        for text in [
            "Date.now()",
            "new Date()",
            "Math.random()",
            "puccini.exec('ls')",
            "puccini.download('https://example.org', 'x')",
            "clout.vertexes",
            "os.open('x')",
            "std.loadFile('/etc/passwd')",
            "import('x.js')",
            "require('../x.js')",
            "fetch('https://example.org')",
        ] {
            let answer = call(&format!("exports.evaluate = () => {{ const r = {text}; return typeof r; }};"), "[]");
            let refused = matches!(answer, Err(Failure::Thrown(_))) || answer.as_deref() == Ok("\"object\"");
            assert!(refused && (text.starts_with("import") || answer.is_err()), "{text}: {answer:?}");
        }
        // No state survives a call.
        let counting = "globalThis.n = (globalThis.n || 0) + 1; exports.evaluate = () => globalThis.n;";
        let counted = modules(&[("m", counting)]);
        for _ in 0..2 {
            assert_eq!(counted.call("m", "evaluate", "[]", FEW).map(|answer| answer.json).as_deref(), Ok("1"));
        }
    }

    #[test]
    fn hostile_scripts_end() {
        for text in [
            "for (;;) {}",
            "while (true) { try { throw 1 } catch (e) {} }",
            "const f = () => f(); f()",
            "let s = 'x'; for (;;) s += s",
            "const l = []; for (;;) l.push(new Array(1000).fill(0))",
            "const l = []; for (;;) { try { l.push('x'.repeat(1 << 20)) } catch (e) {} }",
            "/(a*)*b/.test('a'.repeat(40))",
            "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return a",
            "return new Proxy({}, { ownKeys() { for (;;) {} } })",
            "return { toJSON() { for (;;) {} } }",
            "JSON.stringify = () => { for (;;) {} }; return 1; ",
        ] {
            let answer = call(&format!("exports.evaluate = () => {{ {text}; }};"), "[]");
            let is_kept = text.starts_with("JSON") && answer.as_deref() == Ok("1");
            assert!(answer.is_err() || is_kept, "{text}: {answer:?}");
        }
    }
}
