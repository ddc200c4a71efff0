//! The mail: the ledger, and everything about one mail. Only text is shown; nothing that a mail names is loaded.

mod change;
mod content;
mod list;
mod show;

pub(in crate::web) use self::content::mail_content;
use crate::web::{area::Area, route::Route};

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![
        Route::page(Area::Mail, "/mail", list::show),
        Route::page(Area::Mail, "/mail/{mail}", show::show),
        Route::change(Area::Mail, "/mail/{mail}/not-a-task", change::mark_not_a_task),
        Route::change(Area::Mail, "/mail/{mail}/make-task", change::make_task),
        Route::change(Area::Mail, "/mail/{mail}/archive", change::archive),
        Route::change(Area::Mail, "/mail/{mail}/genuine", change::mark_genuine),
        Route::change(Area::Mail, "/mail/{mail}/mute", change::mute),
        Route::change(Area::Mail, "/mail/{mail}/unmute", change::unmute),
    ]
}
