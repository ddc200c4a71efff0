//! A browser without JavaScript: it signs in, loads pages, sends their forms as they stand, and follows redirects.

use adjutant::{
    app::App,
    config::{Config, WebConfig},
    model::Secret,
};

use super::{
    served_page::{HttpAnswer, ServedPage},
    test_home::TestHome,
};

/// The token of a monitor.
pub(crate) const METRICS_TOKEN: &str = "a-token-for-the-monitor";

/// What the server answered.
#[derive(Debug, Clone)]
pub(crate) struct PageAnswer {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// The path that was asked for, after all redirects.
    pub(crate) path: String,
}

/// A browser that is signed in to the page of a home, which is served until it is dropped.
pub(crate) struct PageClient {
    pub(crate) app: App,
    served: ServedPage,
    cookie: String,
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
        let served = ServedPage::start_with(home, Config { web, ..home.config() }).await;
        Self { app: served.app.clone(), cookie: served.sign_in(), served }
    }

    /// Loads a page.
    pub(crate) fn get(&self, path: &str) -> PageAnswer {
        self.follow(path, self.served.get(path, &self.cookie))
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
        self.follow(action, self.served.post(action, &self.cookie, &body.join("&")))
    }

    /// Loads a page without the cookie, with these headers.
    pub(crate) fn get_without_session(&self, path: &str, headers: &[&str]) -> PageAnswer {
        let host = format!("Host: {}", self.served.address);
        let headers: Vec<&str> = [host.as_str()].into_iter().chain(headers.iter().copied()).collect();
        let HttpAnswer { status, body, .. } = self.served.send("GET", path, &headers, "");
        PageAnswer { status, body, path: path.to_owned() }
    }

    fn follow(&self, path: &str, answer: HttpAnswer) -> PageAnswer {
        match answer.header("location") {
            Some(place) if answer.status == 303 => self.get(place.split('#').next().unwrap()),
            _ => PageAnswer { status: answer.status, body: answer.body, path: path.to_owned() },
        }
    }
}

impl PageAnswer {
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
