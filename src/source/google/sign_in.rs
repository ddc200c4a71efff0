//! Signing in with OAuth (authorization code with PKCE): the person consents in a browser, on this machine or another,
//! and the tokens are stored.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use google_gmail1::common::serde::urlsafe_base64;
use reqwest::Url;
use rustls::crypto::ring;
use sha2::{Digest as _, Sha256};

use super::{
    ApiError, ClientApp,
    token_file::TokenFile,
    token_server::{self, GrantResponse},
};
use crate::model::{Instant, Secret};

/// A browser on the same machine sends its request line at once.
const REQUEST_LINE_TIMEOUT: Duration = Duration::from_secs(5);
const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Adjutant</title>";

/// A consent that was asked for and not yet given.
pub struct ConsentRequest {
    /// The address that the person opens in a browser.
    pub url: String,
    /// The address that the browser is redirected to afterwards.
    redirect: String,
    /// Random value that ties the answer to this request (CSRF protection).
    state: String,
    /// The PKCE code verifier.
    verifier: Secret,
    scopes: Vec<String>,
}

/// A listener on loopback that receives the redirect of the browser.
pub struct RedirectListener(TcpListener);

impl RedirectListener {
    /// Listens on a free port of the loopback interface.
    pub fn open() -> io::Result<Self> {
        TcpListener::bind(("127.0.0.1", 0)).map(Self)
    }

    /// Returns the address that the browser must be redirected to.
    pub fn address(&self) -> io::Result<String> {
        Ok(format!("http://127.0.0.1:{}", self.0.local_addr()?.port()))
    }

    /// Waits for the browser and returns the authorization code, or why there is none. Requests for anything else are
    /// answered with 404. Blocks.
    pub fn wait_for_code(&self, consent: &ConsentRequest) -> io::Result<Result<Secret, String>> {
        loop {
            let (stream, _) = self.0.accept()?;
            // Browsers also request icons, and port scanners anything at all.
            let Some(target) = read_request_target(&stream)? else { continue };
            let brought = consent.extract_code(&target);
            let Some(brought) = brought.transpose() else {
                write_response(stream, "404 Not Found", "Not here.")?;
                continue;
            };
            let said = if brought.is_ok() {
                "Signed in; you can close this page."
            } else {
                "The sign-in failed; see the terminal."
            };
            write_response(stream, "200 OK", said)?;
            return Ok(brought);
        }
    }
}

/// Returns the target of a GET request; none for anything else.
fn read_request_target(stream: &TcpStream) -> io::Result<Option<String>> {
    stream.set_read_timeout(Some(REQUEST_LINE_TIMEOUT))?;
    let mut line = String::new();
    let read = BufReader::new(io::Read::take(stream, 16 * 1024)).read_line(&mut line);
    Ok(read.ok().and_then(|_| line.strip_prefix("GET ")?.split(' ').next().map(str::to_owned)))
}

fn write_response(mut stream: TcpStream, status: &str, text: &str) -> io::Result<()> {
    let body = format!("{PAGE}<p>{text}</p>");
    let head = "Content-Type: text/html; charset=utf-8\r\nConnection: close";
    write!(stream, "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

impl ConsentRequest {
    /// Creates the request with its random state and PKCE challenge. `redirect` is where the browser is sent
    /// afterwards, whether or not anybody listens there.
    pub fn new(app: &ClientApp, redirect: &str, scopes: &[&str]) -> Result<Self, String> {
        let (state, verifier) = (random()?, random()?);
        let challenge = urlsafe_base64::to_string(&Sha256::digest(verifier.as_bytes()).to_vec());
        let wanted = scopes.join(" ");
        let fields = [
            ("client_id", app.client_id.as_str()),
            ("redirect_uri", redirect),
            ("response_type", "code"),
            ("scope", &wanted),
            ("state", &state),
            ("code_challenge", challenge.trim_end_matches('=')),
            ("code_challenge_method", "S256"),
            // Without these two there is no refresh token.
            ("access_type", "offline"),
            ("prompt", "consent"),
        ];
        let url = Url::parse_with_params(&app.auth_uri, fields).map_err(|_| "the client file has no good auth_uri")?;
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        Ok(Self { url: url.into(), redirect: redirect.to_owned(), state, verifier: verifier.into(), scopes })
    }

    /// Returns the authorization code in the address that the browser ended at, or in the part of it that a person
    /// pasted. None when the text contains no answer. An answer to another request is an error.
    pub fn extract_code(&self, pasted: &str) -> Result<Option<Secret>, String> {
        let pasted = pasted.trim();
        let query = pasted.split_once('?').map_or(pasted, |(_, query)| query);
        let Ok(url) = Url::parse(&format!("http://127.0.0.1/?{query}")) else { return Ok(None) };
        let field = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        if let Some(error) = field("error") {
            let word: String = error.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
            return Err(format!("Google says: {word}"));
        }
        let Some(code) = field("code").filter(|code| !code.is_empty()) else { return Ok(None) };
        if field("state").as_deref() != Some(self.state.as_str()) {
            return Err("this answer belongs to another question; use the newest address".into());
        }
        Ok(Some(code.into()))
    }

    /// Exchanges the code for tokens and stores them. Nothing is stored if the person did not consent to every scope.
    pub async fn exchange_code(
        &self,
        app: &ClientApp,
        code: &Secret,
        file: &TokenFile,
        now: Instant,
    ) -> Result<(), ApiError> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code.reveal()),
            ("redirect_uri", &self.redirect),
            ("code_verifier", self.verifier.reveal()),
        ];
        let GrantResponse::Issued(grant) = token_server::request_grant(app, &fields).await? else {
            return Err(ApiError::Auth("the code is no longer valid; start again".into()));
        };
        let sign_in = grant
            .into_sign_in(app, None, now)
            .ok_or_else(|| ApiError::Auth("Google gave no refresh token; start again".into()))?;
        if let Some(missing) = self.scopes.iter().find(|wanted| !sign_in.scopes.contains(wanted)) {
            return Err(ApiError::Auth(format!("you did not agree to {missing}; start again and tick every box")));
        }
        file.save(&sign_in).map_err(|error| ApiError::Auth(format!("{}: {error}", file.path().display())))
    }
}

/// Returns 64 hexadecimal characters from the system's secure random source.
fn random() -> Result<String, String> {
    let mut bytes = [0_u8; 32];
    let random = ring::default_provider().secure_random;
    random.fill(&mut bytes).map_err(|_| "the system's random number generator failed")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consent() -> ConsentRequest {
        let app = ClientApp {
            client_id: "id".into(),
            client_secret: Secret::new("s"),
            auth_uri: "https://auth.example/o".into(),
            token_uri: String::new(),
        };
        ConsentRequest::new(&app, "http://127.0.0.1:9", &["one", "two"]).unwrap()
    }

    #[test]
    fn the_address_asks_for_exactly_the_scopes_and_hides_the_verifier() {
        let consent = consent();
        assert!(consent.url.starts_with("https://auth.example/o?client_id=id&"));
        assert!(consent.url.contains("scope=one+two&"), "{}", consent.url);
        assert!(!consent.url.contains(consent.verifier.reveal()));
        assert_ne!(self::consent().state, consent.state);
    }

    #[test]
    fn what_a_person_pastes_is_understood() {
        let consent = consent();
        let state = consent.state.clone();
        let code = |text: &str| consent.extract_code(text).map(|code| code.map(|code| code.reveal().to_owned()));
        let good = Ok(Some("4/a b".to_owned()));
        assert_eq!(code(&format!("http://127.0.0.1:9/?state={state}&code=4/a%20b&scope=one")), good);
        assert_eq!(code(&format!("  /?code=4%2Fa+b&state={state}\n")), good);
        assert_eq!(code(&format!("code=4/a+b&state={state}")), good);
        assert_eq!(code("/favicon.ico"), Ok(None));
        assert_eq!(code("hello"), Ok(None));
        assert!(code("/?code=stolen&state=other").unwrap_err().contains("another question"));
        assert!(code("/?code=stolen").is_err());
        assert!(code("/?error=access_denied&state=x").unwrap_err().contains("access_denied"));
    }
}
