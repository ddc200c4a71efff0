//! A real browser, driven by a small program on node (`tests/browser/driver.mjs`).

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

/// A browser with one window.
pub(crate) struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// How a window looks and what it can do.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) has_javascript: bool,
    pub(crate) is_dark: bool,
}

pub(crate) const DESKTOP: Window = Window { width: 1200, height: 900, has_javascript: true, is_dark: false };
pub(crate) const PHONE: Window = Window { width: 375, height: 740, ..DESKTOP };

/// Returns the folder of the programs that the tests use.
fn peers() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache"));
    cache.join("adjutant/peers")
}

fn chromium() -> PathBuf {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.exists()));
    found.expect("missing: chromium. Get it with: make peers")
}

impl Browser {
    /// Starts a browser without a window.
    pub(crate) fn start() -> Self {
        let (node, folder) = (peers().join("google/node_modules/.bin/node"), peers().join("browser"));
        let is_whole = folder.join("node_modules/playwright-core").exists() && node.exists();
        assert!(is_whole, "missing: the driver of the browser in {}. Get it with: make peers", folder.display());
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/driver.mjs");
        let mut command = Command::new(node);
        command.arg(driver).arg(folder).arg(chromium()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let commands = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, commands, answers }
    }

    fn try_call(&mut self, command: &Value) -> Result<Value, String> {
        writeln!(self.commands, "{command}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let answer: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("{command}: the browser said {line}"));
        match answer["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer["value"].clone()),
        }
    }

    fn call(&mut self, command: &Value) -> Value {
        match self.try_call(command) {
            Ok(value) => value,
            Err(error) => {
                let text = self.try_call(&json!({ "command": "text", "selector": "body" }));
                panic!("{command}: {error}\nthe page says: {text:?}")
            }
        }
    }

    /// Opens a new window without any history, in place of the one before.
    pub(crate) fn open(&mut self, window: Window) {
        let Window { width, height, has_javascript, is_dark } = window;
        let scheme = if is_dark { "dark" } else { "light" };
        self.call(&json!({
            "command": "open", "width": width, "height": height, "javaScript": has_javascript, "scheme": scheme
        }));
    }

    /// Loads a page. Returns the status of the answer.
    pub(crate) fn goto(&mut self, url: &str) -> u64 {
        self.call(&json!({ "command": "goto", "url": url })).as_u64().unwrap_or_default()
    }

    pub(crate) fn click(&mut self, selector: &str) {
        self.call(&json!({ "command": "click", "selector": selector }));
    }

    pub(crate) fn fill(&mut self, selector: &str, value: &str) {
        self.call(&json!({ "command": "fill", "selector": selector, "value": value }));
    }

    /// Presses keys one after another.
    pub(crate) fn press(&mut self, keys: &[&str]) {
        self.call(&json!({ "command": "press", "keys": keys }));
    }

    /// Types text into what has the focus.
    pub(crate) fn type_text(&mut self, value: &str) {
        self.call(&json!({ "command": "type", "value": value }));
    }

    /// Returns the text of an element as a person sees it.
    pub(crate) fn text(&mut self, selector: &str) -> String {
        self.call(&json!({ "command": "text", "selector": selector })).as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn count(&mut self, selector: &str) -> u64 {
        self.call(&json!({ "command": "count", "selector": selector })).as_u64().unwrap()
    }

    /// Waits until an element with this text is there.
    pub(crate) fn until(&mut self, selector: &str, text: &str) {
        self.call(&json!({ "command": "until", "selector": selector, "text": text }));
    }

    pub(crate) fn url(&mut self) -> String {
        self.call(&json!({ "command": "url" })).as_str().unwrap().to_owned()
    }

    /// Returns the value of an expression in the page.
    pub(crate) fn evaluate(&mut self, code: &str) -> Value {
        self.call(&json!({ "command": "evaluate", "code": code }))
    }

    /// Keeps a picture of the whole page among the artefacts of the tests.
    pub(crate) fn screenshot(&mut self, name: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{name}.png"));
        self.call(&json!({ "command": "screenshot", "file": file }));
        assert!(std::fs::metadata(&file).unwrap().len() > 2000, "an empty picture");
    }

    /// Panics if a person with a screen reader or a keyboard would meet a serious fault here, or if the page is wider
    /// than its window.
    pub(crate) fn must_be_accessible(&mut self) {
        let faults = self.call(&json!({ "command": "axe" }));
        assert_eq!(faults, json!([]), "{}", self.url());
        let too_wide = self.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1");
        assert_eq!(too_wide, json!(false), "{} is wider than its window", self.url());
    }

    /// Panics if the page asked for anything but its own server, or reported an error.
    pub(crate) fn must_be_quiet(&mut self, origin: &str) {
        let traffic = self.call(&json!({ "command": "traffic" }));
        let foreign = |url: &&Value| !url.as_str().unwrap().starts_with(origin);
        let asked: Vec<&Value> = traffic["requested"].as_array().unwrap().iter().filter(foreign).collect();
        assert!(asked.is_empty(), "the page asked for {asked:?}");
        assert_eq!(traffic["complaints"], json!([]));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
