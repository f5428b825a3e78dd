//! The tables of the dialect: every kind of configuration with its keys, and the specs of known action types.
//!
//! This is the only place where a key is named with its shape, default and sentence. Reading, checks, defaults and the
//! reference pages read these rows.

mod action;
mod module;
mod project;
mod spec;
mod template;
mod workflow;

use crate::expr::is_template;
use crate::structure;
use purlin_model::schema::{Entity, Schema};
use purlin_syntax::Node;

pub use spec::{SpecType, spec_type};

purlin_model::kinds!(
    PROJECT,
    ENVIRONMENT,
    PROVIDER,
    SOURCE,
    SCAN,
    SCAN_GIT,
    PROJECT_OUTPUT,
    PROXY,
    IMPORT_VARIABLES,
    BUILD,
    DEPLOY,
    RUN,
    TEST,
    ACTION_SOURCE,
    ACTION_REPOSITORY,
    ACTION_VERSION,
    ACTION_REFERENCE,
    COPY_FROM,
    VARFILE,
    MODULE,
    MODULE_BUILD,
    BUILD_DEPENDENCY,
    COPY,
    GENERATE_FILE,
    WORKFLOW,
    STEP,
    WORKFLOW_FILE,
    COMMAND,
    COMMAND_DESCRIPTION,
    COMMAND_ARGUMENT,
    COMMAND_EXEC,
    COMMAND_STEP,
    CONFIG_TEMPLATE,
    TEMPLATE_INPUT,
    RENDER_TEMPLATE,
    EXEC_BUILD,
    EXEC_DEPLOY,
    EXEC_RUN,
    ARTIFACT,
    CONTAINER_BUILD,
    CONTAINER_DEPLOY,
    CONTAINER_RUN,
    RESOURCE_RANGE,
    KUBERNETES_DEPLOY,
    KUBERNETES_RUN,
    HELM_DEPLOY,
    HELM_CHART,
    GENERIC,
);

/// All rows, each at the place of its kind.
const ENTITIES: &[Entity] = &[
    project::PROJECT_ROW,
    project::ENVIRONMENT_ROW,
    project::PROVIDER_ROW,
    project::SOURCE_ROW,
    project::SCAN_ROW,
    project::SCAN_GIT_ROW,
    project::OUTPUT_ROW,
    project::PROXY_ROW,
    project::IMPORT_ROW,
    action::BUILD_ROW,
    action::DEPLOY_ROW,
    action::RUN_ROW,
    action::TEST_ROW,
    action::SOURCE_ROW,
    action::REPOSITORY_ROW,
    action::VERSION_ROW,
    action::REFERENCE_ROW,
    action::COPY_FROM_ROW,
    action::VARFILE_ROW,
    module::MODULE_ROW,
    module::BUILD_ROW,
    module::DEPENDENCY_ROW,
    module::COPY_ROW,
    module::GENERATE_ROW,
    workflow::WORKFLOW_ROW,
    workflow::STEP_ROW,
    workflow::FILE_ROW,
    workflow::COMMAND_ROW,
    workflow::DESCRIPTION_ROW,
    workflow::ARGUMENT_ROW,
    workflow::EXEC_ROW,
    workflow::COMMAND_STEP_ROW,
    template::CONFIG_TEMPLATE_ROW,
    template::INPUT_ROW,
    template::RENDER_ROW,
    spec::EXEC_BUILD_ROW,
    spec::EXEC_DEPLOY_ROW,
    spec::EXEC_RUN_ROW,
    spec::ARTIFACT_ROW,
    spec::CONTAINER_BUILD_ROW,
    spec::CONTAINER_DEPLOY_ROW,
    spec::CONTAINER_RUN_ROW,
    spec::RESOURCE_ROW,
    spec::KUBERNETES_DEPLOY_ROW,
    spec::KUBERNETES_RUN_ROW,
    spec::HELM_DEPLOY_ROW,
    spec::HELM_CHART_ROW,
    spec::GENERIC_ROW,
];

/// The tables. One place in memory: a constant would be laid down anew wherever it is used.
pub static SCHEMA: Schema = Schema::new("garden", &["garden.io/v2"], ENTITIES).expressions(is_expression);

/// Whether a node's value is known only after evaluation.
pub fn is_expression(node: Node<'_>) -> bool {
    (node.is_scalar() && is_template(node.text()))
        || (node.is_map() && structure::is_operator(node))
        || (node.is_list() && structure::has_concat(node))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tables_are_sound() {
        assert_eq!(purlin_model::guard(&super::SCHEMA), Vec::<String>::new());
    }
}
