//! Converts answers of [`purlin_ide`] to the protocol.

use crate::edits::offset;
use crate::uri::uri_of;
use purlin_ide::{Edit, Fix, Ide, Place, Problem, Proposal, ProposalKind, Symbol, Token};
use purlin_syntax::Severity;
use serde_json::{Map, Value, json};

/// The full path of a file of the world.
pub(crate) fn full(root: &str, file: &str) -> String {
    if file.starts_with('/') { file.to_owned() } else { format!("{}/{file}", root.trim_end_matches('/')) }
}

pub(crate) fn range(place: &Place) -> Value {
    let point = |point: purlin_ide::Point| json!({"line": point.line, "character": point.utf16});
    json!({"start": point(place.start), "end": point(place.end)})
}

pub(crate) fn location(root: &str, place: &Place) -> Value {
    json!({"uri": uri_of(&full(root, &place.file)), "range": range(place)})
}

pub(crate) fn diagnostic(root: &str, problem: &Problem) -> Value {
    let severity = match problem.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Note => 3,
    };
    let hints: String = problem.hints.iter().map(|hint| format!("\nhint: {hint}")).collect();
    let related: Vec<Value> = problem
        .related
        .iter()
        .map(|(place, message)| json!({"location": location(root, place), "message": message}))
        .collect();
    json!({
        "range": range(&problem.place),
        "severity": severity,
        "code": problem.rule,
        "source": "purlin",
        "message": format!("{}{hints}", problem.message),
        "relatedInformation": related,
    })
}

fn completion(index: usize, proposal: &Proposal) -> Value {
    let kind = match proposal.kind {
        ProposalKind::Key => 10,
        ProposalKind::Word => 12,
        ProposalKind::Name => 18,
        ProposalKind::Function => 3,
        ProposalKind::Field => 5,
    };
    let text = if proposal.kind == ProposalKind::Key { format!("{}: ", proposal.text) } else { proposal.text.clone() };
    let mut item = json!({
        "label": proposal.text,
        "kind": kind,
        "sortText": format!("{index:04}"),
        "filterText": proposal.text,
        "textEdit": {"range": range(&proposal.place), "newText": text},
    });
    if !proposal.detail.is_empty() {
        item["detail"] = json!(proposal.detail);
    }
    if !proposal.doc.is_empty() {
        item["documentation"] = json!({"kind": "markdown", "value": proposal.doc});
    }
    if proposal.deprecated {
        item["tags"] = json!([1]);
    }
    item
}

/// The protocol's number for a kind of symbol.
fn symbol_kind(kind: &str) -> u32 {
    match kind {
        "action" | "named template" => 12,
        "module" | "configuration" | "chart" => 2,
        "variable" | "value" | "input" => 13,
        "project" => 4,
        "environment" | "profile" => 3,
        "node template" | "image" => 19,
        kind if kind.ends_with("type") => 5,
        _ => 7,
    }
}

/// Symbols as a tree: a symbol within another one is its child.
fn symbol_tree(symbols: &[Symbol]) -> Vec<Value> {
    let mut open: Vec<(Place, Value)> = Vec::new();
    let mut roots: Vec<Value> = Vec::new();
    let close = |open: &mut Vec<(Place, Value)>, roots: &mut Vec<Value>| {
        let Some((_, done)) = open.pop() else { return };
        match open.last_mut().and_then(|(_, parent)| parent["children"].as_array_mut()) {
            Some(children) => children.push(done),
            None => roots.push(done),
        }
    };
    for symbol in symbols {
        while open.last().is_some_and(|(place, _)| place.end <= symbol.whole.start) {
            close(&mut open, &mut roots);
        }
        let item = json!({
            "name": symbol.name,
            "detail": symbol.kind,
            "kind": symbol_kind(symbol.kind),
            "range": range(&symbol.whole),
            "selectionRange": range(&symbol.place),
            "children": [],
        });
        open.push((symbol.whole.clone(), item));
    }
    while !open.is_empty() {
        close(&mut open, &mut roots);
    }
    roots
}

fn workspace_edit(root: &str, edits: &[Edit]) -> Value {
    let mut changes: Map<String, Value> = Map::new();
    for edit in edits {
        let list = changes.entry(uri_of(&full(root, &edit.place.file))).or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(json!({"range": range(&edit.place), "newText": edit.text}));
        }
    }
    json!({"changes": changes})
}

fn code_action(root: &str, fix: &Fix) -> Value {
    let mut action = json!({"title": fix.title, "kind": "quickfix", "edit": workspace_edit(root, &fix.edits)});
    if let Some(problem) = &fix.problem {
        action["diagnostics"] = json!([diagnostic(root, problem)]);
        action["isPreferred"] = json!(true);
    }
    action
}

/// Tokens as the protocol packs them: five numbers each, relative to the one before.
fn packed(tokens: &[Token]) -> Vec<u32> {
    let mut data = Vec::with_capacity(tokens.len() * 5);
    let (mut line, mut column) = (0, 0);
    for token in tokens {
        let start = token.place.start;
        let from = if start.line == line { start.utf16.saturating_sub(column) } else { start.utf16 };
        let length = token.place.end.utf16.saturating_sub(start.utf16);
        let kind = u32::try_from(token.kind).unwrap_or(0);
        data.extend([start.line.saturating_sub(line), from, length, kind, 0]);
        (line, column) = (start.line, start.utf16);
    }
    data
}

/// A question about a file.
pub(crate) struct Question<'q> {
    pub ide: &'q Ide,
    pub root: &'q str,
    pub file: &'q str,
    pub params: &'q Value,
    pub with_inlays: bool,
}

/// The result of a request, or an error message.
pub(crate) fn answer(method: &str, q: &Question<'_>) -> Option<Result<Value, String>> {
    let (ide, file, root) = (q.ide, q.file, q.root);
    let text = ide.text(file).unwrap_or_default();
    let at = || offset(&text, &q.params["position"]);
    let locations = |places: Vec<Place>| json!(places.iter().map(|place| location(root, place)).collect::<Vec<_>>());
    Some(Ok(match method {
        "textDocument/completion" => {
            let proposals = ide.complete(file, at());
            let items: Vec<Value> = proposals.iter().enumerate().map(|(index, one)| completion(index, one)).collect();
            json!({"isIncomplete": false, "items": items})
        }
        "textDocument/hover" => match ide.hover(file, at()) {
            Some(hover) => json!({"contents": {"kind": "markdown", "value": hover.text}, "range": range(&hover.place)}),
            None => Value::Null,
        },
        "textDocument/definition" => locations(ide.definition(file, at())),
        "textDocument/references" => {
            let with = q.params["context"]["includeDeclaration"].as_bool().unwrap_or(true);
            locations(ide.references(file, at(), with))
        }
        "textDocument/documentHighlight" => {
            let places = ide.references(file, at(), true);
            json!(
                places
                    .iter()
                    .filter(|place| place.file == file)
                    .map(|place| json!({"range": range(place)}))
                    .collect::<Vec<_>>()
            )
        }
        "textDocument/prepareRename" => match ide.can_rename(file, at()) {
            Some(place) => range(&place),
            None => Value::Null,
        },
        "textDocument/rename" => {
            let new = q.params["newName"].as_str().unwrap_or("");
            match ide.rename(file, at(), new) {
                Ok(renamed) => workspace_edit(root, &renamed.edits),
                Err(refusal) => return Some(Err(refusal.shown())),
            }
        }
        "textDocument/documentSymbol" => json!(symbol_tree(&ide.symbols(file))),
        "textDocument/codeAction" => {
            let (start, end) = (offset(&text, &q.params["range"]["start"]), offset(&text, &q.params["range"]["end"]));
            json!(ide.fixes(file, start, end).iter().map(|fix| code_action(root, fix)).collect::<Vec<_>>())
        }
        "textDocument/formatting" => match ide.format(file) {
            Ok(edit) => json!(
                edit.iter().map(|edit| json!({"range": range(&edit.place), "newText": edit.text})).collect::<Vec<_>>()
            ),
            Err(why) => return Some(Err(why)),
        },
        "textDocument/signatureHelp" => match ide.signature(file, at()) {
            Some(signature) => {
                let parameters: Vec<Value> = signature.parameters.iter().map(|name| json!({"label": name})).collect();
                let one = json!({"label": signature.label, "documentation": signature.doc, "parameters": parameters});
                json!({"signatures": [one], "activeSignature": 0, "activeParameter": signature.active})
            }
            None => Value::Null,
        },
        "textDocument/semanticTokens/full" => json!({"data": packed(&ide.tokens(file))}),
        "textDocument/inlayHint" if !q.with_inlays => json!([]),
        "textDocument/inlayHint" => {
            let hints = ide.inlays(file).into_iter().map(|inlay| {
                let end = inlay.place.end;
                json!({"position": {"line": end.line, "character": end.utf16}, "label": inlay.text, "paddingLeft": true})
            });
            json!(hints.collect::<Vec<_>>())
        }
        "textDocument/codeLens" => {
            let lenses = ide.lenses(file).into_iter().map(|lens| {
                let uri = uri_of(&full(root, file));
                let arguments = json!([uri, {"line": lens.place.start.line, "character": lens.place.start.utf16}]);
                let command = format!("purlin.{}", lens.command);
                json!({"range": range(&lens.place), "command": {"title": lens.title, "command": command, "arguments": arguments}})
            });
            json!(lenses.collect::<Vec<_>>())
        }
        "purlin/manifest" => json!(ide.manifest(file)),
        _ => return None,
    }))
}

/// Symbols of all projects.
pub(crate) fn workspace_symbols(root: &str, symbols: &[Symbol]) -> Value {
    let one = |symbol: &Symbol| {
        json!({
            "name": symbol.name,
            "kind": symbol_kind(symbol.kind),
            "containerName": symbol.kind,
            "location": location(root, &symbol.place),
        })
    };
    json!(symbols.iter().map(one).collect::<Vec<_>>())
}
