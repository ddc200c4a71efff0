//! Tests that text from outside stays text: two hundred mails that try to run something, to load something or to
//! reorder the page, on every page that shows them. A listener on loopback hears nothing.

use std::{
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use adjutant::app::NewTask;
use serde_json::json;

use crate::support::{
    browser::{Browser, DESKTOP},
    page_crawl::crawl,
    served_page::ServedPage,
    test_home::TestHome,
};

const MEETING: &str = "Could we find time for a 30-min catch-up next week?";
/// What each mail tries. `@` stands for an address of the listener.
const TRICKS: [&str; 25] = [
    "<script>fetch('@')</script>",
    "<img src=@ onerror=fetch('@')>",
    "<svg/onload=fetch('@')>",
    "<svg><image href=\"@\"/></svg>",
    "<iframe src=\"@\"></iframe>",
    "<object data=\"@\"></object>",
    "<link rel=stylesheet href=\"@\">",
    "<meta http-equiv=refresh content=\"0;url=@\">",
    "<base href=\"@\">",
    "<form action=\"@\"><button autofocus onfocus=fetch('@')>x</button></form>",
    "<div hx-get=\"@\" hx-trigger=\"load\">x</div>",
    "<div data-hx-get=\"@\" data-hx-trigger=\"load\">x</div>",
    "<div hx-on:load=\"fetch('@')\">x</div>",
    "\"><script>fetch('@')</script>",
    "' onmouseover=fetch('@') x='",
    "</textarea><script>fetch('@')</script>",
    "</title><img src=@>",
    "![picture](@)",
    "[link](javascript:fetch('@'))",
    "javascript:fetch('@')",
    "&lt;script&gt;fetch('@')&lt;/script&gt; &#60;img src=@&#62;",
    "pay\u{202e}gpj.exe \u{2066}@\u{2069}",
    "\u{1b}]8;;@\u{7}click\u{1b}]8;;\u{7}\u{1b}[2J",
    "{{constructor.constructor('fetch(`@`)')()}} ${fetch('@')} <%= @ %>",
    "\u{0}\u{feff}<\u{0}script>fetch('@')</script>\u{2028}",
];
/// Where in the mail it stands.
const PLACES: usize = 8;

/// Listens on loopback and counts who comes.
fn canary() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/heard", listener.local_addr().unwrap());
    let heard = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&heard);
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    (address, heard)
}

fn post(home: &TestHome, nth: usize, trick: &str) {
    let letter = home.letter(&format!("trick-{nth}"));
    let place = nth % PLACES;
    let one_line = trick.replace(['\n', '\u{0}'], "");
    let from = match place {
        0 | 4 => format!("\"{}\" <tom{nth}@bakerand{nth}.example>", one_line.replace(['\\', '"'], "")),
        _ => format!("Tom <tom{nth}@bakerand{nth}.example>"),
    };
    let subject = match place {
        1 | 4 => one_line,
        2 => one_line.repeat(20_000 / one_line.len().max(1)),
        _ => format!("About {nth}"),
    };
    let body = match place {
        3 => format!("Hi Alex,\n\n{MEETING} {trick}\n\nTom\n"),
        5 => format!("Hi {trick},\n\n{MEETING}\n\n{trick}\n"),
        6 => format!("Hi Alex,\n\nplease send me the {trick} by Friday.\n\nTom\n"),
        7 => format!("{trick}\n"),
        _ => format!("Hi Alex,\n\n{MEETING}\n\nTom\n"),
    };
    home.post(&letter.from(&from).subject(&subject).body(&body));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_hostile_mails_run_nothing_and_load_nothing() {
    let home = TestHome::active();
    let (address, heard) = canary();
    let mut payloads = 0;
    for (nth, trick) in TRICKS.iter().enumerate() {
        for place in 0..PLACES {
            post(&home, nth * PLACES + place, &trick.replace('@', &address));
            payloads += 1;
        }
    }
    let megabyte = format!("<img src={address}>").repeat(1_000_000 / 40);
    home.post(&home.letter("megabyte").subject(&megabyte).body(MEETING));
    home.once().await;
    let served = ServedPage::start(&home).await;
    for trick in TRICKS {
        let objective = trick.replace('@', &address);
        // Not every text is an objective; what is refused is shown nowhere.
        drop(served.app.tasks().add(NewTask { objective, ..NewTask::default() }).await);
    }
    assert!(served.app.approvals().list().await.unwrap().len() > 50);
    let found = crawl(&served, &served.sign_in(), 40);
    let mut browser = Browser::start();
    browser.open(DESKTOP);
    browser.goto(&served.sign_in_link());
    let clean = "({
        foreign: document.querySelectorAll('iframe, object, embed, base, main img, main image, main script, main link, main [onload], main [onerror], main [onfocus], [onmouseover], main [hx-on\\\\:load]').length,
        remote: [...document.querySelectorAll('[src], [href], [action], [data], [hx-get], [hx-post]')].filter(element =>
            ['src', 'href', 'action', 'data', 'hx-get', 'hx-post'].some(name => /^(https?:|javascript:|\\/\\/)/i.test(element.getAttribute(name) ?? ''))).length,
        hidden: /[\\u202a-\\u202e\\u2066-\\u2069\\u001b\\u0007]/.test(document.body.innerText)
    })";
    let expected = json!({ "foreign": 0, "remote": 0, "hidden": false });
    for path in found.paths.values() {
        browser.goto(&served.url(path));
        assert_eq!(browser.evaluate(clean), expected, "{path}");
    }
    browser.must_be_quiet(&served.url("/"));
    assert_eq!(heard.load(Ordering::SeqCst), 0);
    println!("{payloads} payloads on {} pages: nothing ran, nothing was loaded", found.paths.len());
    assert!(payloads >= 200 && found.paths.len() > 30, "{payloads} on {}", found.paths.len());
}
