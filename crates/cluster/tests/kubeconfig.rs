//! Kubeconfig files as kubectl reads and merges them.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use purlin_cluster::kubeconfig::{Access, Proof, Wanted};
use std::path::{Path, PathBuf};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("purlin-kubeconfig-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("deep")).unwrap();
        Folder(folder)
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        std::fs::write(self.0.join(file), text).unwrap();
        self.0.join(file)
    }

    /// The access by `KUBECONFIG` with these files.
    fn listed(&self, files: &[&str], context: Option<&str>) -> Result<Access, String> {
        let list = std::env::join_paths(files.iter().map(|file| self.0.join(file))).unwrap();
        let env = [("KUBECONFIG".to_owned(), list.into_string().unwrap())].into();
        Access::find(&Wanted { env, context: context.map(str::to_owned), ..Wanted::default() })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn config(current: &str, server: &str, user: &str) -> String {
    format!(
        "current-context: {current}\ncontexts:\n- {{name: {current}, context: {{cluster: c, user: u, namespace: n-{current}}}}}\n\
         clusters:\n- {{name: c, cluster: {{server: '{server}'}}}}\nusers:\n- {{name: u, user: {user}}}\n"
    )
}

#[test]
fn the_first_of_several_entries_counts() {
    let folder = Folder::new("merge");
    folder.write("one", &config("a", "https://one:1/", "{token: t1}"));
    folder.write("two", &config("b", "https://two:2", "{token: t2}"));
    let access = folder.listed(&["missing", "one", "two", "one"], None).unwrap();
    assert_eq!((access.context.as_str(), access.server.as_str()), ("a", "https://one:1"));
    assert_eq!(access.namespace.as_deref(), Some("n-a"));
    // The context comes from the second file, cluster and user from the first.
    let other = folder.listed(&["one", "two"], Some("b")).unwrap();
    assert_eq!((other.server.as_str(), other.namespace.as_deref()), ("https://one:1", Some("n-b")));
    assert!(matches!(&other.proof, Proof::Token(token) if token.reveal() == "t1"));
    assert!(!format!("{other:?}").contains("t1"), "secrets are not shown");
}

#[test]
fn files_are_relative_to_the_file_that_names_them_and_data_counts_more() {
    let folder = Folder::new("relative");
    folder.write("deep/token", "from-file\n");
    folder.write("deep/ca.pem", "from file");
    let text = config("a", "https://one", "{tokenFile: token, token: other}");
    folder.write("deep/one", &text.replace("server:", "certificate-authority: ca.pem, server:"));
    let access = folder.listed(&["deep/one"], None).unwrap();
    assert!(matches!(&access.proof, Proof::Token(token) if token.reveal() == "from-file"));
    assert_eq!(access.authority.as_deref(), Some(&b"from file"[..]));
    let data = "certificate-authority: ca.pem, certificate-authority-data: aGVsbG8=, server:";
    folder.write("deep/one", &text.replace("server:", data));
    assert_eq!(folder.listed(&["deep/one"], None).unwrap().authority.as_deref(), Some(&b"hello"[..]));
}

#[test]
fn what_cannot_be_used_is_told() {
    let folder = Folder::new("wrong");
    let told = |text: &str, expected: &str| {
        folder.write("one", text);
        let error = folder.listed(&["one"], None).unwrap_err();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    };
    let plain = config("a", "https://one", "{token: hunter2}");
    told(&plain.replace("server:", "proxy-url: 'http://p', server:"), "behind a proxy");
    told(&plain.replace("{token: hunter2}", "{auth-provider: {name: gcp}}"), "no longer supports");
    told(&plain.replace("{token: hunter2}", "{client-key-data: aHVudGVyMg==}"), "but no certificate");
    told(&plain.replace("{token: hunter2}", "{client-certificate: nowhere.pem}"), "nowhere.pem");
    told(&plain.replace("{token: hunter2}", "{tokenFile: nowhere}"), "could not read the token of user `u`");
    told(&plain.replace("cluster: c,", "cluster: d,"), "unknown cluster `d`");
    told(&plain.replace("current-context: a", "current-context: aa"), "did you mean `a`");
    told(&plain.replace("current-context: a\n", ""), "use `--kube-context` with one of: a");
    told("a: [", "could not parse `");
    told(
        &plain.replace("server:", "insecure-skip-tls-verify: true, certificate-authority-data: aGVsbG8=, server:"),
        "has both a certificate authority and",
    );
    let nothing = folder.listed(&["missing"], None).unwrap_err();
    assert!(nothing.contains("no Kubernetes cluster is configured"), "{nothing}");
    let named = Wanted { kubeconfig: Some(Path::new("/nonexistent/file").into()), ..Wanted::default() };
    assert!(Access::find(&named).unwrap_err().contains("could not read `/nonexistent/file`"));
}

#[test]
fn somebody_else_can_be_asked_for() {
    let folder = Folder::new("as");
    folder.write("one", &config("a", "https://one", "{token: t, as: jane, as-groups: [dev, ops]}"));
    let headers = folder.listed(&["one"], None).unwrap().impersonate;
    let expected = [("Impersonate-User", "jane"), ("Impersonate-Group", "dev"), ("Impersonate-Group", "ops")];
    assert_eq!(headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}
