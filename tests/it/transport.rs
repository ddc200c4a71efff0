//! Tests transports that hang, read half of a message, leave a child behind, die or end with any code: nothing is sent
//! twice, nobody waits forever, and a person is told within the timeout. The oracle is the spool of what the transport
//! accepted.
//!
//! `IT_CASES` says how many messages meet each fault, `IT_ROUNDS` how many each exit code (a few codes once by
//! default), `IT_PATIENCE` the timeout in seconds of the test that measures it (60 is the default of the program).

use std::{
    collections::BTreeMap,
    time::{Duration, Instant as Wall},
};

use adjutant::{
    model::{DecisionKind, ItemKind},
    source::{SendError, Sendmail},
};

use crate::{
    crash_matrix::{approve_all, invitations, knob},
    support::{
        outbox_fixture::cases,
        test_home::{ACCEPT, Kind, SeededRandom, TestHome, eventually, field},
    },
};

/// Seconds.
const SHORT: u64 = 1;
/// What a loaded machine may take beside the patience.
const SLACK: Duration = Duration::from_secs(20);

/// What is known about a message afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Sent,
    NotSent,
    Nothing,
}

impl Known {
    fn state(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::NotSent => "failed",
            Self::Nothing => "needs_human",
        }
    }
}

/// A hundred bytes, and not one more.
const READ_HALF: &str = "dd bs=1 count=100 of=/dev/null 2>/dev/null";
const READ_ALL: &str = "cat > /dev/null";

const HANGS: [(&str, Known); 3] = [
    ("exec sleep 600", Known::NotSent),
    ("$READ_ALL; exec sleep 600", Known::Nothing),
    ("$ACCEPT; exec sleep 600", Known::Nothing),
];
const READS_HALF: [(&str, Known); 4] = [
    ("$READ_HALF; exit 0", Known::Nothing),
    ("$READ_HALF; exit 1", Known::Nothing),
    ("exit 0", Known::Nothing),
    ("exec 0<&-; sleep 0.05; exit 70", Known::NotSent),
];
// The child holds stderr; or it holds stdin, in a session of its own, where nobody finds it.
const LEAVES_A_CHILD: [(&str, Known); 5] = [
    ("exec 3<&0; setsid sh -c 'sleep 0.3; cat > \"$1/late.$$\"' sh \"$SPOOL\" <&3 & exit 1", Known::NotSent),
    (
        "exec 3<&0; setsid sh -c 'dd bs=1 count=100; sleep 0.3; cat' <&3 >/dev/null 2>&1 & sleep 0.2; exit 1",
        Known::Nothing,
    ),
    ("$ACCEPT; sleep 600 & echo $! >> \"$SPOOL/left\"; exit 0", Known::Sent),
    ("$ACCEPT; sleep 600 & echo $! >> \"$SPOOL/left\"; exit 69", Known::Nothing),
    ("head -c 200000 /dev/zero >&2; $ACCEPT", Known::Sent),
];
const DIES: [(&str, Known); 3] = [
    ("$ACCEPT; kill -KILL $$", Known::Nothing),
    ("$READ_HALF; kill -TERM $$", Known::Nothing),
    ("$READ_ALL; kill -SEGV $$", Known::Nothing),
];

fn script(text: &str) -> String {
    text.replace("$ACCEPT", ACCEPT).replace("$READ_ALL", READ_ALL).replace("$READ_HALF", READ_HALF)
}

/// A home where so many invitations wait for a yes, each about a topic of its own.
async fn asked(script: &str, patience: Option<u64>, mails: usize) -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    // All at once.
    home.write("adjutant.toml", &format!("[engine]\nin_flight = 512\n\n{}", home.read("adjutant.toml")));
    home.transport(script, patience);
    for letter in invitations(&home, mails, |nth| nth) {
        home.post(&letter);
    }
    home.once().await;
    assert_eq!(home.count("item WHERE state = 'open'"), mails as u64);
    home
}

/// How often the transport has accepted an answer to each mail.
fn accepted(home: &TestHome) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    for message in home.spool() {
        *times.entry(field(&message, "In-Reply-To").to_owned()).or_default() += 1;
    }
    times
}

/// Kills what the transports left behind, by their ids.
fn kill_children(home: &TestHome) {
    let left = std::fs::read_to_string(home.root().join("spool/left")).unwrap_or_default();
    left.lines().for_each(|id| crate::support::test_home::signal(id.parse().unwrap(), "KILL"));
}

/// The person looks into the spool and answers: it was sent, or leave it. Returns how many were asked about.
async fn answers(home: &TestHome) -> usize {
    let app = home.app().await;
    let items = app.approvals().list().await.unwrap();
    let accepted: Vec<String> =
        home.spool().iter().map(|message| field(message, "X-Adjutant-Action").to_owned()).collect();
    for item in &items {
        assert_eq!(item.kind, ItemKind::FailedStep, "{}", item.title);
        let left = item.action_id.is_some_and(|id| accepted.contains(&id.to_string()));
        let verdict = if left { DecisionKind::Sent } else { DecisionKind::Skip };
        app.approvals().answer(&item.item_id.to_string(), verdict, "").await.unwrap();
    }
    items.len()
}

/// Every message is approved and ends as expected, told within the patience; nothing is ever sent again.
async fn endure(faults: &[(&str, Known)], cases: usize) {
    for (fault, known) in faults {
        let home = asked(&script(fault), Some(SHORT), cases).await;
        approve_all(&home);
        let began = Wall::now();
        home.once().await;
        let took = began.elapsed();
        let after_a_loop = accepted(&home);
        assert!(after_a_loop.values().all(|times| *times == 1), "{fault}: {after_a_loop:?}");
        assert!(took < Duration::from_secs(SHORT) + SLACK, "{fault}: a person was told after {took:?}");
        assert_eq!(home.count(&format!("outbox WHERE state = '{}'", known.state())), cases as u64, "{fault}");
        let is_accepted = fault.contains("$ACCEPT");
        assert_eq!(after_a_loop.len(), if is_accepted { cases } else { 0 }, "{fault}");
        home.once().await;
        let asked = answers(&home).await;
        assert_eq!(asked, if *known == Known::Sent { 0 } else { cases }, "{fault}: asked about");
        home.once().await;
        assert_eq!(accepted(&home), after_a_loop, "{fault}: sent again");
        assert_eq!(home.count("item WHERE state = 'open'") + home.count("run WHERE status = 'running'"), 0, "{fault}");
        kill_children(&home);
        println!("{cases} × '{fault}': {} after {took:?}, {asked} asked about", known.state());
        crate::support::campaign::Campaign::new("transport", cases, asked.max(after_a_loop.len()))
            .twice(0)
            .stuck(0)
            .print();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transport_that_hangs_is_stopped_and_told() {
    endure(&HANGS, cases(3)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transport_that_reads_half_has_not_accepted_it() {
    endure(&READS_HALF, cases(3)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transport_that_leaves_a_child_behind_is_not_waited_for() {
    endure(&LEAVES_A_CHILD, cases(3)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transport_that_dies_by_a_signal_is_told() {
    endure(&DIES, cases(3)).await;
}

/// The code comes with the topic; half of the codes are of transports that accepted the message before.
const BY_CODE: &str = r#"
f=$(mktemp "$SPOOL/tmp.XXXXXXXXXX") && cat > "$f"
code=$(sed -n 's/^Subject: .*Topic \([0-9]*\).*/\1/p' "$f" | head -1)
if [ $((code % 2)) = 0 ]; then mv "$f" "$SPOOL/mail.${f##*.}"; fi
echo "ended with $code" >&2
exit $code
"#;

#[tokio::test(flavor = "multi_thread")]
async fn no_exit_code_makes_a_message_leave_twice() {
    let rounds = knob("IT_ROUNDS", 0);
    let mut dice = SeededRandom::thrown("exit codes");
    for round in 0..rounds.max(1) {
        let codes: Vec<u64> = if rounds == 0 {
            (0..8).map(|nth| nth * 16 + dice.below(16)).chain([0]).collect()
        } else {
            (0..128).collect()
        };
        let home = asked(BY_CODE, Some(SHORT), 0).await;
        for letter in invitations(&home, codes.len(), |nth| usize::try_from(codes[nth]).unwrap()) {
            home.post(&letter);
        }
        home.once().await;
        approve_all(&home);
        home.once().await;
        let before = accepted(&home);
        assert!(before.values().all(|times| *times == 1), "{before:?}");
        assert_eq!(before.len(), codes.iter().filter(|code| **code % 2 == 0).count());
        let ends =
            home.sql("SELECT state, result FROM outbox WHERE state IN ('sent', 'failed', 'needs_human', 'unknown')");
        assert_eq!(ends.len(), codes.len(), "{ends:?}");
        for end in &ends {
            let told = end[1].contains(": ended with ");
            assert!(end[0] == "sent" && !told || end[0] == "needs_human" && told, "{end:?}");
        }
        let fine = codes.iter().filter(|code| **code == 0).count();
        assert_eq!(home.count("outbox WHERE state = 'sent'"), fine as u64);
        assert_eq!(answers(&home).await, codes.len() - fine);
        home.once().await;
        assert_eq!(accepted(&home), before, "sent again");
        assert_eq!(home.count("item WHERE state = 'open'") + home.count("run WHERE status = 'running'"), 0);
        println!("round {round}: {} codes", codes.len());
        crate::support::campaign::Campaign::new("exit codes", codes.len(), ends.len()).twice(0).stuck(0).print();
    }
}

/// As the outbox calls it, with messages that fill no pipe and with one that fills many.
#[test]
fn what_a_transport_did_is_concluded_from_what_it_read_and_how_it_ended() {
    let patience = knob("IT_PATIENCE", 1) as u64;
    let home = TestHome::real_time(Kind::Observing);
    let spool = home.root().join("spool");
    std::fs::create_dir(&spool).unwrap();
    let more = [
        ("sleep 0.2; $ACCEPT", Known::Sent),
        ("$ACCEPT; exec 2>&-; sleep 0.2", Known::Sent),
        ("exit 127", Known::NotSent),
        ("$ACCEPT; no-such-program", Known::Nothing),
    ];
    let all = HANGS.iter().chain(&READS_HALF).chain(&LEAVES_A_CHILD).chain(&DIES).chain(&more);
    let small = format!("Subject: x\r\n\r\n{}\r\n", "x".repeat(1_000));
    let large = format!("Subject: x\r\n\r\n{}", "0123456789\r\n".repeat(100_000));
    std::thread::scope(|scope| {
        for (nth, (fault, known)) in all.enumerate() {
            let (home, spool, small, large) = (&home, &spool, &small, &large);
            scope.spawn(move || {
                let path = format!("sendmail-{nth}");
                home.write(&path, &format!("SPOOL={}\n{}\n", spool.display(), script(fault)));
                let line = format!("/bin/sh {}", home.root().join(&path).display());
                let sendmail = Sendmail::parse(&line, Duration::from_secs(patience)).unwrap();
                for message in [small, large] {
                    let began = Wall::now();
                    let end = sendmail.transmit(message.as_bytes());
                    let took = began.elapsed();
                    let found = match &end {
                        Ok(()) => Known::Sent,
                        Err(SendError::Refused(_)) => Known::NotSent,
                        Err(SendError::OutcomeUnknowable(_)) => Known::Nothing,
                        Err(other) => panic!("{fault}: {other:?}"),
                    };
                    assert_eq!(found, *known, "{fault}, {} bytes: {end:?}", message.len());
                    assert!(took < Duration::from_secs(patience + 5), "{fault}: {took:?}");
                    if fault.contains("exec sleep 600") {
                        assert!(took >= Duration::from_secs(patience), "{fault}: given up after {took:?}");
                    }
                }
            });
        }
    });
    kill_children(&home);
    // What a child reads after its parent has failed is nothing: no part of the message is left to it.
    std::thread::sleep(Duration::from_millis(600));
    let late = std::fs::read_dir(&spool).unwrap().filter_map(Result::ok);
    let late = late.filter(|entry| entry.file_name().to_string_lossy().starts_with("late."));
    assert!(late.filter_map(|entry| entry.metadata().ok()).all(|late| late.len() == 0), "a part was read late");
    let whole = home.spool().iter().all(|message| *message == small || *message == large);
    assert!(whole, "a part of a message was accepted");
    let nowhere = Sendmail::parse("/no/such/sendmail -t", Duration::from_secs(1)).unwrap();
    assert!(matches!(nowhere.transmit(b"x"), Err(SendError::Refused(why)) if why.contains("cannot be run")));
}

/// The same through the program, measured: one second here, the default with `IT_PATIENCE=60`.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_told_within_the_patience() {
    let patience = knob("IT_PATIENCE", 1) as u64;
    let home = asked(&script("$ACCEPT; exec sleep 600"), (patience != 60).then_some(patience), 1).await;
    approve_all(&home);
    let began = Wall::now();
    home.once().await;
    let took = began.elapsed();
    assert!((patience..patience + 10).contains(&took.as_secs()), "{took:?}");
    let item = home.app().await.approvals().list().await.unwrap().remove(0);
    assert!(item.title.contains(&format!("was stopped after {patience} s")), "{}", item.title);
    assert_eq!(home.spool().len(), 1);
    println!("with a patience of {patience} s a person was told after {took:?}");
}

/// Whether politely or not, a daemon ends while its transport hangs; what was handed over is not handed over again.
#[test]
fn a_daemon_ends_while_its_transport_hangs() {
    let end = |with: &str| {
        let home = TestHome::real_time(Kind::Active);
        home.transport(&script("$ACCEPT; exec sleep 20"), Some(2));
        invitations(&home, 1, |nth| nth).for_each(|letter| drop(home.post(&letter)));
        let daemon = home.daemon();
        eventually("it is asked", || (home.count("item WHERE state = 'open'") == 1).then_some(()));
        eventually("the question is a file", || {
            approve_all(&home);
            (home.count("item WHERE state = 'decided'") == 1).then_some(())
        });
        eventually("the transport has it", || (home.spool().len() == 1).then_some(()));
        let began = Wall::now();
        daemon.stop(with);
        assert!(began.elapsed() < Duration::from_secs(2) + SLACK, "{with}: {:?}", began.elapsed());
        for _ in 0..2 {
            let once = home.run(&["once"]);
            assert_eq!(once.code, 0, "{with}: {}{}", once.out, once.err);
        }
        assert_eq!(home.count("outbox WHERE state = 'needs_human'"), 1, "{with}");
        assert_eq!((home.spool().len(), home.count("item WHERE state = 'open'")), (1, 1), "{with}");
    };
    std::thread::scope(|scope| {
        ["TERM", "KILL"].map(|with| scope.spawn(move || end(with))).map(|ended| ended.join().unwrap())
    });
}
