//! Tests `init` in a real pseudo-terminal (made by `script`): the questions of a first start, with wrong answers refused in
//! the words of the configuration's check, and the last week of the mailbox that was chosen.

use std::process::{Command, Stdio};

use adjutant::{
    app::App,
    clock::Clock,
    config::{AccountKind, Config, Home},
    model::AccountMode,
};

use crate::support::test_home::{Answered, Kind, TestHome, finish_with};

/// Runs `init` for a folder of the home at a terminal, for a user whose own home is `user`.
fn init(home: &TestHome, input: &str) -> Answered {
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", "stty columns 100 -echo; exec \"$ADJUTANT\" init \"$ROOT/new\"", "/dev/null"]);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("SHELL", "/bin/sh").env("TERM", "xterm").env("NO_COLOR", "1").env("TZ", "Europe/Berlin");
    command.env("ROOT", home.root()).env("HOME", home.root().join("user")).env("XDG_STATE_HOME", home.state());
    command.env("ADJUTANT", env!("CARGO_BIN_EXE_adjutant"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish_with(command, input.as_bytes())
}

/// A user's home with a Maildir that has one mail, and a mailbox in a file.
fn user() -> TestHome {
    let home = TestHome::real_time(Kind::Samples);
    home.write("user/Maildir/new/1.eml", &home.letter("one").question().text());
    std::fs::create_dir_all(home.root().join("user/Maildir/cur")).unwrap();
    home.write("user/mbox", "From somebody\nSubject: old\n\nold\n");
    home
}

#[test]
fn questions_are_asked_until_they_are_answered_well() {
    let home = user();
    let answers = "Dana Levi\ndana\ndana@work.example\nMars\n\n08:00 to 16:00\n08:00-16:00\n9\n1\n";
    let answered = init(&home, answers);
    assert_eq!(answered.code, 0, "{}{}", answered.out, answered.err);
    for expected in [
        "me.addresses is 'dana'; expected such as \"you@work.example\"",
        "me.time_zone is 'Mars'",
        "Your time zone (Europe/Berlin)",
        "me.working_hours is '08:00 to 16:00'",
        "user/Maildir (1 mails in the inbox)",
        "reads it once",
        "there is no Maildir at",
        "1 mails of the last 7 days: 1 tasks",
        "only observes",
    ] {
        assert!(answered.out.contains(expected), "{expected}: {}", answered.out);
    }
    let new = Home::at(home.root().join("new"));
    let config = Config::load(&new).unwrap();
    assert_eq!(config.me.names, ["Dana Levi"]);
    assert_eq!(config.me.time_zone, chrono_tz::Europe::Berlin);
    assert!(matches!(&config.accounts[0].kind, AccountKind::Maildir { path, .. } if path.ends_with("user/Maildir")));
    let text = home.read("new/adjutant.toml");
    assert!(text.contains("# Who you are.") && text.contains("# poll_seconds = 30"), "the comments stay: {text}");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let accounts = runtime.block_on(async {
        let app = App::open(new, config, Clock::System).await.unwrap();
        app.accounts().list().await.unwrap()
    });
    let mail = accounts.iter().find(|account| account.account.as_str() == "mail").unwrap();
    assert_eq!(mail.mode, AccountMode::Observe);
    // A second time everything is there already, and nothing is asked.
    let again = init(&home, "");
    assert!(again.out.contains("Everything is there already"), "{}", again.out);
}

#[test]
fn empty_answers_leave_the_configuration_as_it_is() {
    let home = user();
    let answered = init(&home, "\n\n\n\n\n");
    assert_eq!(answered.code, 0, "{}", answered.out);
    let text = home.read("new/adjutant.toml");
    assert!(text.contains("# names = []") && text.contains("# addresses = []"), "{text}");
    assert!(text.contains("time_zone = \"Europe/Berlin\""), "the zone of the machine is proposed: {text}");
    assert!(!text.lines().any(|line| line == "[[account]]"), "{text}");
}
