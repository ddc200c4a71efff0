//! The links between the pages of a long list.

use maud::{Markup, html};

use super::Visit;

/// Returns the links to the pages before and after this one; nothing when there is only one.
pub(in crate::web) fn pager(visit: &Visit, total: usize, page_size: usize) -> Markup {
    let (page, pages) = (visit.page_number(), total.div_ceil(page_size));
    let link = |page: usize| visit.address_with("page", &(page + 1).to_string());
    html! {
        @if pages > 1 {
            nav.pager aria-label="Pages" {
                @if page > 0 { a href=(link(page - 1)) rel="prev" { "Previous page" } }
                span { "Page " (page + 1) " of " (pages) }
                @if page + 1 < pages { a href=(link(page + 1)) rel="next" { "Next page" } }
            }
        }
    }
}
