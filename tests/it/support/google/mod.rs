//! Google on loopback: an emulator, a proxy in front of it that translates and injects faults, and the person who uses
//! the mailbox directly.
//!
//! ```text
//! adjutant ──► proxy (bridge, faults, journal) ──► emulator ◄── Person: the oracle, never through the proxy
//! ```

mod bridge;
mod events;
mod fault;
mod office;
mod pass;
mod peer;
mod person;
mod proxy;

use std::{
    future::Future,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering, mpsc},
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub(crate) use fault::{Fault, Trouble};
pub(crate) use office::Office;
pub(crate) use pass::Pass;
pub(crate) use person::{Person, Stored};
pub(crate) use proxy::Seen;

use peer::Peer;
use proxy::Proxy;

/// The address of the mailbox, where one person is enough.
pub(crate) const YOU: &str = "you@home.example";

/// The stand-in for Google. It ends when it is dropped.
pub(crate) struct Google {
    proxy: Arc<Proxy>,
    address: SocketAddr,
    /// The runtime of the proxy; none only while this value is dropped.
    runtime: Option<Runtime>,
    _peer: Peer,
    _folder: TempDir,
}

impl Google {
    pub(crate) fn start() -> Self {
        Self::with_people(&[YOU.to_owned()])
    }

    /// Starts Google with one mailbox for each address.
    pub(crate) fn with_people(people: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let peer = Peer::start(folder.path(), people);
        let proxy = Arc::new(Proxy::before(&peer.url));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let app = axum::Router::new().fallback(proxy::serve).with_state(Arc::clone(&proxy));
        let (tell, told) = mpsc::channel();
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            axum::serve(listener, app).await.unwrap();
        });
        Self { proxy, address: told.recv().unwrap(), runtime: Some(runtime), _peer: peer, _folder: folder }
    }

    /// Returns the address that the program uses as Google's: the root of every API, without a slash at the end.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn auth_uri(&self) -> String {
        format!("{}/o/oauth2/v2/auth", self.url())
    }

    pub(crate) fn token_uri(&self) -> String {
        format!("{}/token", self.url())
    }

    pub(crate) fn person(&self, address: &str) -> Person<'_> {
        Person::new(self, address)
    }

    /// Injects a fault.
    pub(crate) fn breaks(&self, fault: Fault) {
        self.proxy.faults.lock().unwrap().push(fault);
    }

    /// Removes all faults.
    pub(crate) fn mends(&self) {
        self.proxy.faults.lock().unwrap().clear();
    }

    /// Sets a function that may inject a fault into any call. It gets the method and the path with the query.
    pub(crate) fn guards(&self, guard: impl Fn(&str, &str) -> Option<Trouble> + Send + Sync + 'static) {
        *self.proxy.guard.lock().unwrap() = Some(Box::new(guard));
    }

    /// Invalidates every access token. A refresh token brings a new one.
    pub(crate) fn expires_tokens(&self) {
        self.proxy.tokens.lock().unwrap().clear();
    }

    /// Withdraws the person's consent, or restores it.
    pub(crate) fn revokes(&self, revoked: bool) {
        self.proxy.revoked.store(revoked, Ordering::Relaxed);
        self.expires_tokens();
    }

    /// Returns all calls that the program has made.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.proxy.seen.lock().unwrap().clone()
    }

    /// Returns how many calls of that method had these words in their path.
    pub(crate) fn calls(&self, method: &str, words: &str) -> usize {
        self.seen().iter().filter(|seen| seen.method == method && seen.path.contains(words)).count()
    }

    /// Waits for a future on the threads of the proxy, whether or not the caller is inside a runtime.
    fn wait<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> T {
        let (tell, told) = mpsc::channel();
        self.runtime.as_ref().unwrap().spawn(async move { drop(tell.send(future.await)) });
        told.recv().expect("the proxy has panicked")
    }

    /// Calls the emulator directly, without any fault.
    fn direct(&self, method: &str, path: &str, authorization: String, body: Option<Value>) -> Value {
        let (proxy, method, path) = (Arc::clone(&self.proxy), method.to_owned(), path.to_owned());
        self.wait(async move {
            let body = body.map(|body| ("application/json".to_owned(), body.to_string().into_bytes()));
            proxy.forward(&method, &path, &authorization, body).await.value()
        })
    }
}

impl Drop for Google {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
