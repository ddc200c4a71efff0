//! Benchmark: how long a page takes with 100,000 stored tasks and with a hundred, while 50 readers ask for two pages a
//! second each and mail is being worked. `BENCH_COPIES` makes the large database smaller.

mod kit;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant as Stopwatch},
};

use adjutant::{
    app::App,
    web::{WebServer, new_sign_in_link},
};
use anyhow::{Context as _, ensure};
use kit::{Goal, Table, desk, growth::multiply, mails::Mix, median};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

/// The mails of the small database, and how often the large one has them.
const FIRST: u64 = 110;
const COPIES: u32 = 1_000;
const READERS: usize = 50;
/// How often a reader asks.
const PAUSE: Duration = Duration::from_millis(500);
/// How long each database is read.
const SPAN: Duration = Duration::from_secs(20);
/// The new mails that arrive in each second of it.
const FRESH: u64 = 5;

/// The pages, in the order in which readers ask for them. Each reader begins with another one.
const PAGES: [&str; 14] = [
    "/overview",
    "/approvals",
    "/tasks",
    "/tasks?view=in_progress",
    "/tasks?view=done",
    "/tasks/board",
    "/tasks/7",
    "/tasks/7/why",
    "/mail",
    "/mail?state=no_task",
    "/mail/9",
    "/runs",
    "/runs?status=parked",
    "/search?text=invoice",
];

fn main() -> anyhow::Result<()> {
    let copies = std::env::var("BENCH_COPIES").ok().and_then(|text| text.parse().ok()).unwrap_or(COPIES);
    let folder = kit::folder()?;
    let (small, large) = (folder.path().join("small"), folder.path().join("large"));
    for root in [&small, &large] {
        work_first_mails(root)?;
    }
    multiply(&large.join("data/tasks.db"), copies)?;
    let (few, many) = (measure(&small)?, measure(&large)?);
    let mut table = Table::new("web, 50 readers")?;
    for (page, times) in &many.times {
        let before = few.times.get(page).map_or(0.0, |times| median(times));
        let name = format!("{page}, median, {} tasks", many.tasks);
        table.ratio(&name, median(times), "ms", median(times) / before.max(0.01), Goal::AtMost(1.5))?;
        table.value(&format!("{page}, p99"), percentile(times, 99), "ms", Goal::AtMost(20.0))?;
    }
    for (of, tasks) in [(&few.times, few.tasks), (&many.times, many.tasks)] {
        let all: Vec<f64> = of.values().flatten().copied().collect();
        table.value(&format!("all pages, p99, {tasks} tasks"), percentile(&all, 99), "ms", Goal::AtMost(20.0))?;
    }
    table.end()
}

fn mix() -> anyhow::Result<Mix> {
    Ok(Mix { asking: 90, now: desk::now()? })
}

/// Creates a home and works its first mails.
fn work_first_mails(root: &Path) -> anyhow::Result<()> {
    kit::runtime()?.block_on(async {
        let app = desk::open(root).await?;
        desk::deliver(root, 0..FIRST, mix()?)?;
        let worker = desk::worker(&app).await?;
        worker.run_once().await?;
        worker.stop().await;
        anyhow::Ok(())
    })
}

/// What was measured with one database: the times of every page in milliseconds.
struct Measured {
    tasks: u64,
    times: BTreeMap<&'static str, Vec<f64>>,
}

/// Serves the page of a home and reads it while mail is being worked.
fn measure(root: &Path) -> anyhow::Result<Measured> {
    kit::runtime()?.block_on(async {
        let app = desk::open(root).await?;
        let counts = app.task_lists().counts().await?;
        let server = WebServer::bind(&app).await?.context("the page is switched off")?;
        let (address, stop) = (server.address(), CancellationToken::new());
        let (served, stopped) = (app.clone(), stop.clone());
        let serving = tokio::spawn(async move { server.serve(&served, stopped).await });
        let cookie: Arc<str> = sign_in(&app, address).await?.into();
        let mut readers = JoinSet::new();
        let ends = Stopwatch::now() + SPAN;
        for nth in 0..READERS {
            readers.spawn(read_pages(address, Arc::clone(&cookie), nth, ends));
        }
        let working = tokio::spawn(work_mail(app.clone(), root.to_owned(), ends));
        let mut times: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
        while let Some(read) = readers.join_next().await {
            for (page, time) in read?? {
                times.entry(page).or_default().push(time);
            }
        }
        working.await??;
        stop.cancel();
        serving.await??;
        let tasks = counts.ready + counts.in_progress + counts.waiting + counts.done + counts.cancelled;
        Ok(Measured { tasks, times })
    })
}

/// Works new mail until the end, a few every second.
async fn work_mail(app: App, root: PathBuf, ends: Stopwatch) -> anyhow::Result<()> {
    let worker = desk::worker(&app).await?;
    let mut next = FIRST;
    while Stopwatch::now() < ends {
        desk::deliver(&root, next..next + FRESH, mix()?)?;
        next += FRESH;
        worker.run_once().await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    worker.stop().await;
    Ok(())
}

/// Asks for one page after another until the end. Returns the time of each, from the request to its last byte.
async fn read_pages(
    address: SocketAddr,
    cookie: Arc<str>,
    nth: usize,
    ends: Stopwatch,
) -> anyhow::Result<Vec<(&'static str, f64)>> {
    let mut times = Vec::new();
    let mut connection = TcpStream::connect(address).await?;
    // The readers do not ask all at once.
    tokio::time::sleep(PAUSE * u32::try_from(nth)? / u32::try_from(READERS)?).await;
    let mut asked = nth;
    while Stopwatch::now() < ends {
        let page = PAGES.get(asked % PAGES.len()).copied().unwrap_or_default();
        asked += 1;
        let watch = Stopwatch::now();
        let answer = get(&mut connection, address, page, &cookie).await?;
        times.push((page, watch.elapsed().as_secs_f64() * 1e3));
        ensure!(answer.starts_with("HTTP/1.1 200"), "{page}: {}", answer.lines().next().unwrap_or_default());
        tokio::time::sleep(PAUSE).await;
    }
    Ok(times)
}

/// Sends a request and reads its whole answer.
async fn get(connection: &mut TcpStream, address: SocketAddr, path: &str, cookie: &str) -> anyhow::Result<String> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n");
    connection.write_all(request.as_bytes()).await?;
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            let mut lengths = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            let length: usize = lengths.next().map_or(Ok(0), |(_, length)| length.parse())?;
            if bytes.len() >= head.len() + 4 + length || body.len() > length {
                return Ok(text.into_owned());
            }
        }
        ensure!(connection.read_buf(&mut bytes).await? > 0, "{path}: the server has left");
    }
}

async fn sign_in(app: &App, address: SocketAddr) -> anyhow::Result<String> {
    let link = new_sign_in_link(app, Some(address))?.context("no link")?;
    let path = link.split_once(&address.to_string()).context("a link of this server")?.1.to_owned();
    let mut connection = TcpStream::connect(address).await?;
    let answer = get(&mut connection, address, &path, "").await?;
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).context("no session")?;
    Ok(cookie.split(';').next().unwrap_or_default().to_owned())
}

fn percentile(times: &[f64], percent: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or_default()
}
