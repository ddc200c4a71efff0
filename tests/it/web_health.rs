//! Tests the health page, the pause, and the figures for a monitor.

use crate::support::{
    page_client::{METRICS_TOKEN, PageClient},
    test_home::{Kind, TestHome},
};

#[tokio::test(flavor = "multi_thread")]
async fn health_shows_accounts_and_pauses_effects() {
    let home = TestHome::samples();
    home.once().await;
    let page = PageClient::open(&home).await;
    let shown = page.page("/health");
    shown.must_say("samples maildir active");
    shown.must_say("You are looking at sample mails.");
    page.submit(&shown, "/health/pause", &[]).must_say("Paused.");
    assert!(page.app.effects().is_paused().await.unwrap());
    let shown = page.page("/health");
    page.submit(&shown, "/health/resume", &[]).must_say("Effects go on.");
    assert!(!page.app.effects().is_paused().await.unwrap());
    let checked = page.page("/health/doctor");
    checked.must_say("0 unaccounted");
    checked.must_say("whole");
    home.write("rules/policy.yml", "caps: [");
    page.page("/health/doctor").must_say("policy_broken");
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_are_for_whoever_has_the_token_and_hold_no_words_of_a_mail() {
    let home = TestHome::samples();
    home.once().await;
    let page = PageClient::open(&home).await;
    for headers in [&[][..], &["Authorization: Bearer wrong"], &["Authorization: Basic a-token-for-the-monitor"]] {
        assert_eq!(page.get_without_session("/metrics", headers).status, 401, "{headers:?}");
    }
    // A person's session is not a monitor's token.
    assert_eq!(page.get("/metrics").status, 401);
    let token = format!("Authorization: Bearer {METRICS_TOKEN}");
    let figures = page.get_without_session("/metrics", &[&token]);
    assert_eq!(figures.status, 200, "{}", figures.body);
    let entered = home.count("ledger WHERE account = 'samples'");
    let mails: u64 = figures
        .body
        .lines()
        .filter(|line| line.starts_with("adjutant_mails{account=\"samples\""))
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(mails, entered);
    assert!(figures.body.contains("adjutant_mails_unaccounted{account=\"samples\"} 0\n"), "{}", figures.body);
    let is_well_formed = |line: &str| line.starts_with("# ") || line.rsplit(' ').next().unwrap().parse::<f64>().is_ok();
    assert!(figures.body.lines().all(is_well_formed), "{}", figures.body);
    for subject in home.sql("SELECT subject FROM mail WHERE length(subject) > 8").into_iter().flatten() {
        assert!(!figures.body.contains(&subject), "{subject}");
    }
}

#[test]
fn nothing_is_measured_without_a_token() {
    let home = TestHome::real_time(Kind::Samples);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let page = PageClient::open_without_monitor(&home).await;
        assert_eq!(page.get_without_session("/metrics", &["Authorization: Bearer "]).status, 404);
    });
}
