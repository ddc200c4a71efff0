//! Sessions, CSRF tokens and nonces, all derived from the secret in the data folder.

use std::{
    collections::HashMap,
    io,
    path::PathBuf,
    sync::{Mutex, PoisonError, RwLock},
};

use axum::http::{HeaderMap, header};

use super::hmac::{authenticate, is_equal};
use crate::{
    http_guard::{load_or_make_token, make_token, random_bytes},
    model::{Instant, Secret, ids::hex},
};

/// How long a session lasts. Then a new link is needed.
const SESSION_SECONDS: i64 = 14 * 24 * 3600;
/// How long a page can stay open before what it offers is shown again instead of done.
const NONCE_SECONDS: i64 = 12 * 3600;

/// What a nonce says about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NonceState {
    /// It is for this change and was not used before.
    Fresh,
    /// It is for this change, which was asked for before.
    Used,
    /// It is for another change, too old, or forged.
    Wrong,
}

/// A browser that exchanged a sign-in code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::web) struct PageSession(String);

/// Makes and checks what a browser must show. The secret lies in a file that only its owner can read; without it nothing
/// of this can be forged.
pub(in crate::web) struct Keys {
    file: PathBuf,
    secret: RwLock<Secret>,
    /// Part of every nonce, so that none of an earlier process counts.
    process: [u8; 16],
    /// The nonces that were used, with the time at which they would have ended anyway.
    used: Mutex<HashMap<String, i64>>,
    /// The name of the cookie. Cookies are shared by all ports of a host, so the port is in it.
    cookie: String,
}

impl Keys {
    /// Loads the secret, or makes one.
    pub(in crate::web) fn load(file: PathBuf, port: u16) -> io::Result<Self> {
        let secret = RwLock::new(load_or_make_token(&file)?);
        Ok(Self { file, secret, process: random_bytes()?, used: Mutex::default(), cookie: format!("adjutant_{port}") })
    }

    /// Returns a new session.
    pub(in crate::web) fn new_session(&self, now: Instant) -> io::Result<PageSession> {
        let text = format!("{}.{}", now.utc().timestamp(), hex(&random_bytes::<16>()?));
        let code = self.code(&["session", &text]);
        Ok(PageSession(format!("{text}.{code}")))
    }

    /// Returns the header that gives a browser its session. Behind a proxy with TLS it is never sent without.
    pub(in crate::web) fn cookie(&self, session: &PageSession, is_behind_proxy: bool) -> String {
        let secure = if is_behind_proxy { "; Secure" } else { "" };
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={SESSION_SECONDS}{secure}", self.cookie, session.0)
    }

    /// Returns the session of a request; none when it has none, an expired one or a forged one.
    pub(in crate::web) fn session_of(&self, headers: &HeaderMap, now: Instant) -> Option<PageSession> {
        let mut cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies.find_map(|line| {
            let given = line.split(';').filter_map(|pair| pair.trim().split_once('='));
            given.filter(|(name, _)| *name == self.cookie).find_map(|(_, value)| self.read_session(value, now))
        })
    }

    fn read_session(&self, value: &str, now: Instant) -> Option<PageSession> {
        let (text, code) = value.rsplit_once('.')?;
        let (begun, _) = text.split_once('.')?;
        let age = now.utc().timestamp() - begun.parse::<i64>().ok()?;
        let is_ours = is_equal(self.code(&["session", text]).as_bytes(), code.as_bytes());
        (is_ours && (0..SESSION_SECONDS).contains(&age)).then(|| PageSession(value.to_owned()))
    }

    /// Ends all sessions, by a new secret.
    pub(in crate::web) fn end_all_sessions(&self) -> io::Result<()> {
        let secret = make_token(&self.file)?;
        *self.secret.write().unwrap_or_else(PoisonError::into_inner) = secret;
        Ok(())
    }

    /// Returns the token that every form of this session carries.
    pub(in crate::web) fn csrf_token(&self, session: &PageSession) -> String {
        self.code(&["csrf", &session.0])
    }

    pub(super) fn is_csrf_token(&self, session: &PageSession, given: &str) -> bool {
        is_equal(self.csrf_token(session).as_bytes(), given.as_bytes())
    }

    /// Returns a nonce for one change: the path it is sent to, and the digest of what the person is shown.
    pub(in crate::web) fn nonce(
        &self,
        session: &PageSession,
        path: &str,
        seen: &str,
        now: Instant,
    ) -> io::Result<String> {
        let text = format!("{}.{}", now.utc().timestamp(), hex(&random_bytes::<16>()?));
        let code = self.nonce_code(session, path, seen, &text);
        Ok(format!("{text}.{code}"))
    }

    /// Uses up a nonce. Only the first time it is fresh.
    pub(super) fn redeem_nonce(
        &self,
        session: &PageSession,
        path: &str,
        seen: &str,
        given: &str,
        now: Instant,
    ) -> NonceState {
        let Some((text, code)) = given.rsplit_once('.') else { return NonceState::Wrong };
        if !is_equal(self.nonce_code(session, path, seen, text).as_bytes(), code.as_bytes()) {
            return NonceState::Wrong;
        }
        let made = text.split_once('.').and_then(|(made, _)| made.parse::<i64>().ok());
        let now = now.utc().timestamp();
        let Some(ends) = made.map(|made| made + NONCE_SECONDS).filter(|ends| now < *ends) else {
            return NonceState::Wrong;
        };
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, ends| now < *ends);
        if used.insert(text.to_owned(), ends).is_none() { NonceState::Fresh } else { NonceState::Used }
    }

    fn nonce_code(&self, session: &PageSession, path: &str, seen: &str, text: &str) -> String {
        self.code(&["nonce", &hex(&self.process), &session.0, path, seen, text])
    }

    fn code(&self, parts: &[&str]) -> String {
        let secret = self.secret.read().unwrap_or_else(PoisonError::into_inner);
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        hex(&authenticate(secret.reveal().as_bytes(), &parts))
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;

    use super::*;

    fn keys(folder: &tempfile::TempDir) -> Keys {
        Keys::load(folder.path().join("secret"), 7370).unwrap()
    }

    fn with_cookie(value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, value.parse().unwrap());
        headers
    }

    #[test]
    fn a_session_ends_with_its_time_and_with_the_secret() {
        let folder = tempfile::tempdir().unwrap();
        let (keys, now) = (keys(&folder), "2026-11-16T08:00:00Z".parse::<Instant>().unwrap());
        let session = keys.new_session(now).unwrap();
        let cookie = keys.cookie(&session, false);
        assert!(cookie.contains("HttpOnly; SameSite=Strict") && !cookie.contains("Secure"), "{cookie}");
        assert!(keys.cookie(&session, true).ends_with("; Secure"));
        let pair = cookie.split(';').next().unwrap().to_owned();
        let known = |keys: &Keys, pair: &str, at: Instant| keys.session_of(&with_cookie(pair), at).is_some();
        assert!(known(&keys, &pair, now));
        assert!(known(&keys, &format!("other=1; {pair}"), now.plus(Duration::days(13))));
        assert!(!known(&keys, &pair, now.plus(Duration::days(14))));
        assert!(!known(&keys, &pair.replace("7370", "7371"), now));
        assert!(!known(&keys, &format!("{pair}0"), now));
        // Another process with the same secret knows the session.
        assert!(known(&Keys::load(folder.path().join("secret"), 7370).unwrap(), &pair, now));
        keys.end_all_sessions().unwrap();
        assert!(!known(&keys, &pair, now));
    }

    #[test]
    fn a_nonce_counts_once_for_one_path_and_one_content() {
        let folder = tempfile::tempdir().unwrap();
        let (keys, now) = (keys(&folder), "2026-11-16T08:00:00Z".parse::<Instant>().unwrap());
        let (session, other) = (keys.new_session(now).unwrap(), keys.new_session(now).unwrap());
        let nonce = keys.nonce(&session, "/a/1", "digest", now).unwrap();
        for (session, path, seen, at) in [
            (&other, "/a/1", "digest", now),
            (&session, "/a/2", "digest", now),
            (&session, "/a/1", "another", now),
            (&session, "/a/1", "digest", now.plus(Duration::hours(12))),
        ] {
            assert_eq!(keys.redeem_nonce(session, path, seen, &nonce, at), NonceState::Wrong, "{path} {seen}");
        }
        assert_eq!(keys.redeem_nonce(&session, "/a/1", "digest", &nonce, now), NonceState::Fresh);
        assert_eq!(keys.redeem_nonce(&session, "/a/1", "digest", &nonce, now), NonceState::Used);
        let restarted = Keys::load(folder.path().join("secret"), 7370).unwrap();
        let nonce = keys.nonce(&session, "/a/1", "digest", now).unwrap();
        assert_eq!(restarted.redeem_nonce(&session, "/a/1", "digest", &nonce, now), NonceState::Wrong);
    }
}
