//! The binary: plays the sandbox of a script if it was started for that, installs the TLS provider and calls the command
//! line. Everything else is in the library.

fn main() -> std::process::ExitCode {
    // Before anything is opened or started, because a script that nobody trusts runs in that role.
    if let Some(code) = script_sandbox::serve_if_asked() {
        return code;
    }
    adjutant::tls::install_provider();
    adjutant::cli::main()
}
