//! Benchmark (b), and the database size of (c): the whole path with full durability, from files in a Maildir to ranked
//! and worked tasks.

mod kit;

use std::{
    fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant as Stopwatch},
};

use adjutant::{
    app::App,
    ingest::{TrustedServers, parse_mail},
    model::{Mail, MailState, Me},
    reading::{self, ReadContext},
    store::{ENCODE_SPAN, READ_SPAN},
};
use anyhow::{Context as _, ensure};
use kit::{
    Goal, Table, best,
    cpu::{self, Spans},
    desk,
    mails::{Mix, mail},
    median,
};
use mail_parser::MessageParser;
use tempfile::TempDir;

const MAILS: u64 = 2_000;
const ROUNDS: usize = 5;
/// Share of mails that ask for something, in percent.
const ASKING: u64 = 48;

fn main() -> anyhow::Result<()> {
    let mix = Mix { asking: ASKING, now: desk::now()? };
    Spans::count(&[READ_SPAN, ENCODE_SPAN])?;
    let mut table = Table::new("(b) the whole path, 64 in flight")?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(round(mix, false)?);
    }
    let of = |what: fn(&Round) -> f64| rounds.iter().map(what).collect::<Vec<_>>();
    let last = rounds.last().map_or(0.0, |round| round.bytes);
    let lowest = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    table.value("mails that opened tasks", median(&of(|round| round.tasks)), "%", Goal::None)?;
    table.value("mails, best round", best(&of(|round| round.rate)), "mails/s", Goal::AtLeast(1_500.0))?;
    table.value("mails, median round", median(&of(|round| round.rate)), "mails/s", Goal::None)?;
    let outside = lowest(&of(|round| round.outside));
    let with_rows = lowest(&of(|round| round.outside + round.rows));
    table.value("CPU per mail outside the store, best round", outside, "us", Goal::AtMost(400.0))?;
    table.value("the same with making the store's rows", with_rows, "us", Goal::None)?;
    table.value("CPU per mail of the store's readers", lowest(&of(|round| round.readers)), "us", Goal::None)?;
    table.value("CPU per mail of making the store's rows", lowest(&of(|round| round.rows)), "us", Goal::None)?;
    table.value("CPU per mail of the store's writer", lowest(&of(|round| round.writer)), "us", Goal::None)?;
    table.value("CPU per mail in all", lowest(&of(|round| round.all)), "us", Goal::None)?;
    table.value("database per mail", last, "KB", Goal::AtMost(20.0))?;
    let Alone { parse, open, read, twice } = reading(mix)?;
    let parses = outside / parse;
    table.value("outside the store, to the plain parser's time", parses, "times", Goal::None)?;
    table.value("reading alone: the plain parser", parse, "us/mail", Goal::None)?;
    table.value("reading alone: parse and clean", open, "us/mail", Goal::None)?;
    table.value("reading alone: plan", read, "us/mail", Goal::AtMost(150.0))?;
    table.value("the same with the second reader, mean", twice.mean, "us/mail", Goal::AtMost(3_000.0))?;
    table.value("the same, 95th percentile", twice.late / 1e3, "ms/mail", Goal::AtMost(15.0))?;
    table.value("the second reader, a sentence of 25 tokens", sentence(), "us", Goal::None)?;
    let second = [round(mix, true)?, round(mix, true)?];
    let rate = best(&second.each_ref().map(|round| round.rate));
    table.value("mails with the second reader, best round", rate, "mails/s", Goal::AtLeast(400.0))?;
    let outside = lowest(&second.each_ref().map(|round| round.outside));
    table.value("CPU per mail with it, outside the store", outside, "us", Goal::AtMost(3_400.0))?;
    table.end()
}

/// The figures of one round: mails per second, CPU microseconds per mail, kilobytes per mail, percent.
struct Round {
    /// Deleted only after all rounds: a file system pays for what was deleted just before.
    _folder: TempDir,
    rate: f64,
    all: f64,
    outside: f64,
    readers: f64,
    rows: f64,
    writer: f64,
    bytes: f64,
    tasks: f64,
}

/// Works all mails in a new home and measures it.
fn round(mix: Mix, second_reader: bool) -> anyhow::Result<Round> {
    let folder = kit::folder()?;
    let runtime = kit::runtime()?;
    let app = runtime.block_on(desk::open_with(folder.path(), second_reader))?;
    desk::deliver(folder.path(), 0..MAILS, mix)?;
    let worker = runtime.block_on(desk::worker(&app))?;
    let before = times()?;
    let watch = Stopwatch::now();
    let report = runtime.block_on(worker.run_once())?;
    let took = watch.elapsed();
    let after = times()?;
    let spent = |what: fn(&Times) -> Duration| what(&after).saturating_sub(what(&before));
    let (readers, rows, writer) =
        (spent(|times| times.readers), spent(|times| times.rows), spent(|times| times.writer));
    let all = spent(|times| times.all).saturating_sub(spent(|times| times.toll));
    ensure!(report.entered as u64 == MAILS, "{} of {MAILS} mails were entered", report.entered);
    let tasks = runtime.block_on(check(&app))?;
    runtime.block_on(worker.stop());
    drop(app);
    drop(runtime);
    let bytes = database(folder.path())? as f64 / MAILS as f64 / 1024.0;
    Ok(Round {
        _folder: folder,
        rate: MAILS as f64 / took.as_secs_f64(),
        all: per_mail(all),
        outside: per_mail(all.saturating_sub(writer + readers + rows)),
        readers: per_mail(readers),
        rows: per_mail(rows),
        writer: per_mail(writer),
        bytes,
        tasks: 100.0 * tasks as f64 / MAILS as f64,
    })
}

/// What this process has spent so far. Readers have no threads of their own, and rows are encoded on the threads that
/// have them stored, so both are measured by spans.
struct Times {
    all: Duration,
    /// The cost of counting itself.
    toll: Duration,
    readers: Duration,
    /// The time of encoding rows for the store's writer.
    rows: Duration,
    writer: Duration,
}

fn times() -> anyhow::Result<Times> {
    let (readers, rows) = (Spans::time(0), Spans::time(1));
    Ok(Times { all: cpu::process()?, toll: Spans::toll(), readers, rows, writer: cpu::threads_named("store-writer")? })
}

/// Checks that every mail has an outcome. Returns how many mails opened tasks.
async fn check(app: &App) -> anyhow::Result<u64> {
    let counts = app.store.read(|reader| reader.ledger().counts()).await?;
    let count =
        |wanted: MailState| counts.iter().filter(|(_, state, _)| *state == wanted).map(|(_, _, count)| count).sum();
    let open: u64 = [MailState::Pending, MailState::Failed, MailState::Parked].into_iter().map(count).sum();
    ensure!(open == 0, "{open} mails were left over");
    Ok(count(MailState::Task))
}

fn per_mail(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6 / MAILS as f64
}

/// Returns the size of the database, including what is left in its write-ahead log.
fn database(root: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(root.join("data"))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("tasks.db") {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}

/// Microseconds of CPU per mail on one thread, the best of some rounds.
struct Alone {
    /// For mail-parser alone.
    parse: f64,
    /// For parsing and cleaning.
    open: f64,
    /// For reading: finding the tasks.
    read: f64,
    /// For reading with the second reader.
    twice: Spread,
}

/// The microseconds of CPU per mail: their mean and 95th percentile.
#[derive(Clone, Copy)]
struct Spread {
    mean: f64,
    late: f64,
}

impl Spread {
    const WORST: Self = Self { mean: f64::INFINITY, late: f64::INFINITY };

    fn better(self, other: Self) -> Self {
        if other.mean < self.mean { other } else { self }
    }
}

/// Reads all mails with the second reader, each measured alone.
fn read_twice(mails: &[Mail], context: &ReadContext<'_>) -> anyhow::Result<Spread> {
    let mut times = Vec::with_capacity(mails.len());
    for mail in mails {
        let before = cpu::thread();
        black_box(reading::read_twice(mail, context));
        times.push(cpu::thread().saturating_sub(before).as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let late = times.get(times.len() * 95 / 100).copied().context("no mail")?;
    Ok(Spread { mean: times.iter().sum::<f64>() / times.len() as f64, late })
}

/// Returns the microseconds of CPU that the second reader takes for a sentence, the best of some.
fn sentence() -> f64 {
    let sentence =
        ["The quarterly report of the contract was moved in the main office, as Anna had said in the notes."];
    let sentence = sentence.map(str::to_owned);
    let took = (0..100).map(|_| {
        let before = cpu::thread();
        black_box(reading::score_sentences(&sentence));
        cpu::thread().saturating_sub(before)
    });
    took.min().unwrap_or_default().as_secs_f64() * 1e6
}

/// Measures the steps of reading a mail without a store.
fn reading(mix: Mix) -> anyhow::Result<Alone> {
    let folder = kit::folder()?;
    let me: Me = kit::runtime()?.block_on(desk::open(folder.path()))?.config.me.clone();
    let raw: Vec<Vec<u8>> = (0..MAILS).map(|number| mail(number, mix)).collect();
    let context = ReadContext {
        me: &me,
        now: mix.now,
        known_contact: false,
        thread_mine: false,
        second_reading: &[],
        is_genuine: false,
    };
    let mut alone = Alone { parse: f64::INFINITY, open: f64::INFINITY, read: f64::INFINITY, twice: Spread::WORST };
    for _ in 0..ROUNDS {
        let before = cpu::thread();
        let parsed =
            raw.iter().filter(|raw| black_box(MessageParser::default().parse(raw.as_slice())).is_some()).count();
        alone.parse = alone.parse.min(per_mail(cpu::thread().saturating_sub(before)));
        let before = cpu::thread();
        let mails: Vec<_> = raw.iter().filter_map(|raw| parse_mail(raw, &TrustedServers::default()).ok()).collect();
        alone.open = alone.open.min(per_mail(cpu::thread().saturating_sub(before)));
        let before = cpu::thread();
        let tasks: usize = mails.iter().map(|mail| reading::read(mail, &context).tasks.len()).sum();
        alone.read = alone.read.min(per_mail(cpu::thread().saturating_sub(before)));
        alone.twice = alone.twice.better(read_twice(&mails, &context)?);
        ensure!(parsed == mails.len() && mails.len() as u64 == MAILS && tasks > 0, "generated mail could not be read");
    }
    Ok(alone)
}
