//! `memory`: where the vectors are, whether they are complete, and rebuilding them.

use indicatif::{ProgressBar, ProgressStyle};

use super::{args::MemoryCommand, printer::Printer};
use crate::{app::App, memory::MemoryStatus};

/// Executes a `memory` command and prints the status.
pub(super) async fn execute(app: &App, screen: Printer, command: Option<MemoryCommand>) -> anyhow::Result<()> {
    let status = match command {
        None | Some(MemoryCommand::Status) => app.search().memory_status().await?,
        Some(MemoryCommand::Rebuild) => rebuild(app, screen).await?,
    };
    screen.print_json_or(&status, |screen| {
        let MemoryStatus { place, embedder, dimension, .. } = &status;
        screen.print_line(&format!("place     {place}"))?;
        screen.print_line(&format!("embedder  {embedder}, {dimension} dimensions"))?;
        screen.print_line(&format!("state     {}", describe_status(&status)))
    })
}

/// Rebuilds all vectors with a progress bar.
async fn rebuild(app: &App, screen: Printer) -> anyhow::Result<MemoryStatus> {
    let bar = if screen.is_json { ProgressBar::hidden() } else { ProgressBar::new(0) };
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} documents, {elapsed}")?;
    bar.set_style(style);
    let status = app
        .search()
        .rebuild_memory(|progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        })
        .await;
    bar.finish_and_clear();
    status
}

/// Returns the status in one line.
pub(super) fn describe_status(status: &MemoryStatus) -> String {
    let MemoryStatus { documents, due, vectors, trouble, foreign, .. } = status;
    let held = vectors.map_or_else(String::new, |vectors| format!(", {vectors} vectors"));
    let due = if *due == 0 { "complete".to_owned() } else { format!("{due} still to be added") };
    let mut sentence = format!("{documents} documents{held}, {due}");
    if let Some(trouble) = trouble {
        sentence.push_str(&format!("; AWAY: {trouble}"));
    }
    if let Some(foreign) = foreign {
        sentence.push_str(&format!("; it was made by {foreign}: `adjutant memory rebuild` replaces it"));
    }
    sentence
}
