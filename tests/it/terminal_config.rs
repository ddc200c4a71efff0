//! Tests that mistakes in the configuration are errors, and that mail is found where other programs put it.

use crate::support::test_home::{Kind, ME, TestHome, finish};

#[test]
fn a_mistyped_home_is_an_error_and_creates_nothing() {
    let home = TestHome::real_time(Kind::Samples);
    let typo = home.root().join("typo");
    for command in [&["tasks"][..], &["once"], &["doctor"], &["rules", "check"]] {
        let mut process = home.command(command);
        process.env("ADJUTANT_HOME", &typo);
        let mut given = std::process::Command::new(process.get_program());
        given.arg("--home").arg(&typo).args(command).env("XDG_STATE_HOME", home.state());
        given
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let answered = finish(given);
        assert_eq!(answered.code, 2, "{command:?}: {}{}", answered.out, answered.err);
        assert!(answered.err.contains("is no home") && answered.err.contains("adjutant init"), "{}", answered.err);
        assert!(!typo.exists(), "{command:?}");
    }
}

#[test]
fn wrong_addresses_and_languages_are_errors() {
    let home = TestHome::real_time(Kind::Samples);
    for (text, expected) in [
        ("[me]\naddresses = [\"not-an-address\"]\n", "me.addresses is 'not-an-address'"),
        ("[me]\nlanguages = [\"xx\"]\n", "me.languages has 'xx'"),
    ] {
        home.write("adjutant.toml", text);
        let answered = home.run(&["tasks"]);
        assert_eq!(answered.code, 2);
        assert!(answered.err.contains(expected), "{}", answered.err);
    }
}

#[test]
fn a_tilde_leads_to_the_users_home() {
    let home = TestHome::real_time(Kind::Samples);
    home.write("user/Maildir/new/1.eml", &home.letter("one").question().text());
    std::fs::create_dir_all(home.root().join("user/Maildir/cur")).unwrap();
    home.write("adjutant.toml", &format!("{ME}[[account]]\nname = \"work\"\npath = \"~/Maildir\"\n"));
    let mut command = home.command(&["once"]);
    command.env("HOME", home.root().join("user"));
    let answered = finish(command);
    assert!(answered.out.contains("1 mails: 1 tasks"), "{}{}", answered.out, answered.err);
    assert!(!home.root().join("~").exists());
}

#[test]
fn an_account_can_come_from_variables_alone() {
    let home = TestHome::real_time(Kind::Samples);
    for folder in ["cur", "new"] {
        std::fs::create_dir_all(home.root().join("box").join(folder)).unwrap();
    }
    let mut command = home.command(&["--json", "doctor"]);
    command.env("ADJUTANT_ACCOUNT_OWN_PATH", home.root().join("box"));
    let answered = finish(command);
    assert!(answered.out.contains("\"account\": \"own\""), "{}{}", answered.out, answered.err);
}

#[test]
fn sent_mail_is_read_under_its_usual_names_and_other_folders_are_named() {
    for folder in [".Sent", ".Sent Items", ".Gesendet", ".INBOX.Sent", "Sent"] {
        let home = TestHome::real_time(Kind::Active);
        let own = home.letter("own").from("Alex Green <you@home.example>").text();
        let own = own.replace("To: Alex Green <you@home.example>", "To: Tom Baker <tom@bakerand.example>");
        home.deliver_into(&format!("{folder}/cur"), "own.eml:2,S", own);
        home.deliver_into(".Lists/cur", "list.eml:2,S", home.letter("list").text());
        assert_eq!(home.run(&["once"]).code, 0);
        assert_eq!(home.count("contact WHERE address = 'tom@bakerand.example'"), 1, "{folder}");
        assert_eq!(home.sql_one("SELECT direction FROM ledger"), "out", "{folder}");
        let doctor = home.run(&["doctor"]);
        assert!(doctor.out.contains("not read") && doctor.out.contains(".Lists"), "{folder}: {}", doctor.out);
        assert!(!doctor.out.contains(&format!("are: {folder}")), "{folder}: {}", doctor.out);
        // Nothing is lost or found twice when it is polled again.
        home.run(&["once"]);
        assert_eq!(home.count("ledger"), 1, "{folder}");
    }
}
