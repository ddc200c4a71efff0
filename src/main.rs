//! The thin binary: everything is in the library.

fn main() -> std::process::ExitCode {
    adjutant::door::cli::main()
}
