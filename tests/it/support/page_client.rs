//! A browser without JavaScript: it signs in, loads pages, sends their forms as they stand, and follows redirects.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
};

use adjutant::{
    app::App,
    config::WebConfig,
    model::Secret,
    web::{WebServer, new_sign_in_link},
};
use tokio_util::sync::CancellationToken;

use super::test_home::{PATIENCE, TestHome};

/// The token of a monitor.
pub(crate) const METRICS_TOKEN: &str = "a-token-for-the-monitor";

/// What the server answered.
#[derive(Debug, Clone)]
pub(crate) struct PageAnswer {
    pub(crate) status: u16,
    headers: String,
    pub(crate) body: String,
    /// The path that was asked for, after all redirects.
    pub(crate) path: String,
}

/// A browser that is signed in to the page of a home, which is served until it is dropped.
pub(crate) struct PageClient {
    pub(crate) app: App,
    address: SocketAddr,
    cookie: String,
    stop: CancellationToken,
}

impl Drop for PageClient {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl PageClient {
    /// Serves the page of a home and signs in. Needs a runtime with several threads.
    pub(crate) async fn open(home: &TestHome) -> Self {
        Self::open_with(home, Some(Secret::new(METRICS_TOKEN))).await
    }

    /// Serves the page of a home whose configuration has no token for a monitor, and signs in.
    pub(crate) async fn open_without_monitor(home: &TestHome) -> Self {
        Self::open_with(home, None).await
    }

    async fn open_with(home: &TestHome, metrics_token: Option<Secret>) -> Self {
        let web = WebConfig { is_enabled: true, metrics_token, ..WebConfig::default() };
        let config = adjutant::config::Config { web, ..home.config() };
        let app = App::open(home.home(), config, home.clock.clone()).await.unwrap();
        let server = WebServer::bind(&app).await.unwrap().unwrap();
        let (address, stop) = (server.address(), CancellationToken::new());
        let (served, stopped) = (app.clone(), stop.clone());
        tokio::spawn(async move { server.serve(&served, stopped).await.unwrap() });
        let link = new_sign_in_link(&app, Some(address)).unwrap().unwrap();
        let mut client = Self { app, address, cookie: String::new(), stop };
        let path = link.split_once(&address.to_string()).unwrap().1.to_owned();
        let answer = client.send("GET", &path, &[], None);
        assert_eq!(answer.status, 303, "{}", answer.body);
        let cookie = answer.header("set-cookie").unwrap();
        client.cookie = cookie.split(';').next().unwrap().to_owned();
        client
    }

    /// Loads a page.
    pub(crate) fn get(&self, path: &str) -> PageAnswer {
        self.follow(self.send("GET", path, &[], None))
    }

    /// Loads a page that must be there.
    pub(crate) fn page(&self, path: &str) -> PageAnswer {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer
    }

    /// Sends the form of a page that goes to `action`, with these fields beside its hidden ones. Returns the page that
    /// the browser ends up at.
    pub(crate) fn submit(&self, page: &PageAnswer, action: &str, fields: &[(&str, &str)]) -> PageAnswer {
        let mut all = page.hidden_fields(action);
        all.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let body = all.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect::<Vec<_>>();
        let origin = format!("Origin: http://{}", self.address);
        let headers =
            [origin.as_str(), "Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin"];
        self.follow(self.send("POST", action, &headers, Some(&body.join("&"))))
    }

    /// Sends a request without the cookie, with these headers.
    pub(crate) fn get_without_session(&self, path: &str, headers: &[&str]) -> PageAnswer {
        self.send_with("GET", path, headers, None, "")
    }

    fn follow(&self, answer: PageAnswer) -> PageAnswer {
        match answer.header("location") {
            Some(place) if answer.status == 303 => {
                let place = place.split('#').next().unwrap().to_owned();
                self.follow(self.send("GET", &place, &[], None))
            }
            _ => answer,
        }
    }

    fn send(&self, method: &str, path: &str, headers: &[&str], body: Option<&str>) -> PageAnswer {
        self.send_with(method, path, headers, body, &self.cookie)
    }

    fn send_with(&self, method: &str, path: &str, headers: &[&str], body: Option<&str>, cookie: &str) -> PageAnswer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        if !cookie.is_empty() {
            request.push_str(&format!("Cookie: {cookie}\r\n"));
        }
        headers.iter().for_each(|header| request.push_str(&format!("{header}\r\n")));
        if let Some(body) = body {
            request.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        request.push_str(&format!("\r\n{}", body.unwrap_or_default()));
        let bytes = tokio::task::block_in_place(|| {
            let mut stream = TcpStream::connect(self.address).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            bytes
        });
        let text = String::from_utf8(bytes).unwrap();
        let (head, rest) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        let body = if is_chunked { join_chunks(rest) } else { rest.to_owned() };
        PageAnswer { status, headers: head.to_owned(), body, path: path.to_owned() }
    }
}

fn join_chunks(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        body.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
    }
    body
}

impl PageAnswer {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.headers.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the hidden fields of the form that goes to `action`.
    fn hidden_fields(&self, action: &str) -> Vec<(String, String)> {
        let form = format!("action=\"{action}\"");
        let at = self.body.find(&form).unwrap_or_else(|| panic!("no form goes to {action}: {}", self.body));
        let form = self.body[at..].split("</form>").next().unwrap();
        let part = |input: &str, name: &str| {
            let value = input.split(&format!("{name}=\"")).nth(1)?.split('"').next()?;
            Some(value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        };
        let inputs = form.split("<input type=\"hidden\"").skip(1).map(|input| input.split('>').next().unwrap());
        inputs.map(|input| (part(input, "name").unwrap(), part(input, "value").unwrap())).collect()
    }

    /// Returns the text of the page without its markup. What stands in blocks of their own is apart.
    pub(crate) fn text(&self) -> String {
        const INLINE: [&str; 9] = ["a", "bdi", "code", "del", "em", "ins", "span", "strong", "time"];
        let mut parts = self.body.split('<');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (tag, after) = part.split_once('>').unwrap_or((part, ""));
            let name =
                tag.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
            if !INLINE.contains(&name) {
                text.push(' ');
            }
            text.push_str(after);
        }
        let text = text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Checks that the page says this.
    pub(crate) fn must_say(&self, words: &str) {
        assert!(self.text().contains(words), "{} does not say '{words}': {}", self.path, self.text());
    }

    /// Returns the first link that begins like this.
    pub(crate) fn link(&self, begin: &str) -> String {
        let at = self.body.find(&format!("href=\"{begin}")).unwrap_or_else(|| panic!("no link {begin}: {}", self.body));
        self.body[at + 6..].split('"').next().unwrap().to_owned()
    }
}

fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
