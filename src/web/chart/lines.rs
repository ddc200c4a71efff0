//! Lines over time.

use maud::{Markup, html};

use super::{
    ChartData, ChartSeries, ValueFormat, figure, picture,
    scale::{HEIGHT, Scale, WIDTH},
    series_class,
};

/// Returns a chart with one line per series. A line is interrupted where there is no value.
pub(in crate::web) fn line_chart(data: &ChartData, format: ValueFormat) -> Markup {
    let highest = data.series.iter().flat_map(|series| &series.values).copied().flatten().fold(0.0, f64::max);
    let scale = Scale::new(highest, data.labels.len(), format);
    let lines = html! {
        (scale.axes(data, format))
        @for (nth, series) in data.series.iter().enumerate() {
            @for part in parts(series) {
                @let points: Vec<String> =
                    part.iter().map(|(column, value)| format!("{},{}", scale.x(*column), scale.y(*value))).collect();
                polyline points=(points.join(" ")) class=(series_class(nth)) {}
                @for (column, value) in part {
                    circle cx=(scale.x(column)) cy=(scale.y(value)) r="3" class=(series_class(nth)) {
                        title {
                            (data.labels.get(column).map_or("", String::as_str)) ", " (series.name) ": " (format.text(value))
                        }
                    }
                }
            }
        }
    };
    figure(data, format, &picture(data, WIDTH, HEIGHT, &lines))
}

/// Returns the values of a series with their columns, split where one is missing.
fn parts(series: &ChartSeries) -> Vec<Vec<(usize, f64)>> {
    let mut parts = vec![Vec::new()];
    for (column, value) in series.values.iter().enumerate() {
        match (value, parts.last_mut()) {
            (Some(value), Some(part)) => part.push((column, *value)),
            _ => parts.push(Vec::new()),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}
