//! The thin binary: everything is in the library.

fn main() -> std::process::ExitCode {
    adjutant::tls::install_provider();
    adjutant::cli::main()
}
