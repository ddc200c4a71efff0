//! Bars, of one part or of several that stand on each other.

use maud::{Markup, html};

use super::{
    ChartData, figure, picture,
    scale::{HEIGHT, Scale, WIDTH},
    series_class,
};

/// The widest bar.
const WIDEST: f64 = 40.0;

/// Returns a chart of counts with one bar per label.
pub(in crate::web) fn stacked_bars(data: &ChartData) -> Markup {
    let value = |series: usize, column: usize| {
        data.series.get(series).and_then(|series| series.values.get(column).copied().flatten()).unwrap_or_default()
    };
    let total = |column: usize| (0..data.series.len()).map(|series| value(series, column)).sum::<f64>();
    let highest = (0..data.labels.len()).map(total).fold(0.0, f64::max);
    let scale = Scale::new(highest, data.labels.len());
    let width = (scale.step() * 0.7).min(WIDEST);
    let bars = html! {
        (scale.axes(data))
        @for (column, label) in data.labels.iter().enumerate() {
            @for (nth, series) in data.series.iter().enumerate().filter(|(nth, _)| value(*nth, column) > 0.0) {
                @let below: f64 = (0..nth).map(|lower| value(lower, column)).sum();
                rect x=(scale.x(column) - width / 2.0) y=(scale.y(below + value(nth, column))) width=(width)
                    height=(scale.height(value(nth, column))) class=(series_class(nth)) {
                    title { (label) ", " (series.name) ": " (value(nth, column)) }
                }
            }
        }
    };
    figure(data, &picture(data, WIDTH, HEIGHT, &bars))
}
