//! Charts as inline SVG, drawn by the server, each with the same figures as a table. Colours come from the style sheet,
//! so that a chart is readable in light and in dark; nothing is told by colour alone, because every series is named and
//! every figure is in the table.

mod bars;
mod scale;

use maud::{Markup, html};

pub(in crate::web) use self::bars::stacked_bars;

/// The figures of a chart: one column per label, in the order in which they are drawn.
#[derive(Debug, Clone, Default)]
pub(in crate::web) struct ChartData {
    /// What is shown, as the heading of the chart and of the table.
    pub(in crate::web) title: String,
    /// One sentence that says what there is to see, for whoever does not see it.
    pub(in crate::web) description: String,
    /// What the labels are, as the head of the first column of the table.
    pub(in crate::web) label_name: &'static str,
    pub(in crate::web) labels: Vec<String>,
    pub(in crate::web) series: Vec<ChartSeries>,
}

/// One line, or one part of every bar.
#[derive(Debug, Clone, Default)]
pub(in crate::web) struct ChartSeries {
    pub(in crate::web) name: String,
    /// One value per label; none where there is nothing to show.
    pub(in crate::web) values: Vec<Option<f64>>,
}

/// How many series have a colour of their own. Further ones begin again with the first.
const COLOURS: usize = 6;

/// Returns the class that gives a series its colour.
fn series_class(nth: usize) -> String {
    format!("series-{}", nth % COLOURS)
}

/// Returns a drawing with its legend and, folded, the same figures as a table.
fn figure(data: &ChartData, drawing: &Markup) -> Markup {
    html! {
        figure.chart {
            figcaption { (data.title) }
            (drawing)
            @if data.series.len() > 1 {
                ul.legend {
                    @for (nth, series) in data.series.iter().enumerate() {
                        li { span.swatch.(series_class(nth)) aria-hidden="true" {} (series.name) }
                    }
                }
            }
            details {
                summary { "The same figures as a table" }
                (table(data))
            }
        }
    }
}

fn table(data: &ChartData) -> Markup {
    let value = |series: &ChartSeries, nth: usize| {
        series.values.get(nth).copied().flatten().map_or_else(|| "–".to_owned(), |value| format!("{value:.0}"))
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(data.title) {
            table {
                thead {
                    tr {
                        th scope="col" { (data.label_name) }
                        @for series in &data.series { th.number scope="col" { (series.name) } }
                    }
                }
                tbody {
                    @for (nth, label) in data.labels.iter().enumerate() {
                        tr {
                            th scope="row" { (label) }
                            @for series in &data.series { td.number { (value(series, nth)) } }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the opening of a drawing as a picture with a name and a description.
fn picture(data: &ChartData, width: f64, height: f64, content: &Markup) -> Markup {
    html! {
        svg role="img" viewBox={ "0 0 " (width) " " (height) } aria-label={ (data.title) ". " (data.description) } {
            title { (data.title) }
            desc { (data.description) }
            (content)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> ChartData {
        ChartData {
            title: "Mails by day".into(),
            description: "Two days".into(),
            label_name: "Day",
            labels: vec!["Mon".into(), "Tue <b>".into()],
            series: vec![
                ChartSeries { name: "task".into(), values: vec![Some(2.0), Some(0.0)] },
                ChartSeries { name: "no task".into(), values: vec![Some(6.0), None] },
            ],
        }
    }

    #[test]
    fn a_bar_is_as_high_as_its_value_and_stands_on_the_one_below() {
        let drawn = stacked_bars(&data()).into_string();
        // The scale ends at 8, so that a mail is 15 high in a plot of 120.
        for rect in [r#"height="30" class="series-0""#, r#"height="90" class="series-1""#] {
            assert!(drawn.contains(rect), "{rect}: {drawn}");
        }
        assert_eq!(drawn.matches("<rect").count(), 2, "{drawn}");
        assert!(
            drawn.contains(r#"<th scope="row">Tue &lt;b&gt;</th><td class="number">0</td><td class="number">–</td>"#)
        );
    }
}
