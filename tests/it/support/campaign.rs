//! Reports what a long campaign did and found, as one line that `make crash` collects into its table.

use std::fmt::Write as _;

/// The counts of one campaign. A campaign names only what it looks for; the table shows a dash for the rest.
pub(crate) struct Campaign(String);

impl Campaign {
    /// Starts a report. `asked` is the count that the settings ask for, `run` the count that was done.
    pub(crate) fn new(name: &str, asked: usize, run: usize) -> Self {
        Self(format!("campaign asked={asked} run={run} name={}", name.replace(' ', "-")))
    }

    /// Adds how often the program was killed or died.
    pub(crate) fn deaths(self, count: usize) -> Self {
        self.with("deaths", count)
    }

    /// Adds how many of the failpoints were reached.
    pub(crate) fn places(self, reached: usize, of: usize) -> Self {
        self.with("reached", reached).with("places", of)
    }

    /// Adds how many mails were lost.
    pub(crate) fn lost(self, count: usize) -> Self {
        self.with("lost", count)
    }

    /// Adds how many messages were sent twice.
    pub(crate) fn twice(self, count: usize) -> Self {
        self.with("twice", count)
    }

    /// Adds how many effects happened without an approval.
    pub(crate) fn unapproved(self, count: usize) -> Self {
        self.with("unapproved", count)
    }

    /// Adds how many cases never came to an end.
    pub(crate) fn stuck(self, count: usize) -> Self {
        self.with("stuck", count)
    }

    fn with(mut self, key: &str, count: usize) -> Self {
        // Writing to a String cannot fail.
        let _ = write!(self.0, " {key}={count}");
        self
    }

    pub(crate) fn print(self) {
        println!("{}", self.0);
    }
}
