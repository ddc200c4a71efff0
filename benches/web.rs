//! Benchmark: how long a browser waits for a page, with a hundred tasks and with a hundred thousand, alone and with fifty
//! readers while mail is being worked.

mod kit;

use std::{
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::{Duration, Instant as Stopwatch},
};

use adjutant::{
    app::App,
    web::{Protection, WebServer, new_sign_in_link, route_table},
};
use anyhow::{Context as _, ensure};
use kit::{Goal, Table, copies, desk, mails::Mix, median};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

/// Mails that the program works itself, of the small home and of the large one.
const FEW: u64 = 105;
const FIRST: u64 = 1_010;
/// How often the large home has its tasks.
const COPIES: u32 = 100;
/// How often each page is asked for alone.
const REQUESTS: usize = 40;
const READERS: usize = 50;
/// Pages that are made otherwise when their address says so.
const MORE_PAGES: [&str; 5] =
    ["/tasks?view=done", "/tasks?priority=med", "/mail?state=no_task", "/runs?status=parked", "/search?text=invoice"];
/// Each reader asks for two pages a second.
const PAUSE: Duration = Duration::from_millis(500);
const LOADED: Duration = Duration::from_secs(20);
/// Mails per round that are worked meanwhile.
const FRESH: u64 = 50;

fn main() -> anyhow::Result<()> {
    let folder = kit::folder()?;
    let (small, large) = (folder.path().join("small"), folder.path().join("large"));
    kit::runtime()?.block_on(async {
        work(&small, 0..FEW).await?;
        work(&large, 0..FIRST).await?;
        copies::fill(&large.join("data/tasks.db"), COPIES)?;
        let (few, many) = (Site::open(&small).await?, Site::open(&large).await?);
        let mut table = Table::new("web")?;
        table.value("tasks of the small home", few.app.tasks().count(true).await? as f64, "", Goal::None)?;
        table.value("tasks of the large home", many.app.tasks().count(true).await? as f64, "", Goal::None)?;
        let mut ratios = Vec::new();
        for path in pages() {
            let (at_few, at_many) = (few.times(&path).await?, many.times(&path).await?);
            // Below a millisecond the ratio says more about the machine than about the page.
            let ratio = median(&at_many).max(1.0) / median(&at_few).max(1.0);
            ratios.push(ratio);
            table.ratio(&format!("{path}, median, large"), median(&at_many), "ms", ratio, Goal::AtMost(1.5))?;
        }
        let (times, worked) = many.times_under_load(&large).await?;
        table.value("requests of fifty readers", times.len() as f64, "", Goal::None)?;
        table.value("mails worked meanwhile", worked as f64, "", Goal::None)?;
        table.value("a page under load, median", median(&times), "ms", Goal::None)?;
        table.value("a page under load, p99", percentile(&times, 99), "ms", Goal::AtMost(20.0))?;
        table.end()
    })
}

/// Returns every page that needs no name of a thing, and one of each whose things have numbers.
fn pages() -> Vec<String> {
    let table = route_table();
    let is_page = |path: &str| path != "/live" && path != "/";
    let pages = table.iter().filter(|route| route.protection == Protection::Session && is_page(route.path));
    let numbered =
        |path: &str| ["/approvals/{item}", "/tasks/{task}", "/tasks/{task}/why", "/mail/{mail}"].contains(&path);
    let pages = pages.filter(|route| !route.path.contains('{') || numbered(route.path));
    let pages = pages.map(|route| route.path.replace("{item}", "1").replace("{task}", "7").replace("{mail}", "7"));
    pages.chain(MORE_PAGES.map(str::to_owned)).collect()
}

fn percentile(times: &[f64], percent: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or_default()
}

/// Has the program work these mails.
async fn work(root: &Path, numbers: std::ops::Range<u64>) -> anyhow::Result<usize> {
    let app = desk::open(root).await?;
    desk::deliver(root, numbers, Mix { asking: 97, now: desk::now()? })?;
    let worker = desk::worker(&app).await?;
    let report = worker.run_once().await?;
    worker.stop().await;
    Ok(report.entered)
}

/// A home with its page.
struct Site {
    app: App,
    address: SocketAddr,
    cookie: String,
    _stop: tokio_util::sync::DropGuard,
}

impl Site {
    async fn open(root: &Path) -> anyhow::Result<Self> {
        let app = desk::open(root).await?;
        let server = WebServer::bind(&app).await?.context("the page is switched off")?;
        let (address, stop) = (server.address(), CancellationToken::new());
        let (served, stopped) = (app.clone(), stop.clone());
        tokio::spawn(async move { server.serve(&served, stopped).await });
        let link = new_sign_in_link(&app, Some(address))?.context("a link")?;
        let path = link.strip_prefix(&format!("http://{address}")).context("a path")?.to_owned();
        let signed_in = request(address, &path, "").await?;
        let cookie = signed_in.lines().find_map(|line| line.strip_prefix("set-cookie: ")).context("a session")?;
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        Ok(Self { app, address, cookie, _stop: stop.drop_guard() })
    }

    /// Returns how many milliseconds a page takes when nobody else asks.
    async fn times(&self, path: &str) -> anyhow::Result<Vec<f64>> {
        let mut times = Vec::with_capacity(REQUESTS);
        for _ in 0..REQUESTS {
            times.push(time(self.address, path, &self.cookie).await?);
        }
        Ok(times)
    }

    /// Returns the same for many readers while mail is being worked, and how many mails were.
    async fn times_under_load(&self, root: &Path) -> anyhow::Result<(Vec<f64>, usize)> {
        let (paths, end) = (Arc::new(pages()), Stopwatch::now() + LOADED);
        let mut readers = JoinSet::new();
        for reader in 0..READERS {
            let (paths, cookie, address) = (Arc::clone(&paths), self.cookie.clone(), self.address);
            readers.spawn(async move {
                // The readers do not all ask at the same instant.
                tokio::time::sleep(PAUSE * reader as u32 / READERS as u32).await;
                let mut times = Vec::new();
                for path in paths.iter().cycle().skip(reader % paths.len().max(1)) {
                    if Stopwatch::now() >= end {
                        break;
                    }
                    let next = Stopwatch::now() + PAUSE;
                    times.push(time(address, path, &cookie).await?);
                    tokio::time::sleep(next.saturating_duration_since(Stopwatch::now())).await;
                }
                anyhow::Ok(times)
            });
        }
        let worker = desk::worker(&self.app).await?;
        let mut worked = 0;
        let mut next = FIRST;
        while Stopwatch::now() < end {
            desk::deliver(root, next..next + FRESH, Mix { asking: 97, now: desk::now()? })?;
            next += FRESH;
            worked += worker.run_once().await?.entered;
        }
        worker.stop().await;
        let mut times = Vec::new();
        while let Some(reader) = readers.join_next().await {
            times.extend(reader??);
        }
        Ok((times, worked))
    }
}

async fn time(address: SocketAddr, path: &str, cookie: &str) -> anyhow::Result<f64> {
    let watch = Stopwatch::now();
    let answer = request(address, path, cookie).await?;
    let took = watch.elapsed().as_secs_f64() * 1e3;
    ensure!(answer.starts_with("HTTP/1.1 200"), "{path}: {}", answer.lines().next().unwrap_or_default());
    Ok(took)
}

async fn request(address: SocketAddr, path: &str, cookie: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
