//! The agreement curve: the share of each day's tasks whose first priority the person let stand, as a picture and as a
//! table with the same figures.

use maud::{Markup, html};

use crate::app::AgreementDay;

/// The size of the picture and its margins, in its own units.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 26.0;

/// Returns the curve and its table. A day without tasks has no point and no line.
pub(super) fn agreement_curve(days: &[AgreementDay]) -> Markup {
    if days.iter().all(|day| day.tasks == 0) {
        return html! { p.muted { "No mail has opened a task in the last " (days.len()) " days." } };
    }
    let (tasks, agreed) = days.iter().fold((0, 0), |(tasks, agreed), day| (tasks + day.tasks, agreed + day.agreed));
    let told = format!(
        "Of {tasks} tasks in {} days you let the first priority of {agreed} stand: {}.",
        days.len(),
        percent(agreed, tasks)
    );
    html! {
        figure.chart.agreement {
            (picture(days, &told))
            figcaption { (told) }
        }
        details {
            summary { "The figures" }
            div.scroll role="region" aria-label="Agreement by day" tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" { "Day" } th.number scope="col" { "Tasks" } th.number scope="col" { "Agreed" }
                        th.number scope="col" { "Share" }
                    } }
                    tbody {
                        @for day in days.iter().rev().filter(|day| day.tasks > 0) {
                            tr {
                                th scope="row" { (day.date) }
                                td.number { (day.tasks) }
                                td.number { (day.agreed) }
                                td.number { (percent(day.agreed, day.tasks)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.0} %", 100.0 * part as f64 / whole as f64) }
}

fn picture(days: &[AgreementDay], told: &str) -> Markup {
    let x = |nth: usize| {
        let steps = days.len().saturating_sub(1).max(1) as f64;
        LEFT + (WIDTH - LEFT - RIGHT) * nth as f64 / steps
    };
    let y = |share: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share);
    let points: Vec<(f64, f64, &AgreementDay)> =
        days.iter().enumerate().filter_map(|(nth, day)| Some((x(nth), y(day.share()?), day))).collect();
    let line = points.iter().map(|(x, y, _)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ");
    let label = |text: &str, x: f64, anchor: &str| {
        html! {
            text.axis x=(format!("{x:.1}")) y=(format!("{:.1}", HEIGHT - 8.0)) text-anchor=(anchor) { (text) }
        }
    };
    html! {
        svg role="img" aria-labelledby="agreement-title agreement-desc" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) {
            title #agreement-title { "Agreement by day" }
            desc #agreement-desc { (told) }
            @for share in [0.0, 0.5, 1.0] {
                line.grid x1=(format!("{LEFT}")) x2=(format!("{}", WIDTH - RIGHT)) y1=(format!("{:.1}", y(share))) y2=(format!("{:.1}", y(share))) {}
                text.axis x=(format!("{}", LEFT - 6.0)) y=(format!("{:.1}", y(share) + 4.0)) text-anchor="end" { (format!("{:.0} %", share * 100.0)) }
            }
            polyline.curve points=(line) {}
            @for (x, y, day) in &points {
                circle.point cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="3.5" {
                    title { (day.date) ": " (day.agreed) " of " (day.tasks) }
                }
            }
            @if let (Some(first), Some(last)) = (days.first(), days.last()) {
                (label(&first.date, LEFT, "start"))
                (label(&last.date, WIDTH - RIGHT, "end"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(date: &str, tasks: u64, agreed: u64) -> AgreementDay {
        AgreementDay { date: date.into(), tasks, agreed }
    }

    #[test]
    fn the_picture_and_the_table_have_the_same_figures() {
        let days = [day("2026-11-14", 4, 1), day("2026-11-15", 0, 0), day("2026-11-16", 2, 2)];
        let page = agreement_curve(&days).into_string();
        // A quarter is three quarters down, all is at the top; the day without tasks has no point.
        assert!(page.contains(r#"points="44.0,133.5 708.0,12.0""#), "{page}");
        assert_eq!(page.matches("<circle").count(), 2);
        for figure in ["25 %", "100 %", "Of 6 tasks in 3 days you let the first priority of 3 stand: 50 %."] {
            assert!(page.contains(figure), "{figure}");
        }
        assert!(agreement_curve(&[day("2026-11-16", 0, 0)]).into_string().contains("No mail has opened a task"));
    }
}
