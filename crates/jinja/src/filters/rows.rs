//! The rows of all filters.

use super::{Calling, Filter, Run, Takes, encode, lists, maps, numbers, paths, regexes, text, urls};
use purlin_value::Cost;
use purlin_value::function::{Parameter, many, one, optional};

/// A filter of Jinja2 itself, or one without effects.
const fn jinja(name: &'static str, parameters: &'static [Parameter], summary: &'static str, run: Run) -> Filter {
    Filter::new(name, parameters, summary, Calling { run: Some(run), safe: true, takes: Takes::Whole })
}

/// A filter of Ansible.
const fn ansible(name: &'static str, parameters: &'static [Parameter], summary: &'static str, run: Run) -> Filter {
    Filter::new(name, parameters, summary, Calling { run: Some(run), safe: false, takes: Takes::Whole })
}

/// A filter that takes its input as it is, and charges itself.
const fn raw(name: &'static str, parameters: &'static [Parameter], summary: &'static str, run: Run) -> Filter {
    let call = Calling { run: Some(run), safe: true, takes: Takes::Anything };
    Filter { cost: Cost::Own, ..Filter::new(name, parameters, summary, call) }
}

/// The same, of Ansible.
const fn ansible_raw(name: &'static str, parameters: &'static [Parameter], summary: &'static str, run: Run) -> Filter {
    let call = Calling { run: Some(run), safe: false, takes: Takes::Anything };
    Filter { cost: Cost::Own, ..Filter::new(name, parameters, summary, call) }
}

/// A filter that accepts only text.
const fn text_only(filter: Filter) -> Filter {
    Filter { call: Calling { takes: Takes::Text, ..filter.call }, ..filter }
}

/// A filter that looks at every character, or reads text.
const fn slow(filter: Filter) -> Filter {
    Filter { cost: Cost::Slow, ..filter }
}

/// All filters.
pub const FILTERS: &[Filter] = &[
    jinja("abs", &[], "The absolute value of a number.", numbers::abs),
    raw("attr", &[one("name", "string")], "An attribute of an object.", maps::attr),
    jinja(
        "batch",
        &[one("linecount", "integer"), optional("fill_with", "any")],
        "Lists of so many items each.",
        lists::batch,
    ),
    slow(jinja("capitalize", &[], "The first letter large, the others small.", text::capitalize)),
    jinja("center", &[optional("width", "integer")], "Text in the middle of a line.", text::center),
    jinja("count", &[], "The number of items.", lists::length),
    raw(
        "d",
        &[optional("default_value", "any"), optional("boolean", "boolean")],
        "Another value where this one is undefined.",
        maps::default,
    ),
    raw(
        "default",
        &[optional("default_value", "any"), optional("boolean", "boolean")],
        "Another value where this one is undefined.",
        maps::default,
    ),
    slow(jinja(
        "dictsort",
        &[optional("case_sensitive", "boolean"), optional("by", "`key` or `value`"), optional("reverse", "boolean")],
        "The pairs of a mapping, sorted.",
        maps::dictsort,
    )),
    slow(jinja("e", &[], "Characters of HTML replaced.", text::escape)),
    slow(jinja("escape", &[], "Characters of HTML replaced.", text::escape)),
    jinja(
        "filesizeformat",
        &[optional("binary", "boolean")],
        "A number of bytes for people: `13 kB`.",
        numbers::filesizeformat,
    ),
    jinja("first", &[], "The first item.", lists::first),
    jinja("float", &[optional("default", "number")], "A number with a fraction.", numbers::float),
    slow(jinja("forceescape", &[], "Characters of HTML replaced.", text::escape)),
    slow(jinja("format", &[many("value", "any")], "Values put into a pattern of `printf`.", text::format)),
    slow(jinja("groupby", &[one("attribute", "string")], "Items by the value of an attribute.", lists::groupby)),
    slow(text_only(jinja(
        "indent",
        &[optional("width", "integer or string"), optional("first", "boolean"), optional("blank", "boolean")],
        "Spaces before every line but the first.",
        text::indent,
    ))),
    jinja("int", &[optional("default", "integer"), optional("base", "integer")], "An integer.", numbers::int),
    raw("items", &[], "The pairs of a mapping.", maps::items),
    slow(jinja(
        "join",
        &[optional("d", "string"), optional("attribute", "string")],
        "Items joined with a separator.",
        lists::join,
    )),
    jinja("last", &[], "The last item.", lists::last),
    jinja("length", &[], "The number of items.", lists::length),
    slow(jinja("list", &[], "The items as a list.", lists::list)),
    slow(jinja("lower", &[], "Converts letters to lower case.", text::lower)),
    jinja(
        "map",
        &[optional("filter", "name of a filter"), many("argument", "any")],
        "A filter, or `attribute=`, applied to each item.",
        lists::map,
    ),
    slow(jinja(
        "max",
        &[optional("case_sensitive", "boolean"), optional("attribute", "string")],
        "The largest item.",
        lists::max,
    )),
    slow(jinja(
        "min",
        &[optional("case_sensitive", "boolean"), optional("attribute", "string")],
        "The smallest item.",
        lists::min,
    )),
    jinja("pprint", &[], "The value as Python shows it.", text::pprint),
    jinja(
        "random",
        &[optional("start", "integer"), optional("step", "integer")],
        "One of the items, or a number below the input.",
        lists::random,
    ),
    jinja(
        "reject",
        &[optional("test", "name of a test"), many("argument", "any")],
        "The items that fail a test.",
        lists::reject,
    ),
    jinja(
        "rejectattr",
        &[one("attribute", "string"), optional("test", "name of a test"), many("argument", "any")],
        "The items whose attribute fails a test.",
        lists::rejectattr,
    ),
    slow(jinja(
        "replace",
        &[one("old", "string"), one("new", "string"), optional("count", "integer")],
        "Text with one part replaced by another.",
        text::replace,
    )),
    jinja("reverse", &[], "The items, or characters, from the end.", lists::reverse),
    jinja(
        "round",
        &[optional("precision", "integer"), optional("method", "`common`, `ceil` or `floor`")],
        "A number rounded.",
        numbers::round,
    ),
    jinja("safe", &[], "The value as it is.", text::same),
    jinja(
        "select",
        &[optional("test", "name of a test"), many("argument", "any")],
        "The items that pass a test.",
        lists::select,
    ),
    jinja(
        "selectattr",
        &[one("attribute", "string"), optional("test", "name of a test"), many("argument", "any")],
        "The items whose attribute passes a test.",
        lists::selectattr,
    ),
    jinja("slice", &[one("slices", "integer"), optional("fill_with", "any")], "So many lists of items.", lists::slice),
    slow(jinja(
        "sort",
        &[optional("reverse", "boolean"), optional("case_sensitive", "boolean"), optional("attribute", "string")],
        "The items, sorted.",
        lists::sort,
    )),
    jinja("string", &[], "The value as text.", text::string),
    slow(jinja("striptags", &[], "Text without tags.", text::striptags)),
    jinja("sum", &[optional("attribute", "string"), optional("start", "number")], "The items added up.", lists::sum),
    slow(jinja("title", &[], "The first letter of every word large.", text::title)),
    jinja("tojson", &[optional("indent", "integer")], "JSON that is safe in HTML.", encode::to_json_plain),
    jinja("trim", &[optional("chars", "string")], "Text without spaces at its ends.", text::trim),
    slow(text_only(jinja(
        "truncate",
        &[
            optional("length", "integer"),
            optional("killwords", "boolean"),
            optional("end", "string"),
            optional("leeway", "integer"),
        ],
        "Text cut to a length.",
        text::truncate,
    ))),
    slow(jinja(
        "unique",
        &[optional("case_sensitive", "boolean"), optional("attribute", "string")],
        "The items, each once.",
        lists::unique,
    )),
    slow(jinja("upper", &[], "Converts letters to upper case.", text::upper)),
    slow(jinja("urlencode", &[], "Text, or pairs, for a URL.", encode::urlencode)),
    slow(jinja(
        "urlize",
        &[
            optional("trim_url_limit", "integer"),
            optional("nofollow", "boolean"),
            optional("target", "string"),
            optional("rel", "string"),
            optional("extra_schemes", "list"),
        ],
        "Links around addresses.",
        urls::urlize,
    )),
    slow(jinja("wordcount", &[], "The number of words.", text::wordcount)),
    slow(text_only(jinja(
        "wordwrap",
        &[
            optional("width", "integer"),
            optional("break_long_words", "boolean"),
            optional("wrapstring", "string"),
            optional("break_on_hyphens", "boolean"),
        ],
        "Text wrapped to a width.",
        text::wordwrap,
    ))),
    slow(jinja("xmlattr", &[optional("autospace", "boolean")], "A mapping as attributes of XML.", text::xmlattr)),
    slow(ansible(
        "b64decode",
        &[optional("encoding", "string")],
        "What text in base 64 stands for.",
        encode::b64decode,
    )),
    ansible("b64encode", &[optional("encoding", "string")], "Text in base 64.", encode::b64encode),
    text_only(ansible("basename", &[], "The last part of a path.", paths::basename)),
    ansible("bool", &[], "Whether a value means yes.", numbers::bool),
    ansible("checksum", &[], "A SHA-1 digest.", encode::sha1),
    ansible("combinations", &[one("set_size", "integer")], "All choices of so many items.", lists::combinations),
    ansible(
        "combine",
        &[many("mapping", "mapping"), optional("recursive", "boolean"), optional("list_merge", "string")],
        "Mappings merged; later ones win.",
        maps::combine,
    ),
    slow(text_only(ansible(
        "comment",
        &[optional("style", "string"), optional("decoration", "string")],
        "Lines as a comment.",
        text::comment,
    ))),
    ansible("commonpath", &[], "The longest path that all begin with.", paths::commonpath),
    ansible(
        "dict2items",
        &[optional("key_name", "string"), optional("value_name", "string")],
        "A mapping as a list of keys and values.",
        maps::dict2items,
    ),
    ansible("difference", &[one("other", "list")], "The items that the other list has not.", lists::difference),
    text_only(ansible("dirname", &[], "A path without its last part.", paths::dirname)),
    text_only(ansible("expanduser", &[], "A path with `~` replaced.", paths::expanduser)),
    slow(text_only(ansible(
        "expandvars",
        &[],
        "A path with variables of the environment replaced.",
        paths::expandvars,
    ))),
    ansible(
        "extract",
        &[one("container", "list or mapping"), optional("morekeys", "any")],
        "The entry of a container that the input names.",
        maps::extract,
    ),
    ansible("fileglob", &[], "The files that a pattern matches.", paths::fileglob),
    ansible(
        "flatten",
        &[optional("levels", "integer"), optional("skip_nulls", "boolean")],
        "Lists in lists as one list.",
        lists::flatten,
    ),
    slow(text_only(ansible("from_json", &[], "The value that JSON text stands for.", encode::from_json))),
    slow(ansible("from_yaml", &[], "The value that YAML text stands for.", encode::from_yaml)),
    slow(ansible("from_yaml_all", &[], "The values of all documents of YAML text.", encode::from_yaml_all)),
    ansible("hash", &[optional("hashtype", "string")], "A digest.", encode::hash),
    ansible(
        "human_readable",
        &[optional("isbits", "boolean"), optional("unit", "string")],
        "A number of bytes for people: `1.00 KB`.",
        numbers::human_readable,
    ),
    ansible(
        "human_to_bytes",
        &[optional("default_unit", "string"), optional("isbits", "boolean")],
        "The number that a size like `2K` stands for.",
        numbers::human_to_bytes,
    ),
    ansible("intersect", &[one("other", "list")], "The items that both lists have.", lists::intersect),
    ansible(
        "items2dict",
        &[optional("key_name", "string"), optional("value_name", "string")],
        "A list of keys and values as a mapping.",
        maps::items2dict,
    ),
    ansible("log", &[optional("base", "number")], "A logarithm.", numbers::log),
    ansible_raw("mandatory", &[optional("msg", "string")], "An error where the value is undefined.", maps::mandatory),
    ansible("md5", &[], "An MD5 digest.", encode::md5),
    slow(text_only(ansible("normpath", &[], "A path without `.` and `..`.", paths::normpath))),
    text_only(ansible(
        "password_hash",
        &[
            optional("hashtype", "string"),
            optional("salt", "string"),
            optional("salt_size", "integer"),
            optional("rounds", "integer"),
        ],
        "A password as `crypt` stores it.",
        encode::password_hash,
    )),
    ansible("path_join", &[many("part", "string")], "Parts joined to a path.", paths::path_join),
    ansible("permutations", &[optional("set_size", "integer")], "All orders of so many items.", lists::permutations),
    ansible("pow", &[one("y", "number")], "A number to the power of another.", numbers::pow),
    ansible("product", &[many("list", "list")], "All pairs of items of some lists.", lists::product),
    slow(ansible("quote", &[], "Text quoted for a shell.", text::quote)),
    text_only(ansible("realpath", &[], "A path without `.` and `..`.", paths::normpath)),
    slow(ansible("regex_escape", &[], "Text with the characters of patterns escaped.", regexes::escape)),
    slow(ansible(
        "regex_findall",
        &[one("regex", "pattern"), optional("multiline", "boolean"), optional("ignorecase", "boolean")],
        "All matches of a pattern.",
        regexes::findall,
    )),
    slow(ansible(
        "regex_replace",
        &[
            one("pattern", "pattern"),
            one("replacement", "string"),
            optional("ignorecase", "boolean"),
            optional("multiline", "boolean"),
        ],
        "Matches of a pattern replaced.",
        regexes::replace,
    )),
    slow(ansible(
        "regex_search",
        &[
            one("regex", "pattern"),
            many("group", "string"),
            optional("ignorecase", "boolean"),
            optional("multiline", "boolean"),
        ],
        "The first match of a pattern, or some of its groups.",
        regexes::search,
    )),
    ansible(
        "rekey_on_member",
        &[one("key", "string"), optional("duplicates", "`error` or `overwrite`")],
        "Mappings by one of their values.",
        maps::rekey_on_member,
    ),
    text_only(ansible("relpath", &[optional("start", "string")], "A path as seen from another.", paths::relpath)),
    ansible("root", &[optional("base", "number")], "A root, the square root without a base.", numbers::root),
    ansible("sha1", &[], "A SHA-1 digest.", encode::sha1),
    ansible("shuffle", &[optional("seed", "any")], "The items in random order.", lists::shuffle),
    slow(text_only(ansible(
        "split",
        &[optional("sep", "string"), optional("maxsplit", "integer")],
        "Text cut at a separator.",
        text::split,
    ))),
    text_only(ansible("splitext", &[], "A path without its ending, and the ending.", paths::splitext)),
    slow(text_only(ansible("strftime", &[optional("second", "number")], "A time by a pattern.", numbers::strftime))),
    ansible(
        "subelements",
        &[one("subelements", "string"), optional("skip_missing", "boolean")],
        "Each item with each of its sub-items.",
        maps::subelements,
    ),
    ansible(
        "symmetric_difference",
        &[one("other", "list")],
        "The items that only one of two lists has.",
        lists::symmetric_difference,
    ),
    ansible(
        "ternary",
        &[one("true_val", "any"), one("false_val", "any"), optional("none_val", "any")],
        "One of two values.",
        maps::ternary,
    ),
    slow(ansible(
        "to_datetime",
        &[optional("format", "string")],
        "The time that text stands for.",
        numbers::to_datetime,
    )),
    ansible(
        "to_json",
        &[optional("indent", "integer"), optional("sort_keys", "boolean"), optional("ensure_ascii", "boolean")],
        "A value as JSON.",
        encode::to_json,
    ),
    ansible(
        "to_nice_json",
        &[optional("indent", "integer"), optional("sort_keys", "boolean"), optional("ensure_ascii", "boolean")],
        "A value as JSON on several lines.",
        encode::to_nice_json,
    ),
    ansible(
        "to_nice_yaml",
        &[optional("indent", "integer"), optional("sort_keys", "boolean"), optional("default_flow_style", "boolean")],
        "A value as YAML on several lines.",
        encode::to_nice_yaml,
    ),
    ansible("to_uuid", &[optional("namespace", "string")], "A UUID that belongs to a name.", encode::to_uuid),
    ansible(
        "to_yaml",
        &[optional("indent", "integer"), optional("sort_keys", "boolean"), optional("default_flow_style", "boolean")],
        "A value as YAML.",
        encode::to_yaml,
    ),
    ansible_raw("type_debug", &[], "The name of the value's type in Python.", text::type_debug),
    ansible("union", &[one("other", "list")], "The items of both lists, each once.", lists::union),
    ansible("unvault", &[one("secret", "string")], "What encrypted data holds.", encode::unvault),
    slow(text_only(ansible("urldecode", &[], "Text of a URL, decoded.", encode::urldecode))),
    slow(text_only(ansible(
        "urlsplit",
        &[optional("query", "string")],
        "The parts of a URL, or one of them.",
        encode::urlsplit,
    ))),
    ansible(
        "vault",
        &[one("secret", "string"), optional("salt", "string"), optional("vault_id", "string")],
        "A value encrypted as a vault.",
        encode::vault,
    ),
    text_only(ansible("win_basename", &[], "The last part of a path of Windows.", paths::win_basename)),
    text_only(ansible("win_dirname", &[], "A path of Windows without its last part.", paths::win_dirname)),
    text_only(ansible("win_splitdrive", &[], "The drive and the rest of a path of Windows.", paths::win_splitdrive)),
    ansible("zip", &[many("list", "list")], "The first items together, the second, and so on.", lists::zip),
    ansible(
        "zip_longest",
        &[many("list", "list"), optional("fillvalue", "any")],
        "The same up to the end of the longest list.",
        lists::zip_longest,
    ),
];
