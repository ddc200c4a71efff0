//! What a long campaign did and found, as one line that `make crash` gathers into its table.

use std::fmt::Write as _;

/// The counts of one campaign. It names only what it looks for: the table shows a dash for the rest.
pub(crate) struct Campaign(String);

impl Campaign {
    /// `asked` is what the knobs ask for, `run` what was done.
    pub(crate) fn new(name: &str, asked: usize, run: usize) -> Self {
        Self(format!("campaign asked={asked} run={run} name={}", name.replace(' ', "-")))
    }

    pub(crate) fn deaths(self, count: usize) -> Self {
        self.with("deaths", count)
    }

    pub(crate) fn places(self, reached: usize, of: usize) -> Self {
        self.with("reached", reached).with("places", of)
    }

    pub(crate) fn lost(self, count: usize) -> Self {
        self.with("lost", count)
    }

    pub(crate) fn twice(self, count: usize) -> Self {
        self.with("twice", count)
    }

    pub(crate) fn unapproved(self, count: usize) -> Self {
        self.with("unapproved", count)
    }

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
