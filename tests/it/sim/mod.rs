//! A simulated mailbox: sixty days of mail, the person it is sent to, and an attacker who knows how the nightly job
//! learns.
//!
//! Written and committed before the learner, so that the learner is measured and not fitted. Everything follows from a
//! seed: the same seed gives the same mail. What the person wants is in [`Wish`], which only the test reads.

pub(crate) mod attacker;
mod habits;
pub(crate) mod life;

use adjutant::model::Priority;

use crate::support::test_home::{MailBuilder, SeededRandom, TestHome};

pub(crate) use habits::habits;

/// The seeds every claim is made for. Three are older than the learner, three were drawn when it stood (the attacker of
/// the fifth had 3 % of the honest mail changed, and led to two more guards), the last two after that.
pub(crate) const SEEDS: [u64; 8] = [7, 1_907, 20_261_116, 42, 31_337, 271_828, 5_150, 99_991];
pub(crate) const DAYS: u32 = 60;
/// Out of a hundred wrong levels, so many are noticed and corrected.
pub(crate) const NOTICES: u64 = 90;
/// Out of a hundred tasks that were right, so many are changed on a whim.
pub(crate) const WHIMS: u64 = 1;
/// From this day on the person thinks otherwise about some senders.
pub(crate) const TURN: u32 = 32;
/// Share of the attacker's mail in percent, when there is an attacker.
pub(crate) const ATTACKS: u64 = 30;

/// What the person wants of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Whatever the rules say is right.
    AsRanked,
    Level(Priority),
    /// No task.
    Never,
    /// A task, though it reads like none.
    Always,
}

/// How far a wish reaches: what an entry that learns it would name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reach {
    Sender(String),
    Domain(String),
    List(String),
    Word(String),
}

impl Reach {
    pub(crate) fn value(&self) -> &str {
        match self {
            Reach::Sender(value) | Reach::Domain(value) | Reach::List(value) | Reach::Word(value) => value,
        }
    }
}

/// Something the person does the same way every time.
#[derive(Debug, Clone)]
pub(crate) struct Habit {
    pub(crate) reach: Reach,
    pub(crate) wish: Wish,
    /// What is wished from [`TURN`] on, where the person changes their mind.
    pub(crate) later: Option<Wish>,
    pub(crate) senders: Vec<String>,
    pub(crate) style: Style,
    /// Mails in a hundred days.
    pub(crate) rate: u64,
}

impl Habit {
    pub(crate) fn wish_on(&self, day: u32) -> Wish {
        self.later.filter(|_| day >= TURN).unwrap_or(self.wish)
    }
}

/// How the mails of a habit read, and so what the shipped rules make of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A question: low.
    Question,
    /// Due tomorrow: high.
    Tomorrow,
    /// An invoice: med.
    Invoice,
    /// A machine's alarm that is sent to many: high.
    Alarm,
    /// On a mailing list, spoken to by name, from someone the person knows: med.
    Listed,
    /// News, nothing asked: no task.
    News,
}

/// One mail, and whose it is.
#[derive(Debug, Clone)]
pub(crate) struct Posting {
    pub(crate) id: String,
    pub(crate) from: String,
    pub(crate) subject: String,
    pub(crate) style: Style,
    pub(crate) body: Option<String>,
    pub(crate) verified: bool,
    pub(crate) headers: Vec<String>,
    /// Which habit it belongs to; none for mail that is ranked right as it is.
    pub(crate) habit: Option<usize>,
    pub(crate) hostile: bool,
}

impl Posting {
    pub(crate) fn letter(&self, home: &TestHome) -> MailBuilder {
        let topic = self.id.replace('-', " ");
        let body = self.body.clone().unwrap_or_else(|| match self.style {
            Style::Question => format!("Hello Alex,\n\nWhen will you be back at the house about {topic}? I have the keys.\n\nBest\n"),
            Style::Tomorrow => format!("Hello Alex,\n\nPlease send me the figures about {topic} by tomorrow.\n\nBest\n"),
            Style::Invoice => format!(
                "Dear Alex Green,\n\nplease find below our invoice no. 9{}.\n\n    Total      EUR 80.00\n\nPlease pay the amount due by bank transfer.\n\nAccounts\n",
                self.id.chars().filter(char::is_ascii_digit).collect::<String>()
            ),
            Style::Alarm => format!("Security alert for your account: a new sign-in to your account was detected ({topic}). Please check it immediately.\n"),
            Style::Listed => format!("Hi all,\n\nAlex, could you please confirm the room for {topic}?\n\nBest\n"),
            Style::News => format!("Hello Alex,\n\nthe hall is closed on Sunday because of {topic}.\n\nBest\n"),
        });
        let mut letter = home.letter(&self.id).from(&self.from).subject(&self.subject).body(&body);
        for header in &self.headers {
            letter = letter.header(header);
        }
        if self.verified { letter.verified() } else { letter }
    }
}

/// The mail of one day. The attacker throws dice of their own: honest mail is the same with them and without.
pub(crate) fn day(
    day: u32,
    habits: &[Habit],
    dice: &mut SeededRandom,
    attacker: Option<&mut SeededRandom>,
) -> Vec<Posting> {
    let mut mails = Vec::new();
    for (nth, habit) in habits.iter().enumerate() {
        if dice.below(100) < habit.rate {
            let sender = habit.senders[usize::try_from(dice.below(habit.senders.len() as u64)).unwrap()].clone();
            mails.push(habits::mail(day, nth, habit, &sender));
        }
    }
    mails.extend(habits::neutral(day, dice));
    if let Some(dice) = attacker {
        let benign = mails.len() as u64;
        let hostile = benign * ATTACKS / (100 - ATTACKS);
        mails.extend((0..=hostile).map(|nth| attacker::mail(day, nth, habits, dice)));
    }
    mails
}
