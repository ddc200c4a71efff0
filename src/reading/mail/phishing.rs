//! What deceives in a mail: a demand for access or money by someone who is not who they say.
//!
//! Owns the patterns, each of several signs, because each sign alone is in honest mail too. A plain one keeps the mail
//! from opening a task; a mere likeness is only said beside the task.

use super::annotated_mail::AnnotatedMail;
use crate::model::Mail;
use crate::reading::{
    learned::{Head, MailScores, is_same_organisation},
    lexicon::{Feature, Lexicon, WordList},
    read::ReadContext,
    sentence::text::words,
    task::objective::truncate_at_word,
};

/// Why a mail seems to deceive.
pub(super) struct Deceit {
    pub(super) text: String,
    /// Several signs agree: the mail opens no task.
    pub(super) is_plain: bool,
}

impl Deceit {
    fn plain(text: String) -> Self {
        Self { text, is_plain: true }
    }

    fn likely(text: String) -> Self {
        Self { text, is_plain: false }
    }
}

pub(super) fn find_deceit(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    scores: &MailScores<'_>,
    context: &ReadContext<'_>,
    lookalike: Option<String>,
    link: Option<String>,
) -> Option<Deceit> {
    let suspect = Suspect {
        mail,
        annotated,
        is_verified: mail.authentication.verified,
        is_known: context.known_contact || context.thread_mine || context.me.is_me(&mail.from),
        is_own_thread: context.thread_mine,
        is_colleague: context
            .me
            .addresses
            .iter()
            .filter_map(|own| own.rsplit_once('@'))
            .any(|(_, own)| is_same_organisation(own, mail.from.domain())),
    };
    let is_lured = annotated.features().has_any(&[Feature::Lure, Feature::Credentials, Feature::Scam]);
    lookalike
        .map(Deceit::plain)
        .or_else(|| suspect.wants_money_elsewhere())
        .or_else(|| suspect.wants_money_unseen())
        .or_else(|| suspect.wants_fee_behind_link())
        .or_else(|| suspect.promises_money_behind_link())
        .or_else(|| suspect.wants_access())
        .or_else(|| link.map(|text| Deceit { text, is_plain: is_lured && !suspect.is_known && !suspect.is_verified }))
        .or_else(|| suspect.wants_access_or_money())
        .or_else(|| suspect.writes_like_swindler(scores))
}

/// A mail and what speaks for its sender.
struct Suspect<'a> {
    mail: &'a Mail,
    annotated: &'a AnnotatedMail<'a>,
    is_verified: bool,
    /// The person has written to the sender or in the thread.
    is_known: bool,
    is_own_thread: bool,
    /// Writes from the person's own domain, or says so.
    is_colleague: bool,
}

impl Suspect<'_> {
    fn has_any(&self, features: &[Feature]) -> bool {
        self.annotated.features().has_any(features)
    }

    fn presses(&self) -> bool {
        use Feature::{Pressure, SameDay, ShortNotice, Unreachable, Urgent};
        self.has_any(&[Urgent, SameDay, Pressure, ShortNotice, Unreachable])
    }

    fn has_link(&self) -> bool {
        !self.mail.links.is_empty() || self.mail.text.contains("://") || self.mail.text.contains("www.")
    }

    /// One of the words of a list stands in the subject or the text.
    fn says_one_of(&self, list: WordList) -> bool {
        let known = |plain: &str, language| {
            let lexicon = Lexicon::of(language);
            words(plain).any(|word| lexicon.has_word(list, word))
        };
        known(&self.annotated.subject, self.annotated.language)
            || self.annotated.sentences.iter().any(|it| known(&it.sentence.normalised, it.sentence.language))
    }

    /// The sentence that shows one of the features, or the subject.
    fn quote(&self, feature: Feature) -> String {
        let said = self.annotated.sentences.iter().find(|scored| scored.has(feature));
        truncate_at_word(said.map_or(self.mail.subject.as_str(), |scored| scored.sentence.raw), 100)
    }

    /// "Our bank has changed, please pay to the new account": the oldest trick with invoices.
    fn wants_money_elsewhere(&self) -> Option<Deceit> {
        if !self.has_any(&[Feature::BankChange]) || self.is_own_thread {
            return None;
        }
        let is_doubtful = !self.is_verified || (!self.is_known && self.presses());
        (is_doubtful && self.says_one_of(WordList::PaymentWords)).then(|| {
            Deceit::plain(format!(
                "wants money paid to another account than before, and nobody vouches for the sender: “{}”",
                self.quote(Feature::BankChange)
            ))
        })
    }

    /// "I am in a meeting and cannot talk, please transfer it today": a superior whose address nobody knows.
    fn wants_money_unseen(&self) -> Option<Deceit> {
        let is_bulk = self.mail.bulk_header.is_some() || self.mail.list_id.is_some();
        let is_doubtful = self.has_any(&[Feature::Unreachable]) && !self.is_known && !is_bulk;
        let presses = || self.has_any(&[Feature::Urgent, Feature::SameDay, Feature::Pressure, Feature::ShortNotice]);
        (is_doubtful && presses() && self.says_one_of(WordList::PaymentWords)).then(|| {
            Deceit::plain(format!(
                "someone you never wrote to wants money in a hurry and cannot be called: “{}”",
                self.quote(Feature::Unreachable)
            ))
        })
    }

    /// A small fee for a parcel, behind a link, within hours.
    fn wants_fee_behind_link(&self) -> Option<Deceit> {
        let is_doubtful = self.has_any(&[Feature::Fee]) && !self.is_verified && !self.is_known;
        let presses = || self.presses() || self.has_any(&[Feature::Consequence]);
        (is_doubtful && presses() && self.has_link() && self.says_one_of(WordList::ParcelWords)).then(|| {
            Deceit::plain(format!(
                "an unverified sender wants a fee paid behind a link: “{}”",
                self.quote(Feature::Fee)
            ))
        })
    }

    /// Money that waits behind a link, for whoever gives their card.
    fn promises_money_behind_link(&self) -> Option<Deceit> {
        use Feature::{Credentials, Lure, PromisedMoney, Scam, ShortNotice, Stranger};
        let is_doubtful = self.has_any(&[PromisedMoney]) && !self.is_verified && !self.is_known;
        let lures = || self.has_any(&[Credentials, Lure, Scam, ShortNotice, Stranger]);
        (is_doubtful && lures() && self.has_link()).then(|| {
            let said = self.quote(PromisedMoney);
            Deceit::plain(format!("an unverified sender promises money behind a link: “{said}”"))
        })
    }

    /// Access data, with a lure or a threat.
    fn wants_access(&self) -> Option<Deceit> {
        use Feature::{Alert, Consequence, Credentials, Intrusion, Lure, Pressure, ShortNotice, Stranger};
        let is_doubtful = self.has_any(&[Credentials]) && !self.is_verified && !self.is_known;
        let presses = || self.has_any(&[Lure, Pressure, Stranger, ShortNotice, Consequence, Alert, Intrusion]);
        (is_doubtful && !self.is_colleague && presses()).then(|| {
            Deceit::plain(format!("an unverified sender asks for access or money: “{}”", self.quote(Credentials)))
        })
    }

    fn wants_access_or_money(&self) -> Option<Deceit> {
        (self.has_any(&[Feature::Credentials]) && !self.is_verified).then(|| {
            let said = self.quote(Feature::Credentials);
            Deceit::likely(format!("an unverified sender asks for access or money: “{said}”"))
        })
    }

    /// Nothing that can be shown in one line, but much that is found together in swindles.
    fn writes_like_swindler(&self, scores: &MailScores<'_>) -> Option<Deceit> {
        (!self.is_verified && !self.is_known && scores.is_positive(Head::Phishing)).then(|| {
            let because = scores.explain(Head::Phishing);
            Deceit::likely(format!("an unverified sender writes like a swindler ({because})"))
        })
    }
}
