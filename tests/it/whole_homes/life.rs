//! The random events of a home, between its first mail and the final check.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::SystemTime,
};

use super::{
    person, transport,
    world::{Copied, Delivered, World},
};

const HOUR: i64 = 3600;
/// Jumps after which what was approved still has to leave.
const SMALL_JUMPS: &[i64] = &[HOUR, -2 * HOUR, 120];
/// Jumps over the end of every question, or back before it was asked.
const LARGE_JUMPS: &[i64] = &[83 * HOUR, -72 * HOUR, 26 * HOUR];

pub(super) fn live(world: &mut World) {
    deliver(world);
    deliver(world);
    work(world);
    person::look(world);
    for _ in 0..12 + world.dice.below(14) {
        let deed = world.dice.below(100);
        match deed {
            0..=13 => deliver(world),
            14..=27 => meddle_with_the_mailbox(world),
            28..=55 => let_it_work(world),
            56..=63 => person::look(world),
            64..=88 => let_the_person_act(world),
            89..=93 => copy_or_put_back(world),
            94..=96 => meddle_with_the_rules(world),
            97..=98 => jump(world),
            _ => change_the_transport(world),
        }
    }
}

fn let_it_work(world: &mut World) {
    match world.dice.below(10) {
        0..=2 => work(world),
        3..=5 if world.daemon.is_none() => drop(world.run_and_kill(&["once"])),
        6 => drop(world.run_on_a_full_disk(&["once"])),
        7 => work_twice_at_once(world),
        8 => world.start_daemon(),
        _ => {
            let signal = if world.one_in(2) { "KILL" } else { "TERM" };
            world.stop_daemon(signal);
        }
    }
}

fn let_the_person_act(world: &mut World) {
    match world.dice.below(14) {
        0..=4 => person::approve(world),
        5 => person::approve_twice_at_once(world),
        6 => person::take_back(world),
        7 => person::reject(world),
        8 => person::edit(world),
        9 => person::cancel_task(world),
        10 => person::add_task(world),
        11 | 12 => person::pause_or_resume(world),
        _ => person::observe_for_a_while(world),
    }
}

/// Takes in what is there and works it: whatever happened before, that succeeds.
pub(super) fn work(world: &mut World) {
    let once = world.run(&["once"]);
    assert_eq!(once.code, 0, "once: {}{}", once.out, once.err);
}

fn work_twice_at_once(world: &mut World) {
    let mut other = world.command(&["once"]);
    let mut other = other.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    world.run(&["once"]);
    other.wait().unwrap();
}

/// The time that the processes of this home see.
fn now(world: &World) -> chrono::DateTime<chrono::Utc> {
    world.home.clock.now().utc() + chrono::Duration::seconds(world.clock())
}

/// A mail nobody has seen yet: half of them ask for a meeting, which leads to a question for the person.
fn letter(world: &mut World) -> (Delivered, String) {
    world.count += 1;
    let token = format!("K{}", world.count);
    let asks_for_a_meeting = world.one_in(2);
    let letter = world.home.letter(&token).subject(&format!("About {token}")).date(&now(world).to_rfc2822());
    let letter = if asks_for_a_meeting {
        letter.body(&format!(
            "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n\nPS: {token} ends here.\n"
        ))
    } else {
        match world.dice.below(3) {
            0 => letter.question(),
            1 => letter.invoice(u32::try_from(world.count).unwrap()).subject(&format!("Invoice {token}")),
            _ => letter.body(&format!("Hello Alex,\n\nnothing in particular.\n\nPS: {token} ends here.\n")),
        }
    };
    (Delivered { token, file: None, rest: None, asks_for_a_meeting }, letter.text())
}

/// Writes a file that has been lying there for a while, as the processes of this home see the time.
fn write(world: &World, path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    let arrived = now(world) - chrono::Duration::minutes(1);
    fs::OpenOptions::new().write(true).open(path).unwrap().set_modified(SystemTime::from(arrived)).unwrap();
}

fn inbox(world: &World, name: &str) -> PathBuf {
    world.home.maildir().join("new").join(name)
}

fn deliver(world: &mut World) {
    let (mail, text) = letter(world);
    let path = inbox(world, &format!("{}.eml", mail.token));
    put(world, mail, &path, &text);
}

fn put(world: &mut World, mut mail: Delivered, path: &Path, text: &str) {
    if mail.asks_for_a_meeting && world.one_in(6) {
        // Its writer pauses before the last line.
        let (head, rest) = text.split_at(text.find("PS:").unwrap());
        write(world, path, head);
        mail.rest = Some(rest.to_owned());
    } else {
        write(world, path, text);
    }
    world.note(format!("{} arrives as {}", mail.token, path.file_name().unwrap().to_string_lossy()));
    mail.file = Some(path.to_owned());
    world.mails.push(mail);
}

fn meddle_with_the_mailbox(world: &mut World) {
    let lying: Vec<usize> = (0..world.mails.len()).filter(|nth| world.mails[*nth].file.is_some()).collect();
    let Some(nth) = world.pick(&lying) else { return };
    if world.mails[nth].rest.is_some() {
        return finish_writing(world, nth);
    }
    let path = world.mails[nth].file.clone().unwrap();
    if !path.exists() {
        // Archived, or moved by the program: it is the program's business where it lies now.
        world.mails[nth].file = None;
        return;
    }
    let token = world.mails[nth].token.clone();
    match world.dice.below(6) {
        0 => {
            let name = path.file_name().unwrap().to_string_lossy().split(':').next().unwrap().to_owned();
            let read = world.home.maildir().join("cur").join(format!("{name}:2,S"));
            fs::create_dir_all(read.parent().unwrap()).unwrap();
            fs::rename(&path, &read).unwrap();
            world.note(format!("{token} is marked as read"));
            world.mails[nth].file = Some(read);
        }
        1 => {
            fs::remove_file(&path).unwrap();
            world.note(format!("{token} vanishes"));
            world.mails[nth].file = None;
        }
        // Its name is used again: after a removal, by writing over it, or by a rename over it.
        how => {
            let (mail, text) = letter(world);
            world.note(format!("{token} gives its name to {} ({how})", mail.token));
            world.mails[nth].file = None;
            if how == 2 {
                fs::remove_file(&path).unwrap();
            }
            if how == 3 {
                let other = world.home.maildir().join("tmp").join(&mail.token);
                write(world, &other, &text);
                fs::rename(&other, &path).unwrap();
            }
            put(world, mail, &path, &text);
        }
    }
}

pub(super) fn finish_writing(world: &mut World, nth: usize) {
    let mail = &mut world.mails[nth];
    let (Some(path), Some(rest), token) = (mail.file.clone(), mail.rest.take(), mail.token.clone()) else { return };
    // It may have been marked as read meanwhile, but nobody else moves it while it is written.
    let whole = format!("{}{rest}", fs::read_to_string(&path).unwrap());
    write(world, &path, &whole);
    world.note(format!("{token} is written to its end"));
}

fn copy_or_put_back(world: &mut World) {
    world.stop_daemon("TERM");
    let data = world.home.home().data();
    if world.copies.is_empty() || world.one_in(2) {
        let what = if world.one_in(2) { Copied::Database } else { Copied::Folder };
        let target = world.home.root().join(format!("copies/{}", world.copies.len()));
        fs::create_dir_all(&target).unwrap();
        copy(&data, &target);
        world.note(format!("copy {} of {what:?}", world.copies.len()));
        world.copies.push((target, what));
        return;
    }
    let (from, what) = world.pick(&world.copies.clone()).unwrap();
    let database = ["tasks.db", "tasks.db-wal", "tasks.db-shm"];
    match what {
        Copied::Folder => {
            fs::remove_dir_all(&data).unwrap();
            fs::create_dir_all(&data).unwrap();
            copy(&from, &data);
        }
        Copied::Database => {
            for name in database {
                drop(fs::remove_file(data.join(name)));
                drop(fs::copy(from.join(name), data.join(name)));
            }
        }
    }
    world.note(format!("{what:?} is put back"));
    world.was_restored = true;
    world.excuse_all("restored");
    for (_, forgotten) in &mut world.added {
        *forgotten = true;
    }
    // Numbers of later questions may be given again.
    for yes in &mut world.yeses {
        yes.number = "none".into();
    }
    if let Some(open) = person::open_silence(world) {
        world.silences[open].until = Some(SystemTime::now());
    }
    if world.one_in(2) {
        world.run(&["mail", "mode", "work", "active"]);
    }
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(status.success());
}

const BROKEN: &[&str] = &["rules: [", "\u{0}\u{1}", "", "rules:\n  - name: x\n    set: sideways\n", "- - -\n:"];

fn meddle_with_the_rules(world: &mut World) {
    if world.one_in(3) {
        world.count += 1;
        let version = format!("approvals: {{ grace_seconds: 2 }}\n# version {}", world.count);
        world.home.policy(&version);
        world.note("another policy");
        world.excuse_all("another policy");
        return;
    }
    let text = world.pick(BROKEN).unwrap();
    world.home.write("rules/priority.yml", text);
    world.note(format!("the rules are {text:?}"));
}

pub(super) fn mend_the_rules(world: &World) {
    world.home.write("rules/priority.yml", adjutant::rules::BUILT_IN);
}

fn jump(world: &mut World) {
    // Time goes its own way under a running process only in small steps.
    world.stop_daemon("TERM");
    let jumps = if world.one_in(2) { SMALL_JUMPS } else { LARGE_JUMPS };
    let by = world.pick(jumps).unwrap();
    if jumps == LARGE_JUMPS {
        world.excuse_all("the clock jumped over its end");
    }
    world.jump(by);
    world.note(format!("the clock jumps by {by} s"));
}

fn change_the_transport(world: &mut World) {
    let mode = world.pick(transport::MODES).unwrap();
    transport::set_mode(&world.transport(), mode);
    world.transport_works = mode == "accept";
    world.note(format!("the transport is to {mode}"));
    if !world.transport_works {
        world.transport_worked = false;
        world.excuse_all("the transport failed");
    }
}
