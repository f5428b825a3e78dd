//! A hint for every error that comes without one: what to do, by its rule and by what it says. And the very name that a
//! message is about, where whoever found the problem knows only the mapping around it.
//!
//! A hint of the place that found the problem says more and is never replaced.

use purlin_syntax::{Diagnostic, Node, Sources, Span};

/// Rules whose messages name something that is written inside the place they point at.
const ABOUT_A_NAME: &[&str] =
    &["skaffold-requires", "skaffold-unknown-module", "skaffold-unknown-profile", "tosca-import", "unfurl-unknown"];

/// Points at the name that a message is about, if it is written once inside the place that is shown.
pub fn narrow(diagnostic: &mut Diagnostic, sources: &Sources) {
    let Some(span) = diagnostic.span.filter(|_| ABOUT_A_NAME.contains(&diagnostic.rule.name)) else { return };
    let names: Vec<&str> = diagnostic.message.split('`').skip(1).step_by(2).collect();
    let found = sources.with_tree(span.file, |tree| {
        let mut scalars = Vec::new();
        tree.roots().for_each(|root| collect(root, span, &mut scalars));
        names.iter().find_map(|name| {
            let mut same = scalars.iter().filter(|(text, _)| is_same(text, name));
            same.next().filter(|_| same.next().is_none()).map(|(_, place)| *place)
        })
    });
    if let Some(found) = found.flatten() {
        diagnostic.span = Some(found);
    }
}

/// Whether a text is a name, as it is or as a path.
fn is_same(text: &str, name: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").trim_end_matches('/').to_owned();
    text == name || (!text.is_empty() && plain(text) == plain(name))
}

/// The scalars inside a place, in order.
fn collect(root: Node<'_>, place: Span, found: &mut Vec<(String, Span)>) {
    let mut todo = vec![root];
    while let Some(node) = todo.pop() {
        let span = node.span();
        let is_apart = span.end <= place.start || place.end <= span.start;
        if is_apart || node.is_alias() {
            continue;
        }
        if node.is_scalar() && place.start <= span.start && span.end <= place.end && span != place {
            found.push((node.text().to_owned(), span));
        }
        let mut inner: Vec<Node<'_>> = node.items().collect();
        inner.extend(node.entries().flat_map(|entry| [entry.key, entry.value]));
        todo.extend(inner.into_iter().rev());
    }
}

/// Gives an error a hint if it has none.
pub fn advise(diagnostic: &mut Diagnostic) {
    if diagnostic.is_error() && diagnostic.hints.is_empty() {
        let (rule, message) = (diagnostic.rule.name, diagnostic.message.as_str());
        // The mistake in an expression is not always the token that was expected next.
        let hint = match rule.ends_with("-syntax") {
            true => after(message, "missing `").map(|name| format!("add `{name}`")).or_else(|| by_rule(rule, message)),
            false => by_words(message).or_else(|| by_rule(rule, message)),
        };
        diagnostic.hints.extend(hint);
    }
}

/// The first name in backticks after some words.
fn after<'m>(message: &'m str, words: &str) -> Option<&'m str> {
    let (_, rest) = message.split_once(words)?;
    rest.split_once('`').map(|(name, _)| name).filter(|name| !name.is_empty())
}

/// What a message says itself.
fn by_words(message: &str) -> Option<String> {
    if message.contains("`: expected a string, found a ") || message.contains(": expected a string, found a number") {
        return Some("put the value in quotes, or write one string".to_owned());
    }
    if message.starts_with("circular ") || message.contains(": circular ") {
        return Some("remove one of these references".to_owned());
    }
    if message.starts_with("duplicate name `")
        || message.contains("is declared twice")
        || message.contains("is defined twice")
    {
        return Some("rename or remove one of them".to_owned());
    }
    if let Some(name) = after(message, "missing key `") {
        return Some(format!("add `{name}:`"));
    }
    if let Some(name) = after(message, "missing `") {
        return Some(format!("add `{name}`"));
    }
    if let Some(name) = after(message, "argument `").filter(|_| message.ends_with(" is missing")) {
        return Some(format!("add the argument `{name}`"));
    }
    if let Some(name) = message.split_once("` is missing next to `").and_then(|(before, _)| before.rsplit_once('`')) {
        return Some(format!("add `{}:` next to it", name.1));
    }
    if let Some(name) = message.strip_suffix("` is missing").and_then(|rest| rest.rsplit_once('`')) {
        return Some(format!("add `{}`", name.1));
    }
    if let Some((_, rest)) = message.split_once(" needs one of ") {
        return Some(format!("add {rest}"));
    }
    let wanted = message.split_once(" must be ").or_else(|| message.split_once(": expected "));
    let wanted = wanted.map(|(_, rest)| rest).or_else(|| message.strip_prefix("expected "))?;
    // What is in backticks is written as it is.
    let is_outside = |at: &usize| wanted.get(..*at).is_some_and(|before| before.matches('`').count() % 2 == 0);
    let first = |mark: &&str| wanted.match_indices(*mark).map(|(at, _)| at).find(is_outside);
    let end = [", ", "; ", ": ", " at position"].iter().filter_map(first).min();
    let wanted = wanted.get(..end.unwrap_or(wanted.len()))?;
    // Only what can be written can be told to be written.
    let is_thing = ["a ", "an ", "`"].iter().any(|start| wanted.starts_with(start));
    is_thing.then(|| format!("write {wanted}"))
}

/// What the rule is about. `message` tells apart what one rule covers.
#[rustfmt::skip]
fn by_rule(rule: &str, message: &str) -> Option<String> {
    let hint = match rule {
        "action-failed" => "`purlin logs` shows its output",
        "chart-failed" => "change the values as the message says",
        "chart-kubernetes-schema" => "change the value, or the template that makes it",
        "chart-load" if message.contains("archive") => "create the archive again with `helm package`",
        "chart-load" => "create `Chart.yaml` with `apiVersion`, `name` and `version`",
        "chart-manifest" => "change the template so that it prints one Kubernetes object per document",
        "chart-schema" => "give a value that the schema allows",
        "chart-template" if message.contains("divide by zero") => "check that the divisor is not 0",
        "chart-template" => "check the values that this part of the template uses",
        "chart-template-syntax" => "correct the action between `{{` and `}}`",
        "chart-values" => "write the values as `key: value` lines",
        "exclusive-keys" => "keep one of them",
        "fetch-failed" => "check the address, the revision and `--allow-net`",
        "file-not-found" => "correct the path, or create the file",
        "garden-action-reference" => "write it as `actions.KIND.NAME`, for example `actions.build.api`",
        "garden-config-kind" => "use one of `Build`, `Deploy`, `Run`, `Test`, `Workflow`, `ConfigTemplate` and `RenderTemplate`",
        "garden-config-shape" if message.contains("cannot be templated") => "write a plain value; use a `ConfigTemplate` for computed names",
        "garden-config-shape" => "write a mapping with `kind:` and `name:`",
        "garden-dependency" => "write `KIND.NAME`, for example `build.api`",
        "garden-duplicate" => "rename one of them",
        "garden-environment" => "name a declared environment with `--env`",
        "garden-helper-function" if message.starts_with("unknown function") => "see the reference of functions for all names",
        "garden-helper-function" => "change the argument; hover over the function, or see the reference of functions",
        "garden-inner-project" if message.contains("refers to the port") => "use the name of a port under `ports`, or declare it there",
        "garden-inner-project" if message.contains("has no `hostname`") => "add `hostname:`, or set `defaultHostname` of the provider",
        "garden-inner-project" => "correct the path; it starts at the action's folder",
        "garden-invalid-name" => "use lower-case letters, digits and single dashes, beginning with a letter",
        "garden-key-too-early" => "move the expression to a place where the key is available",
        "garden-known-too-late" | "garden-template" if message.contains("must be known") => "use variables or inputs instead of outputs of actions",
        "garden-template" => "declare a `ConfigTemplate` with this name",
        "garden-missing-action" => "correct the name, or declare the action",
        "garden-missing-module" | "garden-missing-service" => "correct the name, or remove the dependency",
        "garden-outside-project" => "use a path inside the project, or allow the folder with `--allow-path DIR`",
        "garden-provider" => "add the provider under `providers` of the project",
        "garden-self-reference" => "use `this.name` and the like, or remove the reference",
        "garden-structural-operator" => "see `purlin explain garden-structural-operator` for the keys of each operator",
        "garden-template-inputs" => "change the input, or the schema of the template",
        "garden-template-syntax" if message.contains("found `=`") => "compare with `==`",
        "garden-template-syntax" if message.contains("`,` or `)`") => "close the call with `)`",
        "garden-template-syntax" if message.contains("not closed") => "add the closing quote",
        "garden-template-syntax" if message.contains("`${endif}`") => "remove it, or add `${if …}` before it",
        "garden-template-syntax" => "correct the expression; write `$${` for a literal `${`",
        "garden-template-type" if message.starts_with("cannot read key") => "remove the key, or make the value a mapping",
        "garden-template-type" => "convert one side, for example with `string(…)`",
        "garden-unknown-key" => "define the key, or give a fallback with `||`",
        "garden-unknown-type" => "use one of `container`, `exec`, `helm`, `kubernetes`, `terraform` or another type of Garden",
        "garden-varfile" => "write `NAME=VALUE` lines, or a YAML mapping",
        "json-syntax" => "correct the JSON",
        "kustomization" if message.contains("no resource matches") => "correct the kind and name of the target",
        "kustomization" if message.contains("has no `kustomization.yaml`") => "correct the path, or create `kustomization.yaml` there",
        "kustomization" => "correct the kustomization",
        "limit-alias-nodes" => "raise it with `--limit alias-nodes=N`",
        "limit-alias-size" => "raise it with `--limit alias-size=BYTES`",
        "limit-archive" => "raise the `archive-…` limits; `purlin limits` lists them",
        "limit-depth" => "nest less deeply",
        "limit-expression-size" => "split the expression, or raise it with `--limit expression-size=BYTES`",
        "limit-file-size" => "raise it with `--limit file-size=BYTES`",
        "limit-fuel" => "look for a loop that is larger than intended, or raise it with `--limit fuel=STEPS`",
        "limit-include-depth" => "look for a template that calls itself, or raise it with `--limit include-depth=N`",
        "limit-list-items" => "raise it with `--limit list-items=N`",
        "limit-memory" => "raise it with `--limit memory=BYTES`",
        "limit-nodes" => "raise it with `--limit nodes=N`",
        "limit-output-size" => "raise it with `--limit output-size=BYTES`",
        "limit-regex-size" => "use a smaller pattern, or raise it with `--limit regex-size=BYTES`",
        "limit-string-size" => "raise it with `--limit string-size=BYTES`",
        "limit-total-size" => "check a smaller folder, or raise it with `--limit total-size=BYTES`",
        "limit-unfurl" => "use smaller numbers, strings and lists; `purlin limits` lists the limits",
        "skaffold-build-dependency" => "remove one of the `requires` entries",
        "skaffold-duplicate-action" | "skaffold-duplicate-image" | "skaffold-duplicate-name" => "rename one of them",
        "skaffold-image" if message.contains(" has a tag") => "remove the tag from the image name",
        "skaffold-image" if message.contains(" has a digest") => "remove the digest from the image name",
        "skaffold-image" => "write a name such as `registry.example.com/app`",
        "skaffold-manifest" => "correct the path; it starts at the folder of `skaffold.yaml`",
        "skaffold-patch" => "correct the `path` or the `value` of the patch",
        "skaffold-releases" => "correct the names under `dependsOn`",
        "skaffold-template" => "close every `{{` with `}}`, and use functions that exist",
        "skaffold-unknown-key" => "remove it, or move it to the section that it belongs to",
        "skaffold-value" => "use one of the values that the message names",
        "tosca-broken-contract" => "stay within what the parent declares, or change the parent",
        "tosca-constraint" => "use a value that satisfies the constraint",
        "tosca-csar" => "create the archive again with `purlin csar create`",
        "tosca-duplicate-name" | "tosca-reserved-name" => "use another name",
        "tosca-function" => "correct the arguments of the function",
        "tosca-import" => "correct the address of the import",
        "tosca-import-edition" => "write both files in the same edition",
        "tosca-import-loop" => "move what both files need into a third file",
        "tosca-incompatible" => "use something of a compatible type",
        "tosca-incomplete-type" => "break the cycle of types",
        "tosca-input" => "declare it under `inputs`, or correct its name",
        "tosca-malformed" => "write it in the form that the message shows",
        "tosca-requirement-count" => "change how often the requirement is assigned, or the range of its type",
        "tosca-undeclared" => "correct the name, or declare it in the type",
        "tosca-unknown-key" => "remove it, or move it to the section that it belongs to",
        "tosca-unknown-name" if message.contains(" type `") => "declare the type, or import the file that declares it",
        "tosca-unknown-name" => "correct the name, or declare it",
        "tosca-unresolved" => "add a node with the required capability, or name one in the requirement",
        "tosca-unsupported" => "use the tool that the file was written for",
        "tosca-version" => "add `tosca_definitions_version: tosca_2_0`",
        "tosca-wrong-type" if message.contains("number with a unit") => "write a number, a space and one of these units",
        "tosca-wrong-type" => "write a value of the declared type",
        "unfurl-directive" => "correct the name after `+`, or add `?` (`+?include`) if it may be missing",
        "unfurl-invalid-property" => "change the value, or the type of the property",
        "unfurl-manifest" if message.contains("environment is named") => "declare it under `environments` of `unfurl.yaml`, or correct the name",
        "unfurl-manifest" => "correct it as the message says",
        "unfurl-result" => "declare a node template for the instance",
        "unfurl-substitution" => "import a file with a topology for this type, or remove the directive",
        "unfurl-syntax" if message.contains("ends before `endif`") => "add `{% endif %}`",
        "unfurl-syntax" if message.contains("ends before `endfor`") => "add `{% endfor %}`",
        "unfurl-syntax" => "correct the expression",
        "unfurl-unknown" => "correct the name, or declare it",
        "unfurl-value" | "unfurl-wrong-type" => "change the arguments; `purlin eval --trace` shows their values",
        "unfurl-vault" if message.contains("password") => "set `UNFURL_VAULT_DEFAULT_PASSWORD`",
        "unfurl-vault" => "encrypt the value again",
        "unknown-key" => "remove it, or move it to the section that it belongs to",
        "unknown-location" => "name a file that the project reads; `purlin check -v` lists them",
        "unreadable" => "check the path and its permissions",
        "value-cycle" => "give one of them a value that does not use the others",
        "wrong-shape" => "write the value in the shape that the message names",
        "yaml-alias" => "define the anchor earlier in the same document",
        "yaml-syntax" => "correct the YAML at this location",
        _ => return None,
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_syntax::Rule;

    const RULE: Rule = Rule::error("yaml-alias", "For tests.");

    #[test]
    fn a_hint_is_added_and_never_replaced() {
        let mut bare = Diagnostic::nowhere(&RULE, "undefined anchor `&a`");
        advise(&mut bare);
        assert_eq!(bare.hints, ["define the anchor earlier in the same document"]);
        let mut own = Diagnostic::nowhere(&RULE, "undefined anchor `&a`").hint("did you mean `&b`?");
        advise(&mut own);
        assert_eq!(own.hints, ["did you mean `&b`?"]);
        let mut warning = Diagnostic::nowhere(&RULE, "undefined anchor `&a`").warning();
        advise(&mut warning);
        assert!(warning.hints.is_empty());
    }

    #[test]
    fn messages_say_what_is_missing() {
        let hint = |message: &str| by_words(message).unwrap_or_default();
        assert_eq!(hint("missing key `name` in a port"), "add `name:`");
        assert_eq!(hint("missing `${endif}` after this `${if …}`"), "add `${endif}`");
        assert_eq!(hint("argument `separator` of `join` is missing"), "add the argument `separator`");
        assert_eq!(hint("`$then` is missing next to `$if`"), "add `$then:` next to it");
        assert_eq!(hint("input `port` is missing"), "add `port`");
        assert_eq!(hint("a step needs one of `command` or `script`"), "add `command` or `script`");
        assert_eq!(hint("the value of `$merge` must be a map, not a string"), "write a map");
    }
}
