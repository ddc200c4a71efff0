//! The binary: installs the TLS provider and calls the command line. Everything else is in the library.

fn main() -> std::process::ExitCode {
    adjutant::tls::install_provider();
    adjutant::cli::main()
}
