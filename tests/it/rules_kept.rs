//! Tests that a broken rules file takes effect in no process: the last good set counts, and every command says so.

use std::{fs, os::unix::fs::PermissionsExt as _};

use adjutant::rules::RuleSet;

use crate::support::test_home::{Answered, Kind, SeededRandom, TestHome};

/// Rules that rank otherwise than the shipped ones, so that a fall-back to those would be seen.
const GOOD: &str = "lists:
  friends: [bakerand.example, acme.example]
rules:
  - name: questions
    when: { kind: { is: question } }
    set: critical
    why: people wait for an answer
  - name: milk
    when: { objective: { matches: \"/milk/i\" } }
    set: high
    why: breakfast
  - name: friends
    when: { sender_domain: { in: friends } }
    set: med
    why: they are friends
default: med
# >>> learned
learned:
  - name: learned-bulk
    when: { kind: { is: bulk } }
    cap: low
    why: learned
# <<< learned
";

const SAYS: &str = "The rules file is broken";

/// A command of every kind of process, and what it answers with. With the answer go the exit codes of a whole file.
const PROCESSES: &[&[&str]] = &[
    &["once"],
    &["tasks"],
    &["tasks", "add", "Buy milk"],
    &["why", "1"],
    &["rules", "history"],
    &["rules", "what-if", "other.yml"],
    &["reflect"],
    &["reflect", "--dry-run"],
    &["digest"],
    &["hitl", "list"],
    &["mail", "list"],
    &["runs", "list"],
    &["search", "milk"],
    &["preview", "work"],
    &["memory"],
    &["cost"],
    &["pause"],
    &["resume"],
    &["audit", "verify"],
];

/// Runs one of them; files are named from the home.
fn run(home: &TestHome, json: bool, command: &[&str]) -> Answered {
    let other = home.root().join("other.yml").display().to_string();
    let mut line: Vec<&str> = if json { vec!["--json"] } else { Vec::new() };
    line.extend(command.iter().map(|word| if *word == "other.yml" { other.as_str() } else { word }));
    home.run(&line)
}

fn home() -> TestHome {
    let home = TestHome::real_time(Kind::Active);
    home.write("rules/priority.yml", GOOD);
    home.write("other.yml", GOOD);
    home.post(&home.letter("one").question());
    home.post(&home.letter("two").invoice(7));
    assert_eq!(home.run(&["once"]).code, 0);
    assert!(home.count("tasks") >= 2);
    home
}

/// The levels of the tasks that were there, and which rule gave each.
fn levels(home: &TestHome) -> Vec<Vec<String>> {
    home.sql("SELECT number, priority, rule FROM tasks JOIN task_owner USING (task_id) ORDER BY number")
}

/// The level of a task that is added now.
fn level_of_new(home: &TestHome) -> String {
    let added = home.run(&["--json", "tasks", "add", "Buy milk"]);
    assert_eq!(added.code, 0, "{}", added.err);
    serde_json::from_str::<serde_json::Value>(&added.out).unwrap()["priority"].as_str().unwrap().to_owned()
}

fn says_once(answered: &Answered, what: &str) {
    assert_eq!(answered.err.matches(SAYS).count(), 1, "{what}: {}", answered.err);
    let line = answered.err.lines().find(|line| line.contains(SAYS)).unwrap();
    assert!(line.contains("priority.yml") && line.contains("expected"), "{what}: {line}");
    assert!(line.contains("The last good rules, in force since 20"), "{what}: {line}");
}

#[test]
fn every_kind_of_process_keeps_the_last_good_rules_and_says_so() {
    let home = home();
    let whole: Vec<i32> = PROCESSES.iter().map(|command| run(&home, false, command).code).collect();
    assert!(PROCESSES.iter().zip(&whole).all(|(_, code)| *code == 0), "{whole:?}");
    let before = levels(&home);
    home.write("rules/priority.yml", &GOOD.replace("critical", "loud"));
    for command in PROCESSES {
        for json in [false, true] {
            let answered = run(&home, json, command);
            let line = command;
            assert_eq!(answered.code, 0, "{line:?}: {}{}", answered.out, answered.err);
            says_once(&answered, &format!("{line:?}"));
            if json {
                let parsed = serde_json::from_str::<serde_json::Value>(&answered.out);
                assert!(parsed.is_ok(), "{line:?}: {}", answered.out);
            }
        }
    }
    let after = levels(&home);
    assert_eq!(&after[..before.len()], &before[..], "nothing was ranked by other rules");
    assert!(after[before.len()..].iter().all(|row| row[1] == "high"), "{after:?}");
    let doctor = home.run(&["doctor", "--json"]);
    assert_eq!(doctor.code, 4);
    let health: serde_json::Value = serde_json::from_str(&doctor.out).unwrap();
    assert!(health["findings"].as_array().unwrap().iter().any(|finding| finding["code"] == "rules_broken"), "{health}");
    let check = home.run(&["rules", "check"]);
    assert!(check.code == 4 && check.out.contains("loud"), "{check:?}");
    says_once(&check, "rules check");
    let (code, said) = home.daemon().stop("INT");
    assert!(code == 0 && said.contains(SAYS) && said.contains("in force since"), "{said}");
    assert_eq!(levels(&home), after);
    // Mended, it counts at once and nothing is said any more.
    home.write("rules/priority.yml", &GOOD.replace("set: high", "set: low"));
    assert_eq!(level_of_new(&home), "low");
    assert!(!home.run(&["tasks"]).err.contains(SAYS));
}

/// What may stand in place of the file.
enum Ruin {
    Text(Vec<u8>),
    Gone,
    Folder,
    Closed,
    Dangling,
}

fn ruin(home: &TestHome, with: &Ruin) {
    let path = home.root().join("rules/priority.yml");
    let clear = || {
        drop(fs::remove_file(&path));
        drop(fs::remove_dir(&path));
    };
    clear();
    match with {
        Ruin::Text(bytes) => fs::write(&path, bytes).unwrap(),
        Ruin::Gone => {}
        Ruin::Folder => fs::create_dir(&path).unwrap(),
        Ruin::Dangling => std::os::unix::fs::symlink("nowhere", &path).unwrap(),
        Ruin::Closed => {
            fs::write(&path, GOOD).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        }
    }
}

/// What an editor, a full disk, a slip of the hand or a wrong program makes of a good file.
fn mutated(dice: &mut SeededRandom) -> Vec<u8> {
    let mut bytes = GOOD.as_bytes().to_vec();
    let at = dice.below(bytes.len() as u64) as usize;
    match dice.below(7) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << dice.below(8),
        2 => drop(bytes.drain(at..(at + 1 + dice.below(40) as usize).min(bytes.len()))),
        3 => {
            let mut lines: Vec<&str> = GOOD.lines().collect();
            lines.remove(dice.below(lines.len() as u64) as usize);
            bytes = lines.join("\n").into_bytes();
        }
        4 => {
            let (old, new) = [
                ("set: high", "set: [high]"),
                ("set: critical", "set: 7"),
                ("default: med", "default: {}"),
                ("rules:", "rules: 1\nother:"),
                ("name: milk", "name: questions"),
                ("{ in: friends }", "{ in: foes }"),
                ("/milk/i", "/(milk/i"),
                ("learned:", "lerned:"),
            ][dice.below(8) as usize];
            bytes = GOOD.replace(old, new).into_bytes();
        }
        5 => {
            let byte = [0, 9, b'\n', b':', b'{', b'"', 0xff][dice.below(7) as usize];
            bytes.insert(at, byte);
        }
        _ => bytes = GOOD.repeat(2).into_bytes(),
    }
    bytes
}

#[test]
fn whatever_becomes_of_the_file_either_it_is_whole_or_the_last_good_one_counts() {
    let cases = std::env::var("IT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(14);
    let mut dice = SeededRandom::thrown("rules_kept");
    let home = home();
    let before = levels(&home);
    let mut ruins =
        vec![Ruin::Gone, Ruin::Folder, Ruin::Dangling, Ruin::Text(Vec::new()), Ruin::Text(b" \n\n".to_vec())];
    // Root may read everything.
    if !is_root() {
        ruins.push(Ruin::Closed);
    }
    ruins.extend((0..cases).map(|_| Ruin::Text(mutated(&mut dice))));
    let (mut whole, mut broken) = (0, 0);
    for (nth, with) in ruins.iter().enumerate() {
        ruin(&home, with);
        let text = fs::read_to_string(home.root().join("rules/priority.yml")).ok();
        let counts = text.as_deref().and_then(|text| RuleSet::parse("f", text).ok());
        // The good one has a learned part: what ends before it was cut off.
        let counts = counts.filter(|rules| rules.learned_range().is_some());
        let what = format!("case {nth}: {}", text.as_deref().unwrap_or("(unreadable)"));
        match &counts {
            None => {
                broken += 1;
                // A few kinds of process each time; all of them over the campaign.
                for step in 0..3 {
                    let command = PROCESSES[(nth * 3 + step) % PROCESSES.len()];
                    let answered = run(&home, false, command);
                    assert_eq!(answered.code, 0, "{what}: {command:?}: {}{}", answered.out, answered.err);
                    says_once(&answered, &format!("{what}: {command:?}"));
                }
                assert_eq!(&levels(&home)[..before.len()], &before[..], "{what}");
                assert_eq!(level_of_new(&home), "high", "{what}");
                assert_eq!(home.run(&["doctor"]).code, 4, "{what}");
            }
            Some(rules) => {
                whole += 1;
                assert!(!home.run(&["once"]).err.contains(SAYS), "{what}");
                assert_eq!(home.sql_one("SELECT value FROM setting WHERE name = 'rules_version'"), rules.version());
            }
        }
        // Back to the good one for the next case.
        ruin(&home, &Ruin::Text(GOOD.as_bytes().to_vec()));
        assert_eq!(home.run(&["once"]).code, 0);
        assert_eq!(&levels(&home)[..before.len()], &before[..], "{what}");
    }
    println!("{broken} broken, {whole} whole");
    println!("campaign name=rules asked={} run={}", ruins.len(), broken + whole);
    assert!(broken >= 5);
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn broken_at_the_first_start_the_shipped_rules_count_and_that_is_said() {
    let home = TestHome::real_time(Kind::Active);
    home.write("rules/priority.yml", &GOOD.replace("critical", "loud"));
    home.post(&home.letter("two").invoice(7));
    let once = home.run(&["once"]);
    assert_eq!(once.code, 0, "{}", once.err);
    assert!(once.err.contains(SAYS) && once.err.contains("the shipped ones count until it is mended"), "{}", once.err);
    assert_eq!(home.sql("SELECT rule FROM task_owner"), [["bookkeeping"]]);
    home.write("rules/priority.yml", GOOD);
    assert_eq!(home.run(&["once"]).code, 0);
    assert_ne!(home.sql("SELECT rule FROM task_owner"), [["bookkeeping"]]);
}

#[test]
fn a_broken_policy_lets_nothing_happen_and_is_said_by_every_command() {
    let home = home();
    for text in ["allow: [not an address]\n", "allow: [", "nonsense: 1\n"] {
        home.write("rules/policy.yml", text);
        for command in [&["once"][..], &["hitl", "list"], &["tasks"], &["--json", "mail", "accounts"]] {
            let answered = home.run(command);
            assert_eq!(answered.code, 0, "{command:?}: {}", answered.err);
            assert_eq!(answered.err.matches("policy.yml is broken").count(), 1, "{command:?}: {}", answered.err);
            assert!(answered.err.contains("no effect is carried out"), "{command:?}: {}", answered.err);
        }
        assert_eq!(home.run(&["doctor"]).code, 4);
    }
    home.policy("");
    assert!(!home.run(&["tasks"]).err.contains("policy"));
}

#[test]
fn a_broken_configuration_is_named_with_its_line_by_every_command() {
    let home = home();
    let good = home.read("adjutant.toml");
    for ruined in [format!("{good}[mail\n"), format!("{good}poll_seconds = = 1\n"), format!("[me]\nnames = 7\n{good}")]
    {
        home.write("adjutant.toml", &ruined);
        for command in PROCESSES {
            let answered = run(&home, false, command);
            assert_eq!(answered.code, 2, "{command:?}: {}", answered.err);
            assert!(
                answered.err.contains("adjutant.toml") && answered.err.contains("line "),
                "{command:?}: {}",
                answered.err
            );
        }
    }
}
