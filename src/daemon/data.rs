//! Detects that the data folder was replaced. The daemon must stop then, because it would write into files that nobody
//! sees any more.

use std::time::Duration;

use crate::{app::App, witness::DataReplaced};

/// The pause between two checks. A check is two system calls that do not read the disk.
const LOOK: Duration = Duration::from_millis(200);

/// Waits until the data folder at its path is no longer the one that this process has open, and returns why.
pub(super) async fn until_replaced(app: &App) -> DataReplaced {
    loop {
        if let Err(replaced) = app.check_data_folder() {
            return replaced;
        }
        tokio::time::sleep(LOOK).await;
    }
}
