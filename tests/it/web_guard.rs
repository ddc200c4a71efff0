//! Tests the guard of the page over the live route table: every route against a wrong host, another page, no session,
//! an old one, and every way in which the proofs of a change can be wrong. Nothing is read and nothing is changed.

use adjutant::web::{Protection, RouteEntry, route_table};

use crate::{
    support::{
        page_crawl::{PageForm, crawl},
        served_page::{HttpAnswer, ServedPage},
        test_home::TestHome,
    },
    unreadable_rows::furnished,
};

/// Returns words that only somebody who may read the home can know.
async fn secrets(served: &ServedPage) -> Vec<String> {
    let mails = served.app.mail().list(None, 1000).await.unwrap();
    let tasks = served.app.tasks().list(true, 1000).await.unwrap();
    let words = mails.into_iter().flat_map(|mail| [mail.sender, mail.subject]);
    let words = words.chain(tasks.into_iter().map(|row| row.task.objective));
    words.filter(|text| text.len() > 5).collect()
}

/// Checks that a request was refused with this status and told nothing.
fn must_be_refused(answer: &HttpAnswer, statuses: &[u16], secrets: &[String], what: &str) {
    assert!(statuses.contains(&answer.status), "{what}: {} {}", answer.status, answer.body);
    for secret in secrets {
        assert!(!answer.body.contains(secret.as_str()), "{what} tells {secret}");
    }
    assert!(answer.header("set-cookie").is_none(), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_reads_or_changes_anything_for_a_stranger() {
    let home = furnished().await;
    let served = ServedPage::start(&home).await;
    let cookie = served.sign_in();
    let found = crawl(&served, &cookie, 6);
    let secrets = secrets(&served).await;
    assert!(secrets.len() > 10, "{secrets:?}");
    let (own, port) = (format!("Host: {}", served.address), served.address.port());
    let origin = format!("Origin: http://{}", served.address);
    let session = format!("Cookie: {cookie}");
    let form_type = "Content-Type: application/x-www-form-urlencoded".to_owned();
    let before = home.dump();
    let mut requests = 0;
    for route in route_table() {
        let path = found.example(&route);
        let body = found.forms.get(route.path).map_or_else(|| "seen=".to_owned(), PageForm::encoded);
        let mut refuse = |what: &str, statuses: &[u16], headers: &[&String]| {
            let headers: Vec<&str> = headers.iter().map(|header| header.as_str()).collect();
            let body = if route.method == "POST" { body.as_str() } else { "" };
            let answer = served.send(route.method, &path, &headers, body);
            must_be_refused(&answer, statuses, &secrets, &format!("{} {path}: {what}", route.method));
            requests += 1;
        };
        for host in ["evil.example".to_owned(), format!("evil.example:{port}"), "127.0.0.1".into(), String::new()] {
            let host = format!("Host: {host}");
            refuse("wrong host", &[400, 421], &[&host, &origin, &session, &form_type]);
        }
        let evil = "Origin: http://evil.example".to_owned();
        refuse("foreign origin", &[403], &[&own, &evil, &session, &form_type]);
        let null = "Origin: null".to_owned();
        refuse("no origin to name", &[403], &[&own, &null, &session, &form_type]);
        for site in ["cross-site", "same-site", "nonsense"] {
            let site = format!("Sec-Fetch-Site: {site}");
            refuse("another site", &[403], &[&own, &origin, &site, &session, &form_type]);
        }
        if route.protection == Protection::Open {
            continue;
        }
        let closed: &[u16] = if route.protection == Protection::Bearer { &[401, 404] } else { &[401] };
        refuse("no session", closed, &[&own, &origin, &form_type]);
        let forged = format!("{session}0");
        refuse("forged session", closed, &[&own, &origin, &forged, &form_type]);
        let other_port = session.replace(&port.to_string(), "1");
        refuse("session of another port", closed, &[&own, &origin, &other_port, &form_type]);
    }
    assert_eq!(home.dump(), before, "something was changed");
    assert!(requests > 200, "only {requests} requests");
    println!("{requests} requests of strangers, 0 changes, 0 reads");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_change_counts_without_its_own_proofs() {
    let home = furnished().await;
    let served = ServedPage::start(&home).await;
    let (cookie, other_session) = (served.sign_in(), served.sign_in());
    let found = crawl(&served, &cookie, 6);
    let secrets = secrets(&served).await;
    let before = home.dump();
    let changes: Vec<RouteEntry> = route_table().into_iter().filter(|route| route.method == "POST").collect();
    let mut requests = 0;
    let mut must_be_refused = |path: &str, cookie: &str, form: &str, what: &str| {
        let answer = served.post(path, cookie, form);
        must_be_refused(&answer, &[403], &secrets, &format!("{path}: {what}"));
        requests += 1;
    };
    for route in &changes {
        let path = found.example(route);
        must_be_refused(&path, &cookie, "", "no proofs");
        // The proofs of every other form are for another path.
        for other in found.forms.values().filter(|form| form.action != path) {
            must_be_refused(&path, &cookie, &other.encoded(), "proofs of another change");
        }
        let Some(form) = found.forms.get(route.path) else { continue };
        must_be_refused(&path, &cookie, &form.with("csrf", "0").encoded(), "wrong CSRF token");
        must_be_refused(&path, &cookie, &form.with("nonce", "1.2.3").encoded(), "wrong nonce");
        must_be_refused(&path, &cookie, &form.with("seen", "something else").encoded(), "another digest");
        must_be_refused(&path, &other_session, &form.encoded(), "proofs of another session");
        let no_origin: Vec<String> =
            served.form_headers(&cookie).into_iter().filter(|h| !h.starts_with("Origin")).collect();
        let no_origin: Vec<&str> = no_origin.iter().map(String::as_str).collect();
        assert_eq!(served.send("POST", &path, &no_origin, &form.encoded()).status, 403, "{path}");
    }
    assert_eq!(home.dump(), before, "something was changed");
    println!("{requests} changes without their proofs, 0 counted");
    assert!(found.forms.len() >= 6, "forms were found for {:?}", found.forms.keys());

    // With its proofs each change is let through, and its nonce never counts again.
    for (route, form) in found.forms.iter().filter(|(route, _)| *route != "/sign-out") {
        let answer = served.post(&form.action, &cookie, &form.encoded());
        assert!(![401, 403, 500].contains(&answer.status), "{route}: {answer:?}");
        let after = home.dump();
        let again = served.post(&form.action, &cookie, &form.encoded());
        assert_eq!(again.status, 403, "{route}: its nonce counted twice");
        assert_eq!(home.dump(), after, "{route}");
    }
    let sign_out = &found.forms["/sign-out"];
    assert_eq!(served.post(&sign_out.action, &cookie, &sign_out.encoded()).status, 401);
    for old in [&cookie, &other_session] {
        assert_eq!(served.get("/approvals", old).status, 401, "a session of before signing out counts");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_link_counts_once_and_every_answer_closes_the_browser() {
    let home = TestHome::active();
    let served = ServedPage::start(&home).await;
    let link = served.sign_in_link();
    let path = link.strip_prefix(&served.url("")).unwrap();
    let host = format!("Host: {}", served.address);
    // A program that only looks at the link does not use it up.
    assert_eq!(served.send("HEAD", path, &[&host], "").status, 204);
    let signed_in = served.get(path, "");
    assert_eq!(signed_in.status, 303);
    let cookie = signed_in.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert_eq!(served.get(path, "").status, 401);
    home.clock.advance(0);
    let late = served.sign_in_link();
    home.clock.advance(16 * 60);
    assert_eq!(served.get(late.strip_prefix(&served.url("")).unwrap(), "").status, 401);
    for (path, status, body) in
        [("/healthz", 200, Some("ok")), ("/readyz", 200, Some("ready")), ("/nothing", 401, None)]
    {
        let answer = served.get(path, "");
        assert_eq!(answer.status, status, "{path}");
        assert!(body.is_none_or(|body| answer.body == body), "{path}: {}", answer.body);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    for file in ["secret", "address"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(home.home().web().join(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{file}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reverse_proxy_is_let_in_by_its_name_and_only_with_tls() {
    let home = TestHome::active();
    home.configure("\n[web]\nallowed_hosts = [\"page.example.org\"]\n");
    let served = ServedPage::start(&home).await;
    let link = served.sign_in_link();
    let path = link.strip_prefix(&served.url("")).unwrap();
    let signed_in = served.send("GET", path, &["Host: page.example.org"], "");
    let cookie = signed_in.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    let session = format!("Cookie: {}", cookie.split(';').next().unwrap());
    let get = |headers: &[&str]| served.send("GET", "/approvals", &[&[session.as_str()], headers].concat(), "").status;
    assert_eq!(get(&["Host: page.example.org"]), 200);
    assert_eq!(get(&["Host: page.example.org", "Origin: https://page.example.org"]), 200);
    assert_eq!(get(&["Host: page.example.org", "Origin: http://page.example.org"]), 403);
    assert_eq!(get(&["Host: other.example.org"]), 421);
}
