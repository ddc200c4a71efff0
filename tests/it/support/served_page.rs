//! The web page, served in this process on a free port.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
};

use adjutant::{
    app::App,
    config::Config,
    web::{WebServer, new_sign_in_link},
};
use tokio_util::sync::CancellationToken;

use super::test_home::{PATIENCE, TestHome};

/// A page that is served until this value is dropped.
pub(crate) struct ServedPage {
    pub(crate) app: App,
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
}

/// What a server answered.
#[derive(Debug, Clone)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl HttpAnswer {
    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

impl ServedPage {
    pub(crate) async fn start(home: &TestHome) -> Self {
        Self::start_with(home, home.config()).await
    }

    pub(crate) async fn start_with(home: &TestHome, config: Config) -> Self {
        let app = App::open(home.home(), config, home.clock.clone()).await.unwrap();
        let server = WebServer::bind(&app).await.unwrap().unwrap();
        let (address, stop) = (server.address(), CancellationToken::new());
        let (served, stopped) = (app.clone(), stop.clone());
        tokio::spawn(async move { server.serve(&served, stopped).await.unwrap() });
        let page = Self { app, address, stop };
        crate::support::test_home::eventually("the page answers", || {
            (page.get("/healthz", "").status == 200).then_some(())
        });
        page
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns a link that signs a browser in.
    pub(crate) fn sign_in_link(&self) -> String {
        new_sign_in_link(&self.app, Some(self.address)).unwrap().unwrap()
    }

    /// Signs in without a browser. Returns the cookie.
    pub(crate) fn sign_in(&self) -> String {
        let link = self.sign_in_link();
        let answer = self.get(link.strip_prefix(&self.url("")).unwrap(), "");
        assert_eq!(answer.status, 303, "{answer:?}");
        answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }

    /// Loads a page with this cookie.
    pub(crate) fn get(&self, path: &str, cookie: &str) -> HttpAnswer {
        self.send("GET", path, &[&format!("Host: {}", self.address), &format!("Cookie: {cookie}")], "")
    }

    /// Sends a form as a browser does that has this cookie.
    pub(crate) fn post(&self, path: &str, cookie: &str, form: &str) -> HttpAnswer {
        let headers = self.form_headers(cookie);
        self.send("POST", path, &headers.iter().map(String::as_str).collect::<Vec<_>>(), form)
    }

    /// Returns the headers that a browser sends with a form.
    pub(crate) fn form_headers(&self, cookie: &str) -> Vec<String> {
        vec![
            format!("Host: {}", self.address),
            format!("Origin: http://{}", self.address),
            "Sec-Fetch-Site: same-origin".to_owned(),
            "Content-Type: application/x-www-form-urlencoded".to_owned(),
            format!("Cookie: {cookie}"),
        ]
    }

    /// Sends a request with exactly these headers.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> HttpAnswer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        headers.iter().for_each(|header| request.push_str(&format!("{header}\r\n")));
        request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // A server that has refused a request need not read the rest of it.
        drop(stream.write_all(request.as_bytes()));
        let mut bytes = Vec::new();
        let mut piece = [0; 16384];
        // The live stream does not end, so its beginning is enough.
        let is_stream = path == "/live";
        while let Ok(count @ 1..) = stream.read(&mut piece) {
            bytes.extend_from_slice(&piece[..count]);
            if is_stream {
                break;
            }
        }
        let answer = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{method} {path}: {answer}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        HttpAnswer { status, head: head.to_owned(), body: body.to_owned() }
    }
}

impl Drop for ServedPage {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
