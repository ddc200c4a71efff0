//! Tests the MCP server over HTTP: only this machine, its own address as the host, no other page, and the token.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use crate::support::test_home::{Kind, PATIENCE, TestHome, eventually, signal};

/// A server that was started by `adjutant mcp --http`.
struct Served {
    child: Child,
    host: String,
    token: String,
}

impl Served {
    fn start(home: &TestHome) -> Self {
        let mut child = home.command(&["--json", "mcp", "--http"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("it said: {line}"));
        let token = std::fs::read_to_string(said["token_file"].as_str().unwrap()).unwrap().trim().to_owned();
        let host = said["url"].as_str().unwrap().trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        Self { child, host, token }
    }

    /// Sends a request with these headers besides the usual ones. Returns the status line and everything after it.
    fn post(&self, headers: &[&str], body: &Value) -> (String, String) {
        let body = body.to_string();
        let mut request = String::from(
            "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\n",
        );
        headers.iter().for_each(|header| request.push_str(&format!("{header}\r\n")));
        request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // A server that has refused a request need not read the rest of it.
        drop(stream.write_all(request.as_bytes()));
        let mut bytes = Vec::new();
        drop(stream.read_to_end(&mut bytes));
        let answer = String::from_utf8_lossy(&bytes).into_owned();
        let (status, rest) = answer.split_once("\r\n").unwrap_or_else(|| panic!("no answer: {answer}"));
        (status.to_owned(), rest.to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn hello() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "Over HTTP", "version": "1" } } })
}

fn http_home() -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    home.configure("\n[mcp]\nhttp = \"127.0.0.1:0\"\n");
    home
}

#[test]
fn only_this_machine_its_own_host_no_other_page_and_the_token() {
    let home = http_home();
    let served = Served::start(&home);
    let (host, port) = (format!("Host: {}", served.host), served.host.rsplit_once(':').unwrap().1.to_owned());
    let token = format!("Authorization: Bearer {}", served.token);
    let own = format!("Origin: http://{}", served.host);
    let localhost = format!("Host: localhost:{port}");
    for headers in [vec![&host, &token], vec![&localhost, &token], vec![&host, &token, &own]] {
        let headers: Vec<&str> = headers.into_iter().map(String::as_str).collect();
        let (status, rest) = served.post(&headers, &hello());
        assert!(status.contains(" 200 ") && rest.contains("\"serverInfo\""), "{headers:?}: {status} {rest}");
    }
    let rebound = format!("Host: evil.example:{port}");
    for (headers, expected) in [
        (vec![host.as_str()], " 401 "),
        (vec![host.as_str(), "Authorization: Bearer guessed"], " 401 "),
        (vec![rebound.as_str(), token.as_str()], " 421 "),
        (vec!["Host: evil.example", token.as_str()], " 421 "),
        (vec![host.as_str(), token.as_str(), "Origin: https://evil.example"], " 403 "),
        (vec![host.as_str(), token.as_str(), "Origin: null"], " 403 "),
        (vec![host.as_str(), token.as_str(), "Origin: http://127.0.0.1:1"], " 403 "),
    ] {
        let (status, rest) = served.post(&headers, &hello());
        assert!(status.contains(expected) && !rest.contains("serverInfo"), "{headers:?}: {status} {rest}");
    }
    let (status, _) = served.post(&[&host, &token], &json!({ "filler": "x".repeat(300_000) }));
    assert!(status.contains(" 413 "), "{status}");
    let mode = std::fs::metadata(home.home().mcp_token_file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_session_over_http_works_with_the_tasks_and_stops_with_the_server() {
    let home = http_home();
    let mut served = Served::start(&home);
    let (host, token) = (format!("Host: {}", served.host), format!("Authorization: Bearer {}", served.token));
    let (_, greeted) = served.post(&[&host, &token], &hello());
    let session =
        greeted.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:")).unwrap().trim().to_owned();
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert!(served.post(&[&host, &token, &session], &begun).0.contains(" 202 "));
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "add_task", "arguments": { "title": "Buy milk" } } });
    let (status, answer) = served.post(&[&host, &token, &session], &call);
    assert!(status.contains(" 200 ") && answer.contains("I've added 'Buy milk'"), "{status} {answer}");
    // A session is of no use without the token.
    assert!(served.post(&[&host, &session], &call).0.contains(" 401 "));
    assert_eq!(home.sql("SELECT source FROM tasks"), [["mcp:over-http"]]);
    signal(served.child.id(), "TERM");
    let status = eventually("the server ends", || served.child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    assert_eq!(home.run(&["audit", "verify"]).code, 0);
}

#[test]
fn the_daemon_serves_assistants_when_told_and_not_otherwise() {
    let home = http_home();
    let mut daemon = home.daemon();
    let said = daemon.said_so_far();
    assert!(said.contains("Assistants are served at http://127.0.0.1:") && said.contains("mcp.token"), "{said}");
    let address = said.split("http://").nth(1).unwrap().split("/mcp").next().unwrap().to_owned();
    assert!(TcpStream::connect(&address).is_ok());
    assert_eq!(daemon.ended(), None);
    assert_eq!(daemon.stop("TERM").0, 0);
    assert!(TcpStream::connect(&address).is_err());

    let plain = TestHome::real_time(Kind::Active);
    let daemon = plain.daemon();
    assert_eq!(daemon.stop("TERM").0, 0);
    assert!(!plain.home().mcp_token_file().exists());
    let refused = plain.run(&["mcp", "--http"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("set http of [mcp]"), "{}", refused.err);
}

#[test]
fn an_address_or_a_token_that_is_not_safe_is_refused() {
    for (lines, expected) in [
        ("http = \"0.0.0.0:7373\"", "an address of this machine"),
        ("http = \"127.0.0.1:0\"\ntoken = \"0123456789abcdef\"", "does not belong into"),
        ("http = \"127.0.0.1:0\"\ntoken_file = \"adjutant.toml\"", "can be read by others"),
    ] {
        let home = TestHome::real_time(Kind::Active);
        home.configure(&format!("\n[mcp]\n{lines}\n"));
        let refused = home.run(&["mcp", "--http"]);
        assert_eq!(refused.code, 2, "{lines}: {}", refused.err);
        assert!(refused.err.contains(expected), "{lines}: {}", refused.err);
    }
    // An address that is taken is named.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let home = TestHome::real_time(Kind::Active);
    home.configure(&format!("\n[mcp]\nhttp = \"{}\"\n", taken.local_addr().unwrap()));
    let mut command = home.command(&["mcp", "--http"]);
    command.stdout(Stdio::piped());
    let refused = crate::support::test_home::finish(command);
    assert!(refused.code == 1 && refused.err.contains("cannot be served"), "{}", refused.err);
}
