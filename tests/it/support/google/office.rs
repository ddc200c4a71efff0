//! An outbox fixture whose mailbox is Gmail: effects at the level of the outbox, against the emulator.

use std::sync::Arc;

use adjutant::{
    model::{AccountId, AccountMode, Action, Effect, action::ComposedMessage},
    policy::{ApprovedAction, PolicyContext, PolicyVerdict, judge_action},
    source::{
        calendar::Calendar,
        gmail::{GmailClient, GmailMailbox},
        google::Quota,
    },
};

use super::{Google, Pass, Person, YOU};
use crate::support::{
    outbox_fixture::{OutboxFixture, with_effect},
    test_home::WORK,
};

/// An outbox with a Gmail mailbox that holds one mail.
pub(crate) struct Office {
    pub(crate) yard: OutboxFixture,
    pub(crate) google: Google,
    pub(crate) postbox: Arc<GmailMailbox>,
}

impl Office {
    pub(crate) async fn open() -> Self {
        let google = Google::start();
        let mut yard = OutboxFixture::new().await;
        let letter = yard.home.letter("one").verified().question();
        yard.key = google.person(YOU).receives(letter.text().replace('\n', "\r\n"));
        let tokens = Arc::new(Pass::of(&google, YOU));
        let quota = || Arc::new(Quota::new(yard.home.clock.clone()));
        let client = GmailClient::new(tokens.clone(), quota(), Some(&google.url()));
        let calendar = Calendar::new(tokens, quota(), Some(&google.url()));
        let postbox = Arc::new(GmailMailbox::new(client, Some(calendar)));
        yard.outbox.register_mailbox(AccountId::from(WORK), postbox.clone());
        Self { yard, google, postbox }
    }

    pub(crate) fn you(&self) -> Person<'_> {
        self.google.person(YOU)
    }

    /// Returns an effect on the mail that the policy allows without an approval.
    pub(crate) fn approved(&self, step: &str, effect: Effect) -> Box<ApprovedAction> {
        let action = with_effect(self.yard.action(step, "On Friday, then."), effect);
        let policy = self.yard.app.effects().load_policy();
        let situation = PolicyContext {
            mode: AccountMode::Active,
            mail: Some(&self.yard.mail),
            labels: &["invoice".to_owned()],
            is_phishing: false,
            own: &[YOU.to_owned()],
            policy: &policy,
            approval: None,
            epoch: 0,
            restored_at: None,
            now: self.yard.now(),
        };
        match judge_action(action, &situation) {
            PolicyVerdict::Allowed(approved) => approved,
            other => panic!("{other:?}"),
        }
    }

    /// Returns a message as [`OutboxFixture::action`] writes it.
    pub(crate) fn message(&self, step: &str) -> ComposedMessage {
        self.yard.action(step, "On Friday, then.").effect.message().unwrap().clone()
    }

    /// Returns how often an action's message was delivered.
    pub(crate) fn times(&self, action: &Action) -> usize {
        let id = action.action_id.to_string();
        self.you().sent().iter().filter(|sent| sent.header("X-Adjutant-Action").as_deref() == Some(&id)).count()
    }
}
