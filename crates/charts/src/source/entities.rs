//! The table of `Chart.yaml`: its keys, for schemas, completion and hovers. Loading reads them in `metadata`.

use purlin_model::schema::{Entity, Field, Literal, Schema, Shape, entity, field};

purlin_model::kinds!(CHART, DEPENDENCY, MAINTAINER);

const TEXTS: Shape = Shape::ListOf(&Shape::Text);
const TEXT_MAP: Shape = Shape::MapOf(&Shape::Scalar);

/// Keys that Helm ignores.
const IGNORED: Field = field("ignored", Shape::MapOf(&Shape::Any), "Keys that Helm ignores.");

const CHART_ROW: Entity = entity(
    CHART,
    "chart",
    "What a chart is called and what it depends on.",
    &[&[
        field("apiVersion", Shape::Choice(&["v2", "v1"]), "Version of the chart format: `v2` since Helm 3."),
        field("name", Shape::Scalar, "Name of the chart.").required(),
        field("version", Shape::Scalar, "Version of the chart, a semantic version.").required(),
        field("kubeVersion", Shape::Scalar, "Versions of Kubernetes that the chart works with, such as `>=1.25.0-0`."),
        field("description", Shape::Scalar, "One sentence on what the chart installs."),
        field(
            "type",
            Shape::Choice(&["application", "library"]),
            "Whether it installs something or only helps others.",
        )
        .default(Literal::Text("application")),
        field("keywords", TEXTS, "Words that the chart is found by."),
        field("home", Shape::Scalar, "Address of the project's home page."),
        field("sources", TEXTS, "Addresses of the source code."),
        field("dependencies", Shape::List(DEPENDENCY), "Charts that this one contains."),
        field("maintainers", Shape::List(MAINTAINER), "Who maintains the chart."),
        field("icon", Shape::Scalar, "Address of an icon."),
        field("appVersion", Shape::Scalar, "Version of the application that the chart installs."),
        field("deprecated", Shape::Bool, "Whether the chart should no longer be used.").default(Literal::Bool(false)),
        field("annotations", TEXT_MAP, "Notes for tools."),
        field("condition", Shape::Scalar, "Values that switch the chart on, as dotted paths."),
        field("tags", Shape::Scalar, "Tags that switch the chart on."),
    ]],
)
.rest(IGNORED);

const DEPENDENCY_ROW: Entity = entity(
    DEPENDENCY,
    "dependency",
    "A chart that another one contains.",
    &[&[
        field("name", Shape::Scalar, "Name of the chart.").required(),
        field("version", Shape::Scalar, "Versions that are accepted, such as `^1.2.0`."),
        field("repository", Shape::Scalar, "Where the chart is: an address, an alias (`@name`) or `file://PATH`."),
        field("condition", Shape::Scalar, "Values that switch it on, as dotted paths."),
        field("tags", TEXTS, "Tags that switch it on."),
        field("enabled", Shape::Bool, "Whether it is on; Helm sets it."),
        field("import-values", Shape::ListOf(&Shape::Any), "Values of it that become values of this chart."),
        field("alias", Shape::Scalar, "Name it has in this chart, for charts that are contained more than once."),
    ]],
)
.rest(IGNORED);

const MAINTAINER_ROW: Entity = entity(
    MAINTAINER,
    "maintainer",
    "Somebody who maintains a chart.",
    &[&[
        field("name", Shape::Scalar, "Their name."),
        field("email", Shape::Scalar, "Their address for mail."),
        field("url", Shape::Scalar, "Their home page."),
    ]],
)
.rest(IGNORED);

/// The table.
pub static SCHEMA: Schema = Schema::new("Chart.yaml", &["v2"], &[CHART_ROW, DEPENDENCY_ROW, MAINTAINER_ROW]);

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_sound() {
        assert_eq!(purlin_model::guard(&super::SCHEMA), Vec::<String>::new());
    }
}
