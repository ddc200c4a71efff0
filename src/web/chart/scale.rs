//! The plot of a chart: where a value is drawn, and the lines behind it.

use maud::{Markup, html};

use super::ChartData;

pub(super) const WIDTH: f64 = 420.0;
pub(super) const HEIGHT: f64 = 168.0;
/// The room for the values at the left.
const LEFT: f64 = 40.0;
const TOP: f64 = 16.0;
/// How high the plot is. Below it stand the labels.
const PLOT: f64 = 120.0;
/// How many labels fit below the plot.
const MOST_LABELS: usize = 5;

/// The vertical scale of a chart, and its columns.
pub(super) struct Scale {
    top: f64,
    columns: usize,
}

impl Scale {
    /// Returns the scale for values up to `highest`. Its top is a round number, so that the lines have round values.
    pub(super) fn new(highest: f64, columns: usize) -> Self {
        Self { top: round_up(highest), columns }
    }

    /// Returns how high a value is drawn.
    pub(super) fn height(&self, value: f64) -> f64 {
        round(value.max(0.0) / self.top * PLOT)
    }

    /// Returns the vertical place of a value.
    pub(super) fn y(&self, value: f64) -> f64 {
        round(TOP + PLOT - self.height(value))
    }

    /// Returns the width that a column has.
    pub(super) fn step(&self) -> f64 {
        (WIDTH - LEFT) / self.columns.max(1) as f64
    }

    /// Returns the middle of a column.
    pub(super) fn x(&self, column: usize) -> f64 {
        round(LEFT + (column as f64 + 0.5) * self.step())
    }

    /// Returns the lines behind the plot with their values, and the labels below it.
    pub(super) fn axes(&self, data: &ChartData) -> Markup {
        let every = data.labels.len().div_ceil(MOST_LABELS).max(1);
        html! {
            @for value in [0.0, self.top / 2.0, self.top] {
                line.grid x1=(LEFT) x2=(WIDTH) y1=(self.y(value)) y2=(self.y(value)) {}
                text.axis x=(LEFT - 8.0) y=(self.y(value) + 4.0) text-anchor="end" { (value) }
            }
            @for (nth, label) in data.labels.iter().enumerate().filter(|(nth, _)| nth % every == 0) {
                text.axis x=(self.x(nth)) y=(HEIGHT - 10.0) text-anchor="middle" { (label) }
            }
        }
    }
}

/// Returns the next number of the form 2, 4, 8, 10, 20, 40 … whose half is a whole number.
fn round_up(value: f64) -> f64 {
    let mut step = 1.0;
    loop {
        let found = [2.0, 4.0, 8.0].into_iter().map(|digit| digit * step).find(|top| *top >= value);
        match found {
            Some(top) => return top,
            None if step > 1e12 => return value,
            None => step *= 10.0,
        }
    }
}

/// Returns a place in tenths, which is finer than anything that can be seen.
fn round(place: f64) -> f64 {
    (place * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::round_up;

    #[test]
    fn scales_end_at_round_numbers() {
        for (value, top) in [(0.0, 2.0), (2.0, 2.0), (3.0, 4.0), (8.0, 8.0), (9.0, 20.0), (75.0, 80.0), (801.0, 2000.0)]
        {
            assert!((round_up(value) - top).abs() < f64::EPSILON, "{value}: {}", round_up(value));
        }
    }
}
