//! A home with one active account over a Maildir of generated mail.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use adjutant::{
    app::{App, Worker},
    clock::Clock,
    config::{Config, Home},
    model::{AccountId, AccountMode, Instant},
    store::Write,
};
use anyhow::Context as _;

use super::mails::{Mix, mail};

pub(crate) const ACCOUNT: &str = "bench";
const CONFIG: &str = "[me]\nnames = [\"Alex Green\"]\naddresses = [\"you@home.example\"]\n[[account]]\nname = \"bench\"\npath = \"mail\"\ntrusted_servers = [\"mx.home.example\"]\n";
/// Age that is given to generated files. The program leaves a very young file for later, because it may be incomplete.
const OLD_ENOUGH: Duration = Duration::from_secs(60);

/// Returns the time at which the clock of all benchmarks is stopped, so that "by Friday" is the same day in each.
pub(crate) fn now() -> anyhow::Result<Instant> {
    "2026-11-16T08:00:00Z".parse().context("a moment")
}

/// Creates or opens the home and makes its account active. Mail is read without the second reader.
pub(crate) async fn open(root: &Path) -> anyhow::Result<App> {
    open_with(root, false).await
}

/// Does the same with or without the second reader.
pub(crate) async fn open_with(root: &Path, second_reader: bool) -> anyhow::Result<App> {
    fs::create_dir_all(root)?;
    fs::write(root.join("adjutant.toml"), CONFIG)?;
    App::init_home(root)?;
    for folder in ["cur", "new", "tmp"] {
        fs::create_dir_all(root.join("mail").join(folder))?;
    }
    let home = Home::at(root.to_owned());
    let config = Config { state_folder: Some(root.join("state")), second_reader, ..Config::load(&home)? };
    let app = App::open(home, config, Clock::stopped_at(now()?)).await?;
    let known = app.store.read(|reader| reader.accounts().get(&AccountId::from(ACCOUNT))).await?;
    if known.is_some_and(|account| account.mode == AccountMode::Observe) {
        let mode = Write::SetMode { account: ACCOUNT.into(), mode: AccountMode::Active, at: now()? };
        app.store.write(mode).await?;
    }
    Ok(app)
}

/// Starts a worker for the home.
pub(crate) async fn worker(app: &App) -> anyhow::Result<Worker> {
    app.worker().start().await?.map_err(Into::into)
}

/// Puts the mails of these numbers into the Maildir.
pub(crate) fn deliver(root: &Path, numbers: std::ops::Range<u64>, mix: Mix) -> anyhow::Result<()> {
    let written = SystemTime::now() - OLD_ENOUGH;
    for number in numbers {
        let path = path(root, number);
        fs::write(&path, mail(number, mix)).with_context(|| format!("writing {}", path.display()))?;
        fs::File::options().write(true).open(&path)?.set_modified(written)?;
    }
    Ok(())
}

fn path(root: &Path, number: u64) -> PathBuf {
    root.join("mail/new").join(format!("{}.M{number}.bench", 1_794_000_000 + number / 10))
}
