//! Tests sixty simulated days: what a person does consistently is learned within two nights, the agreement rises and
//! stays high, and an attacker who sends three mails in ten gains nothing.
//!
//! `IT_DAYS` and `IT_SEEDS` make it long (`make night`); `IT_CURVE` names the file that the curve is drawn into.

use std::fmt::Write as _;

use crate::{
    sim::{SEEDS, life::Life},
    support::test_home::TestHome,
};

fn knob(name: &str, otherwise: u32) -> u32 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The share of the mail that comes out wrong by chance, twice its standard deviation, between two weeks.
fn noise((a, n): (f64, u32), (b, m): (f64, u32)) -> f64 {
    let variance = |share: f64, count: u32| share * (1.0 - share) / f64::from(count.max(1));
    2.0 * (variance(a, n) + variance(b, m)).sqrt() + 1.0 / f64::from(n.min(m).max(1))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_does_consistently_is_learned_in_two_nights() {
    let (days, seeds) = (knob("IT_DAYS", 21), knob("IT_SEEDS", 1) as usize);
    let mut curves = Vec::new();
    let (mut learned, mut all) = (0, 0);
    for seed in SEEDS.into_iter().take(seeds) {
        let mut life = Life::new(seed, false);
        life.live(days).await;
        let (in_time, habits, late) = life.learned(days);
        let weeks = life.weeks();
        println!(
            "seed {seed}: {in_time} of {habits} habits learned within two nights after the third correction; late: {late:?}"
        );
        println!("seed {seed}: agreement by week {}", shown(&weeks));
        let last_week: Vec<&String> =
            life.wrong.iter().filter(|(day, _)| day + 8 > days).map(|(_, what)| what).collect();
        println!("seed {seed}: wrong in the last week: {last_week:?}");
        for pair in weeks.windows(2) {
            assert!(pair[1].0 >= pair[0].0 - noise(pair[0], pair[1]), "seed {seed}: agreement fell: {}", shown(&weeks));
        }
        let last = weeks.last().unwrap();
        assert!(last.0 >= 0.95, "seed {seed}: ends at {:.1} %: {}", last.0 * 100.0, shown(&weeks));
        (learned, all) = (learned + in_time, all + habits);
        untouched(&life.home);
        life.home.must_be_sound().await;
        curves.push((seed, life.agreement.clone()));
    }
    println!(
        "{learned} of {all} ({:.1} %) learned in time",
        f64::from(u32::try_from(learned).unwrap()) / f64::from(u32::try_from(all).unwrap()) * 100.0
    );
    assert!(learned * 100 >= all * 95, "{learned} of {all}");
    if let Ok(path) = std::env::var("IT_CURVE") {
        std::fs::write(path, curve(&curves)).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attacker_with_three_mails_in_ten_gets_nothing() {
    let (days, seeds) = (knob("IT_DAYS", 7), knob("IT_SEEDS", 1) as usize);
    for seed in SEEDS.into_iter().take(seeds) {
        let mut alone = Life::new(seed, false);
        alone.live(days).await;
        let mut attacked = Life::new(seed, true);
        attacked.live(days).await;
        let honest = alone.levels.len();
        let other = alone.levels.iter().filter(|(id, level)| attacked.levels.get(*id) != Some(level)).count();
        let all = honest + attacked.hostile as usize;
        let differs: Vec<String> = alone
            .levels
            .iter()
            .filter(|(id, level)| attacked.levels.get(*id) != Some(level))
            .map(|(id, level)| format!("{id}: {level} → {:?}", attacked.levels.get(id)))
            .collect();
        println!("seed {seed}: {differs:?}");
        println!(
            "seed {seed}: {} of {all} mails are the attacker's; {other} of {honest} honest mails ({:.2} %) come out otherwise than without them",
            attacked.hostile,
            other as f64 / honest as f64 * 100.0
        );
        assert!(attacked.hostile as usize * 100 >= all * 28, "{} of {all}", attacked.hostile);
        assert!(other * 100 <= honest, "{other} of {honest}");
        let edits = security_relevant(&attacked.home);
        println!("seed {seed}: {} security-relevant edits", edits.len());
        assert!(edits.is_empty(), "{edits:?}");
        untouched(&attacked.home);
    }
}

/// Nothing but the marked parts changed, and policy and configuration not at all.
fn untouched(home: &TestHome) {
    let outside = |text: &str| {
        let range = adjutant::rules::learned_range(text).unwrap();
        (text[..range.start].to_owned(), text[range.end..].to_owned())
    };
    assert_eq!(outside(&home.read("rules/priority.yml")), outside(adjutant::rules::BUILT_IN));
    let shipped = include_str!("../../guidelines.txt");
    let around = |text: &str| {
        let (head, tail) = adjutant::nightly::guideline_lines::around(text).unwrap();
        (head.to_owned(), tail.to_owned())
    };
    assert_eq!(around(&home.read("guidelines.txt")), around(shipped));
    assert!(home.sql("SELECT action_id FROM outbox WHERE state IN ('sent', 'saved')").is_empty());
}

/// Entries that raise a stranger, lower what warns or pays, or carry their words.
fn security_relevant(home: &TestHome) -> Vec<String> {
    let rules = home.read("rules/priority.yml");
    let range = adjutant::rules::learned_range(&rules).unwrap();
    let learned = &rules[range];
    let entries = learned.split("- name: ").skip(1);
    let hostile = ["agree", "meta", "words", "x0@", "x1", "friend"];
    let bad = |entry: &&str| {
        let names_stranger = hostile.iter().any(|name| entry.contains(name));
        let raises = entry.contains("set:") || entry.contains("task: true");
        (names_stranger && raises)
            || entry.contains("mybank")
            || ["lock", "stop", "allow", "policy", "payment", "invoice", "critical"]
                .iter()
                .any(|word| entry.contains(word))
    };
    let mut found: Vec<String> = entries.filter(bad).map(str::to_owned).collect();
    let policy = home.read("rules/policy.yml");
    found.extend(policy.contains("agree").then_some(policy));
    let guidelines = home.read("guidelines.txt");
    found.extend(["payment", "agree", "approve"].iter().any(|word| guidelines.contains(word)).then_some(guidelines));
    found
}

fn shown(weeks: &[(f64, u32)]) -> String {
    weeks.iter().map(|(share, count)| format!("{:.1} % of {count}", share * 100.0)).collect::<Vec<_>>().join(", ")
}

/// The agreement of each seed over the days, as a drawing: the mean of the week around each day.
fn curve(curves: &[(u64, Vec<(u32, u32)>)]) -> String {
    let (width, height, left, top) = (720.0, 280.0, 48.0, 24.0);
    let days = curves.iter().map(|(_, days)| days.len()).max().unwrap_or(1);
    let x = |day: usize| left + day as f64 / (days.max(2) - 1) as f64 * (width - left - 16.0);
    let y = |share: f64| top + (1.0 - share) * (height - top - 36.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n<text x=\"{left}\" y=\"14\">Agreement with the person, seven-day mean, by day; dashed: 95 %</text>\n"
    );
    for share in [0.0, 0.25, 0.5, 0.75, 0.95, 1.0] {
        let dash = if share == 0.95 { " stroke-dasharray=\"5 4\"" } else { "" };
        let tone = if share == 0.95 { "#888" } else { "#ddd" };
        let at = y(share);
        let _ = writeln!(
            svg,
            "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"{tone}\"{dash}/><text x=\"8\" y=\"{:.1}\">{:.0} %</text>",
            width - 16.0,
            at + 4.0,
            share * 100.0
        );
    }
    for (nth, (seed, days)) in curves.iter().enumerate() {
        let colour = ["#1b6ca8", "#c0562f", "#3c8d40"][nth % 3];
        let mut points = String::new();
        for day in 0..days.len() {
            let around = &days[day.saturating_sub(3)..(day + 4).min(days.len())];
            let (right, all) = around.iter().fold((0, 0), |sum, day| (sum.0 + day.0, sum.1 + day.1));
            let _ = write!(points, "{:.1},{:.1} ", x(day), y(f64::from(right) / f64::from(all.max(1))));
        }
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/><text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">seed {seed}</text>",
            points.trim_end(),
            width - 150.0,
            height - 90.0 + nth as f64 * 16.0
        );
    }
    for day in (0..days).step_by(10) {
        let _ =
            writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{day}</text>", x(day), height - 14.0);
    }
    svg + "</svg>\n"
}
