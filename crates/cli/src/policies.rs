//! Policies of the user and of settings, as the request of a check has them.

use crate::args::ClusterTerms;
use crate::invocation::Invocation;
use crate::project::named;
use crate::settings::Settings;
use purlin_compiler::policy_names;
use purlin_model::{OwnPolicy, PolicyRules, Request};
use purlin_value::Session;
use std::path::Path;

/// Whether a value of `--policy` is a file or a folder, not the name of a built-in policy.
pub(crate) fn is_path(cwd: &Path, text: &str) -> bool {
    !policy_names().contains(&text) && purlin_host::named::exists(&cwd.join(text))
}

/// Adds the policies of settings. `place` makes a path of the world of one in the settings.
pub(crate) fn of_settings(settings: &Settings, place: &dyn Fn(&str) -> String) -> Vec<OwnPolicy> {
    let policies = settings.own_policies.iter().map(|policy| OwnPolicy {
        over: policy.over.clone(),
        environments: policy.environments.clone(),
        is_warning: policy.is_warning,
        at: policy.at,
        rules: match (&policy.path, &policy.assert) {
            (Some(path), _) => PolicyRules::Rego {
                paths: vec![place(path)],
                data: policy.data.iter().map(|path| place(path)).collect(),
                namespaces: main_if_empty(&policy.namespaces),
            },
            (None, assert) => PolicyRules::Cel {
                name: policy.name.clone(),
                when: policy.when.clone(),
                assert: assert.clone().unwrap_or_default(),
                message: policy.message.clone(),
            },
        },
    });
    policies.collect()
}

/// Adds the policies of the command line: all paths of `--policy` together, as conftest takes them.
pub(crate) fn of_user(invocation: &Invocation<'_>, session: &Session, terms: &ClusterTerms, request: &mut Request) {
    let is_path = |text: &&String| is_path(&invocation.cwd, text);
    let paths: Vec<String> =
        terms.policies.iter().filter(is_path).map(|path| named(invocation, session, path)).collect();
    request.policies.extend(terms.policies.iter().filter(|text| !is_path(text)).cloned());
    request.evaluator = Some(purlin_host::evaluator::ask);
    if paths.is_empty() {
        return;
    }
    let data = terms.policy_data.iter().map(|path| named(invocation, session, &path.to_string_lossy())).collect();
    let rules = PolicyRules::Rego { paths, data, namespaces: main_if_empty(&terms.namespaces) };
    let over = if terms.combine { "objects" } else { "object" };
    let (environments, over) = (Vec::new(), over.to_owned());
    request.own_policies.push(OwnPolicy { over, environments, is_warning: false, rules, at: None });
}

/// The package that counts if none is named.
fn main_if_empty(namespaces: &[String]) -> Vec<String> {
    if namespaces.is_empty() { vec!["main".to_owned()] } else { namespaces.to_vec() }
}
