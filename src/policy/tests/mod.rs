//! Every verdict, compared with a table (`verdicts.txt`) that was written from the design and not from the code.

mod single;

use chrono::Duration;

use super::{EffectPolicy, PolicyContext, PolicyVerdict, judge_action};
use crate::model::{
    AccountId, AccountMode, Action, ActionId, Address, Approval, Attachment, DecisionChannel, Effect, Instant, Mail,
    MailId, TaskId, UserId,
    action::{ApprovalTerms, Argument, ComposedMessage, InvoiceRecord, Origin, SendKind},
    ids::sha256_hex,
    mail::Invite,
};

const OWN: &str = "me@home.example";
/// On the allow-list: somebody who writes, and somebody who is only named by those who write.
const LISTED: &str = "listed@work.example";
const OTHER_LISTED: &str = "boss@work.example";
/// Not on the allow-list: somebody who writes, and somebody in Cc.
const THREAD: &str = "dana@work.example";
const IN_CC: &str = "carl@work.example";
const STRANGER: &str = "stranger@else.example";

fn at() -> Instant {
    "2026-11-16T08:00:00Z".parse().unwrap()
}

fn address(addr: &str) -> Address {
    Address { name: None, addr: addr.into() }
}

fn policy_with_allow_list() -> EffectPolicy {
    EffectPolicy::parse(&format!("allow: [{LISTED}, {OTHER_LISTED}]")).unwrap()
}

fn composed(to: &[&str], hidden: bool, attachment: bool) -> ComposedMessage {
    let text = "Any of these times would suit me.";
    let bcc = if hidden { "Bcc: eve@evil.example\r\n" } else { "" };
    let head = format!("From: {OWN}\r\nTo: {}\r\n{bcc}Subject: Re: hello\r\nMIME-Version: 1.0\r\n", to.join(", "));
    let (mime, attachments) = if attachment {
        let parts = format!(
            "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n{text}\r\n--b\r\n\
             Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\nPDF\r\n--b--\r\n"
        );
        let pdf = Attachment {
            name: "a.pdf".into(),
            content_type: "application/pdf".into(),
            size: 3,
            sha256: sha256_hex(b"PDF"),
        };
        (head + &parts, vec![pdf])
    } else {
        (format!("{head}Content-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n"), Vec::new())
    };
    let to = to.iter().map(|addr| address(addr)).collect();
    ComposedMessage { to, cc: vec![], subject: "Re: hello".into(), body: text.into(), mime, attachments }
}

const MODES: &[&str] = &["active", "observe"];
const TOOLS: &[&str] = &[
    "remind",
    "record_invoice",
    "create_folder",
    "label",
    "archive",
    "draft_reply",
    "send_reply",
    "answer_invitation",
    "send_mail",
    "forward",
    "send_calendar_invite",
];
const PROVENANCES: &[&str] = &["template", "person", "mail", "model", "other_mail"];
const RECIPIENTS: &[&str] = &[
    "sender",
    "own",
    "sender_and_own",
    "listed_in_cc",
    "sender_and_listed_in_cc",
    "organizer_in_cc",
    "thread",
    "sender_and_thread",
    "listed_not_in_mail",
    "new",
    "mixed",
    "many",
    "reply_to_elsewhere",
    "attachment",
    "nobody",
    "malformed",
    "hidden",
];
/// Who wrote, and what is known of it: on the allow-list or not, vouched for or not, vouched for as somebody else.
const TRUSTS: &[&str] = &["listed", "listed_unverified", "verified", "unverified", "phishing"];
const APPROVALS: &[&str] =
    &["none", "good", "used", "expired", "of_another", "of_another_policy", "before_a_restore", "outliving"];
const CHANNELS: &[DecisionChannel] = DecisionChannel::ALL;

/// One combination of everything that a verdict depends on.
#[derive(Debug, Clone, Copy)]
struct VerdictCase<'a> {
    mode: &'a str,
    tool: &'a str,
    provenance: &'a str,
    recipients: &'a str,
    trust: &'a str,
    approval: &'a str,
    channel: DecisionChannel,
}

impl VerdictCase<'_> {
    fn sender(&self) -> &'static str {
        if self.trust.starts_with("listed") { LISTED } else { THREAD }
    }

    fn people(&self) -> Vec<&'static str> {
        let sender = self.sender();
        match self.recipients {
            "own" => vec![OWN],
            "sender_and_own" => vec![sender, OWN],
            "listed_in_cc" | "organizer_in_cc" => vec![OTHER_LISTED],
            "sender_and_listed_in_cc" => vec![sender, OTHER_LISTED],
            "thread" => vec![IN_CC],
            "sender_and_thread" => vec![sender, IN_CC],
            "listed_not_in_mail" => vec![if sender == LISTED { OTHER_LISTED } else { LISTED }],
            "new" => vec![STRANGER],
            "mixed" => vec![sender, STRANGER],
            "many" => vec![sender; 6],
            "nobody" => vec![],
            "malformed" => vec!["d\u{430}na@work.example"],
            _ => vec![sender],
        }
    }

    fn effect(&self) -> Effect {
        let message = composed(&self.people(), self.recipients == "hidden", self.recipients == "attachment");
        let send = |kind| Effect::Send { kind, message: message.clone(), replaces: None };
        match self.tool {
            "remind" => Effect::Remind { at: at(), text: "t".into(), every: None },
            "record_invoice" => Effect::RecordInvoice {
                invoice: InvoiceRecord { payee: "p".into(), amount: None, currency: None, due: None, number: None },
            },
            "create_folder" => Effect::CreateFolder { name: "Taxes 2026".into() },
            "label" => Effect::Label { label: "invoice".into() },
            "archive" => Effect::Archive,
            "draft_reply" => Effect::Draft { message },
            "send_reply" => send(SendKind::Reply),
            "answer_invitation" => send(SendKind::Answer),
            "send_mail" => send(SendKind::New),
            "forward" => send(SendKind::Forward),
            _ => send(SendKind::Invite),
        }
    }

    fn action(&self) -> Action {
        let (origin, mail_id) = match self.provenance {
            "template" => (Origin::Template, None),
            "person" => (Origin::Person, None),
            "model" => (Origin::Model, None),
            "other_mail" => (Origin::Mail, Some(MailId(2))),
            _ => (Origin::Mail, Some(MailId(1))),
        };
        Action {
            action_id: ActionId::derive(at(), &["a"]),
            account: AccountId::from("a"),
            user: UserId::from("u"),
            task_id: Some(TaskId::derive(at(), &["t"])),
            step: self.tool.into(),
            generation: 0,
            mail_id: Some(MailId(1)),
            mail_key: Some("k".into()),
            tool: self.tool.into(),
            effect: self.effect(),
            arguments: vec![Argument {
                mail_id,
                verified: matches!(self.trust, "listed" | "verified"),
                ..Argument::new(Argument::RECIPIENTS, origin)
            }],
            terms: Some(ApprovalTerms {
                policy: if self.approval == "of_another_policy" {
                    "older".into()
                } else {
                    policy_with_allow_list().version
                },
                expires_at: at().plus(Duration::hours(if self.approval == "expired" { -1 } else { 1 })),
                nonce: "n".into(),
            }),
        }
    }

    fn mail(&self) -> Mail {
        let mut cc = vec![address(IN_CC)];
        if self.recipients != "listed_not_in_mail" {
            cc.push(address(OTHER_LISTED));
        }
        let mut mail = Mail { from: address(self.sender()), to: vec![address(OWN)], cc, ..Mail::default() };
        mail.authentication.verified = matches!(self.trust, "listed" | "verified");
        if self.recipients == "organizer_in_cc" {
            let organizer = Some(OTHER_LISTED.to_owned());
            mail.invite = Some(Invite { method: "REQUEST".into(), organizer, ..Invite::default() });
        }
        if self.recipients == "reply_to_elsewhere" {
            mail.reply_to = vec![address("thief@else.example")];
        }
        mail
    }

    fn approval(&self, action: &Action) -> Option<Approval> {
        let good = Approval {
            sha256: action.sha256().unwrap(),
            epoch: 7,
            channel: self.channel,
            expires_at: at().plus(Duration::hours(1)),
            used: false,
        };
        match self.approval {
            "none" => None,
            "used" => Some(Approval { used: true, ..good }),
            "expired" => Some(Approval { expires_at: at(), ..good }),
            "of_another" => Some(Approval { sha256: sha256_hex(b"another"), ..good }),
            "before_a_restore" => Some(Approval { epoch: 6, ..good }),
            "outliving" => Some(Approval { expires_at: at().plus(Duration::hours(2)), ..good }),
            _ => Some(good),
        }
    }

    fn verdict(&self) -> &'static str {
        let (action, mail, policy) = (self.action(), self.mail(), policy_with_allow_list());
        let approval = self.approval(&action);
        let own = [OWN.to_owned()];
        let labels = ["invoice".to_owned()];
        let situation = PolicyContext {
            mode: if self.mode == "active" { AccountMode::Active } else { AccountMode::Observe },
            mail: Some(&mail),
            labels: &labels,
            is_phishing: self.trust == "phishing",
            own: &own,
            policy: &policy,
            approval: approval.as_ref(),
            epoch: 7,
            restored_at: None,
            now: at(),
        };
        word(&judge_action(action, &situation))
    }
}

fn word(verdict: &PolicyVerdict) -> &'static str {
    match verdict {
        PolicyVerdict::Allowed(_) => "allowed",
        PolicyVerdict::NeedsApproval { .. } => "approval",
        PolicyVerdict::Withheld { .. } => "withheld",
        PolicyVerdict::Denied { .. } => "denied",
    }
}

/// One line of the table: seven patterns and the expected verdict.
struct VerdictLine {
    text: &'static str,
    columns: Vec<&'static str>,
}

fn lines() -> Vec<VerdictLine> {
    let kept = include_str!("verdicts.txt").lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    kept.map(|text| VerdictLine { text, columns: text.split_whitespace().collect() }).collect()
}

fn fits(pattern: &str, value: &str) -> bool {
    pattern == "*" || pattern.split('|').any(|one| one == value)
}

/// Returns the recipients that can matter: a step without a message has none, and a message that opens a conversation
/// needs an approval whoever it goes to.
fn recipients_of(tool: &str) -> Vec<&'static str> {
    let matters = |recipients: &&&str| match tool {
        "draft_reply" | "send_reply" | "answer_invitation" => true,
        "send_mail" | "forward" | "send_calendar_invite" => {
            ["sender", "own", "listed_in_cc", "new", "attachment", "nobody", "malformed", "hidden"].contains(recipients)
        }
        _ => **recipients == "sender",
    };
    RECIPIENTS.iter().filter(matters).copied().collect()
}

/// Returns the approvals and channels to try. Where nothing is done in any case, only no approval and a good one.
fn approvals_in(mode: &str) -> Vec<(&'static str, DecisionChannel)> {
    let said = APPROVALS.iter().filter(|approval| mode == "active" || ["none", "good"].contains(*approval));
    let channels = |approval: &&'static str| {
        let channels = if *approval == "none" { &CHANNELS[..1] } else { CHANNELS };
        channels.iter().map(|channel| (*approval, *channel)).collect::<Vec<_>>()
    };
    said.flat_map(channels).collect()
}

#[test]
fn every_verdict_is_the_one_of_the_design() {
    let lines = lines();
    assert!(lines.iter().all(|line| line.columns.len() == 8), "seven patterns and a verdict in each line");
    let mut used = vec![0_u32; lines.len()];
    let mut places = 0_u32;
    for mode in MODES {
        for tool in TOOLS {
            for provenance in PROVENANCES {
                for recipients in recipients_of(tool) {
                    for trust in TRUSTS {
                        for (approval, channel) in approvals_in(mode) {
                            let place = VerdictCase { mode, tool, provenance, recipients, trust, approval, channel };
                            let values = [*mode, tool, provenance, recipients, trust, approval, channel.as_str()];
                            let fit = |line: &VerdictLine| {
                                line.columns.iter().zip(values).all(|(one, value)| fits(one, value))
                            };
                            let nth = lines.iter().position(fit).unwrap_or_else(|| panic!("no line for {place:?}"));
                            used[nth] += 1;
                            places += 1;
                            assert_eq!(place.verdict(), lines[nth].columns[7], "{place:?}\nby: {}", lines[nth].text);
                        }
                    }
                }
            }
        }
    }
    let approvals = 1 + (APPROVALS.len() - 1) * CHANNELS.len() + 1 + CHANNELS.len();
    let recipients = 3 * RECIPIENTS.len() + 3 * 8 + 5;
    assert_eq!(places as usize, recipients * PROVENANCES.len() * TRUSTS.len() * approvals);
    for (line, used) in lines.iter().zip(used) {
        assert!(used > 0, "no place is decided by: {}", line.text);
    }
}
