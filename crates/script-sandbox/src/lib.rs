//! Runs a short script that nobody trusts, in a process of its own, with limits.
