//! Faults of a network or of Google that the emulator never has by itself.

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The history id is too old.
    HistoryGone,
    /// A sent message is not in the history yet.
    Late,
    /// The access token has expired.
    Unauthorized,
    /// The server answers 403 with the reason `rateLimitExceeded`.
    RateLimited,
    /// The server answers 429, with `Retry-After` in seconds.
    TooMany(u32),
    /// The server fails without having done anything.
    ErrorBefore(u16),
    /// The server carries out the call and then reports a failure.
    ErrorAfter(u16),
    /// The server carries out the call and then asks to be called again after this many seconds.
    BusyAfter(u32),
    /// The connection breaks before anything arrives.
    ResetBefore,
    /// The call is carried out, and the connection breaks in the middle of the answer.
    ResetAfter,
    /// The call is carried out, and the answer arrives in small pieces with this many milliseconds between them.
    Slow(u64),
}

impl Trouble {
    /// Returns whether the call reaches Google before anything goes wrong.
    pub(super) const fn arrives(self) -> bool {
        matches!(self, Self::ErrorAfter(_) | Self::BusyAfter(_) | Self::ResetAfter | Self::Slow(_))
    }
}

/// A fault and the calls that it applies to.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    method: &'static str,
    path: String,
    trouble: Trouble,
    /// Number of matching calls that pass first.
    skip: u32,
    /// Number of calls that it still applies to.
    left: u32,
}

impl Fault {
    /// Creates a fault for the next call of that method whose path contains these words.
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

/// Returns the fault for a call, and counts the call.
pub(super) fn meet(faults: &mut [Fault], method: &str, path: &str) -> Option<Trouble> {
    let fault = faults.iter_mut().find(|fault| fault.meets(method, path))?;
    if fault.skip > 0 {
        fault.skip -= 1;
        return None;
    }
    fault.left -= 1;
    Some(fault.trouble)
}
