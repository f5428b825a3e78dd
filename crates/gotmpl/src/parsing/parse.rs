//! Builds trees from tokens: statements, pipelines, operands, definitions. Function names are resolved here, so that
//! an unknown one is found before anything runs.

use std::sync::Arc;

use crate::ast::{
    Branch, Chain, Command, Expr, Fields, File, Invoke, Number, Pipe, Quoted, Stmt, Text, Tree, Variable,
};
use crate::cause::Misread;
use crate::error::ParseError;
use crate::func::Func;
use crate::lex::{Kind, Token, Tokens, lex};
use crate::number::parse_constant;
use crate::quote::{quote, unquote, unquote_char};
use crate::value::Str;

/// Deepest nesting of parentheses and control structures.
pub const MAX_PARSE_DEPTH: u32 = purlin_syntax::limits::TEMPLATE_LEVELS;

/// Maximum length of a token in a message.
const SHOWN: usize = 10;

/// Finds a function's row by name.
pub type FindFunc = fn(&str) -> Option<&'static Func>;

/// Parses a file into its own tree (named like the file) and its definitions, the file's own tree last.
pub fn parse(name: &str, text: Str, base: u32, find: FindFunc) -> Result<Vec<Tree>> {
    let file = Arc::new(File { name: name.to_owned(), text, base });
    let tokens = lex(file.text.bytes());
    let mut parser = Parser {
        file: file.clone(),
        tokens,
        next: 0,
        pending: Vec::new(),
        line: 1,
        action_line: 0,
        depth: 0,
        range_depth: 0,
        scope: Scope::default(),
        trees: Vec::new(),
        names: Names::default(),
        find,
    };
    parser.file_body(Str::from(name))?;
    Ok(parser.trees)
}

/// Names of variables of one tree: those in scope, and the list that slots refer to.
#[derive(Default)]
struct Scope {
    visible: Vec<u32>,
    names: Vec<String>,
}

impl Scope {
    fn new() -> Self {
        Self { visible: vec![0], names: vec!["$".to_owned()] }
    }
    fn slot(&mut self, name: &str) -> u32 {
        let known = self.names.iter().position(|n| n == name);
        known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        }) as u32
    }
}

enum Ends {
    End,
    Else,
}

enum Item {
    Stmt(Stmt),
    Ends(Ends),
}

struct Parser {
    file: Arc<File>,
    tokens: Tokens,
    next: usize,
    pending: Vec<Token>,
    line: u32,
    action_line: u32,
    depth: u32,
    range_depth: u32,
    scope: Scope,
    trees: Vec<Tree>,
    names: Names,
    find: FindFunc,
}

type Names = std::collections::HashSet<Str, foldhash::fast::RandomState>;

type Result<T> = std::result::Result<T, ParseError>;

impl Parser {
    // Tokens.

    fn take(&mut self) -> Token {
        if let Some(token) = self.pending.pop() {
            return token;
        }
        let list = &self.tokens.list;
        let token = list.get(self.next).or(list.last()).copied();
        self.next += 1;
        let token = token.unwrap_or(Token { kind: Kind::Eof, start: 0, end: 0, line: self.line });
        self.line = token.line;
        token
    }

    fn back(&mut self, token: Token) {
        self.pending.push(token);
    }

    fn peek(&mut self) -> Token {
        let token = self.take();
        self.back(token);
        token
    }

    fn take_word(&mut self) -> Token {
        loop {
            let token = self.take();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_word(&mut self) -> Token {
        let token = self.take_word();
        self.back(token);
        token
    }

    fn source(&self, token: &Token) -> &[u8] {
        self.file.text.bytes().get(token.start as usize..token.end as usize).unwrap_or_default()
    }

    fn source_text(&self, token: &Token) -> String {
        crate::value::text_of(self.source(token)).into_owned()
    }

    // Errors.

    fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        self.fail_as(Misread::Other, message)
    }

    fn fail_as<T>(&self, what: Misread, message: impl Into<String>) -> Result<T> {
        Err(ParseError { file: self.file.name.clone(), line: self.line, message: message.into(), what })
    }

    fn describe(&self, token: &Token) -> String {
        match token.kind {
            Kind::Eof => "EOF".to_owned(),
            Kind::Error => self.tokens.error.clone(),
            kind if kind.is_keyword() => format!("<{}>", self.source_text(token)),
            _ => {
                let text = self.source_text(token);
                if text.len() > SHOWN {
                    let cut: String = text.chars().take(SHOWN).collect();
                    return format!("{}...", quote(cut.as_bytes()));
                }
                quote(text.as_bytes())
            }
        }
    }

    fn unexpected<T>(&self, token: &Token, context: &str) -> Result<T> {
        if token.kind == Kind::Error {
            let mut extra = String::new();
            if self.action_line != 0 && self.action_line != token.line {
                extra = format!(" in action started at {}:{}", self.file.name, self.action_line);
                if self.tokens.what == Misread::OpenAction {
                    extra = format!(" started at {}:{}", self.file.name, self.action_line);
                }
            }
            return self.fail_as(self.tokens.what.clone(), format!("{}{extra}", self.tokens.error));
        }
        self.fail_as(self.cut_short(token), format!("unexpected {} in {context}", self.describe(token)))
    }

    /// An unexpected token, cut to the length that Go shows.
    fn cut_short(&self, token: &Token) -> Misread {
        Misread::Unexpected(match token.kind {
            Kind::Eof => "EOF".to_owned(),
            kind if kind.is_keyword() => self.source_text(token),
            _ => self.source_text(token).chars().take(SHOWN).collect(),
        })
    }

    fn unexpected_end<T>(&self, ends: &Ends, context: &str) -> Result<T> {
        let what = match ends {
            Ends::End => Misread::LoneEnd,
            Ends::Else => Misread::LoneElse,
        };
        self.fail_as(what, format!("unexpected {}{context}", ends_name(ends)))
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Result<Token> {
        let token = self.take_word();
        if token.kind != kind {
            return self.unexpected(&token, context);
        }
        Ok(token)
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_PARSE_DEPTH {
            return self.fail(format!("nested deeper than {MAX_PARSE_DEPTH} levels"));
        }
        Ok(())
    }

    // Files, definitions.

    fn file_body(&mut self, name: Str) -> Result<()> {
        self.scope = Scope::new();
        let mut root = Vec::new();
        loop {
            let token = self.take();
            if token.kind == Kind::Eof {
                break;
            }
            if token.kind == Kind::LeftDelim {
                let word = self.take_word();
                if word.kind == Kind::Define {
                    self.definition()?;
                    continue;
                }
                self.back(word);
            }
            self.back(token);
            match self.text_or_action()? {
                Item::Stmt(stmt) => root.push(stmt),
                Item::Ends(ends) => return self.unexpected_end(&ends, ""),
            }
        }
        self.finish(name, root)
    }

    /// Adds a tree unless a tree of that name with a body exists already.
    fn finish(&mut self, name: Str, root: Vec<Stmt>) -> Result<()> {
        let tree = Tree { name, file: self.file.clone(), root };
        let Some(index) = self.trees.iter().position(|known| known.name == tree.name) else {
            self.trees.push(tree);
            return Ok(());
        };
        let known_empty = self.trees.get(index).is_none_or(is_empty_tree);
        if known_empty {
            self.trees.remove(index);
            self.trees.push(tree);
        } else if !is_empty_tree(&tree) {
            return self.fail(format!("template: multiple definition of template {}", quote(tree.name.bytes())));
        }
        Ok(())
    }

    fn definition(&mut self) -> Result<()> {
        let context = "define clause";
        let name = self.template_name(context)?;
        self.expect(Kind::RightDelim, context)?;
        let outer = std::mem::replace(&mut self.scope, Scope::new());
        let outer_range = std::mem::take(&mut self.range_depth);
        let (root, ends) = self.item_list()?;
        if let Ends::Else = ends {
            return self.unexpected_end(&ends, &format!(" in {context}"));
        }
        self.finish(name, root)?;
        self.scope = outer;
        self.range_depth = outer_range;
        Ok(())
    }

    fn template_name(&mut self, context: &str) -> Result<Str> {
        let token = self.take_word();
        if !matches!(token.kind, Kind::Str | Kind::RawString) {
            return self.unexpected(&token, context);
        }
        match unquote(self.source(&token)) {
            Some(name) => Ok(Str::new(name)),
            None => self.fail("invalid syntax"),
        }
    }

    // Statements.

    fn item_list(&mut self) -> Result<(Vec<Stmt>, Ends)> {
        let mut list = Vec::new();
        loop {
            if self.peek_word().kind == Kind::Eof {
                let token = self.take_word();
                debug_assert_eq!(token.kind, Kind::Eof);
                return self.fail_as(Misread::OpenBlock, "unexpected EOF");
            }
            match self.text_or_action()? {
                Item::Stmt(stmt) => list.push(stmt),
                Item::Ends(ends) => return Ok((list, ends)),
            }
        }
    }

    fn text_or_action(&mut self) -> Result<Item> {
        let token = self.take_word();
        match token.kind {
            Kind::Text => Ok(Item::Stmt(Stmt::Text(Text { pos: token.start, end: token.end }))),
            Kind::LeftDelim => {
                self.action_line = token.line;
                let item = self.action();
                self.action_line = 0;
                item
            }
            _ => self.unexpected(&token, "input"),
        }
    }

    fn action(&mut self) -> Result<Item> {
        let token = self.take_word();
        let stmt = match token.kind {
            Kind::Block => self.block()?,
            Kind::Break | Kind::Continue => self.jump(&token)?,
            Kind::Else => return self.else_clause(),
            Kind::End => {
                self.expect(Kind::RightDelim, "end")?;
                return Ok(Item::Ends(Ends::End));
            }
            Kind::If => Stmt::If(Box::new(self.branch("if", Kind::If)?)),
            Kind::With => Stmt::With(Box::new(self.branch("with", Kind::With)?)),
            Kind::Range => {
                self.range_depth += 1;
                let branch = self.branch("range", Kind::Range);
                Stmt::Range(Box::new(branch?))
            }
            Kind::Template => self.invoke()?,
            _ => {
                self.back(token);
                Stmt::Action(self.pipeline("command", Kind::RightDelim)?)
            }
        };
        Ok(Item::Stmt(stmt))
    }

    fn jump(&mut self, token: &Token) -> Result<Stmt> {
        let word = self.source_text(token);
        let end = self.take_word();
        if end.kind != Kind::RightDelim {
            return self.unexpected(&end, &format!("{{{{{word}}}}}"));
        }
        if self.range_depth == 0 {
            return self.fail(format!("{{{{{word}}}}} outside {{{{range}}}}"));
        }
        Ok(if token.kind == Kind::Break { Stmt::Break(token.start) } else { Stmt::Continue(token.start) })
    }

    fn else_clause(&mut self) -> Result<Item> {
        let token = self.peek_word();
        // `else if` and `else with` are handled by their control structure.
        if !matches!(token.kind, Kind::If | Kind::With) {
            self.expect(Kind::RightDelim, "else")?;
        }
        Ok(Item::Ends(Ends::Else))
    }

    fn branch(&mut self, context: &str, kind: Kind) -> Result<Branch> {
        self.enter()?;
        let mark = self.scope.visible.len();
        let pipe = self.pipeline(context, Kind::RightDelim)?;
        let (body, ends) = self.item_list()?;
        if kind == Kind::Range {
            self.range_depth -= 1;
        }
        let mut otherwise = None;
        if let Ends::Else = ends {
            otherwise = Some(self.else_body(kind)?);
        }
        self.scope.visible.truncate(mark);
        self.depth -= 1;
        Ok(Branch { pipe, body, otherwise })
    }

    fn else_body(&mut self, kind: Kind) -> Result<Vec<Stmt>> {
        let token = self.peek();
        if token.kind == Kind::Space || matches!(token.kind, Kind::If | Kind::With) {
            let word = self.peek_word();
            if word.kind == Kind::If && kind == Kind::If {
                self.take_word();
                return Ok(vec![Stmt::If(Box::new(self.branch("if", Kind::If)?))]);
            }
            if word.kind == Kind::With && kind == Kind::With {
                self.take_word();
                return Ok(vec![Stmt::With(Box::new(self.branch("with", Kind::With)?))]);
            }
            if matches!(word.kind, Kind::If | Kind::With) {
                let word = self.take_word();
                return self.unexpected(&word, "else");
            }
        }
        let (list, ends) = self.item_list()?;
        if let Ends::Else = ends {
            return self.fail(format!("expected end; found {}", ends_name(&ends)));
        }
        Ok(list)
    }

    fn block(&mut self) -> Result<Stmt> {
        self.enter()?;
        let context = "block clause";
        let at = self.peek_word().start;
        let name = self.template_name(context)?;
        let pipe = self.pipeline(context, Kind::RightDelim)?;
        // A wrong end is reported where the head ends: Go uses a separate reader for the body.
        let head = self.line;
        let outer = std::mem::replace(&mut self.scope, Scope::new());
        let outer_range = std::mem::take(&mut self.range_depth);
        let (root, ends) = self.item_list()?;
        if let Ends::Else = ends {
            self.line = head;
            return self.unexpected_end(&ends, &format!(" in {context}"));
        }
        self.finish(name.clone(), root)?;
        self.scope = outer;
        self.range_depth = outer_range;
        self.depth -= 1;
        Ok(Stmt::Template(Box::new(Invoke { pos: at, name, pipe: Some(pipe) })))
    }

    fn invoke(&mut self) -> Result<Stmt> {
        let context = "template clause";
        let at = self.peek_word().start;
        let name = self.template_name(context)?;
        let mut pipe = None;
        let token = self.take_word();
        if token.kind != Kind::RightDelim {
            self.back(token);
            pipe = Some(self.pipeline(context, Kind::RightDelim)?);
        }
        Ok(Stmt::Template(Box::new(Invoke { pos: at, name, pipe })))
    }

    // Pipelines.

    fn pipeline(&mut self, context: &str, end: Kind) -> Result<Pipe> {
        let pos = self.peek_word().start;
        let mut pipe = Pipe { pos, assigns: false, decl: Vec::new(), cmds: Vec::with_capacity(1) };
        self.declarations(&mut pipe, context)?;
        loop {
            let token = self.take_word();
            match token.kind {
                kind if kind == end => {
                    self.check_pipeline(&pipe, context)?;
                    return Ok(pipe);
                }
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::RawString
                | Kind::Str
                | Kind::Variable
                | Kind::LeftParen => {
                    self.back(token);
                    pipe.cmds.push(self.command()?);
                }
                _ => return self.unexpected(&token, context),
            }
        }
    }

    /// Reads `$a :=`, `$a =`, `$a, $b :=` if present.
    fn declarations(&mut self, pipe: &mut Pipe, context: &str) -> Result<()> {
        loop {
            let token = self.peek_word();
            if token.kind != Kind::Variable {
                return Ok(());
            }
            let token = self.take_word();
            // The space is kept: `$x 23` is a variable and an argument, `$x := 23` a declaration.
            let after = self.take();
            let next = if after.kind == Kind::Space { self.peek_word() } else { after };
            let is_range = context == "range";
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    if after.kind == Kind::Space {
                        self.take_word();
                    }
                    pipe.assigns = next.kind == Kind::Assign;
                    self.declare(pipe, &token);
                    return Ok(());
                }
                Kind::Char if self.source(&next) == b"," => {
                    if after.kind == Kind::Space {
                        self.take_word();
                    }
                    self.declare(pipe, &token);
                    if is_range && pipe.decl.len() < 2 {
                        match self.peek_word().kind {
                            Kind::Variable | Kind::RightDelim | Kind::RightParen => continue,
                            _ => return self.fail("range can only initialize variables"),
                        }
                    }
                    return self.fail(format!("too many declarations in {context}"));
                }
                _ => {
                    self.back(after);
                    self.back(token);
                    return Ok(());
                }
            }
        }
    }

    fn declare(&mut self, pipe: &mut Pipe, token: &Token) {
        let name = self.source_text(token);
        let slot = self.scope.slot(&name);
        self.scope.visible.push(slot);
        pipe.decl.push(Variable { pos: token.start, slot, name, fields: Vec::new() });
    }

    fn check_pipeline(&self, pipe: &Pipe, context: &str) -> Result<()> {
        if pipe.cmds.is_empty() {
            return self.fail_as(Misread::NoValue(context.to_owned()), format!("missing value for {context}"));
        }
        for (index, command) in pipe.cmds.iter().enumerate().skip(1) {
            if let Some(Expr::Bool(..) | Expr::Dot(_) | Expr::Nil(_) | Expr::Number(_) | Expr::Str(_)) =
                command.args.first()
            {
                return self.fail(format!("non executable command in pipeline stage {}", index + 1));
            }
        }
        Ok(())
    }

    fn command(&mut self) -> Result<Command> {
        let pos = self.peek_word().start;
        let mut args = Vec::with_capacity(2);
        loop {
            if let Some(operand) = self.operand()? {
                args.push(operand);
            }
            let token = self.take();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.back(token),
                Kind::Pipe => {}
                _ => return self.unexpected(&token, "operand"),
            }
            break;
        }
        if args.is_empty() {
            return self.fail("empty command");
        }
        Ok(Command { pos, args })
    }

    fn operand(&mut self) -> Result<Option<Expr>> {
        let Some(node) = self.term()? else { return Ok(None) };
        let first = self.peek();
        if first.kind != Kind::Field {
            return Ok(Some(node));
        }
        let pos = first.start;
        Ok(Some(match node {
            Expr::Field(mut known) => {
                known.pos = pos;
                self.more_fields(&mut known.names);
                Expr::Field(known)
            }
            Expr::Variable(mut known) => {
                known.pos = pos;
                self.more_fields(&mut known.fields);
                Expr::Variable(known)
            }
            Expr::Bool(..) | Expr::Str(_) | Expr::Number(_) | Expr::Nil(_) | Expr::Dot(_) => {
                let term = node.to_string();
                let message = format!("unexpected . after term {}", quote(term.as_bytes()));
                return self.fail_as(Misread::Unexpected(term), message);
            }
            node => {
                let mut fields = Vec::new();
                self.more_fields(&mut fields);
                Expr::Chain(Box::new(Chain { pos, node, fields }))
            }
        }))
    }

    /// Reads fields that follow each other without a space.
    fn more_fields(&mut self, fields: &mut Vec<Str>) {
        while self.peek().kind == Kind::Field {
            let token = self.take();
            fields.push(self.field_name(&token));
        }
    }

    /// A field's name; equal names share one text throughout a file.
    fn field_name(&mut self, token: &Token) -> Str {
        let source = self.file.text.bytes().get(token.start as usize + 1..token.end as usize).unwrap_or_default();
        if let Some(known) = self.names.get(source) {
            return known.clone();
        }
        let name = Str::from(source);
        self.names.insert(name.clone());
        name
    }

    fn term(&mut self) -> Result<Option<Expr>> {
        let token = self.take_word();
        let pos = token.start;
        Ok(Some(match token.kind {
            Kind::Identifier => {
                let name = self.source(&token);
                match std::str::from_utf8(name).ok().and_then(self.find) {
                    Some(func) => Expr::Func(pos, func),
                    None => {
                        let what = Misread::UnknownFunction(self.source_text(&token));
                        return self.fail_as(what, format!("function {} not defined", quote(name)));
                    }
                }
            }
            Kind::Dot => Expr::Dot(pos),
            Kind::Nil => Expr::Nil(pos),
            Kind::Variable => self.use_variable(&token)?,
            Kind::Field => {
                // Most chains are two or three names long.
                let mut names = Vec::with_capacity(3);
                names.push(self.field_name(&token));
                Expr::Field(Box::new(Fields { pos, names }))
            }
            Kind::Bool => Expr::Bool(pos, self.source(&token) == b"true"),
            Kind::CharConstant => self.char_constant(&token)?,
            Kind::Complex | Kind::Number => {
                let source = self.source_text(&token);
                match parse_constant(pos, &source, token.kind == Kind::Complex) {
                    Ok(number) => Expr::Number(Box::new(number)),
                    Err(message) => return self.fail(message),
                }
            }
            Kind::LeftParen => {
                self.enter()?;
                let pipe = self.pipeline("parenthesized pipeline", Kind::RightParen)?;
                self.depth -= 1;
                Expr::Pipe(Box::new(pipe))
            }
            Kind::Str | Kind::RawString => match unquote(self.source(&token)) {
                Some(text) => {
                    let source = self.source_text(&token);
                    Expr::Str(Box::new(Quoted { pos, source, text: Str::new(text) }))
                }
                None => return self.fail("invalid syntax"),
            },
            _ => {
                self.back(token);
                return Ok(None);
            }
        }))
    }

    fn char_constant(&mut self, token: &Token) -> Result<Expr> {
        let source = self.source_text(token);
        let Some(ch) = unquote_char(self.source(token)) else {
            return self.fail(format!("malformed character constant: {source}"));
        };
        let code = u32::from(ch);
        let number = Number {
            pos: token.start,
            source,
            int: Some(i64::from(code)),
            uint: Some(u64::from(code)),
            float: Some(f64::from(code)),
            imaginary: None,
            is_char: true,
        };
        Ok(Expr::Number(Box::new(number)))
    }

    fn use_variable(&mut self, token: &Token) -> Result<Expr> {
        let name = self.source_text(token);
        let slot = self.scope.slot(&name);
        if !self.scope.visible.contains(&slot) {
            let message = format!("undefined variable {}", quote(name.as_bytes()));
            return self.fail_as(Misread::UnknownVariable(name), message);
        }
        Ok(Expr::Variable(Box::new(Variable { pos: token.start, slot, name, fields: Vec::new() })))
    }
}

fn ends_name(ends: &Ends) -> &'static str {
    match ends {
        Ends::End => "{{end}}",
        Ends::Else => "{{else}}",
    }
}

/// Whether a tree contains nothing but white space; such a tree never replaces another one.
pub fn is_empty_tree(tree: &Tree) -> bool {
    tree.root.iter().all(|stmt| match stmt {
        Stmt::Text(text) => {
            let bytes = tree.file.text.bytes().get(text.pos as usize..text.end as usize).unwrap_or_default();
            bytes.iter().all(u8::is_ascii_whitespace)
        }
        _ => false,
    })
}
