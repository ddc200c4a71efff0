//! The Gmail API as far as the program uses it: one hub, one caller, a price for every call.
//!
//! Call as `client.call(price::READ, async |hub, heard| hub.users()…add_scope(Scope::Modify).delegate(heard).doit().await)`.
//! The scope must be named: the generated client's own choice is one of an add-on, and [`super::super::google::TokenProvider`]
//! refuses it.

use std::sync::Arc;

use google_gmail1::{Gmail as GmailHub, Result as ApiResult, api::Scope, common::Response};
use tokio::runtime::Handle;

use crate::source::google::{
    ApiCaller, ApiError, CallPrice, Connector, FailureDetails, Quota, TokenProvider, build_http_client,
};

/// Whose mailbox, in the API's words: that of the person who signed in.
pub const ME: &str = "me";
/// Read, label, draft and send; not delete for good, not change settings.
pub const SCOPE: Scope = Scope::Modify;

/// The same, for signing in.
pub const SCOPE_NAME: &str = "https://www.googleapis.com/auth/gmail.modify";

/// What each call costs, in Google's units.
pub mod price {
    use std::time::Duration;

    use super::CallPrice;

    pub const PROFILE: CallPrice = CallPrice::of(1);
    pub const LABELS: CallPrice = CallPrice::of(1);
    pub const HISTORY: CallPrice = CallPrice::of(2);
    pub const LIST: CallPrice = CallPrice::of(5);
    /// A whole message may have 35 MB on the wire.
    pub const READ: CallPrice = CallPrice::of(20).with_timeout(Duration::from_secs(120));
    pub const READ_THREAD: CallPrice = CallPrice::of(40).with_timeout(Duration::from_secs(120));
    pub const MODIFY: CallPrice = CallPrice::of(5);
    pub const NEW_LABEL: CallPrice = CallPrice::of(5);
    pub const DRAFT: CallPrice = CallPrice::of(10).with_timeout(Duration::from_secs(120));
    pub const READ_DRAFT: CallPrice = CallPrice::of(20).with_timeout(Duration::from_secs(120));
    pub const SEND: CallPrice = CallPrice::of(100).with_timeout(Duration::from_secs(120));
    pub const WATCH: CallPrice = CallPrice::of(100);
}

pub type Hub = GmailHub<Connector>;

/// One Gmail account. Cheap to clone. Blocks: only for threads that may.
#[derive(Clone)]
pub struct GmailClient {
    hub: Arc<Hub>,
    caller: ApiCaller,
}

impl GmailClient {
    /// `base`: where the API is, if not at Google. Must be called inside the runtime that shall drive the connections.
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

    /// The same account for work that can wait.
    #[must_use]
    pub fn for_backlog(&self) -> Self {
        Self { caller: self.caller.for_backlog(), hub: Arc::clone(&self.hub) }
    }

    pub fn quota(&self) -> &Quota {
        self.caller.quota()
    }

    /// A call that changes nothing, or the same thing however often it is made. See [`ApiCaller::ask`].
    pub fn call<T>(
        &self,
        price: CallPrice,
        request: impl AsyncFn(&Hub, &mut FailureDetails) -> ApiResult<(Response, T)>,
    ) -> Result<T, ApiError> {
        self.caller.call(price, async |heard| request(&self.hub, heard).await)
    }

    /// A call that is made once, whatever becomes of it. See [`ApiCaller::call_once`].
    pub fn call_once<T>(
        &self,
        price: CallPrice,
        request: impl AsyncFnOnce(&Hub, &mut FailureDetails) -> ApiResult<(Response, T)>,
    ) -> Result<T, ApiError> {
        self.caller.call_once(price, async |heard| request(&self.hub, heard).await)
    }
}
