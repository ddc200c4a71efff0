//! A client of the MCP server, which speaks to the real binary on its stdin and stdout, line by line.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
};

use serde_json::{Value, json};

use super::test_home::{PATIENCE, TestHome, eventually};

pub(crate) struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    answers: mpsc::Receiver<Value>,
    errors: std::thread::JoinHandle<String>,
    next: i64,
}

impl McpClient {
    /// Starts a server for this home and introduces the client by this name.
    pub(crate) fn start(home: &TestHome, name: &str) -> Self {
        Self::connect(home.command(&["mcp"]), name)
    }

    pub(crate) fn connect(mut command: Command, name: &str) -> Self {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let (out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let answer =
                    serde_json::from_str(&line).unwrap_or_else(|_| panic!("stdout has more than JSON: {line}"));
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            drop(err.read_to_string(&mut text));
            text
        });
        let stdin = child.stdin.take();
        let mut client = Self { child, stdin, answers, errors, next: 1 };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": name, "version": "1" } });
        client.request("initialize", hello).unwrap();
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and returns its result, or its error.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut answer = self.answers.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] == id {
                return if answer["error"].is_null() {
                    Ok(answer["result"].take())
                } else {
                    Err(answer["error"].take())
                };
            }
        }
    }

    /// Calls a tool. Returns its structured answer, or the text of the error.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        let mut result = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).unwrap();
        if result["isError"] == true {
            return Err(result["content"][0]["text"].as_str().unwrap().to_owned());
        }
        // Clients that know no structured answers read the same as text, behind the notice about text from mails.
        let texts: Vec<&str> =
            result["content"].as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect();
        let text: Value = serde_json::from_str(texts.last().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        assert_eq!(texts.len() == 2, text["notice"] == texts[0], "{texts:?}");
        Ok(result["structuredContent"].take())
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Closes stdin, as a client does that leaves. Returns the exit code and everything that was logged.
    pub(crate) fn leave(mut self) -> (i32, String) {
        drop(self.stdin.take());
        let status = eventually("the server ends", || self.child.try_wait().unwrap());
        (status.code().unwrap_or(-1), self.errors.join().unwrap())
    }
}
