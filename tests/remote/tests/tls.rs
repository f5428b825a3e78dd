//! Encryption: who is believed, who is not, and what is said about it. Certificates are made by `openssl`.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use purlin_remote::client::Client;
use purlin_remote::settings::Settings;
use purlin_remote_suite::trial::{add, job, output, perform};
use purlin_remote_suite::{Identity, Nature, Server};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Certificates in a folder of their own.
struct Certificates {
    folder: PathBuf,
}

impl Certificates {
    fn new(name: &str) -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("purlin-tls-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let made = Certificates { folder };
        if Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_err() {
            purlin_skipped::skipped("certificates");
            return None;
        }
        made.authority("ca");
        Some(made)
    }

    fn openssl(&self, arguments: &str) {
        let mut command = Command::new("openssl");
        command.args(arguments.split_whitespace()).current_dir(&self.folder);
        assert!(command.stderr(Stdio::null()).stdout(Stdio::null()).status().unwrap().success(), "openssl {arguments}");
    }

    fn authority(&self, name: &str) {
        const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        self.openssl(&format!("req -x509 {KEY} -keyout {name}.key -out {name}.pem -days 30 -subj /CN={name} -addext basicConstraints=critical,CA:TRUE"));
    }

    /// A certificate for a name, valid for some days.
    fn sign(&self, name: &str, authority: &str, alternative: &str, days: i32) {
        const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        self.openssl(&format!("req {KEY} -keyout {name}.key -out {name}.csr -subj /CN={name}"));
        let more = format!("subjectAltName={alternative}\nextendedKeyUsage=serverAuth,clientAuth\n");
        std::fs::write(self.folder.join("ext"), more).unwrap();
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA {authority}.pem -CAkey {authority}.key -CAcreateserial -out {name}.pem -days {days} -extfile ext"
        ));
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(Path::new(&self.folder).join(name)).unwrap()
    }

    fn identity(&self, name: &str, clients: Option<&str>) -> Identity {
        Identity {
            certificate: self.read(&format!("{name}.pem")),
            key: self.read(&format!("{name}.key")),
            clients: clients.map(|clients| self.read(&format!("{clients}.pem"))),
        }
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn settings(server: &Server, authority: Option<Vec<u8>>) -> Settings {
    let mut settings = server.settings();
    settings.address.is_secure = true;
    settings.authority = authority;
    settings
}

fn refused(settings: Settings) -> String {
    Client::connect(settings, &|| false).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_server_with_the_right_certificate_is_believed() {
    let Some(made) = Certificates::new("right") else { return };
    made.sign("server", "ca", "IP:127.0.0.1", 10);
    let server = Server::start_with(Nature::default(), Some(made.identity("server", None)), 0).unwrap();
    let client = Client::connect(settings(&server, Some(made.read("ca.pem"))), &|| false).unwrap();
    let mut copying = job("mkdir -p out; cp file out");
    let bytes = vec![7; 6 << 20];
    add(&mut copying, client.function(), "file", &bytes);
    let done = perform(&client, &copying).unwrap();
    assert!(output(&client, &done, "out/file").unwrap().unwrap() == bytes);
}

#[test]
fn wrong_certificates_are_refused_with_the_reason() {
    let Some(made) = Certificates::new("wrong") else { return };
    made.authority("other");
    made.sign("named", "ca", "DNS:build.example.com", 10);
    made.sign("old", "ca", "IP:127.0.0.1", -1);
    made.sign("server", "ca", "IP:127.0.0.1", 10);
    let ca = || Some(made.read("ca.pem"));
    for (name, authority, text) in [
        ("named", ca(), "its certificate is for another name; set `[remote] server-name`"),
        ("old", ca(), "its certificate has expired"),
        (
            "server",
            Some(made.read("other.pem")),
            "its certificate is of an unknown authority; set `[remote] authority`",
        ),
        ("server", None, "its certificate is of an unknown authority"),
        ("server", Some(b"no pem".to_vec()), "`[remote] authority` has no certificate"),
    ] {
        let server = Server::start_with(Nature::default(), Some(made.identity(name, None)), 0).unwrap();
        let refused = refused(settings(&server, authority));
        assert!(refused.contains(text), "{name}: {refused}");
    }
    let server = Server::start_with(Nature::default(), Some(made.identity("named", None)), 0).unwrap();
    let right = Settings { server_name: Some("build.example.com".to_owned()), ..settings(&server, ca()) };
    Client::connect(right, &|| false).unwrap();
}

#[test]
fn clients_prove_who_they_are() {
    let Some(made) = Certificates::new("mutual") else { return };
    made.authority("other");
    made.sign("server", "ca", "IP:127.0.0.1", 10);
    made.sign("me", "ca", "DNS:me", 10);
    made.sign("stranger", "other", "DNS:stranger", 10);
    let server = Server::start_with(Nature::default(), Some(made.identity("server", Some("ca"))), 0).unwrap();
    let with = |name: Option<&str>| {
        let mut with = settings(&server, Some(made.read("ca.pem")));
        with.identity = name.map(|name| (made.read(&format!("{name}.pem")), made.read(&format!("{name}.key"))));
        with
    };
    Client::connect(with(Some("me")), &|| false).unwrap();
    for name in [None, Some("stranger")] {
        let refused = refused(with(name));
        assert!(refused.contains("certificate") || refused.contains("the connection was lost"), "{refused}");
    }
    let mut mixed = with(Some("me"));
    mixed.identity = Some((made.read("me.pem"), made.read("server.key")));
    assert!(refused(mixed).contains("`[remote] certificate` cannot be used"));
}

#[test]
fn a_wrong_scheme_is_named() {
    let Some(made) = Certificates::new("scheme") else { return };
    made.sign("server", "ca", "IP:127.0.0.1", 10);
    let plain = Server::start(Nature::default()).unwrap();
    let refused_plain = refused(settings(&plain, Some(made.read("ca.pem"))));
    assert!(refused_plain.contains("encryption"), "{refused_plain}");
    let secure = Server::start_with(Nature::default(), Some(made.identity("server", None)), 0).unwrap();
    let refused_secure = refused(secure.settings());
    assert!(refused_secure.contains("grpcs://"), "{refused_secure}");
}
