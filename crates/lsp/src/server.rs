//! The main loop: texts are taken over at once, requests are answered from known results, projects are resolved by the
//! worker.

use crate::answers::{Question, answer, workspace_symbols};
use crate::edits::apply;
use crate::uri::path_of;
use crate::worker::{Task, Worker};
use crossbeam_channel::Sender;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use purlin_ide::{Buffers, Change, Choice, Desk, Ide, Keeper, TOKEN_KINDS, Workspace};
use purlin_syntax::Limits;
use purlin_value::World;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Evaluation nests as deeply as the configuration; its limits assume this much stack.
const STACK: usize = 256 << 20;

/// A served folder.
pub struct Opened {
    /// The world that contains it.
    pub world: Arc<dyn World>,
    /// The folder, from the world's root.
    pub start: String,
    /// Limits in force.
    pub limits: Limits,
    /// Reads the settings of the folder.
    pub keeper: Keeper,
}

/// Serves one client until it exits. `open` opens the folder that the client names, or else the one the server was
/// started in.
pub fn serve(connection: &Connection, open: impl FnOnce(Option<&str>) -> Result<Opened, String>) -> Result<(), String> {
    let failed = |error: lsp_server::ProtocolError| error.to_string();
    let (id, params) = connection.initialize_start().map_err(failed)?;
    let folder = folder_of(&params);
    let opened = open(folder.as_deref())?;
    let answer = json!({
        "capabilities": capabilities(),
        "serverInfo": {"name": "purlin", "version": env!("CARGO_PKG_VERSION")},
    });
    connection.initialize_finish(id, answer).map_err(failed)?;
    let buffers = Arc::new(Buffers::default());
    let root = opened.world.root().to_owned();
    let desk = Arc::new(Desk::new(opened.world, buffers.clone()));
    let ide = Arc::new(Ide::new(desk.clone(), buffers.clone(), opened.limits.clone()));
    let (tasks, handed_in) = crossbeam_channel::unbounded();
    let mut workspace = Workspace::new(desk, &opened.start, opened.limits).kept_by(opened.keeper);
    let (choice, with_inlays) = settings(&params["initializationOptions"]);
    workspace.choose(choice);
    let worker = Worker {
        workspace,
        ide: ide.clone(),
        buffers: buffers.clone(),
        root: root.clone(),
        tasks: handed_in,
        out: connection.sender.clone(),
        published: BTreeMap::new(),
        versions: BTreeMap::new(),
        due: BTreeSet::new(),
    };
    let thread = std::thread::Builder::new().name("resolve".to_owned()).stack_size(STACK);
    let thread = thread.spawn(move || worker.run()).map_err(|error| error.to_string())?;
    let is_watched = watches(&params);
    if is_watched {
        connection.sender.send(Message::Request(watch_request())).map_err(|error| error.to_string())?;
    }
    let mut server = Server { ide, buffers, root, tasks, with_inlays, is_watched, cancelled: HashSet::new() };
    server.run(connection)?;
    drop(server);
    // A worker that panicked has ended too; its last results were shown.
    let _ = thread.join();
    Ok(())
}

/// The folder that a client opens.
fn folder_of(params: &Value) -> Option<String> {
    let first = params["workspaceFolders"].as_array().and_then(|folders| folders.first());
    let uri = first.and_then(|folder| folder["uri"].as_str()).or_else(|| params["rootUri"].as_str());
    uri.and_then(path_of).or_else(|| params["rootPath"].as_str().map(str::to_owned))
}

fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": {"openClose": true, "change": 2, "save": {"includeText": false}},
        "completionProvider": {"triggerCharacters": [".", "{", "\"", " ", "$"]},
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "documentFormattingProvider": true,
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "renameProvider": {"prepareProvider": true},
        "codeActionProvider": {"codeActionKinds": ["quickfix"]},
        "signatureHelpProvider": {"triggerCharacters": ["(", ",", " "]},
        "inlayHintProvider": true,
        "codeLensProvider": {"resolveProvider": false},
        "semanticTokensProvider": {"legend": {"tokenTypes": TOKEN_KINDS, "tokenModifiers": []}, "full": true},
    })
}

/// Reads the settings: environment and profiles, and whether values are shown next to expressions.
fn settings(options: &Value) -> (Choice, bool) {
    let options = options.get("purlin").unwrap_or(options);
    let text = |key: &str| options[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let profiles = options["profiles"].as_array().into_iter().flatten();
    let profiles = profiles.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let with_inlays = options["inlayHints"].as_bool().unwrap_or(false);
    (Choice { environment: text("environment"), profiles }, with_inlays)
}

fn watches(params: &Value) -> bool {
    params["capabilities"]["workspace"]["didChangeWatchedFiles"]["dynamicRegistration"].as_bool() == Some(true)
}

fn watch_request() -> Request {
    let watchers = json!([{"globPattern": "**/*"}]);
    let registration = json!({
        "id": "files",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": {"watchers": watchers},
    });
    let params = json!({"registrations": [registration]});
    Request { id: RequestId::from(1), method: "client/registerCapability".to_owned(), params }
}

/// Whether changes of a file are ignored: git's own files, and build output.
fn is_noise(file: &str) -> bool {
    file.split('/').any(|step| matches!(step, ".git" | "node_modules" | "target"))
}

struct Server {
    ide: Arc<Ide>,
    buffers: Arc<Buffers>,
    root: String,
    tasks: Sender<Task>,
    with_inlays: bool,
    /// Whether the client reports changes on disk.
    is_watched: bool,
    cancelled: HashSet<RequestId>,
}

impl Server {
    fn run(&mut self, connection: &Connection) -> Result<(), String> {
        let mut queue: VecDeque<Message> = VecDeque::new();
        loop {
            if queue.is_empty() {
                match connection.receiver.recv() {
                    Ok(message) => queue.push_back(message),
                    Err(_) => return Ok(()),
                }
            }
            // Messages that arrived meanwhile may cancel waiting requests.
            while let Ok(message) = connection.receiver.try_recv() {
                self.note_cancel(&message);
                queue.push_back(message);
            }
            match queue.pop_front() {
                Some(Message::Request(request)) => {
                    if request.method == "shutdown" {
                        return self.goodbye(connection, request.id);
                    }
                    if request.method == "purlin/settled" {
                        // Benchmarks and tests wait for the projects; editors need not.
                        self.tasks.send(Task::Settled(request.id)).map_err(|error| error.to_string())?;
                        continue;
                    }
                    let response = self.respond(request);
                    connection.sender.send(Message::Response(response)).map_err(|error| error.to_string())?;
                }
                Some(Message::Notification(notification)) if notification.method == "exit" => return Ok(()),
                Some(Message::Notification(notification)) => self.notice(&notification),
                Some(Message::Response(_)) | None => {}
            }
        }
    }

    fn goodbye(&self, connection: &Connection, id: RequestId) -> Result<(), String> {
        let response = Response { id, response_result: Ok(Value::Null) };
        connection.sender.send(Message::Response(response)).map_err(|error| error.to_string())?;
        // Messages before `exit` are no longer answered.
        while let Ok(message) = connection.receiver.recv() {
            if matches!(&message, Message::Notification(notification) if notification.method == "exit") {
                break;
            }
        }
        Ok(())
    }

    fn note_cancel(&mut self, message: &Message) {
        let Message::Notification(notification) = message else { return };
        if notification.method == "$/cancelRequest"
            && let Ok(id) = serde_json::from_value::<RequestId>(notification.params["id"].clone())
        {
            self.cancelled.insert(id);
        }
    }

    fn respond(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let failure = |id: RequestId, code: ErrorCode, message: String| {
            let error = lsp_server::ResponseError { code: code as i32, message, data: None };
            Response { id, response_result: Err(error) }
        };
        if self.cancelled.remove(&id) {
            return failure(id, ErrorCode::RequestCanceled, "cancelled".to_owned());
        }
        if method == "workspace/symbol" {
            let symbols = self.ide.workspace_symbols(params["query"].as_str().unwrap_or(""));
            return Response { id, response_result: Ok(workspace_symbols(&self.root, &symbols)) };
        }
        let file = self.file_of(&params["textDocument"]["uri"]).unwrap_or_default();
        let (ide, with_inlays) = (self.ide.clone(), self.with_inlays);
        let question = Question { ide: &ide, root: &self.root, file: &file, params: &params, with_inlays };
        // A request that panics is answered with an error; later requests are unaffected.
        let answered = catch_unwind(AssertUnwindSafe(|| answer(&method, &question)));
        let Ok(answered) = answered else {
            return failure(id, ErrorCode::InternalError, format!("`{method}` met a defect of Purlin"));
        };
        match answered {
            Some(Ok(result)) => Response { id, response_result: Ok(result) },
            Some(Err(why)) => failure(id, ErrorCode::InvalidRequest, why),
            None => failure(id, ErrorCode::MethodNotFound, format!("unknown method `{method}`")),
        }
    }

    fn notice(&mut self, notification: &Notification) {
        let params = &notification.params;
        let file = self.file_of(&params["textDocument"]["uri"]);
        match (notification.method.as_str(), file) {
            ("textDocument/didOpen", Some(file)) => {
                let text = params["textDocument"]["text"].as_str().unwrap_or("");
                let is_same = self.ide.text(&file).is_some_and(|known| &*known == text);
                self.buffers.set(&file, text);
                // A text that equals the file on disk changes nothing.
                let change = (!is_same).then(|| Change::Presence(file.clone()));
                self.text(file, params, change);
            }
            ("textDocument/didChange", Some(file)) => {
                let before = self.ide.text(&file).unwrap_or_default();
                self.buffers.set(&file, &apply(&before, &params["contentChanges"]));
                let change = Some(Change::Content(file.clone()));
                self.text(file, params, change);
            }
            ("textDocument/didClose", Some(file)) => {
                self.buffers.close(&file);
                let _ = self.tasks.send(Task::Closed(file));
            }
            ("textDocument/didSave", Some(file)) => {
                // A save may have changed other files too; a client that watches files reports them itself.
                self.changed(vec![if self.is_watched { Change::Content(file) } else { Change::Everything }]);
            }
            ("workspace/didChangeWatchedFiles", _) => {
                let changes = params["changes"].as_array().into_iter().flatten();
                let changes = changes.filter_map(|change| {
                    let file = self.file_of(&change["uri"]).filter(|file| !is_noise(file))?;
                    // An open text takes precedence over the disk.
                    let is_open = self.buffers.get(&file).is_some();
                    (!is_open).then(|| match change["type"].as_u64() {
                        Some(2) => Change::Content(file),
                        _ => Change::Presence(file),
                    })
                });
                let changes: Vec<Change> = changes.collect();
                self.changed(changes);
            }
            ("workspace/didChangeConfiguration", _) => {
                let (choice, with_inlays) = settings(&params["settings"]);
                self.with_inlays = with_inlays;
                let _ = self.tasks.send(Task::Choose(choice));
            }
            _ => {}
        }
    }

    /// Reports an editor's text of a file to the worker, with its version.
    fn text(&self, file: String, params: &Value, change: Option<Change>) {
        let version = params["textDocument"]["version"].as_i64();
        let _ = self.tasks.send(Task::Text { file, version, change });
    }

    fn changed(&self, changes: Vec<Change>) {
        if !changes.is_empty() {
            // A worker that has ended cannot receive it; requests are still answered.
            let _ = self.tasks.send(Task::Changed(changes));
        }
    }

    /// The path of a file in the world.
    fn file_of(&self, uri: &Value) -> Option<String> {
        let path = path_of(uri.as_str()?)?;
        let inside = path.strip_prefix(&self.root).and_then(|rest| rest.strip_prefix('/'));
        Some(inside.map_or(path.clone(), str::to_owned))
    }
}
