//! Converts HTML to the text that a person would see. A page is read once, front to back, without recursion.

mod entity;
mod render;
mod token;
mod visibility;

pub use render::{HtmlText, html_to_text};
