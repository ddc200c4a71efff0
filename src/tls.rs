//! The one TLS provider of the whole program. No connection chooses a provider of its own.

/// Makes ring the provider of every connection. Called by the binary before anything else, and by tests that make
/// connections of their own; calling it again changes nothing.
pub fn install_provider() {
    // Installing fails only when a provider is installed already, which is the wanted state.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
