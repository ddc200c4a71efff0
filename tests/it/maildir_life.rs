//! Tests random changes to the files of a Maildir: every content that lay unchanged in the inbox is read exactly once.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use adjutant::app::Worker;

use crate::{
    maildir_names::mails,
    support::{
        outbox_fixture::cases,
        test_home::{Kind, SeededRandom, TestHome, files_in},
    },
};

const NAMES: u64 = 6;
const STEPS: usize = 60;
/// The same for many files, so that only their content and the file system's own clock tell them apart.
const WRITTEN: Duration = Duration::from_secs(1_763_000_000);

/// What the generator knows: the contents it wrote, and which of them a poll found lying in the inbox.
struct Life {
    home: TestHome,
    dice: SeededRandom,
    worker: Option<Worker>,
    written: u32,
    lain: BTreeSet<String>,
    /// Files whose writer has paused, and what it will add.
    paused: BTreeMap<PathBuf, String>,
    /// The whole of what was read in halves.
    halves: BTreeSet<String>,
    /// Those of them that lay half written in the inbox when it was looked at.
    lain_half: BTreeSet<String>,
    /// Old files, as a backup has them: their place and content.
    backup: Vec<(PathBuf, Vec<u8>)>,
    told: Vec<String>,
}

impl Life {
    fn new(dice: SeededRandom) -> Self {
        let home = TestHome::real_time(Kind::Active);
        Self {
            home,
            dice,
            worker: None,
            written: 0,
            lain: BTreeSet::new(),
            paused: BTreeMap::new(),
            halves: BTreeSet::new(),
            lain_half: BTreeSet::new(),
            backup: Vec::new(),
            told: Vec::new(),
        }
    }

    /// A content nobody has seen, of the same length as any other.
    fn content(&mut self) -> String {
        self.written += 1;
        self.home.letter(&format!("T{:05}", self.written)).question().text()
    }

    fn name(&mut self) -> String {
        format!("m{}", self.dice.below(NAMES))
    }

    fn place(&mut self) -> PathBuf {
        let name = self.name();
        let inside = ["new", "cur", "cur"][self.dice.below(3) as usize];
        let flags = ["", ":2,S", ":2,FS"][self.dice.below(3) as usize];
        self.home.maildir().join(inside).join(name + flags)
    }

    fn inbox(&self) -> Vec<PathBuf> {
        ["new", "cur"].iter().flat_map(|state| files(&self.home.maildir().join(state))).collect()
    }

    /// One of the files there are.
    fn any(&mut self, files: &[PathBuf]) -> Option<PathBuf> {
        (!files.is_empty()).then(|| files[self.dice.below(files.len() as u64) as usize].clone())
    }

    fn write(&mut self, path: &Path, content: &[u8]) {
        self.paused.remove(path);
        fs::write(path, content).unwrap();
        self.backup.push((path.to_owned(), content.to_owned()));
        self.stamp(path);
    }

    fn stamp(&mut self, path: &Path) {
        let now = SystemTime::now();
        let at = match self.dice.below(16) {
            0 => now - Duration::from_secs(self.dice.below(100_000)) - Duration::from_secs(1),
            1 => now + Duration::from_secs(3_600),
            _ => SystemTime::UNIX_EPOCH + WRITTEN,
        };
        fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        if from == to {
            return;
        }
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(from, to).unwrap();
        self.paused.remove(to);
        if let Some(rest) = self.paused.remove(from) {
            self.paused.insert(to.to_owned(), rest);
        }
    }

    async fn step(&mut self) {
        let inbox = self.inbox();
        let (one, place) = (self.any(&inbox), self.place());
        let deed = self.dice.below(17);
        self.told.push(format!("{deed}: {one:?} {place:?}"));
        match (deed, one) {
            (0..=2, _) => {
                let content = self.content();
                self.write(&place, content.as_bytes());
            }
            (3, Some(path)) => {
                let content = self.content();
                self.write(&path, content.as_bytes());
            }
            (4, Some(path)) => {
                let (tmp, content) = (self.home.maildir().join("tmp/w"), self.content());
                self.write(&tmp, content.as_bytes());
                self.rename(&tmp, &path);
                self.backup.pop();
            }
            (5, Some(path)) => {
                self.paused.remove(&path);
                fs::remove_file(path).unwrap();
            }
            (6 | 7, Some(path)) => self.rename(&path, &place),
            (8, Some(path)) => {
                let to = self.home.maildir().join(".Archive/cur").join(path.file_name().unwrap());
                self.rename(&path, &to);
            }
            (9, _) => {
                let archived = files(&self.home.maildir().join(".Archive/cur"));
                if let Some(path) = self.any(&archived) {
                    self.rename(&path, &place);
                }
            }
            (10, _) => self.begin(&place),
            (11, _) => self.resume(),
            (12, Some(path)) => self.stamp(&path),
            (13, _) => self.away().await,
            (14, _) => {
                fs::write(&place, "").unwrap();
                self.paused.remove(&place);
                self.stamp(&place);
            }
            (15, _) => {
                let secret = self.home.root().join("secret");
                fs::write(&secret, "Subject: never to be read\n\nx").unwrap();
                if !place.exists() {
                    std::os::unix::fs::symlink(secret, place).unwrap();
                }
            }
            (16, _) => {
                let old = self.backup.len() as u64;
                if old > 0 {
                    let (path, content) = self.backup[self.dice.below(old) as usize].clone();
                    if path.parent().unwrap().is_dir() {
                        self.write(&path, &content);
                    }
                }
            }
            _ => {}
        }
    }

    /// A writer that stops half-way.
    fn begin(&mut self, place: &Path) {
        let content = self.content();
        let (half, rest) = content.split_at(content.find("I have the keys").unwrap());
        self.write(place, half.as_bytes());
        self.backup.pop();
        self.paused.insert(place.to_owned(), rest.to_owned());
    }

    fn resume(&mut self) {
        let Some((path, rest)) = self.paused.pop_first() else { return };
        if let Ok(half) = fs::read_to_string(&path) {
            let whole = format!("{half}{rest}");
            self.halves.extend(token(&whole));
            self.write(&path, whole.as_bytes());
        }
    }

    /// A directory that is away for one poll.
    async fn away(&mut self) {
        let (cur, away) = (self.home.maildir().join("cur"), self.home.root().join("away"));
        fs::rename(&cur, &away).unwrap();
        self.look().await;
        fs::rename(&away, &cur).unwrap();
    }

    /// Polls, by a worker that stays or by one that begins anew.
    async fn look(&mut self) {
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => self.home.worker().await,
        };
        for path in self.inbox() {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            let Some(token) = token(&text) else { continue };
            if self.paused.contains_key(&path) {
                self.halves.insert(token.clone());
                self.lain_half.insert(token);
            } else {
                self.lain.insert(token);
            }
        }
        let report = worker.run_once().await.unwrap();
        assert!(report.troubles.is_empty(), "{:?}", report.troubles);
        if self.dice.below(3) == 0 {
            worker.stop().await;
        } else {
            self.worker = Some(worker);
        }
        self.told.push("look".into());
    }

    async fn end(&mut self) {
        self.look().await;
        if let Some(worker) = self.worker.take() {
            worker.stop().await;
        }
        let mut rows: BTreeMap<String, usize> = BTreeMap::new();
        for (subject, state) in mails(&self.home) {
            *rows.entry(subject).or_default() += usize::from(state != "duplicate");
        }
        let ledger = self.home.sql("SELECT l.mail_id, l.source_key, l.state, l.reason, l.stamp, coalesce(m.subject, '') FROM ledger l LEFT JOIN mail m USING (mail_id)");
        let ledger: Vec<String> = ledger.iter().map(|row| row.join(" | ")).collect();
        let told = || format!("{}\n{}", self.told.join("\n"), ledger.join("\n"));
        assert!(!rows.contains_key("never to be read"), "a link was followed\n{}", told());
        for token in &self.lain {
            let times = rows.get(token).copied().unwrap_or(0);
            if self.halves.contains(token) {
                assert!(self.is_whole(token), "{token} was read in halves only\n{}", told());
            } else {
                assert_eq!(times, 1, "{token}\n{}", told());
            }
        }
        for token in self.lain_half.iter().filter(|token| !self.lain.contains(*token)) {
            assert!(rows.contains_key(token), "{token}\n{}", told());
        }
        for token in rows.keys().filter(|token| !token.is_empty()) {
            assert!(
                self.lain.contains(token) || self.halves.contains(token),
                "{token} was never in the inbox\n{}",
                told()
            );
        }
        self.home.must_be_sound().await;
        let doctor = self.home.diagnosis();
        assert_eq!(doctor["unaccounted"], 0, "{doctor:#}\n{}", told());
    }

    /// Whether the end of it was read.
    fn is_whole(&self, token: &str) -> bool {
        let rows = self.home.json(&["mail", "list", "--limit", "100000"]);
        let of_token = rows.as_array().unwrap().iter().filter(|row| row["subject"] == *token);
        let shown =
            |row: &serde_json::Value| self.home.json(&["mail", "show", &row["mail_id"].to_string()]).to_string();
        of_token.into_iter().any(|row| shown(row).contains("I have the keys"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_becomes_of_the_files_each_content_is_read_once() {
    let mut dice = SeededRandom::thrown("whatever_becomes_of_the_files");
    for case in 0..cases(2) {
        let seed = dice.below(u64::MAX);
        println!("life {case}: seed {seed}");
        let mut life = Life::new(SeededRandom::seeded(seed));
        for _ in 0..STEPS {
            life.step().await;
            if life.dice.below(4) == 0 {
                life.look().await;
            }
        }
        life.end().await;
    }
    crate::support::campaign::Campaign::new("lives of a Maildir", cases(2), cases(2)).lost(0).twice(0).print();
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let real = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    files_in(folder).into_iter().map(|name| folder.join(name)).filter(real).collect()
}

/// What is unique in a content.
fn token(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("Subject: ")).map(str::to_owned)
}
