//! Variables that choose programs, their configuration, credentials or routes. Purlin reads them only from the process:
//! those set by a file of a project are ignored.

/// Names of such variables.
const NAMES: &[&str] = &[
    "BASH_ENV",
    "COMSPEC",
    "CONTAINER_HOST",
    "EDITOR",
    "ENV",
    "GCONV_PATH",
    "HOME",
    "IFS",
    "KUBECONFIG",
    "LOCALAPPDATA",
    "NODE_OPTIONS",
    "PAGER",
    "PATH",
    "PATHEXT",
    "PERL5LIB",
    "PERL5OPT",
    "REGISTRY_AUTH_FILE",
    "RUBYLIB",
    "RUBYOPT",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMROOT",
    "TMPDIR",
    "USERPROFILE",
    "VISUAL",
    "ZDOTDIR",
];

/// Prefixes of the names of such variables.
const STARTS: &[&str] = &[
    "BASH_FUNC_",
    "BUILDAH_",
    "BUILDKIT_",
    "BUILDX_",
    "CONTAINERS_",
    "DOCKER_",
    "DYLD_",
    "GIT_",
    "KUBERNETES_",
    "LD_",
    "PURLIN_",
    "PYTHON",
    "SSH_",
    "XDG_",
];

/// Suffixes of the names of such variables.
const ENDS: &[&str] = &["_PROXY"];

/// Whether a variable steers a program; case does not matter.
pub(crate) fn is_steering(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAMES.contains(&name.as_str())
        || STARTS.iter().any(|start| name.starts_with(start))
        || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_programs_obey_are_told_from_those_of_a_project() {
        let steering = "KUBECONFIG HOME PATH XDG_STATE_HOME GIT_SSH_COMMAND SSH_AUTH_SOCK https_proxy NO_PROXY LD_PRELOAD \
                        PURLIN_PAGER docker_host BASH_ENV PYTHONPATH";
        for name in steering.split_whitespace() {
            assert!(is_steering(name), "{name}");
        }
        for name in ["WHO", "IMAGE_TAG", "DATABASE_URL", "HOMEPAGE", "MY_PATH", "SKAFFOLD_DEFAULT_REPO", "GITHUB_SHA"] {
            assert!(!is_steering(name), "{name}");
        }
    }
}
