//! A workshop: tool types with parts and ports, and tools of these types. Not a real dialect.

use purlin_model::schema::{Merge::*, Shape::*, list, scalar};
use purlin_model::walk::check;
use purlin_model::{Edition, Entity, Field, Instance, Kind, Literal, Place, Schema, entity, field};
use purlin_syntax::{Diagnostic, Flavor, Limits, Node, Rule, Sink, Sources, Tree, yaml};
use std::sync::Arc;

pub const FILE: Kind = Kind(0);
pub const TOOL_TYPE: Kind = Kind(1);
pub const PORT_TYPE: Kind = Kind(2);
pub const PART: Kind = Kind(3);
pub const PORT: Kind = Kind(4);
pub const LIMIT: Kind = Kind(5);
pub const TOOL: Kind = Kind(6);
pub const LINK: Kind = Kind(7);
pub const MOTOR: Kind = Kind(8);

pub const FIRST: Edition = Edition(0);
pub const SECOND: Edition = Edition(1);

pub const ODD_WEIGHT: Rule = Rule::error("odd-weight", "A weight is odd.");
pub const IDLE_TOOL: Rule = Rule::warning("idle-tool", "A tool does nothing.");

/// Weights come in pairs: a rule that no column can express.
fn even_weight(tool_type: &Instance<'_>, place: &Place<'_>) {
    let Some(slot) = tool_type.slot("weight") else { return };
    if slot.value.and_then(Node::as_int).is_some_and(|weight| weight % 2 != 0) {
        let message = format!("`weight` of {} is odd", place.subject());
        place.sink.push(Diagnostic::at(&ODD_WEIGHT, slot.span().unwrap(), message));
    }
}

fn does_something(tool: &Instance<'_>, place: &Place<'_>) {
    if tool.slot("steps").is_none() && tool.slot("links").is_none() {
        place.sink.push(Diagnostic::at(&IDLE_TOOL, tool.node.span(), "this tool does nothing"));
    }
}

const TYPE_HEADER: &[Field] = &[
    field("extends", Parent, "The type this one extends."),
    field("description", Text, "Shown in lists."),
    field("notes", Any, "Whatever the author likes to remember."),
];

const ENTITIES: &[Entity] = &[
    entity(
        FILE,
        "workshop file",
        "A file of types and tools.",
        &[&[
            field("version", Scalar, "Edition of the language.").required(),
            field("tool_types", Map(TOOL_TYPE), "Types of tools."),
            field("port_types", Map(PORT_TYPE), "Types of ports."),
            field("tools", Map(TOOL), "The tools themselves."),
            field("labels", MapOf(&Text), "Labels for the whole file."),
        ]],
    ),
    entity(
        TOOL_TYPE,
        "tool type",
        "What tools of one sort have in common.",
        &[
            TYPE_HEADER,
            &[
                field("parts", Map(PART), "What it is made of.").merge(ByName),
                field("ports", Sequence(PORT), "What can be plugged in, in order.").merge(ByName),
                field("file_ext", ListOf(&Text), "Extensions of its drawings.").merge(Append),
                field("limits", List(LIMIT), "What it must keep to.").merge(Append),
                field("rule", Any, "A rule that holds for all below.").merge(Append).since(SECOND),
                field("fits", Names(&[PORT_TYPE]), "Ports it fits, fewer further down.").merge(Narrow).since(SECOND),
                field("fitting", Names(&[PORT_TYPE]), "Ports it fits.").merge(Narrow).until(SECOND),
                field("motor", One(MOTOR), "What drives it.").merge(ByName),
                field("colour", Choice(&["red", "green", "blue"]), "Its paint.").merge(Fallback).aliases(&["color"]),
                field("serial", Text, "Number of the series, for good.").merge(Fixed),
                field("slogan", Text, "What is printed on the box.").merge(Fallback),
                field("weight", Integer, "How heavy it is."),
                field("price", Number, "What it costs.").deprecated("say it in `notes`"),
            ],
        ],
    )
    .check(even_weight),
    entity(
        PORT_TYPE,
        "port type",
        "What ports of one sort have in common.",
        &[
            TYPE_HEADER,
            &[
                field("parts", Map(PART), "What it is made of.").merge(ByName),
                field("count", Range, "How many there may be.")
                    .merge(Narrow)
                    .default(Literal::List(&[Literal::Int(0), Literal::Text("UNBOUNDED")])),
            ],
        ],
    ),
    entity(
        PART,
        "part",
        "A part of a tool or port.",
        &[&[
            field("material", Text, "What it is made of.").required().merge(Fallback),
            field("size", Union(&[Integer, Text, One(LIMIT)]), "How large it is.").merge(Fallback),
            field("inside", One(PART), "A part within it."),
            field("needed", Bool, "Whether it must be there.").merge(Narrow).default(Literal::Bool(true)),
        ]],
    ),
    entity(
        PORT,
        "port",
        "Something that can be plugged in.",
        &[&[
            field("type", Reference(&[PORT_TYPE]), "Type of the port.").required().merge(Narrow).base(),
            field("parts", Map(PART), "Parts beside those of the type.").merge(ByName),
            field("count", Range, "How many there may be.").merge(Narrow),
        ]],
    )
    .short(&[scalar("type")]),
    entity(
        LIMIT,
        "limit",
        "A bound.",
        &[&[
            field("most", Number, "The upper bound.").one_of("bound"),
            field("least", Number, "The lower bound.").one_of("bound"),
        ]],
    )
    .exactly_one(&["bound"]),
    entity(
        TOOL,
        "tool",
        "A tool.",
        &[&[
            field("type", Reference(&[TOOL_TYPE]), "Its type.").required(),
            field("steps", ListOf(&Text), "What to do with it."),
            field("links", Repeating(LINK), "What it is plugged into."),
            field("on", Bool, "Whether it runs."),
            field("tries", Integer, "How often to try.").default(Literal::Int(3)),
        ]],
    )
    .check(does_something),
    entity(
        LINK,
        "link",
        "A wire to another tool.",
        &[&[
            field("to", Reference(&[TOOL, TOOL_TYPE]), "The other end."),
            field("path", Names(&[]), "The way there, step by step.").since(SECOND),
        ]],
    )
    .short(&[scalar("to"), list("path").since(SECOND)]),
    entity(
        MOTOR,
        "motor",
        "What drives a tool.",
        &[&[
            field("power", Integer, "How strong it is.").merge(Fallback),
            field("gears", Map(PART), "Its gears.").merge(ByName).since(SECOND),
        ]],
    )
    .rest(field("gears", Map(PART), "Its gears, written beside the other keys.").merge(ByName).until(SECOND)),
];

pub const WORKSHOP: Schema =
    Schema::new("workshop", &["1", "2"], ENTITIES).expressions(is_expression).expression_pattern(r"^\$\{");

fn is_expression(node: Node<'_>) -> bool {
    (node.is_scalar() && node.text().starts_with("${")) || node.get("$if").is_some()
}

/// A file that was checked, and its problems.
pub struct Read {
    pub sources: Sources,
    pub tree: Arc<Tree>,
    pub sink: Sink,
}

pub fn read(edition: Edition, text: &str) -> Read {
    let sources = Sources::new();
    let tree = sources.add(yaml::parse(sources.insert("t.yaml", text), Flavor::Core, &Limits::default()));
    assert!(tree.is_sound(), "{:?}", tree.diagnostics());
    let sink = Sink::new();
    check(&WORKSHOP, edition, tree.root().unwrap(), FILE, &sink);
    Read { tree, sink, sources }
}

impl Read {
    /// The problems so far, one line each: `line:column rule: message (hint) [line:column label]`.
    pub fn problems(&self) -> Vec<String> {
        let place = |span: purlin_syntax::Span| {
            let position = self.sources.get(span.file).unwrap().position(span.start);
            format!("{}:{}", position.line, position.column)
        };
        let mut all = self.sink.take();
        all.sort_by_key(|diagnostic| diagnostic.span);
        let line = |diagnostic: &Diagnostic| {
            let hints: String = diagnostic.hints.iter().map(|hint| format!(" ({hint})")).collect();
            let labels = diagnostic.labels.iter().map(|label| format!(" [{} {}]", place(label.span), label.message));
            let at = diagnostic.span.map(place).unwrap_or_default();
            format!("{at} {}: {}{hints}{}", diagnostic.rule.name, diagnostic.message, labels.collect::<String>())
        };
        all.iter().map(line).collect()
    }
}

#[test]
fn the_table_is_sound() {
    assert_eq!(purlin_model::guard(&WORKSHOP), Vec::<String>::new());
}

#[test]
fn the_guard_sees_what_is_wrong() {
    const BAD: &[Entity] = &[
        entity(
            Kind(0),
            "thing",
            "A thing.",
            &[&[
                field("name", Text, "Its name."),
                field("title", Text, "Its name.").aliases(&["name"]),
                field("other", One(Kind(9)), "no sentence"),
                field("never", Text, "Gone before it came.").since(SECOND).until(SECOND),
            ]],
        )
        .short(&[scalar("nothing")])
        .exactly_one(&["group"]),
        entity(Kind(7), "stray", "A row at the wrong place.", &[]),
    ];
    let wrong = purlin_model::guard(&Schema::new("bad", &["1"], BAD));
    assert_eq!(
        wrong,
        [
            "thing.other has no sentence",
            "thing.other mentions kind 9, which has no row",
            "thing.never exists in no edition",
            "thing.name is there twice in 1",
            "thing has a short notation for `nothing`, which 1 has not",
            "thing needs one of group `group`, which has no keys",
            "stray: kind 7 stands at place 1",
        ]
    );
}
