//! The tasks: lists and the board, everything about one task, why it has its priority, and what a person changes.

mod add;
mod board;
mod change;
mod forms;
mod letter;
mod line;
mod list;
mod sections;
mod seen;
mod show;
mod why;

pub(in crate::web) use self::{line::task_link, sections::audit as audit_section};
use crate::web::{area::Area, route::Route};

/// Returns the routes of the area.
pub(in crate::web) fn routes() -> Vec<Route> {
    vec![
        Route::page(Area::Tasks, "/tasks", list::show),
        Route::page(Area::Tasks, "/tasks/board", board::show),
        Route::page(Area::Tasks, "/tasks/write", letter::show),
        Route::page(Area::Tasks, "/tasks/{task}", show::show),
        Route::page(Area::Tasks, "/tasks/{task}/why", why::show),
        Route::change(Area::Tasks, "/tasks/add", add::add),
        Route::change(Area::Tasks, "/tasks/write", letter::write),
        Route::change(Area::Tasks, "/tasks/{task}/done", change::finish),
        Route::change(Area::Tasks, "/tasks/{task}/step", change::finish_step),
        Route::change(Area::Tasks, "/tasks/{task}/cancel", change::cancel),
        Route::change(Area::Tasks, "/tasks/{task}/undo", change::reopen),
        Route::change(Area::Tasks, "/tasks/{task}/edit", change::edit),
        Route::change(Area::Tasks, "/tasks/{task}/snooze", change::snooze),
        Route::change(Area::Tasks, "/tasks/{task}/reply", letter::reply),
        Route::change(Area::Tasks, "/tasks/{task}/forward", letter::forward),
        Route::change(Area::Tasks, "/tasks/{task}/mail", letter::mail),
        Route::change(Area::Tasks, "/tasks/{task}/archive", letter::archive),
    ]
}
