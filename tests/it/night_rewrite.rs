//! Tests rewriting the rules: the file always holds the old or the new bytes, fuzzed edits never make an invalid file,
//! a rollback restores the old file byte for byte, and questions are answered in the approval queue.

use std::{fs, process::Stdio};

use adjutant::{
    app::App,
    model::{DecisionKind, ItemKind, Priority, TaskEditKind},
    rules::{BUILT_IN, EntryAct, LearnedEntry, Reach, RuleSet, RulesEdit, apply_edits, learned_range},
};

use crate::support::{
    outbox_fixture::cases,
    test_home::{Kind, SeededRandom, TestHome},
};

/// Three tasks of one verified sender, corrected on two days; what the night learns from.
async fn taught(home: &TestHome, from: &str, level: Priority, headers: &[&str]) -> App {
    for nth in 0..3 {
        let id = format!("{}-{nth}", from.split('@').next().unwrap());
        let mut letter = home.letter(&id).from(&format!("T <{from}>")).question();
        for header in headers {
            letter = letter.header(header);
        }
        let text = letter.verified().text();
        let text = if level == Priority::Low {
            text.replace(
                "When will you be back at the house about",
                "Please send me the keys by tomorrow, and tell me about",
            )
        } else {
            text
        };
        home.deliver(&format!("{id}.eml"), text);
        home.once().await;
        let app = home.app().await;
        let task = home.sql_one(&format!("SELECT task_id FROM tasks WHERE source = 'email:<{id}@it.example>'"));
        app.tasks().edit(&task, TaskEditKind::Priority(level), "").await.unwrap();
        home.clock.advance(24 * 3600);
    }
    home.app().await
}

fn rules(home: &TestHome) -> String {
    home.read("rules/priority.yml")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_learns_tells_and_can_be_taken_back_to_the_byte() {
    let home = TestHome::active();
    let mine = format!("# my own words\n{BUILT_IN}");
    home.write("rules/priority.yml", &mine);
    let app = taught(&home, "ann@shop.example", Priority::High, &[]).await;
    let proposal = app.nightly().preview().await.unwrap();
    assert_eq!(proposal.adopted.len(), 1, "{proposal:?}");
    assert_eq!(rules(&home), mine, "a dry run touches nothing");
    app.nightly().run_unless_done_today().await.unwrap();
    let learned = rules(&home);
    assert!(learned.starts_with("# my own words\n") && learned.contains("ann@shop.example"), "{learned}");
    let history = app.rules().history().await.unwrap();
    assert_eq!(history.len(), 2);
    assert!(history[0].current && history[0].row.why.contains("mail from ann@shop.example is at least high"));
    assert_eq!(app.rules().learned_entries().await.unwrap()[0].evidence, [1, 2, 3]);
    let diff = app.rules().diff(None).await.unwrap();
    assert!(diff.iter().any(|line| line.sign == '+' && line.line.contains("ann@shop.example")), "{diff:?}");
    app.rules().roll_back(None).await.unwrap();
    assert_eq!(rules(&home), mine, "byte for byte");
    // The same corrections teach no second time; newer ones do.
    home.clock.advance(24 * 3600);
    app.nightly().run_unless_done_today().await.unwrap();
    assert_eq!(rules(&home), mine);
    let back = app.rules().roll_back(Some(history[0].row.version)).await.unwrap();
    assert_eq!(rules(&home), learned, "forth again");
    assert_eq!(app.rules().learned_entries().await.unwrap()[0].evidence, [1, 2, 3], "with where it came from");
    assert!(back > history[0].row.version);
    let none = app.rules().roll_back(Some(999)).await.unwrap_err();
    assert!(none.to_string().contains("no version 999"), "{none:#}");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_wrote_since_stays_in_a_rollback() {
    let home = TestHome::active();
    let app = taught(&home, "ann@shop.example", Priority::High, &[]).await;
    app.nightly().run_unless_done_today().await.unwrap();
    let edited = rules(&home).replace("default: low", "default: med");
    home.write("rules/priority.yml", &edited);
    app.rules().roll_back(Some(1)).await.unwrap();
    assert_eq!(rules(&home), BUILT_IN.replace("default: low", "default: med"));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_rollback_goes_one_night_further_back() {
    let home = TestHome::active();
    let app = taught(&home, "ann@shop.example", Priority::High, &[]).await;
    app.nightly().run_unless_done_today().await.unwrap();
    let one = rules(&home);
    let app = taught(&home, "bob@mill.example", Priority::High, &[]).await;
    app.nightly().run_unless_done_today().await.unwrap();
    assert!(rules(&home).contains("bob@mill.example"), "{}", rules(&home));
    let own = |text: &str| text.replace("default: low", "default: med");
    home.write("rules/priority.yml", &own(&rules(&home)));
    for expected in [&one, BUILT_IN] {
        app.rules().roll_back(None).await.unwrap();
        assert_eq!(rules(&home), own(expected));
    }
    assert!(app.rules().roll_back(None).await.is_err(), "there is nothing before the first");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dates_that_were_missed_have_their_row_even_when_a_person_was_faster_today() {
    let home = TestHome::active();
    let app = home.app().await;
    assert!(app.nightly().run_if_due().await.unwrap().is_none(), "the first start has nothing to make up for");
    home.clock.advance(3 * 24 * 3600);
    app.nightly().run_unless_done_today().await.unwrap();
    assert!(app.nightly().run_if_due().await.unwrap().is_some());
    let dates = home.sql("SELECT date, state FROM nightly ORDER BY date");
    let expected = [["2026-11-17", "caught_up"], ["2026-11-18", "done"], ["2026-11-19", "done"]];
    assert_eq!(dates, expected);
    assert!(app.nightly().run_if_due().await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_taken_out_by_hand_is_not_learned_again() {
    let home = TestHome::active();
    let app = taught(&home, "ann@shop.example", Priority::High, &[]).await;
    app.nightly().run_unless_done_today().await.unwrap();
    home.write("rules/priority.yml", BUILT_IN);
    for _ in 0..2 {
        home.clock.advance(24 * 3600);
        app.nightly().run_unless_done_today().await.unwrap();
        assert_eq!(rules(&home), BUILT_IN);
    }
    assert!(app.rules().history().await.unwrap()[0].row.why.contains("you took out"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_gone_or_broken_teaches_and_ranks_nothing() {
    let home = TestHome::active();
    let app = taught(&home, "ann@shop.example", Priority::High, &[]).await;
    app.nightly().run_unless_done_today().await.unwrap();
    let learned = rules(&home);
    let entries = app.rules().learned_entries().await.unwrap();
    let levels = || home.sql("SELECT task_id, priority FROM tasks ORDER BY task_id");
    let before = levels();
    let path = home.root().join("rules/priority.yml");
    for text in [None, Some(""), Some("default: [\n")] {
        match text {
            Some(text) => fs::write(&path, text).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        home.clock.advance(24 * 3600);
        app.nightly().run_unless_done_today().await.unwrap();
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), text, "nothing is written into it");
        assert_eq!(app.rules().learned_entries().await.unwrap(), entries, "{text:?}");
        assert_eq!(levels(), before, "{text:?}");
    }
    // Back, and nothing is forgotten.
    home.write("rules/priority.yml", &learned);
    home.clock.advance(24 * 3600);
    app.nightly().run_unless_done_today().await.unwrap();
    assert_eq!(rules(&home), learned);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cap_is_asked_for_and_adopted_after_a_yes() {
    let home = TestHome::active();
    let app = taught(&home, "ivo@lunch.example", Priority::Low, &[]).await;
    app.nightly().run_unless_done_today().await.unwrap();
    assert_eq!(rules(&home), BUILT_IN, "nothing is lowered unasked");
    let items = app.approvals().list().await.unwrap();
    assert_eq!(items.iter().filter(|item| item.kind == ItemKind::RuleProposal).count(), 1, "{items:?}");
    let item = items.iter().find(|item| item.kind == ItemKind::RuleProposal).unwrap();
    assert!(item.title.contains("mail from ivo@lunch.example is at most low"), "{}", item.title);
    // Not asked twice while it waits.
    home.clock.advance(24 * 3600);
    app.nightly().run_unless_done_today().await.unwrap();
    assert_eq!(home.count("proposal"), 1);
    let unseen = adjutant::model::ItemRow { action_sha256: None, ..item.clone() };
    assert!(app.approvals().approve(&unseen).await.is_err(), "a yes names what was seen, also of a rule");
    app.approvals().approve(item).await.unwrap();
    assert!(rules(&home).contains("cap: low"), "{}", rules(&home));
    assert_eq!(app.rules().history().await.unwrap()[0].row.who, adjutant::model::Actor::Approval);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_is_remembered() {
    let home = TestHome::active();
    let app = taught(&home, "ivo@lunch.example", Priority::Low, &[]).await;
    app.nightly().run_unless_done_today().await.unwrap();
    let item =
        app.approvals().list().await.unwrap().into_iter().find(|item| item.kind == ItemKind::RuleProposal).unwrap();
    app.approvals().answer(&item.item_id.to_string(), DecisionKind::Reject, "he is my friend").await.unwrap();
    for _ in 0..3 {
        home.clock.advance(24 * 3600);
        app.nightly().run_unless_done_today().await.unwrap();
    }
    assert_eq!(home.count("proposal"), 1, "a no is not asked again");
    assert_eq!(rules(&home), BUILT_IN);
}

#[tokio::test(flavor = "multi_thread")]
async fn duplicates_are_cancelled_only_where_nobody_has_touched_them() {
    let home = TestHome::active();
    for (id, verified) in [("one", true), ("two", true), ("three", false), ("four", true)] {
        let letter = home
            .letter(id)
            .subject("The keys")
            .body("Hello Alex,\n\nWhen will you be back at the house? I have the keys.\n\nTom\n");
        let letter = if verified { letter.verified() } else { letter };
        home.post(&letter);
        home.once().await;
        // As tasks of an older version are: without the marks by which a mail about the same is known as it comes in.
        home.database().execute("DELETE FROM task_mark", []).unwrap();
    }
    let app = home.app().await;
    assert_eq!(home.count("tasks"), 4);
    let fourth = home.sql_one("SELECT task_id FROM tasks WHERE source = 'email:<four@it.example>'");
    app.tasks().edit(&fourth, TaskEditKind::Priority(Priority::High), "").await.unwrap();
    home.clock.advance(24 * 3600);
    app.nightly().run_unless_done_today().await.unwrap();
    let cancelled = home.sql("SELECT source FROM tasks WHERE status = 'CANCELLED'");
    assert_eq!(cancelled, [["email:<two@it.example>"]]);
    assert!(home.sql_one("SELECT why FROM task_history WHERE who = 'night'").contains("the same mail again"));
    home.must_be_sound().await;
}

/// The binary, killed at each step of the rewrite: the file is the old one or the new one, and the next night is whole.
#[test]
fn killed_at_each_step_the_rules_are_the_old_or_the_new_ones() {
    let steps = [
        "commit.begin_nightly",
        "commit.intend_rules",
        "rules.write",
        "rules.rename",
        "rules.sync",
        "commit.keep_rules",
        "commit.end_nightly",
    ];
    let wanted = steps.iter().flat_map(|step| [format!("{step}.before"), format!("{step}.after")]);
    let mut dice = SeededRandom::thrown("kills of a rewrite");
    let all: Vec<String> = wanted.collect();
    let (mut old, mut new) = (0, 0);
    for place in all.iter().filter(|_| cases(0) > 0 || dice.below(3) == 0) {
        let home = TestHome::real_time(Kind::Active);
        ready_to_learn(&home);
        // The whole outcome, in a home that is not killed.
        let mut reflect = home.command(&["reflect"]);
        let status = reflect.env("FAILPOINT", place).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.code().is_none(), "{place} was never passed");
        let found = rules(&home);
        if found == BUILT_IN {
            old += 1
        } else {
            new += 1
        }
        let parsed = RuleSet::parse(place, &found).unwrap_or_else(|error| panic!("{place}: {error}"));
        assert!(found == BUILT_IN || parsed.learned_names().len() == 1, "{place}: {found}");
        let after = home.run(&["reflect"]);
        assert_eq!(after.code, 0, "{place}: {}", after.err);
        assert!(rules(&home).contains("ann@shop.example"), "{place}: {}{}", after.out, after.err);
        assert_eq!(home.count("rules_version WHERE live = 0"), 0, "{place}: an intent is left");
        assert_eq!(home.count("learned_entry"), 1, "{place}: where it comes from is not known");
        let left: Vec<String> = crate::support::test_home::files_in(&home.root().join("rules"))
            .into_iter()
            .filter(|name| name.starts_with('.'))
            .collect();
        assert!(left.is_empty(), "{place}: {left:?}");
        assert_eq!(home.run(&["rules", "rollback", "1"]).code, 0);
        assert_eq!(rules(&home), BUILT_IN, "{place}: rollback");
        assert_eq!(home.run(&["doctor"]).code, 0, "{place}");
    }
    println!("old bytes {old} times, new bytes {new} times");
}

/// Three corrections on two days, without waiting for the days.
fn ready_to_learn(home: &TestHome) {
    for nth in 0..3 {
        home.post(&home.letter(&format!("a{nth}")).from("Ann <ann@shop.example>").question().verified());
    }
    assert_eq!(home.run(&["once"]).code, 0);
    for task in ["1", "2", "3"] {
        assert_eq!(home.run(&["tasks", "set", task, "--priority", "high"]).code, 0);
    }
    let past = "UPDATE correction SET at = strftime('%Y-%m-%dT%H:%M:%SZ', at, '-' || correction || ' days')";
    home.database().execute_batch(past).unwrap();
}

/// Edit lists and files at random: what `apply` lets through parses, and what is outside the marks is what it was.
#[test]
fn fuzzed_edits_never_make_an_invalid_file() {
    let mut dice = SeededRandom::thrown("fuzzed edits");
    let (mut made, mut refused, mut lists) = (0_usize, 0_usize, 0_usize);
    for _ in 0..cases(400) {
        lists += 1;
        let mut text = file(&mut dice);
        for _ in 0..=dice.below(3) {
            let edits: Vec<RulesEdit> = (0..=dice.below(6)).map(|_| edit(&text, &mut dice)).collect();
            let valid = RuleSet::parse("f", &text).is_ok();
            match apply_edits("f", &text, &edits) {
                Ok(after) => {
                    made += 1;
                    assert!(valid, "a broken file was edited: {text}");
                    let rules =
                        RuleSet::parse("f", &after).unwrap_or_else(|error| panic!("{error}\n{after}\n{edits:?}"));
                    assert!(rules.learned_names().len() <= 200);
                    if let (Some(before), Some(now)) = (learned_range(&text), learned_range(&after)) {
                        assert_eq!(&text[..before.start], &after[..now.start]);
                        assert_eq!(&text[before.end..], &after[now.end..]);
                    } else {
                        assert!(after.starts_with(text.trim_end_matches('\n')), "{after}");
                    }
                    text = after;
                }
                Err(_) => refused += 1,
            }
        }
    }
    println!("{lists} fuzzed files: {made} lists of edits made, {refused} refused, 0 invalid files");
    assert!(made > lists / 3, "{made} of {lists}");
}

fn pick<'a, T>(all: &'a [T], dice: &mut SeededRandom) -> &'a T {
    &all[usize::try_from(dice.below(all.len() as u64)).unwrap()]
}

fn edit(text: &str, dice: &mut SeededRandom) -> RulesEdit {
    let level = *pick(Priority::ALL, dice);
    let act = match dice.below(4) {
        0 => EntryAct::Cap(level),
        1 => EntryAct::Task(dice.below(2) == 0),
        _ => EntryAct::Set(level),
    };
    let odd = [
        "",
        "a\"b",
        "x\ny",
        "# <<< learned <<<",
        "é@é.example",
        "a: b",
        "{}",
        "'",
        "\\",
        "\u{202e}",
        "%",
        "&x",
        "*y",
        "|",
        "null",
        "true",
        "1.5",
    ];
    let name = if dice.below(9) == 0 { (*pick(&odd, dice)).to_owned() } else { format!("n{}", dice.below(40)) };
    let reach = match dice.below(5) {
        0 => Reach::Domain(format!("{name}.example")),
        1 => Reach::ListId(name),
        2 => Reach::Word(format!("{name}word")),
        3 => Reach::Template(format!("{name}.example"), "weekly".into()),
        _ => Reach::Sender(format!("{name}@shop.example")),
    };
    let why = format!("because {} {}", pick(&odd, dice), "long ".repeat(usize::try_from(dice.below(80)).unwrap()));
    let entry = LearnedEntry { reach, act };
    let known: Vec<String> = RuleSet::parse("f", text)
        .map(|rules| rules.learned_names().into_iter().map(str::to_owned).collect())
        .unwrap_or_default();
    match dice.below(16) {
        0..3 if !known.is_empty() => RulesEdit::Retire { name: pick(&known, dice).clone(), why },
        3..6 if !known.is_empty() => RulesEdit::Change { name: pick(&known, dice).clone(), entry, why },
        6 => RulesEdit::Retire { name: "nobody".into(), why },
        _ => RulesEdit::Add { entry, why },
    }
}

fn file(dice: &mut SeededRandom) -> String {
    let learned = [
        "learned: []\n",
        "learned:\n",
        "",
        "learned:\n  - { name: own, when: { kind: { is: bulk } }, cap: low }\n",
        "learned:\n- name: own\n  when: { kind: { is: bulk } }\n  cap: low # mine\n\n# a word\n- name: two\n  when:\n    any:\n      - kind: { is: spam }\n  set: med\n",
        "learned: [{ name: a, when: { kind: { is: bulk } }, task: false }, { name: b, when: { subject: { contains: x } }, set: high }]\n",
        "# only words\nlearned:\n    - name: \"quoted\"\n      when: { subject: { matches: '/a\\d+/i' } }\n      set: low\n      why: 'it''s'\n",
    ];
    let own = [
        "rules: []\n",
        "rules: []\ndefault: med\n",
        "lists: { bank: [a.example] }\nrules:\n  - { name: r, when: { sender_domain: { in: bank } }, set: high }\n",
    ];
    let ends = ["\n", "\r\n"];
    let head = pick(&own, dice);
    let (begin, end) = if dice.below(12) == 0 { ("", "") } else { ("# >>> learned: kept >>>\n", "# <<< learned <<<") };
    let part = if begin.is_empty() { "" } else { pick(&learned, dice) };
    let tail = if dice.below(2) == 0 { "" } else { "\n# the end, no newline" };
    let mut text = format!("{head}{begin}{part}{end}{tail}");
    if dice.below(8) == 0 {
        let end: &&str = pick(&ends, dice);
        text = text.replace('\n', end);
    }
    if dice.below(10) == 0 {
        let at = text
            .char_indices()
            .map(|(at, _)| at)
            .nth(usize::try_from(dice.below(text.chars().count().max(1) as u64)).unwrap())
            .unwrap_or(0);
        text.insert(at, *pick(&['\t', '{', '"', '#', ':', '-', '\u{0}', 'é'], dice));
    }
    text
}

#[test]
fn beside_a_daemon_a_request_is_left_and_answered() {
    let home = TestHome::real_time(Kind::Active);
    ready_to_learn(&home);
    let daemon = home.daemon();
    let answered = home.run(&["reflect"]);
    assert_eq!(answered.code, 0, "{}", answered.err);
    assert!(answered.out.contains("is running; asked it") && answered.out.contains("1 learned"), "{}", answered.out);
    assert!(fs::read_to_string(home.home().rules_file()).unwrap().contains("ann@shop.example"));
    let again = home.json(&["reflect"]);
    assert_eq!(again["state"], "done", "{again}");
    assert_eq!(daemon.stop("TERM").0, 0);
}
