//! Decides whether a style attribute lets a person see the text inside. Text that nobody sees must not reach a reader.

/// What an element passes on to the elements inside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Visibility {
    /// `display: none` and the like, which nothing inside can undo.
    hidden: bool,
    /// `font-size: 0` or a size nobody can read, which another size inside undoes. Layout tables use it to close gaps.
    is_zero_size: bool,
    /// `visibility: hidden`, which `visible` inside undoes.
    is_visibility_hidden: bool,
}

impl Visibility {
    pub(crate) const fn is_visible(self) -> bool {
        !(self.hidden || self.is_zero_size || self.is_visibility_hidden)
    }

    /// Returns the visibility inside a hidden element.
    pub(crate) const fn hide(mut self) -> Visibility {
        self.hidden = true;
        self
    }

    /// Returns the visibility inside an element with this style.
    pub(crate) fn with_style(mut self, style: &str) -> Visibility {
        let (mut flat, mut clipped) = (false, false);
        for (name, value) in style.split(';').filter_map(|rule| rule.split_once(':')) {
            let (name, value) = (name.trim(), value.trim());
            let is = |word: &str| value.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
            if name.eq_ignore_ascii_case("display") {
                self.hidden |= is("none");
            } else if name.eq_ignore_ascii_case("mso-hide") {
                self.hidden |= is("all");
            } else if name.eq_ignore_ascii_case("visibility") {
                self.is_visibility_hidden =
                    is("hidden") || is("collapse") || (self.is_visibility_hidden && !is("visible"));
            } else if name.eq_ignore_ascii_case("font-size") {
                self.is_zero_size = is_tiny(value) || (self.is_zero_size && is("inherit"));
            } else if name.eq_ignore_ascii_case("opacity") {
                self.hidden |= is_zero(value);
            } else if name.eq_ignore_ascii_case("max-height") || name.eq_ignore_ascii_case("height") {
                flat |= is_zero(value);
            } else if name.eq_ignore_ascii_case("overflow") {
                clipped |= is("hidden");
            }
        }
        self.hidden |= flat && clipped;
        self
    }
}

/// Returns whether letters of this size cannot be read: `0`, `1px`, `0.1em`.
fn is_tiny(value: &str) -> bool {
    let digits = value.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = value.split_at_checked(digits).unwrap_or_default();
    let Ok(size) = number.parse::<f64>() else { return is_zero(value) };
    let unit = unit.trim_start();
    let starts = |name: &str| unit.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let limit = if starts("em") || starts("rem") {
        0.1
    } else if starts("%") {
        10.0
    } else {
        1.0
    };
    size <= limit
}

/// Returns whether a length is zero: `0`, `0px` or `0.0em`, but not `0.9em`.
fn is_zero(value: &str) -> bool {
    let number = value.split(|c: char| !(c.is_ascii_digit() || c == '.')).next().unwrap_or_default();
    number.contains('0') && number.chars().all(|c| c == '0' || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_and_what_shows_again() {
        for (styles, visible) in [
            (&["color:red"] as &[&str], true),
            (&["display:none"], false),
            (&["DISPLAY : None !important"], false),
            (&["display:none", "display:block"], false),
            (&["font-size:0"], false),
            (&["font-size:0px;line-height:0"], false),
            (&["font-size:0.9em"], true),
            (&["font-size:1px;color:#fff"], false),
            (&["font-size:1em"], true),
            (&["font-size:11px"], true),
            (&["font-size:100%"], true),
            (&["font-size:small"], true),
            (&["font-size:0", "font-size:14px"], true),
            (&["font-size:0", "font-size:inherit"], false),
            (&["visibility:hidden", "color:red"], false),
            (&["visibility:hidden", "visibility:visible"], true),
            (&["opacity:0"], false),
            (&["opacity:0.5"], true),
            (&["max-height:0;overflow:hidden"], false),
            (&["max-height:0"], true),
            (&["mso-hide:all"], false),
        ] {
            let sight = styles.iter().fold(Visibility::default(), |sight, style| sight.with_style(style));
            assert_eq!(sight.is_visible(), visible, "{styles:?}");
        }
    }
}
