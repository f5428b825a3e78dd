//! A dialect whose editions use different names for one key, one of them being another with additions.

use purlin_model::describe::reference;
use purlin_model::schema::{Merge, Shape, Special, text};
use purlin_model::walk::check;
use purlin_model::{Edition, Entity, Schema, entity, field};
use purlin_syntax::{Flavor, Limits, Sink, Sources, yaml};

purlin_model::kinds!(SHELF, BOOK);

const FIRST: Edition = Edition(0);
const SECOND: Edition = Edition(1);
/// The second edition with additions.
const HOME: Edition = Edition(2);
const THIRD: Edition = Edition(3);

const CODE: Shape = Shape::Special(&Special { number: 0, label: "a shelf mark", outline: Shape::Text });

const ENTITIES: &[Entity] = &[
    entity(
        SHELF,
        "shelf",
        "A place for books.",
        &[&[
            field("above", Shape::Parent, "The shelf whose books stand here too."),
            field("books", Shape::Map(BOOK), "What stands on it.").slot("volumes").merge(Merge::Replace).until(THIRD),
            field("volumes", Shape::Map(BOOK), "What stands on it.").merge(Merge::Replace).since(THIRD),
            field("labels", Shape::MapOf(&Shape::Text), "What is written on it.").merge(Merge::Replace).except(HOME),
            field("owner", Shape::Text, "Whose it is.").only(HOME),
            field("lent", Shape::Text, "Who has it.").since(HOME),
        ]],
    ),
    entity(
        BOOK,
        "book",
        "A book.",
        &[&[
            field("title", Shape::Text, "What it is called.").required().optional_in(HOME).until(THIRD),
            field("name", Shape::Text, "What it is called.").slot("title").required().since(THIRD),
            field("mark", CODE, "Where it stands."),
        ]],
    )
    .short(&[text("title")]),
];

const LIBRARY: Schema = Schema::new("library", &["1", "2", "home", "3"], ENTITIES).variants(&[HOME]);

fn read(edition: Edition, text: &str) -> Vec<String> {
    let sources = Sources::new();
    let tree = sources.add(yaml::parse(sources.insert("t.yaml", text), Flavor::Core, &Limits::default()));
    let sink = Sink::new();
    check(&LIBRARY, edition, tree.root().unwrap(), SHELF, &sink);
    let line = |found: &purlin_syntax::Diagnostic| {
        let hints: String = found.hints.iter().map(|hint| format!(" ({hint})")).collect();
        format!("{}{hints}", found.message)
    };
    sink.take().iter().map(line).collect()
}

#[test]
fn the_table_is_sound() {
    assert_eq!(purlin_model::guard(&LIBRARY), Vec::<String>::new());
}

#[test]
fn an_edition_has_its_own_name_for_a_key() {
    for (edition, text) in [
        (FIRST, "{books: {a: {title: A}, b: B}}"),
        (HOME, "{books: {a: {title: A}, b: B}}"),
        (THIRD, "{volumes: {a: {name: A}, b: B}}"),
    ] {
        assert_eq!(read(edition, text), Vec::<String>::new());
    }
}

#[test]
fn a_key_of_another_edition_is_told_from_one_that_nobody_has() {
    assert_eq!(read(THIRD, "{books: {}}"), ["unknown key `books` in a shelf (in this edition it is called `volumes`)"]);
    assert_eq!(read(FIRST, "{lent: x}"), ["unknown key `lent` in a shelf (library 3 has it)"]);
    assert_eq!(read(HOME, "{labels: {}}"), ["unknown key `labels` in a shelf (library 3 has it)"]);
    // Keys of the additions do not appear in the other editions.
    assert_eq!(
        read(SECOND, "{owner: x}"),
        ["unknown key `owner` in a shelf (known keys: `above`, `books` or `labels`)"]
    );
    assert_eq!(read(FIRST, "{book: {}}"), ["unknown key `book` in a shelf (did you mean `books`?)"]);
}

#[test]
fn a_key_may_be_required_in_some_editions() {
    let missing = ["missing key `title` in book `a` (add `title:`, what it is called)"];
    assert_eq!(read(SECOND, "{books: {a: {mark: x}}}"), missing);
    assert_eq!(read(HOME, "{books: {a: {mark: x}}}"), Vec::<String>::new());
    assert_eq!(
        read(HOME, "{books: {a: 5}}"),
        [
            "book: expected a mapping or a `title` alone, found an integer (write keys and values, for example `title: 5`)"
        ]
    );
}

#[test]
fn a_special_shape_is_called_by_its_name_and_looks_like_its_outline() {
    assert_eq!(read(FIRST, "{books: {a: {title: A, mark: x}}}"), Vec::<String>::new());
    assert_eq!(
        read(FIRST, "{books: {a: {title: A, mark: [x]}}}"),
        ["`mark` of a book: expected a string, found a list"]
    );
    let page = reference(&LIBRARY, "Library");
    assert!(page.contains("| `mark` | a shelf mark | Where it stands. |"));
}

#[test]
fn the_page_tells_editions_and_their_additions() {
    let page = reference(&LIBRARY, "Library");
    for line in [
        "Editions, the oldest first: `1`, `2`, `home`, `3`. `home` is `2` with additions.",
        "Text stands for its `title` or `name`.",
        "What stands on it. Until 2. Added by name to what is inherited; the same name replaces. |",
        "What is written on it. Not in home. Added by name",
        "Whose it is. Only in home. |",
        "Who has it. From 3 on. Also in home. |",
        "What it is called. Until 2. Not required in home. |",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
}
