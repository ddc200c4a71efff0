//! Tests that the API keys of the memory's servers stay private, and that mail text goes only to the configured
//! address.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    http::{StatusCode, header},
    response::IntoResponse as _,
    routing::post,
};

use crate::support::test_home::{Kind, TestHome, finish};

const KEY: &str = "sk-memory-0815";

fn serve(router: Router) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, router).await.unwrap();
        });
    });
    url
}

fn embeddings(home: &TestHome, url: &str, more: &str) {
    let config = home.read("adjutant.toml");
    let before = config.split("[memory]").next().unwrap().to_owned();
    let keys = format!("embeddings_url = \"{url}\"\nembeddings_model = \"m\"\nembeddings_dimension = 8\n{more}\n");
    home.write("adjutant.toml", &format!("{before}[memory]\n{keys}"));
}

#[test]
fn a_key_in_the_configuration_is_refused_and_never_repeated() {
    let home = TestHome::real_time(Kind::Active);
    let config = home.read("adjutant.toml");
    for (section, variable) in [
        (format!("embeddings_key = \"{KEY}\""), "ADJUTANT_MEMORY_EMBEDDINGS_KEY"),
        (format!("qdrant_url = \"http://127.0.0.1:1\"\nqdrant_api_key = \"{KEY}\""), "ADJUTANT_MEMORY_QDRANT_API_KEY"),
    ] {
        home.write("adjutant.toml", &format!("{config}[memory]\n{section}\n"));
        let refused = home.run(&["tasks"]);
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains(variable) && !refused.err.contains(KEY), "{}", refused.err);
    }
    home.write("key", &format!("{KEY}\n"));
    fs::set_permissions(home.root().join("key"), fs::Permissions::from_mode(0o644)).unwrap();
    embeddings(&home, "http://127.0.0.1:1", "embeddings_key_file = \"key\"");
    let refused = home.run(&["tasks"]);
    assert!(refused.code == 2 && refused.err.contains("chmod 600") && !refused.err.contains(KEY), "{}", refused.err);
    fs::set_permissions(home.root().join("key"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(home.run(&["tasks"]).code, 0);
    // Over an open wire it is not sent, however it was given.
    embeddings(&home, "http://192.0.2.7:8080", "embeddings_key_file = \"key\"");
    let refused = home.run(&["tasks"]);
    assert!(refused.code == 2 && refused.err.contains("in the clear"), "{}", refused.err);
    embeddings(&home, "http://192.0.2.7:8080", "");
    let mut given = home.command(&["tasks"]);
    given.env("ADJUTANT_MEMORY_EMBEDDINGS_KEY", "4711");
    let refused = finish(given);
    assert!(refused.code == 2 && refused.err.contains("in the clear"), "{}", refused.err);
    embeddings(&home, &format!("http://user:{KEY}@127.0.0.1:1"), "");
    let refused = home.run(&["tasks"]);
    assert!(refused.code == 2 && !refused.err.contains(KEY), "{}", refused.err);
}

#[test]
fn mail_text_follows_no_redirect_and_no_proxy_and_an_endless_answer_is_not_read() {
    let strayed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&strayed);
    let elsewhere = serve(Router::new().fallback(move |body: String| {
        let count = Arc::clone(&count);
        async move {
            count.fetch_add(1 + body.len(), Ordering::SeqCst);
            StatusCode::OK
        }
    }));
    let target = format!("{elsewhere}/v1/embeddings");
    let redirect = serve(Router::new().route(
        "/v1/embeddings",
        post(move || async move { (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, target)]).into_response() }),
    ));
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&asked);
    let endless = serve(Router::new().route(
        "/v1/embeddings",
        post(move || {
            seen.fetch_add(1, Ordering::SeqCst);
            async move { " ".repeat(64 * 1024 * 1024).into_response() }
        }),
    ));
    for (url, says) in [(redirect, "which is not followed"), (endless, "is longer than")] {
        let home = TestHome::real_time(Kind::Active);
        home.post(&home.letter("one").question());
        embeddings(&home, &url, "");
        let mut once = home.command(&["once"]);
        for proxy in ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            once.env(proxy, &elsewhere);
        }
        let once = finish(once);
        assert_eq!(once.code, 0, "{}", once.err);
        assert!(once.out.contains(says), "{}{}", once.out, once.err);
        assert_eq!(home.count("tasks"), 1, "work goes on");
    }
    assert!(asked.load(Ordering::SeqCst) > 0);
    assert_eq!(strayed.load(Ordering::SeqCst), 0, "mail text went elsewhere");
}
