//! The Gmail API as far as the program uses it: the generated client, the caller that pays and times each call, and the
//! price of every call.
//!
//! A call has this form:
//!
//! ```text
//! client.call(price::READ, async |hub, heard| hub.users()…add_scope(SCOPE).delegate(heard).doit().await)
//! ```
//!
//! Every call must name its scope: the default of the generated client is the scope of an add-on, which
//! [`super::super::google::TokenProvider`] refuses.

use std::sync::Arc;

use google_gmail1::{Gmail as GmailHub, Result as ApiResult, api::Scope, common::Response};
use tokio::runtime::Handle;

use crate::source::google::{
    ApiCaller, ApiError, CallPrice, Connector, FailureDetails, Quota, TokenProvider, build_http_client,
};

/// The API's name for the mailbox of the person who signed in.
pub const ME: &str = "me";
/// The scope of all calls: read, label, draft and send, but neither delete for good nor change settings.
pub const SCOPE: Scope = Scope::Modify;

/// The same scope as it is named when signing in.
pub const SCOPE_NAME: &str = "https://www.googleapis.com/auth/gmail.modify";

/// The price of each call in Google's quota units, and its timeout where the default is too short.
pub mod price {
    use std::time::Duration;

    use super::CallPrice;

    pub const PROFILE: CallPrice = CallPrice::of(1);
    pub const LABELS: CallPrice = CallPrice::of(1);
    pub const HISTORY: CallPrice = CallPrice::of(2);
    pub const LIST: CallPrice = CallPrice::of(5);
    /// Reads one message, which may have 35 MB on the wire.
    pub const READ: CallPrice = CallPrice::of(20).with_timeout(Duration::from_secs(120));
    pub const READ_THREAD: CallPrice = CallPrice::of(40).with_timeout(Duration::from_secs(120));
    pub const MODIFY: CallPrice = CallPrice::of(5);
    pub const NEW_LABEL: CallPrice = CallPrice::of(5);
    pub const DRAFT: CallPrice = CallPrice::of(10).with_timeout(Duration::from_secs(120));
    pub const READ_DRAFT: CallPrice = CallPrice::of(20).with_timeout(Duration::from_secs(120));
    pub const SEND: CallPrice = CallPrice::of(100).with_timeout(Duration::from_secs(120));
    pub const WATCH: CallPrice = CallPrice::of(100);
}

/// The generated Gmail client over our connector.
pub type Hub = GmailHub<Connector>;

/// One Gmail account. Cheap to clone. Its methods block, so they must run on a blocking thread.
#[derive(Clone)]
pub struct GmailClient {
    hub: Arc<Hub>,
    caller: ApiCaller,
}

impl GmailClient {
    /// Creates a client. `base` is the address of the API, if it is not Google's. Must be called inside the runtime
    /// that is to drive the connections.
    pub fn new(tokens: Arc<dyn TokenProvider>, quota: Arc<Quota>, base: Option<&str>) -> Self {
        let caller = ApiCaller::new(Handle::current(), tokens, quota);
        let mut hub = GmailHub::new(build_http_client(), caller.bearer());
        hub.user_agent(concat!("adjutant/", env!("CARGO_PKG_VERSION")).to_owned());
        if let Some(base) = base {
            let base = format!("{}/", base.trim_end_matches('/'));
            hub.base_url(base.clone());
            hub.root_url(base);
        }
        Self { hub: Arc::new(hub), caller }
    }

    /// Returns a client of the same account for work that can wait: it leaves a reserve of the quota to new mail.
    #[must_use]
    pub fn for_backlog(&self) -> Self {
        Self { caller: self.caller.for_backlog(), hub: Arc::clone(&self.hub) }
    }

    pub fn quota(&self) -> &Quota {
        self.caller.quota()
    }

    /// Makes an idempotent call, with retries. See [`ApiCaller::call`].
    pub fn call<T>(
        &self,
        price: CallPrice,
        request: impl AsyncFn(&Hub, &mut FailureDetails) -> ApiResult<(Response, T)>,
    ) -> Result<T, ApiError> {
        self.caller.call(price, async |heard| request(&self.hub, heard).await)
    }

    /// Makes a call exactly once, whatever its outcome. See [`ApiCaller::call_once`].
    pub fn call_once<T>(
        &self,
        price: CallPrice,
        request: impl AsyncFnOnce(&Hub, &mut FailureDetails) -> ApiResult<(Response, T)>,
    ) -> Result<T, ApiError> {
        self.caller.call_once(price, async |heard| request(&self.hub, heard).await)
    }
}
