//! The guard of everything that is served over HTTP: who may reach it, and from where.
//!
//! Only this machine can connect. A web page in a browser on this machine can send requests too, so each request must
//! name an address of this server as its host (a foreign name that was made to point here does not), must come from no
//! other page, and must carry the token. The guard knows nothing of what it protects.

mod token_file;

use std::{io, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

pub use self::token_file::{load_or_make_token, make_token, random_bytes};
use crate::model::Secret;

/// Binds a listener. Refuses an address that other machines can reach.
pub async fn bind_to_loopback(address: SocketAddr) -> io::Result<TcpListener> {
    if !address.ip().is_loopback() {
        let why = format!("{address} can be reached by other machines; only an address of this machine is served");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    TcpListener::bind(address).await
}

/// Checks every request before it reaches what is served.
#[derive(Clone)]
pub struct HttpGuard {
    hosts: OwnHosts,
    token_digest: [u8; 32],
}

/// The names of this server, and from where its requests may come.
#[derive(Clone)]
pub struct OwnHosts {
    /// The values of the header `Host` that name this server.
    own: Arc<[String]>,
    /// The names under which a reverse proxy serves it with TLS.
    behind_proxy: Arc<[String]>,
}

/// Why a request was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequestRefusal {
    #[error("this server is reached by its own address only")]
    Host,
    #[error("requests of other pages are refused")]
    Origin,
    #[error("the token is missing or wrong; send it as \"Authorization: Bearer TOKEN\"")]
    Token,
}

impl HttpGuard {
    /// Returns the guard of a server that is bound to `address`, for whoever knows the token.
    pub fn new(address: SocketAddr, token: &Secret) -> Self {
        Self { hosts: OwnHosts::new(address, &[]), token_digest: Sha256::digest(token.reveal()).into() }
    }

    /// Puts the guard before every route.
    pub fn protect(self, routes: Router) -> Router {
        routes.layer(middleware::from_fn_with_state(self, refuse_or_go_on))
    }

    /// Checks the bearer token of a request.
    pub fn check_token(&self, headers: &HeaderMap) -> Result<(), RequestRefusal> {
        let given = bearer_token(headers);
        // Digests are compared, so that the time it takes says nothing about the token.
        match given {
            Some(token) if <[u8; 32]>::from(Sha256::digest(token)) == self.token_digest => Ok(()),
            _ => Err(RequestRefusal::Token),
        }
    }
}

impl OwnHosts {
    /// Returns the names of a server that is bound to `address`, and served by a proxy under other names.
    pub fn new(address: SocketAddr, behind_proxy: &[String]) -> Self {
        let port = address.port();
        let own = [address.to_string(), format!("localhost:{port}")];
        Self { own: own.into(), behind_proxy: behind_proxy.into() }
    }

    /// Checks where a request comes from: the host that it names, also in its request line, and the origin of the page
    /// that sent it, if one did.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), RequestRefusal> {
        // A request line may name a host too, and servers differ in which of the two they believe.
        if uri.authority().is_some_and(|named| !self.is_own(named.as_str())) {
            return Err(RequestRefusal::Host);
        }
        let host = only_value(headers, &header::HOST).ok_or(RequestRefusal::Host)?;
        if !self.is_own(host) {
            return Err(RequestRefusal::Host);
        }
        if !headers.contains_key(header::ORIGIN) {
            return Ok(());
        }
        let scheme = if self.is_behind_proxy(host) { "https://" } else { "http://" };
        let origin = only_value(headers, &header::ORIGIN).and_then(|origin| origin.strip_prefix(scheme));
        // Another port of this machine is another page, so the origin must be the very host of the request.
        match origin {
            Some(origin) if origin.eq_ignore_ascii_case(host) => Ok(()),
            _ => Err(RequestRefusal::Origin),
        }
    }

    /// Returns whether the host is one that a proxy serves with TLS.
    pub fn is_behind_proxy(&self, host: &str) -> bool {
        self.behind_proxy.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    fn is_own(&self, host: &str) -> bool {
        self.own.iter().any(|own| own.eq_ignore_ascii_case(host)) || self.is_behind_proxy(host)
    }
}

/// Returns the token of a request that carries one.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only_value(headers, &header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Returns the value of a header that stands exactly once.
pub fn only_value<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(only), None) => only.to_str().ok(),
        _ => None,
    }
}

async fn refuse_or_go_on(State(guard): State<HttpGuard>, request: Request, next: Next) -> Response {
    let origin = guard.hosts.check(request.uri(), request.headers());
    match origin.and_then(|()| guard.check_token(request.headers())) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

impl RequestRefusal {
    /// Returns the answer to the refused request.
    pub fn into_response(self) -> Response {
        let text = format!("{self}\n");
        match self {
            Self::Host => (StatusCode::MISDIRECTED_REQUEST, text).into_response(),
            Self::Origin => (StatusCode::FORBIDDEN, text).into_response(),
            Self::Token => (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], text).into_response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "a token that nobody guesses";

    fn check(headers: &[(&str, &str)]) -> Result<(), RequestRefusal> {
        let guard = HttpGuard::new("127.0.0.1:7373".parse().unwrap(), &Secret::new(TOKEN));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(header::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        guard.hosts.check(&Uri::from_static("/mcp"), &map).and_then(|()| guard.check_token(&map))
    }

    #[test]
    fn a_request_names_this_server_comes_from_no_other_page_and_has_the_token() {
        let token = ("authorization", "Bearer a token that nobody guesses");
        for host in ["127.0.0.1:7373", "localhost:7373", "LOCALHOST:7373"] {
            assert_eq!(check(&[("host", host), token]), Ok(()), "{host}");
        }
        let own = ("host", "127.0.0.1:7373");
        assert_eq!(check(&[own, token, ("origin", "http://127.0.0.1:7373")]), Ok(()));
        for host in ["127.0.0.1", "127.0.0.1:80", "evil.example:7373", "localhost.evil.example:7373", "[::1]:7373", ""]
        {
            assert_eq!(check(&[("host", host), token]), Err(RequestRefusal::Host), "{host}");
        }
        assert_eq!(check(&[token]), Err(RequestRefusal::Host));
        assert_eq!(check(&[own, own, token]), Err(RequestRefusal::Host));
        for origin in [
            "http://evil.example",
            "null",
            "",
            "http://localhost:7373",
            "http://127.0.0.1:6274",
            "https://127.0.0.1:7373",
            "http://127.0.0.1:7373.evil.example",
        ] {
            assert_eq!(check(&[own, token, ("origin", origin)]), Err(RequestRefusal::Origin), "{origin}");
        }
        for value in ["", "Bearer", "Bearer ", "Bearer a token", "Basic a token that nobody guesses", TOKEN] {
            assert_eq!(check(&[own, ("authorization", value)]), Err(RequestRefusal::Token), "{value}");
        }
        assert_eq!(check(&[own, token, token]), Err(RequestRefusal::Token));
        assert_eq!(check(&[own, ("authorization", "bearer a token that nobody guesses")]), Ok(()));
    }

    #[tokio::test]
    async fn no_address_that_others_can_reach_is_bound() {
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.7:0"] {
            let refused = bind_to_loopback(address.parse().unwrap()).await.unwrap_err();
            assert!(refused.to_string().contains("other machines"), "{refused}");
        }
        assert!(bind_to_loopback("127.0.0.1:0".parse().unwrap()).await.is_ok());
    }
}
