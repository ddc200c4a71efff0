use super::{Situation, Verdict, judge};
use crate::model::{
    AccountId, AccountMode, Action, ActionId, Address, Effect, Instant, Mail, MailId, TaskId, UserId, action::Composed,
};

fn at() -> Instant {
    "2025-06-23T03:15:00Z".parse().unwrap()
}

fn address(addr: &str) -> Address {
    Address { name: None, addr: addr.into() }
}

fn mail() -> Mail {
    Mail { from: address("dana@work.example"), to: vec![address("me@home.example")], ..Mail::default() }
}

fn draft(to: &[&str]) -> Effect {
    let to = to.iter().map(|addr| address(addr)).collect();
    Effect::Draft { message: Composed { to, cc: vec![], subject: "Re".into(), body: "b".into(), mime: "m".into() } }
}

fn action(effect: Effect, mail_id: Option<MailId>) -> Action {
    Action {
        action_id: ActionId::derive(at(), &["a"]),
        account: AccountId::from("a"),
        user: UserId::from("u"),
        task_id: TaskId::derive(at(), &["t"]),
        step: "s".into(),
        generation: 0,
        mail_id,
        mail_key: None,
        tool: "t".into(),
        effect,
    }
}

fn word(effect: Effect, mode: AccountMode, phishing: bool, mail: Option<&Mail>) -> &'static str {
    let labels = ["invoice".to_owned()];
    let situation = Situation { mode, mail, labels: &labels, phishing };
    match judge(action(effect, mail.map(|_| MailId(1))), &situation) {
        Verdict::Allowed(_) => "allowed",
        Verdict::NeedsApproval { .. } => "approval",
        Verdict::Withheld { .. } => "withheld",
        Verdict::Denied { .. } => "denied",
    }
}

#[test]
fn verdicts_follow_the_class_table() {
    let label = |label: &str| Effect::Label { label: label.into() };
    let folder = |name: &str| Effect::CreateFolder { name: name.into() };
    let remind = || Effect::Remind { at: at(), text: "t".into() };
    // effect, active, observe, phishing
    let table = [
        (remind(), "allowed", "allowed", "allowed"),
        (folder("Taxes 2026"), "allowed", "allowed", "allowed"),
        (folder("../../etc"), "denied", "denied", "denied"),
        (folder(".hidden"), "denied", "denied", "denied"),
        (folder("a/b"), "denied", "denied", "denied"),
        (folder(""), "denied", "denied", "denied"),
        (label("invoice"), "allowed", "withheld", "withheld"),
        (label("evil"), "denied", "denied", "denied"),
        (Effect::Archive, "allowed", "withheld", "withheld"),
        (draft(&["dana@work.example"]), "allowed", "withheld", "withheld"),
        (draft(&["stranger@else.example"]), "approval", "withheld", "withheld"),
        (draft(&["dana@work.example"; 6]), "approval", "withheld", "withheld"),
        (draft(&[]), "denied", "denied", "denied"),
    ];
    let mail = mail();
    for (effect, active, observe, phishing) in table {
        assert_eq!(word(effect.clone(), AccountMode::Active, false, Some(&mail)), active, "{effect:?} active");
        assert_eq!(word(effect.clone(), AccountMode::Observe, false, Some(&mail)), observe, "{effect:?} observe");
        assert_eq!(word(effect.clone(), AccountMode::Active, true, Some(&mail)), phishing, "{effect:?} phishing");
    }
}

#[test]
fn a_reply_to_elsewhere_needs_a_person() {
    let diverted = Mail { reply_to: vec![address("thief@else.example")], ..mail() };
    assert_eq!(word(draft(&["dana@work.example"]), AccountMode::Active, false, Some(&diverted)), "approval");
}

#[test]
fn effects_on_a_mail_need_one() {
    for effect in [Effect::Archive, Effect::Label { label: "invoice".into() }, draft(&["dana@work.example"])] {
        assert_eq!(word(effect, AccountMode::Active, false, None), "denied");
    }
}
