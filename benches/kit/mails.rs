//! Generates mail like that of real mailboxes from a seed: requests, invoices, meetings, questions, newsletters,
//! receipts, notes, Hebrew.

use std::fmt::Write as _;

use adjutant::model::Instant;

/// The settings of the generator. Everything else about a mail follows from its number.
#[derive(Clone, Copy)]
pub(crate) struct Mix {
    /// How many of a hundred mails ask for something.
    pub(crate) asking: u64,
    /// The date of the newest mail. The others were written in the ten days before.
    pub(crate) now: Instant,
}

/// The random number generator SplitMix64, which produces the same mails on every machine.
struct SeededRandom(u64);

impl SeededRandom {
    /// Returns a number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides.max(1)
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        let nth = usize::try_from(self.roll(from.len() as u64)).unwrap_or_default();
        from.get(nth).copied().unwrap_or_default()
    }
}

const FIRST: &[&str] = &[
    "Anna", "Tom", "Miriam", "Nora", "Hannah", "Ruth", "Jonas", "Priya", "Diego", "Mei", "Omar", "Lena", "Paul",
    "Sara", "Victor", "Ines", "Karl", "Dina", "Felix", "Joan",
];
const LAST: &[&str] = &[
    "Smith",
    "Baker",
    "Weiss",
    "Lindqvist",
    "Cole",
    "Adler",
    "Keller",
    "Rao",
    "Ruiz",
    "Chen",
    "Haddad",
    "Vogel",
    "Martin",
    "Novak",
    "Bloom",
    "Costa",
    "Berg",
    "Stern",
    "Moreau",
    "Price",
];
const FIRM: &[&str] =
    &["acme", "northprint", "colelaw", "university", "clinic", "choir", "mybank", "harbour", "millworks", "cityhall"];
const THING: &[&str] = &[
    "report",
    "contract",
    "budget",
    "schedule",
    "proposal",
    "floor plan",
    "invoice list",
    "survey",
    "roof",
    "garden",
    "lease",
    "poster",
    "grant",
    "server",
    "backup",
    "catalogue",
    "workshop",
    "rota",
    "concert",
    "catering",
    "insurance",
    "printer",
    "warehouse",
    "seminar",
    "newsletter",
    "archive",
    "kitchen",
    "lift",
    "permit",
    "payroll",
    "inventory",
];
const QUALITY: &[&str] = &[
    "quarterly",
    "new",
    "old",
    "northern",
    "second",
    "revised",
    "shared",
    "small",
    "annual",
    "open",
    "blue",
    "missing",
    "final",
    "early",
    "printed",
    "public",
];
const DID: &[&str] = &[
    "was moved",
    "went well",
    "took longer than last year",
    "arrived on time",
    "has been quiet",
    "grew a little",
    "came up again",
    "stayed the same",
    "was talked about",
    "looked better than expected",
    "was closed for a week",
];
const PLACE: &[&str] =
    &["the main office", "Lisbon", "the second floor", "the harbour", "Leeds", "the old school", "Haifa", "the annex"];
const DAY: &[&str] = &["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "tomorrow", "next week"];
/// Requests. `{q}`, `{t}`, `{d}` and `{p}` stand for a quality, a thing, a day and a person.
const ASKS: &[&str] = &[
    "Could you please send me the {q} {t} by {d}?",
    "Please review the {q} {t} and let me know what you think.",
    "Can you confirm the {t} with {p} before {d}?",
    "I need the {q} {t} from you by {d}.",
    "Would you mind checking the {t} again and sending it to {p}?",
    "Please prepare the {t} for {d} and call me when it is done.",
];
/// Proposals of a meeting.
const MEETS: &[&str] = &[
    "Could we meet on {d} at 10:00 to go over the {t}?",
    "Let's have a 30-min call about the {q} {t} on {d}.",
    "Are you free on {d} at 15:30 for a short meeting about the {t}?",
];
/// Questions.
const WONDERS: &[&str] = &[
    "When will the {q} {t} be ready?",
    "Do you know who has the key to the {t}?",
    "What did {p} say about the {q} {t}?",
];
const HEBREW_ASKS: &[&str] = &[
    "תוכל בבקשה לשלוח לי את הדוח עד יום חמישי?",
    "נא לאשר את החוזה החדש עד מחר.",
    "אפשר לקבוע פגישה ביום שני בשעה 10:00?",
];
const HEBREW: &[&str] = &[
    "אנחנו מסכמים את הרבעון ומכינים את המספרים לישיבה.",
    "המשרד החדש נפתח בשבוע שעבר והכול עבר בשלום.",
    "הלקוחות היו מרוצים מאוד מן העבודה.",
    "הגינה פורחת והילדים חזרו לבית הספר.",
];

/// Returns the bytes of mail `number`.
pub(crate) fn mail(number: u64, mix: Mix) -> Vec<u8> {
    let mut dice = SeededRandom(number.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 20_261_115);
    let (first, last, firm) = (dice.pick(FIRST), dice.pick(LAST), dice.pick(FIRM));
    let sort = dice.roll(100);
    let asks = dice.roll(100) < mix.asking;
    let body = if asks { asking(&mut dice, sort, number) } else { telling(&mut dice, number, sort) };
    let Body { subject, text, more } = body;
    let at = mix.now.plus(-chrono::Duration::minutes(i64::try_from(number % 14_400).unwrap_or_default()));
    let name = if more.contains("Precedence") { format!("{firm} weekly") } else { format!("{first} {last}") };
    let mut mail = format!(
        "Return-Path: <{first}@{firm}.example>\r\nReceived: from out.{firm}.example (out.{firm}.example [192.0.2.{}])\r\n\
         \tby mx.home.example with ESMTPS id {number:08x}; {date}\r\n\
         Authentication-Results: mx.home.example; dmarc=pass header.from={firm}.example\r\n\
         From: {name} <{}.{}@{firm}.example>\r\nTo: Alex Green <you@home.example>\r\nSubject: {subject}\r\nDate: {date}\r\n\
         Message-ID: <{number}.{sort}@{firm}.example>\r\n",
        number % 250,
        first.to_lowercase(),
        last.to_lowercase(),
        date = at.utc().to_rfc2822(),
    );
    mail.push_str(&more);
    mail.push_str("MIME-Version: 1.0\r\n");
    let paragraphs = text.replace('\n', "\r\n");
    let greeting = if asks || sort < 60 { "Hi Alex,\r\n\r\n" } else { "" };
    let text = format!("{greeting}{paragraphs}\r\n\r\nBest regards,\r\n{first} {last}\r\n");
    match dice.roll(10) {
        0 => html(&mut mail, &text),
        1 | 2 => both(&mut mail, &text, number),
        3 => attached(&mut mail, &text, number),
        _ => plain(&mut mail, &text),
    }
    mail.into_bytes()
}

/// The content of a mail before it is encoded.
struct Body {
    subject: String,
    text: String,
    /// Header fields beyond those that every mail has.
    more: String,
}

/// Returns the content of a mail that asks for something.
fn asking(dice: &mut SeededRandom, sort: u64, number: u64) -> Body {
    let wish = match sort {
        0..40 => fill(dice, ASKS),
        40..55 => fill(dice, MEETS),
        55..70 => fill(dice, WONDERS),
        70..80 => format!("{} {}", fill(dice, ASKS), fill(dice, MEETS)),
        80..92 => return invoice(dice, number),
        _ => {
            let text = format!("{}\n\n{}", dice.pick(HEBREW_ASKS), prose(dice, HEBREW, 6));
            return Body { subject: "הדוח הרבעוני".into(), text, more: String::new() };
        }
    };
    let length = dice.roll(14) + 4;
    let text = format!("{}\n\n{wish}\n\n{}", story(dice, length / 3), story(dice, length));
    let mut more = String::new();
    if number > 10 && dice.roll(12) == 0 {
        let _ = write!(more, "In-Reply-To: <{0}@thread.example>\r\nReferences: <{0}@thread.example>\r\n", number / 3);
    }
    Body { subject: format!("About the {} {}", dice.pick(QUALITY), dice.pick(THING)), text, more }
}

fn invoice(dice: &mut SeededRandom, number: u64) -> Body {
    let total = dice.roll(4000) + 50;
    let text = format!(
        "please find below our invoice no. {number} for the {}.\n\n    Net      EUR {}.00\n    VAT 19%  EUR {}.00\n    Total    EUR {total}.00\n\n\
         The amount due is payable by {}. Please quote the invoice number with your transfer.\n\n{}",
        dice.pick(THING),
        total * 81 / 100,
        total * 19 / 100,
        dice.pick(DAY),
        story(dice, 4),
    );
    Body { subject: format!("Invoice {number}"), text, more: String::new() }
}

/// Returns the content of a mail that asks for nothing.
fn telling(dice: &mut SeededRandom, number: u64, sort: u64) -> Body {
    let length = dice.roll(26) + 6;
    match sort {
        0..30 => Body {
            subject: format!("FYI: the {}", dice.pick(THING)),
            text: format!("FYI: {}\n\nNo need to reply.", story(dice, length / 2)),
            more: String::new(),
        },
        30..60 => Body {
            subject: format!("Re: the {} {}", dice.pick(QUALITY), dice.pick(THING)),
            text: format!("Thank you, that is all I wanted to know.\n\nOn Monday you wrote:\n> {}", story(dice, length)),
            more: format!("In-Reply-To: <{0}.mine@home.example>\r\nReferences: <{0}.mine@home.example>\r\n", number / 2),
        },
        60..85 => Body {
            subject: format!("{}: this week's picks", dice.pick(FIRM)),
            text: format!("{}\n\nYou are receiving this mail because you subscribed. Unsubscribe here.", story(dice, length + 8)),
            more: "List-Id: Weekly <weekly.example>\r\nList-Unsubscribe: <https://weekly.example/u>\r\nPrecedence: bulk\r\n".into(),
        },
        85..95 => Body {
            subject: format!("Your order {}", dice.roll(90_000)),
            text: format!(
                "Thank you for your purchase!\n\nWe received your payment of EUR {}.90. Your order has shipped.\n\n{}",
                dice.roll(300),
                story(dice, 5)
            ),
            more: "Auto-Submitted: auto-generated\r\n".into(),
        },
        _ => Body { subject: "עדכון".into(), text: prose(dice, HEBREW, length), more: String::new() },
    }
}

/// Returns a sentence with its placeholders filled in.
fn fill(dice: &mut SeededRandom, from: &[&'static str]) -> String {
    let pattern = dice.pick(from);
    pattern
        .replace("{q}", dice.pick(QUALITY))
        .replace("{t}", dice.pick(THING))
        .replace("{d}", dice.pick(DAY))
        .replace("{p}", dice.pick(FIRST))
}

/// Returns sentences that ask for nothing.
fn story(dice: &mut SeededRandom, sentences: u64) -> String {
    let mut text = String::new();
    for nth in 0..sentences {
        let _ = write!(
            text,
            "The {} {} of the {} {} in {}, as {} {} had said in the {} notes from {}.{}",
            dice.pick(QUALITY),
            dice.pick(THING),
            dice.pick(THING),
            dice.pick(DID),
            dice.pick(PLACE),
            dice.pick(FIRST),
            dice.pick(LAST),
            dice.pick(THING),
            2000 + dice.roll(26),
            if nth % 4 == 3 { "\n\n" } else { "\n" },
        );
    }
    text
}

fn prose(dice: &mut SeededRandom, from: &[&'static str], sentences: u64) -> String {
    (0..sentences).map(|_| dice.pick(from)).collect::<Vec<_>>().join("\n")
}

fn plain(mail: &mut String, text: &str) {
    let _ = write!(mail, "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{text}");
}

fn html(mail: &mut String, text: &str) {
    let _ = write!(
        mail,
        "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n\
         <html><head><style>p {{ color: #333 }}</style></head><body><p>{}</p></body></html>\r\n",
        text.replace("\r\n\r\n", "</p>\r\n<p>")
    );
}

fn both(mail: &mut String, text: &str, number: u64) {
    let _ = write!(mail, "Content-Type: multipart/alternative; boundary=\"b{number}\"\r\n\r\n--b{number}\r\n");
    plain(mail, text);
    let _ = write!(mail, "\r\n--b{number}\r\n");
    html(mail, text);
    let _ = write!(mail, "\r\n--b{number}--\r\n");
}

fn attached(mail: &mut String, text: &str, number: u64) {
    let _ = write!(mail, "Content-Type: multipart/mixed; boundary=\"m{number}\"\r\n\r\n--m{number}\r\n");
    plain(mail, text);
    let _ = write!(
        mail,
        "\r\n--m{number}\r\nContent-Type: application/pdf; name=\"{number}.pdf\"\r\nContent-Transfer-Encoding: base64\r\n\
         Content-Disposition: attachment; filename=\"{number}.pdf\"\r\n\r\n{}\r\n--m{number}--\r\n",
        "JVBERi0xLjQKJcOkw7zDtsOfCjIgMCBvYmoKPDwvTGVuZ3RoIDMgMCBSPj4Kc3RyZWFtCg==\r\n".repeat(20)
    );
}
