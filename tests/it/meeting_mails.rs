//! Three hundred generated mails that ask for a meeting, in three languages: what is prepared is for the time asked for,
//! the best of those offered, or others near it where none is free. The times are computed here and never read.

use adjutant::model::{Action, TaskEditKind};
use chrono::{
    DateTime, Datelike as _, Duration, NaiveDate, NaiveDateTime, NaiveTime, TimeZone as _, Timelike as _, Utc,
};
use chrono_tz::Tz;

use crate::support::test_home::{SeededRandom, TestHome, WORK};

const MAILS: usize = 300;
const LEAST_RIGHT: f64 = 0.95;
const OWN: Tz = Tz::Europe__Berlin;
/// How many homes share the work.
const HOMES: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    English,
    German,
    Hebrew,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Named,
    Zone,
    Choice,
    Window,
    Busy,
    BusyChoice,
    Past,
}

/// What should be prepared.
#[derive(Debug, Clone)]
enum Expected {
    /// An invitation for this time.
    At(DateTime<Utc>),
    /// An invitation inside one of these windows.
    Within(Vec<(DateTime<Utc>, DateTime<Utc>)>),
    /// A reply with two or three other times, and no invitation.
    Others(DateTime<Utc>),
}

struct MeetingMail {
    language: Language,
    kind: Kind,
    subject: String,
    text: String,
    expected: Expected,
    /// A time that is taken already.
    taken: Option<DateTime<Utc>>,
}

/// The day on which the mails are written: a Monday.
fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 11, 16).unwrap()
}

fn utc(local: NaiveDateTime, zone: Tz) -> DateTime<Utc> {
    zone.from_local_datetime(&local).unwrap().to_utc()
}

fn at(day: NaiveDate, hour: u32, minute: u32) -> NaiveDateTime {
    day.and_time(NaiveTime::from_hms_opt(hour, minute, 0).unwrap())
}

const ENGLISH_DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const GERMAN_DAYS: [&str; 7] = ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"];
const HEBREW_DAYS: [&str; 7] = ["שני", "שלישי", "רביעי", "חמישי", "שישי", "שבת", "ראשון"];
const GERMAN_MONTHS: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];
const HEBREW_MONTHS: [&str; 12] =
    ["ינואר", "פברואר", "מרץ", "אפריל", "מאי", "יוני", "יולי", "אוגוסט", "ספטמבר", "אוקטובר", "נובמבר", "דצמבר"];

/// A day as people write it.
fn day(language: Language, date: NaiveDate, dice: &mut SeededRandom) -> String {
    let weekday = date.weekday().num_days_from_monday() as usize;
    let ahead = (date - today()).num_days();
    let month = date.month0() as usize;
    let is_soon = (1..7).contains(&ahead);
    let mut forms = match language {
        Language::English => vec![
            format!("on {}", date.format("%-d %B")),
            format!("on {} {}", ENGLISH_DAYS[weekday], date.format("%-d %B")),
            format!("on {}, {}", ENGLISH_DAYS[weekday], date.format("%B %-d")),
            format!("on {}", date.format("%Y-%m-%d")),
        ],
        Language::German => vec![
            format!("am {}", date.format("%-d.%-m.")),
            format!("am {}, den {}. {}", GERMAN_DAYS[weekday], date.day(), GERMAN_MONTHS[month]),
            format!("am {}", date.format("%d.%m.%Y")),
            format!("am {}, {}", GERMAN_DAYS[weekday], date.format("%-d.%-m.")),
        ],
        Language::Hebrew => vec![
            format!("ב-{}", date.format("%-d.%-m")),
            format!("ביום {}, {}", HEBREW_DAYS[weekday], date.format("%-d.%-m.%Y")),
            format!("ב-{} ב{}", date.day(), HEBREW_MONTHS[month]),
        ],
    };
    if is_soon {
        forms.extend(match language {
            Language::English => {
                vec![format!("on {}", ENGLISH_DAYS[weekday]), format!("this {}", ENGLISH_DAYS[weekday])]
            }
            Language::German => {
                vec![format!("am {}", GERMAN_DAYS[weekday]), format!("diesen {}", GERMAN_DAYS[weekday])]
            }
            Language::Hebrew => vec![format!("ביום {}", HEBREW_DAYS[weekday])],
        });
    }
    if ahead == 1 {
        forms.push(match language {
            Language::English => "tomorrow".into(),
            Language::German => "morgen".into(),
            Language::Hebrew => "מחר".into(),
        });
    }
    if (7..12).contains(&ahead) {
        forms.push(match language {
            Language::English => format!("on {} next week", ENGLISH_DAYS[weekday]),
            Language::German => format!("nächste Woche {}", GERMAN_DAYS[weekday]),
            Language::Hebrew => format!("ביום {} בשבוע הבא", HEBREW_DAYS[weekday]),
        });
    }
    forms.swap_remove(dice.below(forms.len() as u64) as usize)
}

/// An hour as people write it.
fn hour(language: Language, time: NaiveDateTime, dice: &mut SeededRandom) -> String {
    let (hour, minute) = (time.hour(), time.minute());
    let half = if hour < 12 { "am" } else { "pm" };
    let twelve = (hour + 11) % 12 + 1;
    let mut forms = match language {
        Language::English if minute == 0 => {
            vec![format!("at {twelve}{half}"), format!("at {twelve} {half}"), format!("at {hour:02}:00")]
        }
        Language::English => vec![format!("at {twelve}:{minute:02} {half}"), format!("at {hour:02}:{minute:02}")],
        Language::German if minute == 0 => {
            vec![format!("um {hour} Uhr"), format!("um {hour}:00 Uhr"), format!("um {hour:02}:00")]
        }
        Language::German => vec![format!("um {hour}:{minute:02} Uhr"), format!("um {hour}.{minute:02} Uhr")],
        Language::Hebrew => vec![format!("ב-{hour}:{minute:02}"), format!("בשעה {hour:02}:{minute:02}")],
    };
    if minute == 30 && language == Language::English {
        forms.push(format!("at half past {twelve} {half}"));
    }
    forms.swap_remove(dice.below(forms.len() as u64) as usize)
}

/// The sentence of a mail that asks to meet then.
fn ask(language: Language, when: &str, dice: &mut SeededRandom) -> String {
    let forms: &[&str] = match language {
        Language::English => &[
            "Could we meet {} to go through the plans?",
            "Are you free {} for a short call?",
            "Can we talk {}? It is about the budget.",
            "I would like to meet you {}. Does that work?",
            "Would it suit you to meet {}?",
            "Let's have a call {}, if that suits you.",
            "How about a meeting {}?",
        ],
        Language::German => &[
            "Können wir uns {} treffen?",
            "Haben Sie {} Zeit für ein kurzes Telefonat?",
            "Passt Ihnen ein Treffen {}?",
            "Könnten wir {} telefonieren? Es geht um das Budget.",
            "Wollen wir uns {} zusammensetzen?",
            "Ich würde mich gern {} mit Ihnen treffen, passt das?",
        ],
        Language::Hebrew => &[
            "אפשר להיפגש {}?",
            "אפשר לקבוע פגישה {}?",
            "מתאים לך לדבר {}?",
            "נוכל להיפגש {} כדי לדבר על התקציב?",
            "יש לך זמן לפגישה {}?",
        ],
    };
    forms[dice.below(forms.len() as u64) as usize].replace("{}", when)
}

fn letter(language: Language, words: &str, dice: &mut SeededRandom) -> (String, String) {
    let pick = |forms: &[&str], dice: &mut SeededRandom| forms[dice.below(forms.len() as u64) as usize].to_owned();
    let (subjects, greetings, before, ends): (&[&str], &[&str], &[&str], &[&str]) = match language {
        Language::English => (
            &["The plans", "Short call", "Meeting", "Next steps", "Our project"],
            &["Hi Alex,", "Dear Alex,", "Hello Alex,"],
            &["", "I hope you are well. ", "Thanks for the offer. ", "The drawings are ready. "],
            &["Best regards\nTom", "Thanks,\nTom", "Tom Baker\nBaker and Sons"],
        ),
        Language::German => (
            &["Die Pläne", "Kurzes Telefonat", "Termin", "Abstimmung", "Unser Projekt"],
            &["Hallo Alex,", "Guten Tag Herr Green,", "Lieber Alex,"],
            &["", "vielen Dank für das Angebot. ", "die Zeichnungen sind fertig. "],
            &["Viele Grüße\nTom", "Mit freundlichen Grüßen\nTom Baker", "Gruß, Tom"],
        ),
        Language::Hebrew => (
            &["התוכניות", "שיחה קצרה", "פגישה", "הפרויקט שלנו"],
            &["שלום אלכס,", "היי אלכס,"],
            &["", "תודה על ההצעה. ", "השרטוטים מוכנים. "],
            &["בברכה,\nתום", "תודה,\nתום"],
        ),
    };
    let subject = pick(subjects, dice);
    let text = format!("{}\n\n{}{words}\n\n{}\n", pick(greetings, dice), pick(before, dice), pick(ends, dice));
    (subject, text)
}

/// A working day from tomorrow on, within the next two weeks.
fn working_day(dice: &mut SeededRandom) -> NaiveDate {
    loop {
        let day = today() + Duration::days(1 + dice.below(12) as i64);
        if day.weekday().num_days_from_monday() < 5 {
            return day;
        }
    }
}

/// A beginning inside the working hours, at a half hour.
fn free_time(dice: &mut SeededRandom) -> NaiveDateTime {
    let (hours, half) = (9 + dice.below(7) as u32, 30 * dice.below(2) as u32);
    at(working_day(dice), hours, half)
}

/// Zones as people name them, with the clock they mean.
fn zone(language: Language, dice: &mut SeededRandom) -> (&'static str, Tz) {
    let zones: &[(&str, Tz)] = match language {
        Language::English => &[
            ("EST", Tz::America__New_York),
            ("London time", Tz::Europe__London),
            ("UTC", Tz::UTC),
            ("GMT", Tz::UTC),
            ("Israel time", Tz::Asia__Jerusalem),
            ("New York time", Tz::America__New_York),
        ],
        Language::German => &[("Londoner Zeit", Tz::Europe__London), ("UTC", Tz::UTC), ("EST", Tz::America__New_York)],
        Language::Hebrew => &[
            ("שעון ישראל", Tz::Asia__Jerusalem),
            ("שעון לונדון", Tz::Europe__London),
            ("שעון ניו יורק", Tz::America__New_York),
        ],
    };
    zones[dice.below(zones.len() as u64) as usize]
}

fn when(language: Language, time: NaiveDateTime, dice: &mut SeededRandom) -> String {
    format!("{} {}", day(language, time.date(), dice), hour(language, time, dice))
}

fn or(language: Language) -> &'static str {
    match language {
        Language::English => "or",
        Language::German => "oder",
        Language::Hebrew => "או",
    }
}

/// A span of time in which a meeting may lie.
type Span = (DateTime<Utc>, DateTime<Utc>);

fn window(language: Language, dice: &mut SeededRandom) -> (String, Vec<Span>) {
    let date = working_day(dice);
    let said = day(language, date, dice);
    let span = |date: NaiveDate, from: u32, to: u32| (utc(at(date, from, 0), OWN), utc(at(date, to, 0), OWN));
    let next_monday = today() + Duration::days(7);
    let next_week = |from, to, but: Option<u32>| {
        let days = (0..5).filter(|day| Some(*day) != but).map(|day| next_monday + Duration::days(i64::from(day)));
        days.map(|date| span(date, from, to)).collect::<Vec<_>>()
    };
    match (language, dice.below(5)) {
        (Language::English, 0) => (format!("{said} between 2 and 4pm"), vec![span(date, 14, 16)]),
        (Language::English, 1) => (format!("{said} in the afternoon"), vec![span(date, 12, 17)]),
        (Language::English, 2) => ("next week".into(), next_week(9, 17, None)),
        (Language::English, 3) => ("next week, any day but Wednesday".into(), next_week(9, 17, Some(2))),
        (Language::English, _) => (format!("{said} after 2pm"), vec![span(date, 14, 17)]),
        (Language::German, 0) => (format!("{said} zwischen 14 und 16 Uhr"), vec![span(date, 14, 16)]),
        (Language::German, 1) => (format!("{said} am Nachmittag"), vec![span(date, 12, 17)]),
        (Language::German, 2) => ("nächste Woche".into(), next_week(9, 17, None)),
        (Language::German, 3) => ("nächste Woche, außer Mittwoch,".into(), next_week(9, 17, Some(2))),
        (Language::German, _) => (format!("{said} ab 14 Uhr"), vec![span(date, 14, 17)]),
        (Language::Hebrew, 0) => (format!("{said} בין 14:00 ל-16:00"), vec![span(date, 14, 16)]),
        (Language::Hebrew, 1) => (format!("{said} אחר הצהריים"), vec![span(date, 12, 17)]),
        (Language::Hebrew, 2 | 3) => ("בשבוע הבא".into(), next_week(9, 17, None)),
        (Language::Hebrew, _) => (format!("{said} אחרי 14:00"), vec![span(date, 14, 17)]),
    }
}

fn generate(nth: usize) -> MeetingMail {
    let dice = &mut SeededRandom::seeded(20_261_116 + nth as u64);
    let language = [Language::English, Language::German, Language::Hebrew][nth % 3];
    let kind =
        [Kind::Named, Kind::Zone, Kind::Choice, Kind::Window, Kind::Busy, Kind::BusyChoice, Kind::Past, Kind::Named]
            [nth / 3 % 8];
    let time = free_time(dice);
    let mut taken = None;
    let (words, expected) = match kind {
        Kind::Named => (ask(language, &when(language, time, dice), dice), Expected::At(utc(time, OWN))),
        Kind::Zone => {
            // Nobody names an hour of their own night.
            let (name, there) = loop {
                let (name, place) = zone(language, dice);
                let there = utc(time, OWN).with_timezone(&place).naive_local();
                if (7..21).contains(&there.hour()) {
                    break (name, there);
                }
            };
            (ask(language, &format!("{} {name}", when(language, there, dice)), dice), Expected::At(utc(time, OWN)))
        }
        Kind::Choice | Kind::BusyChoice => {
            let mut other = free_time(dice);
            while other.date() == time.date() {
                other = free_time(dice);
            }
            let both = format!("{} {} {}", when(language, time, dice), or(language), when(language, other, dice));
            let words = ask(language, &both, dice);
            if kind == Kind::BusyChoice {
                taken = Some(utc(time, OWN));
                (words, Expected::At(utc(other, OWN)))
            } else {
                (words, Expected::At(utc(time, OWN)))
            }
        }
        Kind::Window => {
            let (said, windows) = window(language, dice);
            (ask(language, &said, dice), Expected::Within(windows))
        }
        Kind::Busy => {
            taken = Some(utc(time, OWN));
            (ask(language, &when(language, time, dice), dice), Expected::Others(utc(time, OWN)))
        }
        Kind::Past => {
            let gone = at(today() - Duration::days(1 + dice.below(9) as i64), 10 + dice.below(5) as u32, 0);
            let said = match language {
                Language::English => format!("on {} {}", gone.format("%-d %B %Y"), hour(language, gone, dice)),
                Language::German => format!("am {} {}", gone.format("%d.%m.%Y"), hour(language, gone, dice)),
                Language::Hebrew => format!("ב-{} {}", gone.format("%-d.%-m.%Y"), hour(language, gone, dice)),
            };
            (ask(language, &said, dice), Expected::Others(utc(gone, OWN)))
        }
    };
    let (subject, text) = letter(language, &words, dice);
    MeetingMail { language, kind, subject, text, expected, taken }
}

/// An invitation to something else at that time, as another calendar sends it.
fn invitation(id: &str, start: DateTime<Utc>) -> String {
    let end = start + Duration::minutes(30);
    let form = "%Y%m%dT%H%M%SZ";
    format!(
        "Authentication-Results: mx.home.example; dmarc=pass header.from=b.example\nFrom: Ann <ann@b.example>\nTo: you@home.example\n\
         Subject: Invitation: Lunch {id}\nDate: Mon, 16 Nov 2026 06:00:00 +0000\nMessage-ID: <{id}@b.example>\nMIME-Version: 1.0\n\
         Content-Type: multipart/alternative; boundary=q\n\n--q\nContent-Type: text/plain\n\nYou are invited to Lunch {id}.\n--q\n\
         Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:{id}\nSEQUENCE:0\n\
         SUMMARY:Lunch {id}\nORGANIZER:mailto:ann@b.example\nDTSTART:{}\nDTEND:{}\nEND:VEVENT\nEND:VCALENDAR\n--q--\n",
        start.format(form),
        end.format(form)
    )
}

pub(crate) fn berlin_home() -> TestHome {
    let home = TestHome::active();
    let config = home.read("adjutant.toml");
    let lines =
        "[me]\ntime_zone = \"Europe/Berlin\"\nworking_hours = \"09:00-17:00\"\nlanguages = [\"en\", \"de\", \"he\"]\n";
    home.write("adjutant.toml", &config.replacen("[me]\n", lines, 1));
    assert!(home.config().accounts.iter().any(|account| account.name.as_str() == WORK));
    home
}

/// The message that waits for approval because of a mail, with the step it belongs to.
fn waiting(home: &TestHome, subject_of: &str) -> Vec<Action> {
    let sql = format!(
        "SELECT b.action FROM outbox b JOIN tasks t ON t.task_id = b.task_id WHERE b.state = 'parked' AND t.source = 'email:<{subject_of}@it.example>'"
    );
    home.sql(&sql).into_iter().map(|row| serde_json::from_str(&row[0]).unwrap()).collect()
}

/// The beginning of the event of a message.
fn event_start(action: &Action) -> Option<DateTime<Utc>> {
    let mime = &action.effect.message()?.mime;
    let value = mime.split("DTSTART:").nth(1)?.get(..16)?;
    Some(NaiveDateTime::parse_from_str(value, "%Y%m%dT%H%M%SZ").ok()?.and_utc())
}

/// The beginnings in the lines of a reply that offers times: "- Tuesday 17 November 2026, 15:00–15:30 (UTC+01:00)".
fn offered(text: &str) -> Vec<NaiveTime> {
    let lines = text.lines().filter(|line| line.starts_with("- "));
    lines
        .filter_map(|line| {
            let before = line.split('–').next()?;
            NaiveTime::parse_from_str(before.get(before.len() - 5..)?, "%H:%M").ok()
        })
        .collect()
}

/// What is wrong with what was prepared; none if it is what was expected.
fn judge(mail: &MeetingMail, prepared: &[Action]) -> Result<(), String> {
    let [action] = prepared else { return Err(format!("{} messages wait", prepared.len())) };
    let start = event_start(action);
    let message = action.effect.message().ok_or("no message")?;
    match (&mail.expected, start) {
        (Expected::At(wanted), Some(start)) if start == *wanted => {
            let local = wanted.with_timezone(&OWN).format("%H:%M").to_string();
            if message.body.contains(&local) {
                Ok(())
            } else {
                Err(format!("the text does not name {local}: {}", message.body))
            }
        }
        (Expected::Within(windows), Some(start)) => {
            let end = start + Duration::minutes(30);
            let fits = windows.iter().any(|(from, to)| *from <= start && end <= *to);
            if fits { Ok(()) } else { Err(format!("invites to {start}")) }
        }
        (Expected::Others(asked), None) => {
            let offered = offered(&message.body);
            let is_asked = message.body.lines().any(|line| {
                line.starts_with("- ")
                    && line.contains(&asked.with_timezone(&OWN).format("%d %B %Y, %H:%M").to_string())
            });
            if (2..=3).contains(&offered.len()) && !is_asked { Ok(()) } else { Err(format!("offers {offered:?}")) }
        }
        (_, start) => Err(format!("{} with event {start:?}", action.step)),
    }
}

/// Works one share of the mails in a home of its own. Returns what was wrong, by mail.
async fn work_share(share: usize) -> Vec<(usize, Kind, String)> {
    let home = berlin_home();
    let mut wrong = Vec::new();
    for nth in (share..MAILS).step_by(HOMES) {
        let mail = generate(nth);
        if let Some(taken) = mail.taken {
            home.deliver(&format!("busy{nth}.eml"), invitation(&format!("busy{nth}"), taken));
            home.once().await;
        }
        let id = format!("meeting{nth}");
        home.post(&home.letter(&id).subject(&mail.subject).body(&mail.text));
        home.once().await;
        if let Err(why) = judge(&mail, &waiting(&home, &id)) {
            let asked = home.sql(&format!(
                "SELECT coalesce(json_extract(context, '$.asked_times.times'), 'no times') || ' ' || coalesce(json_extract(tool_output, '$.propose_time_slots'), objective) \
                 FROM tasks WHERE source = 'email:<{id}@it.example>'"
            ));
            wrong.push((
                nth,
                mail.kind,
                format!(
                    "{:?}: {}\n  expected {:?}\n  {why}\n  {asked:?}",
                    mail.language,
                    mail.text.replace('\n', " "),
                    mail.expected
                ),
            ));
        }
        let app = home.app().await;
        for row in home.sql("SELECT o.number FROM tasks t JOIN task_owner o USING (task_id) WHERE t.status NOT IN ('DONE', 'CANCELLED')") {
            app.tasks().edit(&row[0], TaskEditKind::Cancel, "").await.unwrap();
        }
    }
    wrong
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_asked_for_is_the_time_answered() {
    let shares = (0..HOMES).map(|share| tokio::spawn(work_share(share)));
    let mut wrong = Vec::new();
    for share in shares {
        wrong.extend(share.await.unwrap());
    }
    wrong.sort_by_key(|(nth, kind, _)| (*kind, *nth));
    let right = MAILS - wrong.len();
    println!("{right} of {MAILS} right");
    for (nth, kind, why) in &wrong {
        println!("{nth} {kind:?} {why}");
    }
    assert!(right as f64 >= LEAST_RIGHT * MAILS as f64, "{right} of {MAILS}");
}
