//! One TLS provider for the whole program.

/// Makes ring the provider of every connection. Called by the binary before anything else, and by tests that make
/// connections of their own; calling it again changes nothing.
pub fn install_provider() {
    // An error says that a provider is there already, which is what is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
