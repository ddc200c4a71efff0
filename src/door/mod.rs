//! Ways in: each decodes, calls `App`, encodes. No door touches the store.

pub mod cli;
