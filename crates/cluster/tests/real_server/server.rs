//! A real API server on loopback, with users, RBAC and no kubelet. The programs are searched for on `PATH`.

use purlin_cluster::kubeconfig::{Access, Wanted};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// etcd and kube-apiserver; both are ended when this is dropped.
pub struct Server {
    pub folder: PathBuf,
    pub port: u16,
    children: Vec<Child>,
}

/// Whether all programs of a server are on `PATH`.
pub fn is_installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    ["kube-apiserver", "etcd", "openssl"].iter().all(is_there)
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn openssl(folder: &Path, line: &str) {
    let done = Command::new("openssl").args(line.split_whitespace()).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "openssl {line}: {}", String::from_utf8_lossy(&done.stderr));
}

impl Server {
    pub fn start() -> Server {
        let folder = std::env::temp_dir().join(format!("purlin-real-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        openssl(&folder, "genrsa -out sa.key 2048");
        openssl(&folder, "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=test-ca -days 2");
        let me = "-newkey rsa:2048 -nodes -keyout me.key -out me.crt -subj /O=system:masters/CN=me -days 2";
        openssl(&folder, &format!("req -x509 -CA ca.crt -CAkey ca.key {me}"));
        let users = "admin-token,admin,1,\"system:masters\"\nreader-token,reader,2,\"readers\"\n";
        std::fs::write(folder.join("tokens.csv"), users).unwrap();
        let (clients, peers, port) = (free_port(), free_port(), free_port());
        let mut server = Server { folder, port, children: Vec::new() };
        let etcd = format!("http://127.0.0.1:{clients}");
        server.spawn(
            "etcd",
            &format!(
                "--data-dir etcd --listen-client-urls {etcd} --advertise-client-urls {etcd} \
                 --listen-peer-urls http://127.0.0.1:{peers} --unsafe-no-fsync --log-level error"
            ),
        );
        server.spawn(
            "kube-apiserver",
            &format!(
                "--etcd-servers={etcd} --secure-port={port} --bind-address=127.0.0.1 --cert-dir=certs \
                 --client-ca-file=ca.crt --token-auth-file=tokens.csv --authorization-mode=RBAC \
                 --service-account-issuer=https://kubernetes.default.svc --service-account-key-file=sa.key \
                 --service-account-signing-key-file=sa.key --service-cluster-ip-range=10.0.0.0/24 \
                 --disable-admission-plugins=ServiceAccount"
            ),
        );
        server.write_kubeconfig();
        server.until_ready();
        server
    }

    fn spawn(&mut self, program: &str, line: &str) {
        let log = std::fs::File::create(self.folder.join(format!("{program}.log"))).unwrap();
        let child = Command::new(program)
            .args(line.split_whitespace())
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.children.push(child);
    }

    /// Contexts: by token, by certificate, under another name of the server, without rights, without trust.
    fn write_kubeconfig(&self) {
        let server = format!("https://127.0.0.1:{}", self.port);
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: admin\nclusters:\n\
             - {{name: real, cluster: {{server: '{server}', certificate-authority: certs/apiserver.crt}}}}\n\
             - {{name: named, cluster: {{server: '{server}', certificate-authority: certs/apiserver.crt, tls-server-name: kubernetes.default.svc}}}}\n\
             - {{name: misnamed, cluster: {{server: '{server}', certificate-authority: certs/apiserver.crt, tls-server-name: elsewhere.example}}}}\n\
             - {{name: loose, cluster: {{server: '{server}', insecure-skip-tls-verify: true}}}}\n\
             - {{name: strange, cluster: {{server: '{server}'}}}}\n\
             contexts:\n\
             - {{name: admin, context: {{cluster: real, user: admin}}}}\n\
             - {{name: certificate, context: {{cluster: real, user: me}}}}\n\
             - {{name: named, context: {{cluster: named, user: admin}}}}\n\
             - {{name: misnamed, context: {{cluster: misnamed, user: admin}}}}\n\
             - {{name: loose, context: {{cluster: loose, user: admin}}}}\n\
             - {{name: strange, context: {{cluster: strange, user: admin}}}}\n\
             - {{name: reader, context: {{cluster: real, user: reader}}}}\n\
             - {{name: wrong, context: {{cluster: real, user: wrong}}}}\n\
             users:\n\
             - {{name: admin, user: {{token: admin-token}}}}\n\
             - {{name: me, user: {{client-certificate: me.crt, client-key: me.key}}}}\n\
             - {{name: reader, user: {{token: reader-token}}}}\n\
             - {{name: wrong, user: {{token: no-such-token}}}}\n"
        );
        std::fs::write(self.kubeconfig(), text).unwrap();
    }

    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    pub fn access(&self, context: &str) -> Access {
        access(&self.kubeconfig(), context)
    }

    fn until_ready(&self) {
        let begun = Instant::now();
        loop {
            let is_there = self.folder.join("certs/apiserver.crt").is_file();
            let client = is_there.then(|| purlin_cluster::Client::new(&self.access("admin")).unwrap());
            if client.is_some_and(|client| client.get("/api/v1/namespaces/default", "", &|| true).is_ok()) {
                return;
            }
            let log = || std::fs::read_to_string(self.folder.join("kube-apiserver.log")).unwrap_or_default();
            assert!(begun.elapsed() < Duration::from_secs(120), "the server does not come up\n{}", log());
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

pub fn access(kubeconfig: &Path, context: &str) -> Access {
    let (kubeconfig, context) = (Some(kubeconfig.to_owned()), Some(context.to_owned()));
    Access::find(&Wanted { kubeconfig, context, ..Wanted::default() }).unwrap()
}

impl Drop for Server {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
