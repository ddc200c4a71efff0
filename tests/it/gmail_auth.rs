//! Tests signing in, staying signed in, and a withdrawn consent, with the real binary against a local stand-in for
//! Google.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    process::{Child, Command, Stdio},
};

use adjutant::clock::Clock;
use serde_json::Value;

use crate::support::{
    gmail_home::{CLIENT_SECRET, SCOPES, sign_in, signed_in, signed_in_at, signed_out, state_of},
    google::{Google, YOU},
    test_home::{PATIENCE, TestHome, WORK},
};

/// The program under a shell that lets everybody write everything.
fn careless(home: &TestHome, arguments: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    let program = env!("CARGO_BIN_EXE_adjutant");
    shell.args(["-c", &format!("umask 000; exec '{program}' --home '{}' {arguments}", home.root().display())]);
    // No browser is on this path.
    shell.env("PATH", home.root()).env_remove("ADJUTANT_LOG").env("XDG_STATE_HOME", home.state());
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

/// Reads what it says until the address to open is there.
fn address_shown(child: &mut Child) -> (String, BufReader<std::process::ChildStderr>) {
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while said.read_line(&mut line).unwrap() > 0 {
        if line.starts_with("http") {
            return (line.trim().to_owned(), said);
        }
        line.clear();
    }
    panic!("no address was shown");
}

fn finished(mut child: Child, mut said: BufReader<std::process::ChildStderr>) -> (i32, String, String) {
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    said.read_to_string(&mut err).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), out, err)
}

fn field(url: &str, name: &str) -> String {
    url.split(['?', '&']).find_map(|pair| pair.strip_prefix(&format!("{name}="))).unwrap_or_default().to_owned()
}

fn token(home: &TestHome) -> Value {
    serde_json::from_str(&home.read(&format!("data/accounts/{WORK}.token"))).unwrap()
}

fn must_be_private(home: &TestHome) {
    let mode = |path: &str| fs::metadata(home.root().join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&format!("data/accounts/{WORK}.token")), 0o600);
    assert_eq!(mode("data/accounts"), 0o700);
}

#[test]
fn a_server_without_a_browser_signs_in_by_copy_and_paste() {
    let google = Google::start();
    let home = signed_out(&google, "", Clock::System);
    let mut child = careless(&home, "auth gmail --no-browser --json").spawn().unwrap();
    let (url, said) = address_shown(&mut child);
    let wanted = field(&url, "scope").replace('+', " ").replace("%2F", "/").replace("%3A", ":");
    assert_eq!(wanted, SCOPES[..3].join(" "), "the least that is needed");
    assert_eq!(
        (field(&url, "code_challenge_method").as_str(), field(&url, "access_type").as_str()),
        ("S256", "offline")
    );
    let code = google.person(YOU).consents(&url);
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "what?\nhttp://127.0.0.1:1/?state={}&code={code}", field(&url, "state")).unwrap();
    drop(stdin);
    let (exit, out, err) = finished(child, said);
    assert_eq!(exit, 0, "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((answer["account"].as_str(), answer["address"].as_str()), (Some(WORK), Some(YOU)));
    must_be_private(&home);
    assert!(!err.contains(token(&home)["refresh_token"].as_str().unwrap()));
    // And it is signed in.
    google.person(YOU).receives(home.letter("one").text());
    assert_eq!(home.run(&["once"]).code, 0);
    assert_eq!(home.count("ledger"), 1);
}

#[test]
fn a_browser_brings_the_answer_by_itself() {
    let google = Google::start();
    let home = signed_out(&google, "calendar = false", Clock::System);
    let mut child = careless(&home, "auth gmail").spawn().unwrap();
    let (url, said) = address_shown(&mut child);
    assert_eq!(field(&url, "scope").replace("%2F", "/").replace("%3A", ":"), SCOPES[0]);
    google.person(YOU).consents(&url);
    let (exit, out, err) = finished(child, said);
    assert_eq!(exit, 0, "{err}");
    assert!(out.contains(&format!("signed in as {YOU}")) && out.contains("adjutant preview work"), "{out}");
    must_be_private(&home);
}

#[test]
fn an_answer_to_another_question_signs_nobody_in() {
    let google = Google::start();
    let home = signed_out(&google, "", Clock::System);
    let mut child = careless(&home, "auth gmail --no-browser").spawn().unwrap();
    let (url, said) = address_shown(&mut child);
    let code = google.person(YOU).consents(&url);
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "http://127.0.0.1:1/?state=forged&code={code}").unwrap();
    drop(stdin);
    let (exit, _, err) = finished(child, said);
    assert_eq!(exit, 1);
    assert!(err.contains("another question"), "{err}");
    assert!(!home.root().join("data/accounts/work.token").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_refused_is_renewed_and_the_refresh_token_stays() {
    let google = Google::start();
    let home = signed_in(&google, YOU, "");
    home.once().await;
    let before = token(&home);
    google.expires_tokens();
    let id = google.person(YOU).receives(home.letter("one").question().text());
    assert_eq!(home.once().await.troubles, [""; 0]);
    assert_eq!(state_of(&home, &id), "task");
    let after = token(&home);
    assert_eq!(after["refresh_token"], before["refresh_token"]);
    assert_ne!(after["access_token"], before["access_token"]);
    // One that has run out by the clock is renewed before it is refused.
    let renewals = google.calls("POST", "/token");
    home.clock.advance(3600);
    home.once().await;
    assert_eq!(google.calls("POST", "/token"), renewals + 1);
    must_be_private(&home);
}

#[test]
fn dying_during_a_renewal_loses_no_sign_in() {
    let google = Google::start();
    let home = signed_in_at(&google, YOU, "", Clock::System);
    let kept = token(&home)["refresh_token"].clone();
    for place in ["token.rename.before", "token.rename.after"] {
        google.expires_tokens();
        let mut once = home.command(&["once"]);
        let status = once.env("FAILPOINT", place).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), None, "it did not die at {place}");
        assert_eq!(token(&home)["refresh_token"], kept);
        let once = home.run(&["once"]);
        assert_eq!(once.code, 0, "after {place}: {}", once.err);
        must_be_private(&home);
    }
}

#[test]
fn a_withdrawn_consent_parks_the_account_with_one_line() {
    let google = Google::start();
    let home = signed_in_at(&google, YOU, "[mail]\npoll_seconds = 1", Clock::System);
    google.person(YOU).receives(home.letter("one").question().text());
    let mut daemon = home.daemon();
    google.revokes(true);
    let told = daemon.until("parked");
    assert!(told.contains("adjutant auth gmail --account work"), "{told}");
    let asked = google.calls("POST", "/token");
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert_eq!(google.calls("POST", "/token"), asked, "Google is not asked again and again");
    let doctor = home.run(&["doctor"]);
    assert!(doctor.out.contains("NOT SIGNED IN") && doctor.out.contains("parked"), "{}", doctor.out);
    // The person signs in again, and the daemon goes on by itself.
    google.revokes(false);
    sign_in(&home, &google, WORK, YOU);
    let later = google.person(YOU).receives(home.letter("two").question().text());
    let deadline = std::time::Instant::now() + PATIENCE;
    while state_of(&home, &later) != "task" {
        assert!(std::time::Instant::now() < deadline, "it never went on");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let (code, said) = daemon.stop("TERM");
    assert_eq!((code, said.matches("parked").count()), (0, 1), "{said}");
}

#[test]
fn neither_tokens_nor_mail_are_in_any_log() {
    let google = Google::start();
    let home = signed_in_at(&google, YOU, "", Clock::System);
    let secret = token(&home)["refresh_token"].as_str().unwrap().to_owned();
    let letter = home.letter("one").subject("Subject-nobody-may-see").body("Hello,\n\nWhen is body-nobody-may-see?\n");
    google.person(YOU).receives(letter.text());
    google.breaks(
        crate::support::google::Fault::on("GET", "/messages/", crate::support::google::Trouble::ErrorBefore(500))
            .times(2),
    );
    let mut once = home.command(&["-vv", "--json", "once"]);
    once.env("ADJUTANT_LOG", "trace");
    let output = once.output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && log.len() > 100, "{log}");
    let access = token(&home)["access_token"].as_str().unwrap().to_owned();
    assert_eq!(home.count("ledger"), 1);
    for hidden in [secret.as_str(), &access, CLIENT_SECRET, "nobody-may-see", "tom@bakerand.example", "Bearer"] {
        assert!(!log.contains(hidden), "the log holds {hidden}");
    }
}

#[test]
fn a_sign_in_that_covers_too_little_is_refused_at_once() {
    let google = Google::start();
    let home = signed_in_at(&google, YOU, "", Clock::System);
    let mut short = token(&home);
    short["scopes"] = serde_json::json!([SCOPES[1]]);
    home.write("data/accounts/work.token", &short.to_string());
    google.breaks(
        crate::support::google::Fault::on("POST", "/token", crate::support::google::Trouble::ErrorBefore(500)).times(0),
    );
    let once = home.run(&["once"]);
    // The emulator answers a renewal with what was agreed to at first, so only a token still good can be short.
    assert_eq!(once.code, 0, "{}", once.err);
    short["expires_at"] = "2999-01-01T00:00:00Z".into();
    home.write("data/accounts/work.token", &short.to_string());
    let once = home.run(&["once"]);
    assert_eq!(once.code, 1);
    assert!(
        once.out.contains("does not cover") && once.out.contains("adjutant auth gmail"),
        "{}{}",
        once.out,
        once.err
    );
}
