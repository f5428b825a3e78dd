//! Finds programs on the `PATH` of a run. It looks at files and runs none.

use std::path::Path;

/// The file of a program: in the first absolute folder of `PATH` that has it, or where an absolute path names it.
/// Relative paths lead nowhere: they would name files of the project.
pub(crate) fn found(name: &str, path: Option<&str>) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    let named = Path::new(name);
    if named.components().count() > 1 {
        return (named.is_absolute() && is_program(named)).then(|| name.to_owned());
    }
    let folders = std::env::split_paths(path.unwrap_or_default()).filter(|folder| folder.is_absolute());
    let mut files = folders.map(|folder| folder.join(name));
    files.find(|file| is_program(file)).map(|file| file.to_string_lossy().into_owned())
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::found;

    #[test]
    #[cfg(unix)]
    fn programs_are_files_that_can_run() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("purlin-program-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        for (name, mode) in [("tool", 0o755), ("text", 0o644)] {
            std::fs::write(folder.join(name), "").unwrap();
            std::fs::set_permissions(folder.join(name), PermissionsExt::from_mode(mode)).unwrap();
        }
        let path = format!("relative:/nonexistent:{}", folder.display());
        let tool = folder.join("tool").to_string_lossy().into_owned();
        assert_eq!(found("tool", Some(&path)).as_deref(), Some(tool.as_str()));
        assert_eq!(found(&tool, None).as_deref(), Some(tool.as_str()));
        for absent in ["text", "inner", "other", "", "../tool", "./tool"] {
            assert_eq!(found(absent, Some(&path)), None, "{absent}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
