//! What a network does and the emulator never would, on demand.

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The history id is too old.
    HistoryGone,
    /// What was sent is not in the history yet.
    Late,
    /// The access token has expired.
    Unauthorized,
    /// 403 with the reason `rateLimitExceeded`.
    RateLimited,
    /// 429, with `Retry-After` in seconds.
    TooMany(u32),
    /// The server fails, and has done nothing.
    ErrorBefore(u16),
    /// The server has done it, and says that it failed.
    ErrorAfter(u16),
    /// The server has done it, and asks to come back after so many seconds.
    BusyAfter(u32),
    /// The connection breaks before anything arrives.
    ResetBefore,
    /// It is done, and the connection breaks in the middle of the answer.
    ResetAfter,
    /// It is done, and the answer comes drop by drop: so many milliseconds between two.
    Slow(u64),
}

impl Trouble {
    /// Whether the call reaches Google before anything goes wrong.
    pub(super) const fn arrives(self) -> bool {
        matches!(self, Self::ErrorAfter(_) | Self::BusyAfter(_) | Self::ResetAfter | Self::Slow(_))
    }
}

/// A trouble and the calls it meets.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    method: &'static str,
    path: String,
    trouble: Trouble,
    /// Calls it lets pass before.
    skip: u32,
    /// Calls it still meets.
    left: u32,
}

impl Fault {
    /// Meets the next call of that method whose path holds those words.
    pub(crate) fn on(method: &'static str, path: &str, trouble: Trouble) -> Self {
        Self { method, path: path.to_owned(), trouble, skip: 0, left: 1 }
    }

    pub(crate) const fn times(mut self, times: u32) -> Self {
        self.left = times;
        self
    }

    pub(crate) const fn after(mut self, calls: u32) -> Self {
        self.skip = calls;
        self
    }

    fn meets(&self, method: &str, path: &str) -> bool {
        self.left > 0 && self.method == method && path.contains(&self.path)
    }
}

/// The trouble that meets this call, which counts as one more.
pub(super) fn meet(faults: &mut [Fault], method: &str, path: &str) -> Option<Trouble> {
    let fault = faults.iter_mut().find(|fault| fault.meets(method, path))?;
    if fault.skip > 0 {
        fault.skip -= 1;
        return None;
    }
    fault.left -= 1;
    Some(fault.trouble)
}
