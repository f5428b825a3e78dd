//! Mistakes in YAML by name, with their words. The only place that interprets the event parser's own messages.

/// A mistake in the notation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum YamlMistake {
    /// A key after a value, or at the wrong indentation.
    KeyBehindValue,
    /// `- item` inside brackets.
    ListInBrackets,
    /// `:` inside an open bracket or quote.
    ColonInBrackets,
    /// A key where none is allowed.
    KeyNotPossible,
    /// A list item where none is allowed.
    ItemNotPossible,
    /// Something else among the items of a list.
    ItemExpected,
    /// A line at an indentation that no line above has.
    Indentation,
    /// Something else where `,` or `}` is expected.
    CommaOrBrace,
    /// Something else where `,` or `]` is expected.
    CommaOrBracket,
    /// A line without `:` where a key is expected.
    NoColon,
    /// A character that no value starts with.
    BadStart,
    /// A missing value.
    ValueExpected,
    /// An escape that YAML does not know.
    UnknownEscape,
    /// Text after a quoted string.
    TextBehindQuote,
    /// `:` without a space inside brackets.
    ColonWithoutSpace,
    /// `-` without a space.
    DashWithoutSpace,
    /// `#` without a space.
    CommentWithoutSpace,
    /// A bracket that closes another kind.
    WrongBracket,
    /// A bracket that closes nothing.
    LoneBracket,
    /// A line of a text block that is indented too little.
    BlockIndentation,
    /// A tab in the indentation.
    Tab,
    /// An alias without an anchor.
    UnknownAnchor,
    /// A comment inside a plain text.
    CommentInText,
    /// Text after `|` or `>`.
    TextBehindIndicator,
    /// A text block that is indented by 0.
    ZeroIndentation,
    /// A second value in one document.
    SecondValue,
    /// `&` or `*` without a name.
    NoName,
    /// A tag that is not closed.
    OpenTag,
    /// A tag that cannot be read.
    BadTag,
    /// A tag whose prefix is not declared.
    TagPrefix,
    /// A line that begins with `%`.
    Directive,
    /// The end of the file where a value is expected.
    FileEnds,
    /// A missing space.
    SpaceMissing,
    /// Text after `...`.
    BehindDocument,
    /// A quoted string that is open where the next document begins.
    QuoteAcrossDocuments,
    /// A key without `:`.
    KeyWithoutColon,
    /// A quoted string that is not closed.
    OpenQuote,
    /// A line inside a quoted string that was opened before.
    QuoteStillOpen,
    /// A `[` that is not closed.
    OpenBracket,
    /// A `{` that is not closed.
    OpenBrace,
    /// The end of the file inside `[…]`.
    EndsInBrackets,
    /// The end of the file inside `{…}`.
    EndsInBraces,
    /// A second `:` in a line.
    SecondColon,
    /// Two commas without a value between them.
    ValueBetweenCommas,
    /// A template of a chart.
    Template,
    /// A list item among the keys of a mapping.
    ItemAmongKeys,
    /// `key:value`.
    MissingSpace,
}

impl YamlMistake {
    /// The message.
    pub fn words(self) -> &'static str {
        self.row().0
    }

    /// The hint.
    pub fn hint(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> (&'static str, &'static str) {
        ROWS.iter().find(|(mistake, ..)| *mistake == self).map_or(("", ""), |(_, words, hint)| (words, hint))
    }
}

/// Each with its message and hint.
const ROWS: &[(YamlMistake, &str, &str)] = &[
    (
        YamlMistake::KeyBehindValue,
        "a key is not possible here: the line above already has a value, or the indentation is wrong",
        "align it with the keys that belong to the same mapping, or put a value that contains `: ` in quotes",
    ),
    (
        YamlMistake::ListInBrackets,
        "a list item is not possible inside brackets or braces",
        "put `{{ … }}` in quotes, or write the list below its key",
    ),
    (
        YamlMistake::ColonInBrackets,
        "unexpected `:`, because a bracket or quote before it is still open",
        "close the bracket or quote",
    ),
    (
        YamlMistake::KeyNotPossible,
        "a key is not possible here",
        "align it with the keys that belong to the same mapping",
    ),
    (YamlMistake::ItemNotPossible, "a list item is not possible here", "put `-` on a line of its own, below the key"),
    (YamlMistake::ItemExpected, "expected another list item", "start the line with `- `, or indent it less"),
    (
        YamlMistake::Indentation,
        "this line does not fit the indentation of the lines before it",
        "align it with the keys that belong to the same mapping",
    ),
    (YamlMistake::CommaOrBrace, "expected `,` or `}`", "add the comma or the closing brace"),
    (YamlMistake::CommaOrBracket, "expected `,` or `]`", "add the comma or the closing bracket"),
    (YamlMistake::NoColon, "this line has no `:` where a key is expected", "write `key: value`, or `- item` in a list"),
    (YamlMistake::BadStart, "a value cannot start with this character", "put the value in quotes"),
    (YamlMistake::ValueExpected, "expected a value", "write a value, or `null`"),
    (
        YamlMistake::UnknownEscape,
        "unknown escape in a double-quoted string",
        "use single quotes, or write `\\\\` for a backslash",
    ),
    (YamlMistake::TextBehindQuote, "unexpected text after a quoted string", "put the whole value in quotes"),
    (YamlMistake::ColonWithoutSpace, "`:` must be followed by a space", "write `key: value`"),
    (YamlMistake::DashWithoutSpace, "`-` must be followed by a space", "write `- item`"),
    (YamlMistake::CommentWithoutSpace, "a comment must be separated by a space", "write ` #`"),
    (
        YamlMistake::WrongBracket,
        "this bracket does not match the one that was opened",
        "close what was opened last first",
    ),
    (YamlMistake::LoneBracket, "this bracket closes nothing", "remove it, or open it before"),
    (
        YamlMistake::BlockIndentation,
        "this line is indented less than the text block it belongs to",
        "indent it as the first line of the block",
    ),
    (YamlMistake::Tab, "a tab cannot be used for indentation", "indent with spaces"),
    (YamlMistake::UnknownAnchor, "unknown anchor", "define it with `&name` before it is used"),
    (
        YamlMistake::CommentInText,
        "a comment ended the text above, so this line cannot continue it",
        "remove the comment, or put the whole text in quotes",
    ),
    (
        YamlMistake::TextBehindIndicator,
        "no text can follow `|` or `>` on the same line",
        "begin the text on the next line, indented",
    ),
    (YamlMistake::ZeroIndentation, "a text block cannot be indented by 0", "write a number from 1 to 9, or none"),
    (
        YamlMistake::SecondValue,
        "a second value begins here, but the document has one already",
        "separate documents with `---`, or align this line with the keys above",
    ),
    (YamlMistake::NoName, "`&` and `*` must be followed by a name", "write a name, or put the value in quotes"),
    (YamlMistake::OpenTag, "this tag is never closed", "write `!<name>` without spaces"),
    (YamlMistake::BadTag, "this tag cannot be read", "write `!name`, or put the value in quotes"),
    (YamlMistake::TagPrefix, "unknown tag prefix", "declare it with `%TAG`, or write `!name`"),
    (YamlMistake::Directive, "unknown YAML directive: a line that begins with `%` is one", "put the value in quotes"),
    (YamlMistake::FileEnds, "the file ends where a value is expected", "write the value, or close what is open"),
    (YamlMistake::SpaceMissing, "a space is missing here", "separate the two with a space"),
    (YamlMistake::BehindDocument, "text cannot follow `...`", "begin the next document with `---`"),
    (
        YamlMistake::QuoteAcrossDocuments,
        "a quoted string is still open where the next document begins",
        "add the closing quote",
    ),
    (YamlMistake::KeyWithoutColon, "this key has no `:`", "write `key: value` on one line"),
    (YamlMistake::OpenQuote, "this quoted string is never closed", "add the closing quote"),
    (
        YamlMistake::QuoteStillOpen,
        "a quoted string that was opened before is still open here",
        "close the quote, or indent this line under the key",
    ),
    (YamlMistake::OpenBracket, "this `[` is never closed", "add the closing bracket"),
    (YamlMistake::OpenBrace, "this `{` is never closed", "add the closing bracket"),
    (YamlMistake::EndsInBrackets, "the file ends inside `[…]`", "add the closing `]`"),
    (YamlMistake::EndsInBraces, "the file ends inside `{…}`", "add the closing `}`"),
    (
        YamlMistake::SecondColon,
        "unexpected `:`: this line has a key and a value already",
        "put a value that contains `: ` in quotes",
    ),
    (
        YamlMistake::ValueBetweenCommas,
        "a value is missing between these commas",
        "remove one of them, or write the value",
    ),
    (
        YamlMistake::Template,
        "`{{ … }}` on a line of its own is not YAML",
        "only templates of charts may hold it; put it in quotes as a value",
    ),
    (
        YamlMistake::ItemAmongKeys,
        "expected a key, found a list item",
        "put it below a key of its own, or write `key: value`",
    ),
    (YamlMistake::MissingSpace, "missing space after `:`", "write `key: value`"),
];

/// Parts of the event parser's messages; the first match counts.
const PARSER: &[(&str, YamlMistake)] = &[
    ("mapping values are not allowed", YamlMistake::KeyBehindValue),
    ("is only valid inside a block", YamlMistake::ListInBrackets),
    ("placement of ':'", YamlMistake::ColonInBrackets),
    ("mapping keys are not allowed", YamlMistake::KeyNotPossible),
    ("block sequence entries are not allowed", YamlMistake::ItemNotPossible),
    ("did not find expected '-' indicator", YamlMistake::ItemExpected),
    ("did not find expected key", YamlMistake::Indentation),
    ("did not find expected ',' or '}'", YamlMistake::CommaOrBrace),
    ("did not find expected ',' or ']'", YamlMistake::CommaOrBracket),
    ("expected ',' or ']'", YamlMistake::CommaOrBracket),
    ("could not find expected ':'", YamlMistake::NoColon),
    ("found character that cannot start any token", YamlMistake::BadStart),
    ("did not find expected node content", YamlMistake::ValueExpected),
    ("found unknown escape character", YamlMistake::UnknownEscape),
    ("unexpected character", YamlMistake::BadStart),
    ("trailing content after", YamlMistake::TextBehindQuote),
    ("':' must be followed", YamlMistake::ColonWithoutSpace),
    ("'-' must be followed", YamlMistake::DashWithoutSpace),
    ("comments must be separated", YamlMistake::CommentWithoutSpace),
    ("mismatched bracket", YamlMistake::WrongBracket),
    ("misplaced bracket", YamlMistake::LoneBracket),
    ("wrongly indented line in block scalar", YamlMistake::BlockIndentation),
    ("tab", YamlMistake::Tab),
    ("unknown anchor", YamlMistake::UnknownAnchor),
    ("comment intercepting", YamlMistake::CommentInText),
    ("block scalar, did not find expected comment or line break", YamlMistake::TextBehindIndicator),
    ("indentation indicator equal to 0", YamlMistake::ZeroIndentation),
    ("<document start>", YamlMistake::SecondValue),
    ("scanning an anchor or alias", YamlMistake::NoName),
    ("verbatim tag", YamlMistake::OpenTag),
    ("a tag", YamlMistake::BadTag),
    ("handle wasn't declared", YamlMistake::TagPrefix),
    ("directive", YamlMistake::Directive),
    ("unexpected eof", YamlMistake::FileEnds),
    ("EOF while parsing", YamlMistake::FileEnds),
    ("expected whitespace", YamlMistake::SpaceMissing),
    ("document end marker", YamlMistake::BehindDocument),
    ("document indicator", YamlMistake::QuoteAcrossDocuments),
    ("simple key is no longer valid", YamlMistake::KeyWithoutColon),
];

/// The mistake for a message of the event parser.
pub(crate) fn of_parser(text: &str) -> Option<YamlMistake> {
    PARSER.iter().find(|(part, _)| text.contains(part)).map(|(_, mistake)| *mistake)
}

/// Whether the event parser's message is about a tab: there are several kinds of such errors.
pub(crate) fn is_about_tab(text: &str) -> bool {
    text.contains("tab")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_has_words() {
        assert!(PARSER.iter().all(|(_, mistake)| !mistake.words().is_empty() && !mistake.hint().is_empty()));
        assert_eq!(of_parser("did not find expected key"), Some(YamlMistake::Indentation));
    }
}
