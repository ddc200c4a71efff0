//! The emulator of Google: a third-party program, started on a free port of this machine and ended with the test.

use std::{
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant as Wall},
};

use serde_json::{Value, json};

use crate::support::test_home::PATIENCE;

/// A running emulator. It is killed when this value is dropped.
pub(super) struct Peer {
    child: Child,
    pub(super) url: String,
}

/// Returns the token with which the oracle acts as that person.
pub(super) fn pass_of(address: &str) -> String {
    format!("oracle-{address}")
}

impl Peer {
    /// Starts the emulator with these mailboxes. Its seed file is written into `folder`.
    pub(super) fn start(folder: &Path, people: &[String]) -> Self {
        let seed = folder.join("google.json");
        std::fs::write(&seed, seed_of(people).to_string()).unwrap();
        let deadline = Wall::now() + PATIENCE;
        loop {
            // The port was free a moment ago. If another process takes it first, the next one is tried.
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut child = command(&seed, port).spawn().unwrap();
            while child.try_wait().unwrap().is_none() {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return Self { child, url: format!("http://127.0.0.1:{port}") };
                }
                std::thread::sleep(Duration::from_millis(10));
                assert!(Wall::now() < deadline, "the emulator of Google does not answer");
            }
            assert!(Wall::now() < deadline, "the emulator of Google ends at once");
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn command(seed: &Path, port: u16) -> Command {
    let modules = folder().join("node_modules");
    let (node, program) = (modules.join(".bin/node"), modules.join("emulate/dist/index.js"));
    assert!(
        node.exists() && program.exists(),
        "missing: the emulator of Google in {}. Get it with: make peers",
        folder().display()
    );
    let mut command = Command::new(node);
    command.arg(program).args(["start", "--service", "google", "--port", &port.to_string(), "--seed"]).arg(seed);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn folder() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"));
    cache.join("adjutant/peers/google")
}

fn seed_of(people: &[String]) -> Value {
    let tokens: serde_json::Map<String, Value> =
        people.iter().map(|address| (pass_of(address), json!({ "login": address, "scopes": [] }))).collect();
    let users: Vec<Value> = people.iter().map(|address| json!({ "email": address, "name": "Alex Green" })).collect();
    json!({ "tokens": tokens, "google": { "users": users } })
}
