//! The habits of the simulated person: what they always do, and the mail that makes them do it.

use adjutant::model::Priority;

use super::{Habit, Posting, Reach, Style, Wish};
use crate::support::test_home::SeededRandom;

/// Mail whose level is right as it is.
const NEUTRAL: u64 = 18;

/// Two dozen habits: senders, domains, lists and words, raised and lowered, tasks that are none and news that are.
pub(crate) fn habits() -> Vec<Habit> {
    use Priority::{High, Low, Med};
    use Style::{Alarm, Invoice, Listed, News, Question, Tomorrow};
    let mut all = Vec::new();
    for (nth, name) in ["ann", "bea", "cal", "dov", "eli", "fay", "gil", "hal"].into_iter().enumerate() {
        let habit = sender(&format!("{name}@{name}works.example"), Question, Wish::Level(High), 30 + nth as u64 * 4);
        // Two of them matter less one day.
        all.push(Habit { later: (nth < 2).then_some(Wish::Level(Low)), ..habit });
    }
    for (nth, name) in ["clinic", "school", "notary"].into_iter().enumerate() {
        let senders = ["office", "desk", "team"].map(|who| format!("{who}@{name}.example")).to_vec();
        let reach = Reach::Domain(format!("{name}.example"));
        let wish = Wish::Level(if nth == 0 { High } else { Med });
        all.push(Habit { reach, wish, later: None, senders, style: Question, rate: 60 });
    }
    for name in ["choir", "garden"] {
        let senders = vec![format!("ruth@{name}.example")];
        let reach = Reach::List(format!("members.{name}.example"));
        all.push(Habit { reach, wish: Wish::Level(High), later: None, senders, style: Listed, rate: 40 });
    }
    for word in ["standup", "rehearsal"] {
        let senders = (0..30).map(|nth| format!("p{nth}@{word}{nth}.example")).collect();
        all.push(Habit {
            reach: Reach::Word(word.into()),
            wish: Wish::Level(Med),
            later: None,
            senders,
            style: Question,
            rate: 50,
        });
    }
    for name in ["wolf", "siren", "bell"] {
        all.push(sender(&format!("noreply@{name}.example"), Alarm, Wish::Level(Low), 45));
    }
    for (name, style, wish) in [
        ("ivo@lunch.example", Tomorrow, Low),
        ("jan@club.example", Tomorrow, Low),
        ("kim@paper.example", Invoice, Low),
        ("lee@shop.example", Invoice, Low),
        ("max@forms.example", Tomorrow, Med),
    ] {
        all.push(sender(name, style, Wish::Level(wish), 40));
    }
    for name in ["nia@survey.example", "oto@polls.example"] {
        all.push(sender(name, Question, Wish::Never, 40));
    }
    for name in ["pia@hall.example", "quy@council.example"] {
        all.push(sender(name, News, Wish::Always, 40));
    }
    all
}

fn sender(address: &str, style: Style, wish: Wish, rate: u64) -> Habit {
    Habit { reach: Reach::Sender(address.into()), wish, later: None, senders: vec![address.into()], style, rate }
}

pub(super) fn mail(day: u32, nth: usize, habit: &Habit, sender: &str) -> Posting {
    let id = format!("d{day}-h{nth}");
    let topic = if matches!(habit.reach, Reach::Word(_)) { habit.reach.value() } else { "note" };
    let mut headers = Vec::new();
    if let Reach::List(list) = &habit.reach {
        headers.push(format!("List-Id: <{list}>"));
    }
    if habit.style == Style::Alarm {
        headers.push("List-Unsubscribe: <https://leave.example/>".into());
    }
    let subject =
        if habit.style == Style::Alarm { format!("Security alert {day}") } else { format!("A {topic} {day}") };
    let from = format!("Someone <{sender}>");
    Posting {
        id,
        from,
        subject,
        style: habit.style,
        body: None,
        verified: true,
        headers,
        habit: Some(nth),
        hostile: false,
    }
}

pub(super) fn neutral(day: u32, dice: &mut SeededRandom) -> Vec<Posting> {
    let mails = (0..NEUTRAL).filter(|_| dice.below(100) < 30).collect::<Vec<_>>();
    mails
        .into_iter()
        .map(|nth| {
            let style =
                [Style::Question, Style::Tomorrow, Style::Invoice, Style::News][usize::try_from(nth % 4).unwrap()];
            Posting {
                id: format!("d{day}-n{nth}"),
                // Some share a domain that strangers write from, too.
                from: match nth % 3 {
                    0 => format!("N <n{nth}@freemail.example>"),
                    _ => format!("N <n{nth}@neutral{nth}.example>"),
                },
                subject: format!("Invoice, notes and payment {day}"),
                style,
                body: None,
                verified: nth % 6 != 5,
                headers: Vec::new(),
                habit: None,
                hostile: false,
            }
        })
        .collect()
}
