//! Noticing that the data folder was replaced: then the daemon must stop, for nobody else sees what it does.

use std::time::Duration;

use crate::{app::App, witness::DataReplaced};

/// How soon it is noticed: two calls that read no disk.
const LOOK: Duration = Duration::from_millis(200);

/// Returns when the data folder is no longer the one that this process has open.
pub(super) async fn until_replaced(app: &App) -> DataReplaced {
    loop {
        if let Err(replaced) = app.check_data_folder() {
            return replaced;
        }
        tokio::time::sleep(LOOK).await;
    }
}
