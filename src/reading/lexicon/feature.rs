//! What a sentence can show, and sets of that.
#![allow(unreachable_pub, reason = "the macro writes `pub`; the module keeps it in the planner")]

use crate::model::text_enum::text_enum;

text_enum! {
    /// What a sentence can show. The name is what a person reads in the reason.
    Feature {
        Always = "always",
        Imperative = "imperative",
        ImperativeLater = "imperative_later",
        Question = "question",
        QuestionToYou = "question_to_you",
        NamesYou = "names_you",
        ToYou = "to_you",
        ShortThanks = "short_thanks",
        Long = "long",
        Please = "please",
        AsksYou = "asks_you",
        LetMeKnow = "let_me_know",
        Needs = "needs",
        Hopes = "hopes",
        Proposes = "proposes",
        Meeting = "meeting",
        Gathers = "gathers",
        Commits = "commits",
        AsksWhen = "asks_when",
        Due = "due",
        Deadline = "deadline",
        Invoice = "invoice",
        Review = "review",
        Document = "document",
        Tells = "tells",
        Describes = "describes",
        Conditional = "conditional",
        Boilerplate = "boilerplate",
        HandsOver = "hands_over",
        Thanks = "thanks",
        Fyi = "fyi",
        NoAction = "no_action",
        Advert = "advert",
        Spam = "spam",
        Receipt = "receipt",
        Machine = "machine",
        Away = "away",
        Alert = "alert",
        YourAccount = "your_account",
        Urgent = "urgent",
        Calm = "calm",
        Credentials = "credentials",
        Injection = "injection",
        Remind = "remind",
        Folder = "folder",
        Summary = "summary",
        Scam = "scam",
        Sells = "sells",
        Pressure = "pressure",
        Family = "family",
        Trouble = "trouble",
        SameDay = "same_day",
        Lure = "lure",
        Stranger = "stranger",
        Stated = "stated",
        Grave = "grave",
        Consequence = "consequence",
        Obliges = "obliges",
        Intrusion = "intrusion",
        NamesAgent = "names_agent",
        OrdersAgent = "orders_agent",
        Mentions = "mentions",
        Debit = "debit",
        AtStake = "at_stake",
        Survey = "survey",
        Rhetorical = "rhetorical",
        Voids = "voids",
        AgentRules = "agent_rules",
        AgentFrame = "agent_frame",
        AgentHint = "agent_hint",
        Dictates = "dictates",
        DictatesOnly = "dictates_only",
        MailboxOrder = "mailbox_order",
        BankChange = "bank_change",
        Unreachable = "unreachable",
        Fee = "fee",
        ShortNotice = "short_notice",
        PromisedMoney = "promised_money",
        /// Says what follows is so only if something is not done.
        IfNot = "if_not",
        Harm = "harm",
        /// Asks only those for whom something does not fit: "if you cannot come".
        OnlyIf = "only_if",
        Delay = "delay",
    }
}

/// A set of features, one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::reading) struct FeatureSet(u128);

impl FeatureSet {
    pub(in crate::reading) fn insert(&mut self, feature: Feature) {
        self.0 |= 1 << feature as u32;
    }

    pub(in crate::reading) fn insert_all(&mut self, other: FeatureSet) {
        self.0 |= other.0;
    }

    pub(in crate::reading) fn remove(&mut self, feature: Feature) {
        self.0 &= !(1 << feature as u32);
    }

    pub(in crate::reading) const fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u32) != 0
    }

    pub(in crate::reading) fn has_any(self, features: &[Feature]) -> bool {
        features.iter().any(|feature| self.has(*feature))
    }

    pub(in crate::reading) fn iter(self) -> impl Iterator<Item = Feature> + Clone {
        let mut bits = self.0;
        std::iter::from_fn(move || {
            let feature = Feature::ALL.get(bits.trailing_zeros() as usize).copied()?;
            bits &= bits - 1;
            Some(feature)
        })
    }
}
