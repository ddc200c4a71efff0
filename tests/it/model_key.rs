//! Tests that the key of a model is read from a variable or a private file and goes only to the server; and that there
//! is one TLS provider.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use crate::support::{
    model_server::{Said, Server, kind, with_model},
    test_home::{Kind, TestHome, finish},
};

const KEY: &str = "sk-very-secret-4711";

fn holds(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return holds(&path, text);
        }
        fs::read(&path).unwrap().windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[test]
fn a_key_goes_to_the_server_and_nowhere_else() {
    let (home, server) = (
        TestHome::real_time(Kind::Active),
        Server::start(|asked| if asked.nth == 1 { Said::Status(500, vec![]) } else { Said::Answer(kind(asked)) }),
    );
    with_model(&home, &server, "");
    home.post(&home.letter("q").question());
    let mut once = home.command(&["-vv", "once"]);
    once.env("ADJUTANT_LLM_KEY", KEY).env("ADJUTANT_LOG", "trace");
    let once = finish(once);
    assert_eq!(once.code, 0, "{}", once.err);
    assert!(server.count() >= 4);
    assert!(server.asked().iter().all(|asked| asked.authorization == format!("Bearer {KEY}")));
    assert!(!once.err.contains(KEY) && !once.out.contains(KEY));
    assert!(!holds(home.root(), KEY), "the key is in a file");
    for words in ["I have the keys", "tom@bakerand"] {
        assert!(!once.err.contains(words), "a log line holds mail text");
    }
}

#[test]
fn a_key_file_must_be_private_and_a_key_in_the_file_is_refused() {
    let (home, server) = (TestHome::real_time(Kind::Active), Server::kind());
    home.write("key", &format!("{KEY}\n"));
    fs::set_permissions(home.root().join("key"), fs::Permissions::from_mode(0o640)).unwrap();
    with_model(&home, &server, "key_file = \"key\"");
    home.post(&home.letter("q").question());
    let refused = home.run(&["once"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("chmod 600") && !refused.err.contains(KEY), "{}", refused.err);
    fs::set_permissions(home.root().join("key"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(home.run(&["once"]).code, 0);
    assert!(server.asked()[0].authorization.ends_with(KEY));
    let config = home.read("adjutant.toml").replace("key_file = \"key\"", &format!("key = \"{KEY}\""));
    home.write("adjutant.toml", &config);
    let refused = home.run(&["tasks"]);
    assert!(
        refused.code == 2 && refused.err.contains("ADJUTANT_LLM_KEY") && !refused.err.contains(KEY),
        "{}",
        refused.err
    );
}

#[test]
fn there_is_one_tls_provider_and_the_binary_installs_it_first() {
    assert!(rustls::crypto::CryptoProvider::get_default().is_none(), "nobody else installs one");
    adjutant::tls::install_provider();
    let ours = rustls::crypto::CryptoProvider::get_default().unwrap().clone();
    adjutant::tls::install_provider();
    assert!(std::sync::Arc::ptr_eq(&ours, rustls::crypto::CryptoProvider::get_default().unwrap()));
    assert!(rustls::crypto::ring::default_provider().install_default().is_err(), "a second one is refused");
    let lock = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock")).unwrap();
    for other in ["aws-lc-rs", "aws-lc-sys", "openssl", "openssl-sys", "native-tls"] {
        assert!(!lock.contains(&format!("name = \"{other}\"")), "{other} is a second provider");
    }
    let main = include_str!("../../src/main.rs");
    let (install, door) = (main.find("tls::install_provider()").unwrap(), main.find("cli::main()").unwrap());
    assert!(install < door);
}
