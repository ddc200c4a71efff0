//! What every page is made of: the visit it answers, the layout around it, forms that carry their proofs, notes about
//! what was done, and text from outside made safe.

mod failure;
mod layout;
mod note;
mod pager;
mod text;
mod visit;

pub(super) use self::{
    failure::{PageAnswer, PageFailure},
    note::{Notes, PageNote},
    pager::pager,
    text::{direction, shown, shown_lines, shown_short},
    visit::{PageChange, Visit, encode, see_other},
};
