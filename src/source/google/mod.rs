//! What Gmail and Calendar share: the HTTP client, sign-in and tokens, the quota, and the errors of a call.
//!
//! Every call goes through [`ApiCaller`]. Nothing in this module prints or logs a token, the body of an answer or an
//! address.

pub mod call;
mod client_app;
pub mod error;
pub mod quota;
pub mod sign_in;
pub mod token;
mod token_file;
mod token_server;
mod token_store;

use std::time::Duration;

use google_gmail1::{
    common,
    hyper_rustls::{HttpsConnector, HttpsConnectorBuilder},
    hyper_util::{
        client::legacy::{Client, connect::HttpConnector},
        rt::TokioExecutor,
    },
};

use rustls::{ClientConfig, RootCertStore};

pub use call::{ApiCaller, CallPrice, FailureDetails};
pub use client_app::ClientApp;
pub use error::ApiError;
pub use quota::{CallPriority, Quota};
pub use token::{Bearer, TokenProvider};
pub use token_file::TokenFile;
pub use token_store::TokenStore;

/// The connector of the generated clients.
pub type Connector = HttpsConnector<HttpConnector>;

/// Timeout for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Builds the HTTP client for Google, or for a server on loopback that stands in for it in tests: https, and plain http
/// where an address says so.
///
/// The client retries a request by itself only if no byte of it was written, which is safe even for a send.
pub fn build_http_client() -> common::Client<Connector> {
    crate::tls::install_provider();
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    let tls = HttpsConnectorBuilder::new().with_native_roots().unwrap_or_else(|error| {
        tracing::warn!(%error, "the system has no certificates to check Google by; no https connection will be made");
        let nobody = ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth();
        HttpsConnectorBuilder::new().with_tls_config(nobody)
    });
    let connector = tls.https_or_http().enable_http1().enable_http2().wrap_connector(http);
    Client::builder(TokioExecutor::new()).build(connector)
}
