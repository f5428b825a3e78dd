//! The filters of templates: a table of names, and how one is applied.
//!
//! Taint: unless a filter says otherwise, its result is a secret if its input or an argument is.

mod encode;
mod lists;
mod maps;
mod numbers;
mod paths;
mod regexes;
mod text;
mod unfurl;
mod urls;

use super::render::{Renderer, Values};
use crate::error::{Error, Kind, Result, type_error};
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_value::Cost;

/// What a filter does with its input and arguments.
pub type Run = fn(&mut Renderer<'_, '_, '_>, Val, &Values) -> Result<Val>;

/// A filter.
pub struct Filter {
    /// Its name.
    pub name: &'static str,
    /// Whether it belongs to Jinja2 itself or has no effects, so that safe mode allows it.
    pub safe: bool,
    /// What it takes as it is: undefined values and unevaluated collections too.
    pub takes: Takes,
    /// What it costs, charged before it is called.
    pub cost: Cost,
    /// What it does.
    pub run: Run,
}

/// What a filter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// Evaluated values.
    Whole,
    /// Evaluated text and nothing else.
    Text,
    /// Anything as it is.
    Anything,
}

const fn jinja(name: &'static str, run: Run) -> Filter {
    Filter { name, safe: true, takes: Takes::Whole, cost: Cost::Deep, run }
}

const fn ansible(name: &'static str, run: Run) -> Filter {
    Filter { name, safe: false, takes: Takes::Whole, cost: Cost::Deep, run }
}

const fn jinja_text(name: &'static str, run: Run) -> Filter {
    Filter { name, safe: true, takes: Takes::Text, cost: Cost::Deep, run }
}

const fn ansible_text(name: &'static str, run: Run) -> Filter {
    Filter { name, safe: false, takes: Takes::Text, cost: Cost::Deep, run }
}

/// A filter that looks at every character, or reads text.
const fn slow(filter: Filter) -> Filter {
    Filter { cost: Cost::Slow, ..filter }
}

const fn raw(name: &'static str, run: Run) -> Filter {
    Filter { name, safe: true, takes: Takes::Anything, cost: Cost::Own, run }
}

/// All filters.
pub const FILTERS: &[Filter] = &[
    jinja("abs", numbers::abs),
    raw("attr", maps::attr),
    jinja("batch", lists::batch),
    slow(jinja("capitalize", text::capitalize)),
    jinja("center", text::center),
    jinja("count", lists::length),
    raw("d", maps::default),
    raw("default", maps::default),
    jinja("dictsort", maps::dictsort),
    slow(jinja("e", text::escape)),
    slow(jinja("escape", text::escape)),
    jinja("filesizeformat", numbers::filesizeformat),
    jinja("first", lists::first),
    jinja("float", numbers::float),
    slow(jinja("forceescape", text::escape)),
    slow(jinja("format", text::format)),
    jinja("groupby", lists::groupby),
    slow(jinja_text("indent", text::indent)),
    jinja("int", numbers::int),
    raw("items", maps::items),
    jinja("join", lists::join),
    jinja("last", lists::last),
    jinja("length", lists::length),
    slow(jinja("list", lists::list)),
    slow(jinja("lower", text::lower)),
    jinja("map", lists::map),
    jinja("max", lists::max),
    jinja("min", lists::min),
    jinja("pprint", text::pprint),
    jinja("random", lists::random),
    jinja("reject", lists::reject),
    jinja("rejectattr", lists::rejectattr),
    slow(jinja("replace", text::replace)),
    jinja("reverse", lists::reverse),
    jinja("round", numbers::round),
    jinja("safe", text::same),
    jinja("select", lists::select),
    jinja("selectattr", lists::selectattr),
    jinja("slice", lists::slice),
    jinja("sort", lists::sort),
    jinja("string", text::string),
    slow(jinja("striptags", text::striptags)),
    jinja("sum", lists::sum),
    slow(jinja("title", text::title)),
    jinja("tojson", encode::to_json_plain),
    jinja("trim", text::trim),
    slow(jinja_text("truncate", text::truncate)),
    jinja("unique", lists::unique),
    slow(jinja("upper", text::upper)),
    slow(jinja("urlencode", encode::urlencode)),
    slow(jinja("urlize", urls::urlize)),
    slow(jinja("wordcount", text::wordcount)),
    slow(jinja_text("wordwrap", text::wordwrap)),
    slow(jinja("xmlattr", text::xmlattr)),
    ansible("b64decode", encode::b64decode),
    ansible("b64encode", encode::b64encode),
    ansible_text("basename", paths::basename),
    ansible("bool", numbers::bool),
    ansible("checksum", encode::sha1),
    ansible("combinations", lists::combinations),
    ansible("combine", maps::combine),
    slow(ansible_text("comment", text::comment)),
    ansible("commonpath", paths::commonpath),
    ansible("dict2items", maps::dict2items),
    ansible("difference", lists::difference),
    ansible_text("dirname", paths::dirname),
    ansible_text("expanduser", paths::expanduser),
    slow(ansible_text("expandvars", paths::expandvars)),
    ansible("extract", maps::extract),
    ansible("fileglob", paths::fileglob),
    ansible("flatten", lists::flatten),
    slow(ansible_text("from_json", encode::from_json)),
    slow(ansible("from_yaml", encode::from_yaml)),
    slow(ansible("from_yaml_all", encode::from_yaml_all)),
    ansible("hash", encode::hash),
    ansible("human_readable", numbers::human_readable),
    ansible("human_to_bytes", numbers::human_to_bytes),
    ansible("intersect", lists::intersect),
    ansible("items2dict", maps::items2dict),
    ansible("log", numbers::log),
    Filter { name: "mandatory", safe: false, takes: Takes::Anything, cost: Cost::Own, run: maps::mandatory },
    ansible("md5", encode::md5),
    slow(ansible_text("normpath", paths::normpath)),
    ansible_text("password_hash", encode::password_hash),
    ansible("path_join", paths::path_join),
    ansible("permutations", lists::permutations),
    ansible("pow", numbers::pow),
    ansible("product", lists::product),
    slow(ansible("quote", text::quote)),
    ansible_text("realpath", paths::normpath),
    slow(ansible("regex_escape", regexes::escape)),
    slow(ansible("regex_findall", regexes::findall)),
    slow(ansible("regex_replace", regexes::replace)),
    slow(ansible("regex_search", regexes::search)),
    ansible("rekey_on_member", maps::rekey_on_member),
    ansible_text("relpath", paths::relpath),
    ansible("root", numbers::root),
    ansible("sha1", encode::sha1),
    ansible("shuffle", lists::shuffle),
    slow(ansible_text("split", text::split)),
    ansible_text("splitext", paths::splitext),
    slow(ansible_text("strftime", numbers::strftime)),
    ansible("subelements", maps::subelements),
    ansible("symmetric_difference", lists::symmetric_difference),
    ansible("ternary", maps::ternary),
    slow(ansible("to_datetime", numbers::to_datetime)),
    ansible("to_json", encode::to_json),
    ansible("to_nice_json", encode::to_nice_json),
    ansible("to_nice_yaml", encode::to_nice_yaml),
    ansible("to_uuid", encode::to_uuid),
    ansible("to_yaml", encode::to_yaml),
    Filter { name: "type_debug", safe: false, takes: Takes::Anything, cost: Cost::Own, run: text::type_debug },
    ansible("union", lists::union),
    ansible("unvault", encode::unvault),
    slow(ansible_text("urldecode", encode::urldecode)),
    slow(ansible_text("urlsplit", encode::urlsplit)),
    ansible("vault", encode::vault),
    ansible_text("win_basename", paths::win_basename),
    ansible_text("win_dirname", paths::win_dirname),
    ansible_text("win_splitdrive", paths::win_splitdrive),
    ansible("zip", lists::zip),
    ansible("zip_longest", lists::zip_longest),
    raw("eval", unfurl::eval),
    raw("ref", unfurl::eval),
    raw("map_value", unfurl::map_value),
    raw("mapValue", unfurl::map_value),
    jinja("sensitive", unfurl::sensitive),
    ansible_text("abspath", unfurl::abspath),
    ansible("get_dir", unfurl::get_dir),
    ansible("which", unfurl::which),
    jinja("to_label", unfurl::to_label),
    jinja("to_dns_label", unfurl::to_dns_label),
    jinja("to_kubernetes_label", unfurl::to_kubernetes_label),
    jinja("to_googlecloud_label", unfurl::to_googlecloud_label),
    jinja("scalar", unfurl::scalar),
];

/// Finds a filter.
pub fn find(name: &str) -> Option<&'static Filter> {
    FILTERS.iter().find(|filter| filter.name == name)
}

/// Applies a filter by name.
pub fn run(render: &mut Renderer<'_, '_, '_>, name: &str, input: Val, args: &Values) -> Result<Val> {
    let safe = render.ctx.frame.mode.safe;
    let Some(filter) = find(name).filter(|filter| filter.safe || !safe) else {
        let message = if safe { format!("No filter named '{name}'.") } else { format!("there is no filter `{name}`") };
        let error = Error::new(Kind::Missing, message);
        let near = crate::functions::closest(name, FILTERS.iter().map(|filter| filter.name));
        return Err(match near {
            Some(near) if !safe => error.hint(format!("did you mean `{near}`?")),
            _ => error,
        });
    };
    let ctx = render.ctx;
    if filter.takes == Takes::Anything {
        ctx.engine.charge_call(Cost::Deep, std::iter::once(&input))?;
        let secret = input.tainted_within() || args.tainted();
        return (filter.run)(render, input, args).map_err(|error| error.hiding(secret));
    }
    let input = match input.data {
        // Loops over and measures of something undefined are those of nothing, where undefined is tolerated.
        Data::Undefined(_) if !render.ctx.strict() => input,
        _ => render.whole(input)?,
    };
    if filter.takes == Takes::Text && !matches!(input.data, Data::Str(_) | Data::Bytes(_) | Data::Undefined(_)) {
        return type_error(format!("`{name}` needs text, not {}", input.kind()));
    }
    let named = args.named.iter().map(|(_, value)| value);
    let given = std::iter::once(&input).chain(&args.positional).chain(named);
    let _held = ctx.engine.charge_call(filter.cost, given)?;
    let tainted = input.tainted_within() || args.tainted();
    let result = (filter.run)(render, input, args).map_err(|error| error.hiding(tainted))?;
    render.ctx.engine.made(&result)?;
    Ok(result.taint_if(tainted))
}

/// A list of items, as most filters want it.
fn items(render: &Renderer<'_, '_, '_>, value: &Val) -> Result<Vec<Val>> {
    render.iterate(value)
}

/// The input as text.
fn text_of(render: &Renderer<'_, '_, '_>, value: &Val) -> Result<EcoString> {
    render.ctx.text(value)
}

/// An argument as text.
fn text_arg(render: &Renderer<'_, '_, '_>, args: &Values, at: usize, name: &str) -> Result<Option<EcoString>> {
    args.get(at, name).map(|value| text_of(render, value)).transpose()
}

/// An argument as a whole number.
fn int_arg(args: &Values, at: usize, name: &str) -> Result<Option<i64>> {
    match args.get(at, name).map(|value| &value.data) {
        None | Some(Data::Null) => Ok(None),
        Some(Data::Int(n)) => Ok(Some(*n)),
        Some(Data::Bool(b)) => Ok(Some(i64::from(*b))),
        Some(Data::Str(text)) => match crate::python::parse_int(text) {
            Some(n) => Ok(Some(n)),
            None => type_error(format!("`{name}` must be a whole number")),
        },
        Some(_) => type_error(format!("`{name}` must be a whole number")),
    }
}

/// An argument as a truth.
fn flag(args: &Values, at: usize, name: &str, default: bool) -> bool {
    args.get(at, name).map_or(default, crate::python::truthy)
}

/// Whether a pattern matches a text, with the options of a test.
pub fn regexes_matches(pattern: &str, text: &str, args: &Values, anchored: bool) -> Result<bool> {
    let options = regexes::Options {
        ignore_case: flag(args, 1, "ignorecase", false),
        multiline: flag(args, 2, "multiline", false),
    };
    regexes::matches(pattern, text, options, anchored)
}

pub use encode::percent_encode;
pub use numbers::{cut_off, round_to};
pub use text::{capitalized as text_capitalized, shell_quote, split_text as text_split};
