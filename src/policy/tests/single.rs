//! Single verdicts that the table cannot express.

use chrono::Duration;

use super::{LISTED, OWN, THREAD, VerdictCase, address, at, composed, policy_with_allow_list, word};
use crate::{
    model::{
        AccountMode, Action, Approval, Attachment, DecisionChannel, Effect, Instant, Mail, RiskClass,
        action::{Argument, ComposedMessage, Origin},
        ids::sha256_hex,
    },
    policy::{ApprovedAction, PolicyContext, PolicyVerdict, approve_post_send, judge_action},
};

fn plain(tool: &'static str) -> VerdictCase<'static> {
    VerdictCase {
        mode: "active",
        tool,
        provenance: "mail",
        recipients: "sender",
        trust: "verified",
        approval: "good",
        channel: DecisionChannel::Cli,
    }
}

fn judged(action: Action, mail: Option<&Mail>, approval: Option<&Approval>) -> PolicyVerdict {
    let own = [OWN.to_owned()];
    let (policy, labels) = (policy_with_allow_list(), ["invoice".to_owned()]);
    let situation = PolicyContext {
        mode: AccountMode::Active,
        mail,
        labels: &labels,
        is_phishing: false,
        own: &own,
        policy: &policy,
        approval,
        epoch: 7,
        restored_at: None,
        now: at(),
    };
    judge_action(action, &situation)
}

#[test]
fn effects_on_a_mail_need_one() {
    for tool in ["label", "archive", "draft_reply", "send_reply", "answer_invitation"] {
        assert_eq!(word(&judged(plain(tool).action(), None, None)), "denied", "{tool}");
    }
}

#[test]
fn a_label_that_is_not_configured_needs_a_rule_of_the_person() {
    let mail = plain("label").mail();
    let (person, sender) = (Argument::new("label", Origin::Person), Argument::new("label", Origin::Mail));
    let task = plain("label").action().task_id;
    for (task_id, arguments, expected) in [
        (None, vec![person.clone()], "allowed"),
        (task, vec![person], "denied"),
        (None, vec![sender], "denied"),
        (None, Vec::new(), "denied"),
    ] {
        let effect = Effect::Label { label: "Shop".into() };
        let action = Action { task_id, arguments: arguments.clone(), effect, ..plain("label").action() };
        assert_eq!(word(&judged(action, Some(&mail), None)), expected, "{task_id:?} {arguments:?}");
    }
}

#[test]
fn only_configured_labels_and_plain_folders() {
    let mail = plain("label").mail();
    let with = |tool, effect| word(&judged(Action { effect, ..plain(tool).action() }, Some(&mail), None));
    assert_eq!(with("label", Effect::Label { label: "evil".into() }), "denied");
    for name in ["../../etc", ".hidden", "a/b", "", " a", "a\0"] {
        assert_eq!(with("create_folder", Effect::CreateFolder { name: name.into() }), "denied", "{name:?}");
    }
}

#[test]
fn the_bytes_must_say_what_is_shown() {
    let mail = plain("send_reply").mail();
    type Twist = fn(&mut ComposedMessage);
    let twists: [(&str, Twist); 7] = [
        ("another recipient", |message| message.mime = message.mime.replace(THREAD, "eve@evil.example")),
        ("another subject", |message| message.mime = message.mime.replace("Re: hello", "Re: money")),
        ("another text", |message| message.mime = message.mime.replace("would suit", "would not suit")),
        ("another sender", |message| message.mime = message.mime.replace(OWN, "boss@home.example")),
        ("two To headers", |message| message.mime.insert_str(0, "To: eve@evil.example\r\n")),
        ("a hidden attachment", |message| {
            message.mime = composed(&[THREAD], false, true).mime;
        }),
        ("a calendar part in a reply", |message| {
            let part = "Content-Type: text/calendar";
            message.mime = composed(&[THREAD], false, true).mime.replace("Content-Type: application/pdf", part);
            message.attachments = vec![Attachment {
                name: "a.pdf".into(),
                content_type: "text/calendar".into(),
                size: 3,
                sha256: sha256_hex(b"PDF"),
            }];
        }),
    ];
    for (name, twist) in twists {
        let mut action = plain("send_reply").action();
        let Effect::Send { message, .. } = &mut action.effect else { panic!("a send") };
        twist(message);
        let approval = plain("send_reply").approval(&action);
        assert_eq!(word(&judged(action, Some(&mail), approval.as_ref())), "denied", "{name}");
    }
}

#[test]
fn a_gap_in_the_text_is_for_the_person() {
    let mail = plain("send_reply").mail();
    let mut action = plain("send_reply").action();
    let Effect::Send { message, .. } = &mut action.effect else { panic!("a send") };
    message.mime = message.mime.replace("Any of these times would suit me.", "…");
    message.body = "…".into();
    let approval = plain("send_reply").approval(&action);
    assert_eq!(word(&judged(action, Some(&mail), approval.as_ref())), "approval");
}

#[test]
fn an_allowed_action_is_the_one_that_was_judged() {
    let place = plain("send_reply");
    let (action, mail) = (place.action(), place.mail());
    let approval = place.approval(&action);
    let PolicyVerdict::Allowed(approved) = judged(action.clone(), Some(&mail), approval.as_ref()) else {
        panic!("allowed")
    };
    let approved: ApprovedAction = *approved;
    assert_eq!(*approved.action(), action);
}

#[test]
fn what_goes_with_a_message_needs_the_yes_it_left_under() {
    let place = plain("send_reply");
    let action = place.action();
    let good = place.approval(&action).unwrap();
    let follows = |approval: &Approval| approve_post_send(action.clone(), RiskClass::R2, approval).is_some();
    assert!(follows(&Approval { used: true, ..good.clone() }));
    assert!(follows(&Approval { used: true, expires_at: at(), ..good.clone() }), "it has left in time");
    assert!(!follows(&good), "nothing has left under it");
    assert!(!follows(&Approval { used: true, sha256: sha256_hex(b"another"), ..good }));
}

#[test]
fn what_came_before_a_restore_is_not_answered_unasked() {
    // From the person on the list, to that person: nobody need be asked, unless it may have been answered before.
    let action = VerdictCase { trust: "listed", ..plain("send_reply") }.action();
    let mut mail = Mail { from: address(LISTED), to: vec![address(OWN)], ..Mail::default() };
    mail.authentication.verified = true;
    let (own, policy) = ([OWN.to_owned()], policy_with_allow_list());
    let judged = |restored_at: Option<Instant>| {
        let situation = PolicyContext {
            mode: AccountMode::Active,
            mail: Some(&mail),
            labels: &[],
            is_phishing: false,
            own: &own,
            policy: &policy,
            approval: None,
            epoch: 7,
            restored_at,
            now: at(),
        };
        word(&judge_action(action.clone(), &situation))
    };
    assert_eq!(judged(None), "allowed");
    assert_eq!(judged(Some(at().plus(Duration::seconds(-1)))), "allowed", "it came later");
    assert_eq!(judged(Some(at())), judged(Some(at().plus(Duration::days(1)))));
    assert_eq!(judged(Some(at())), "approval");
}

#[test]
fn an_unknown_tool_argument_or_pair_is_denied() {
    let mail = plain("archive").mail();
    let judged_with = |tool: &str, argument: &str| {
        let mut action = plain("archive").action();
        action.tool = tool.into();
        action.arguments = vec![Argument::new(argument, Origin::Person)];
        word(&judged(action, Some(&mail), None))
    };
    assert_eq!(judged_with("archive", Argument::RECIPIENTS), "allowed");
    for (tool, argument) in [
        ("", "text"),
        ("rm -rf", "text"),
        ("label", "text"),
        ("send_reply", "text"),
        ("archive", "path"),
        ("archive", ""),
    ] {
        assert_eq!(judged_with(tool, argument), "denied", "{tool} {argument}");
    }
}
