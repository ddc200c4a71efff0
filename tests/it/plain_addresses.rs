//! Tests that an address that is not plain never counts as a similar plain one: it neither verifies a sender nor stands
//! for a known person.

use crate::{attacker::invitation, support::test_home::TestHome};

const KAREN: &str = "karen@work.example";

/// Other addresses of a domain that the receiving server vouches for, which become karen's once characters are dropped.
const ODD: [&str; 9] = [
    "\u{212a}aren@work.example",
    "ka\u{ad}ren@work.example",
    "ka\u{200b}ren@work.example",
    "\u{a0}karen@work.example",
    "ka ren@work.example",
    "ka\tren@work.example",
    "kar\\en@work.example",
    "kar(x)en@work.example",
    "=?utf-8?Q?karen?=@work.example",
];

fn home() -> TestHome {
    let home = TestHome::active();
    home.policy(&format!("allow: [{KAREN}]"));
    home.rules(&format!(
        "rules:\n  - name: boss\n    when: {{ sender: {{ is: {KAREN} }} }}\n    set: critical\n    why: boss\ndefault: low\n"
    ));
    home
}

#[tokio::test(flavor = "multi_thread")]
async fn a_similar_address_is_neither_answered_unasked_nor_ranked() {
    for odd in ODD {
        let home = home();
        home.deliver("inv", invitation(odd, "", KAREN, true));
        home.once().await;
        assert_eq!(home.sent(), [""; 0], "{odd:?}");
        assert_eq!(home.sql("SELECT DISTINCT priority FROM tasks"), [["low"]], "{odd:?}");
        assert_eq!(home.count("mail WHERE sender = 'karen@work.example'"), 0, "{odd:?}");
        assert_eq!(home.count("mail WHERE json_extract(body, '$.authentication.verified')"), 0, "{odd:?}");
    }
    let home = home();
    home.deliver("inv", invitation(KAREN, "", KAREN, true));
    home.once().await;
    assert_eq!(home.sent().len(), 1, "she herself is answered");
    assert_eq!(home.sql("SELECT priority FROM tasks"), [["critical"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_similar_address_is_not_written_to_in_the_place_of_another() {
    for odd in ODD {
        let home = home();
        home.deliver("inv", invitation(KAREN, &format!("Reply-To: <{odd}>\n"), KAREN, true));
        home.once().await;
        assert_eq!(home.sent(), [""; 0], "{odd:?}");
    }
}
