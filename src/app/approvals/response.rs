//! What a person answers to an action in words: understood, told to them, and then carried out.
//!
//! What is not understood changes nothing and is never sent: the person edits the text instead. No response sends
//! anything. It closes the item, hides it, or makes a new action, which is shown and needs its own approval.

use anyhow::Context as _;
use chrono::{DateTime, Datelike as _, Days, NaiveDate, NaiveTime, TimeZone as _, Weekday};
use chrono_tz::Tz;
use serde::Serialize;
use serde_json::json;

use super::{
    edit::MessageReplacement,
    known_people::{describe_person, find_person},
};
use crate::{
    app::{ApprovalUseCases, BadInput, DecisionInput, ItemDetail},
    model::{
        ActionId, Address, DecisionKind, DeclinedPeriod, Effect, Facts, Instant, InvitationAnswer, ItemId, ItemKind,
        ItemState, Mail, Me, NamedMoment, ResponseWish, StepInstruction,
        action::{Argument, ComposedMessage, SendKind},
        nightly::CorrectionKind,
        task::SEND_REPLY,
    },
    reading::read_response,
    store::StoreError,
    tool::{MeetingSpan, MessageRevision, decline_letter, is_finished_letter, place_line, time_suits},
};

/// What a person's words would do. Nothing is done yet.
#[derive(Debug, Serialize)]
pub struct PlannedResponse {
    pub item_id: ItemId,
    /// The words as they were typed.
    pub words: String,
    /// What was understood, in sentences for the person.
    pub understood: Vec<String>,
    #[serde(skip)]
    act: ResponseAct,
}

/// How a response is carried out.
#[derive(Debug)]
enum ResponseAct {
    /// The action is rejected.
    Reject,
    /// The item is hidden until then.
    Snooze(Instant),
    /// The step is done again, or another in its place.
    Redo(StepInstruction),
    /// The message is changed. `to_others`: the person named its recipients.
    Revise { revision: Box<MessageRevision>, to_others: bool },
}

/// The action that waits, and what the meaning of a response depends on.
struct WaitingMessage<'a> {
    me: &'a Me,
    now: Instant,
    action_id: ActionId,
    /// The step that the action belongs to.
    step: &'a str,
    /// How the message is sent; none for a draft.
    kind: Option<SendKind>,
    message: &'a ComposedMessage,
    /// The text of the mail that is answered.
    mail_text: &'a str,
    language: String,
    /// The people of the conversation and those the person has written to.
    known: Vec<Address>,
}

impl ApprovalUseCases<'_> {
    /// Reads what a person answers to the item of this number or id. Returns what it would do; none if it is not
    /// understood. Refuses what is understood and cannot be done, with the reason.
    pub async fn understand_response(self, reference: &str, words: &str) -> anyhow::Result<Option<PlannedResponse>> {
        let detail = self.detail(reference).await?;
        ensure_answerable(&detail)?;
        let row = detail.action.as_ref().context("the effect is gone")?;
        let Some(message) = row.action.effect.message() else { return Ok(None) };
        let (mail_id, account) = (row.action.mail_id, row.action.account.clone());
        let task_id = row.action.task_id.context("the effect is for no task")?;
        let (facts, mail, mut known) = self
            .app
            .store
            .read(move |reader| {
                let mail = mail_id.map(|id| reader.mails().get(id)).transpose()?.flatten();
                Ok((reader.tasks().facts(task_id)?, mail, reader.mails().contacts(&account)?))
            })
            .await?;
        let mail: Mail = mail.unwrap_or_default();
        known.splice(0..0, mail.participants().filter(|person| !person.addr.is_empty()).cloned());
        let waiting = WaitingMessage {
            me: &self.app.config.me,
            now: self.app.clock.now(),
            action_id: row.action.action_id,
            step: &row.action.step,
            kind: match &row.action.effect {
                Effect::Send { kind, .. } => Some(*kind),
                _ => None,
            },
            message,
            mail_text: &mail.text,
            language: facts.map_or_else(|| "en".to_owned(), |facts: Facts| facts.language),
            known,
        };
        let words = words.trim();
        let wishes = if is_finished_letter(words) {
            Some(vec![ResponseWish::Say { text: words.to_owned() }])
        } else {
            read_response(words, waiting.me, waiting.now)
        };
        let Some(wishes) = wishes else { return Ok(None) };
        let planned = waiting.plan(&wishes)?;
        Ok(planned.map(|(act, understood)| PlannedResponse {
            item_id: detail.item.item_id,
            words: words.to_owned(),
            understood,
            act,
        }))
    }

    /// Does the same, and refuses what is not understood.
    pub(in crate::app) async fn understand_or_refuse(
        self,
        reference: &str,
        words: &str,
    ) -> anyhow::Result<PlannedResponse> {
        if words.trim().is_empty() {
            return Err(BadInput("say what to do instead".into()).into());
        }
        let planned = self.understand_response(reference, words).await?;
        planned.ok_or_else(|| not_understood(reference, words).into())
    }

    /// Does what was understood. Returns the item that waits now: a new one if the message was changed, else the same.
    pub async fn carry_out_response(self, planned: PlannedResponse, said: DecisionInput) -> anyhow::Result<ItemId> {
        let PlannedResponse { item_id, words, understood, act } = planned;
        match act {
            ResponseAct::Reject => {
                let said = DecisionInput { kind: DecisionKind::Reject, reason: words, ..said };
                self.decide(item_id, said).await?;
                Ok(item_id)
            }
            ResponseAct::Snooze(until) => {
                self.snooze(item_id, Some(until)).await?;
                Ok(item_id)
            }
            ResponseAct::Redo(instruction) => {
                let said = DecisionInput { kind: DecisionKind::Respond, reason: words, ..said };
                self.record_decision(item_id, said, Some(instruction)).await?;
                Ok(item_id)
            }
            ResponseAct::Revise { revision, to_others } => {
                let replacement = MessageReplacement {
                    by_person: if to_others { &[Argument::RECIPIENTS] } else { &[] },
                    kind: CorrectionKind::Respond,
                    words: &words,
                    understood: Some(json!({ "words": words, "understood": understood })),
                };
                self.replace_message(item_id, replacement, |_, old, new, now| revision.compose(old, new, now)).await
            }
        }
    }
}

impl PlannedResponse {
    /// Returns the message as the response would change it; none if it makes none or another step writes it.
    pub fn changed_message(&self) -> Option<&ComposedMessage> {
        match &self.act {
            ResponseAct::Revise { revision, .. } => Some(revision.message()),
            _ => None,
        }
    }

    /// Returns whether another item waits for the person once the response is carried out.
    pub const fn asks_again(&self) -> bool {
        matches!(self.act, ResponseAct::Redo(_) | ResponseAct::Revise { .. })
    }
}

/// Refuses an item that no words can answer.
fn ensure_answerable(detail: &ItemDetail) -> anyhow::Result<()> {
    let item = &detail.item;
    let why = match (item.kind, item.state) {
        (ItemKind::Action, ItemState::Open) => return Ok(()),
        (ItemKind::Action, state) => format!("number {} is {state} already", item.number),
        (kind, _) => {
            let kind = kind.as_str().replace('_', " ");
            format!("{kind} cannot be answered with {}", DecisionKind::Respond)
        }
    };
    Err(StoreError::Refused(why))?
}

/// Returns the refusal of words that were not understood, with what to do instead.
fn not_understood(reference: &str, words: &str) -> BadInput {
    let words: String = words.trim().chars().take(60).collect();
    BadInput(format!(
        "“{words}” is not understood, and nothing was changed. Say a time, a place, a recipient, \"tell her …\", \"decline\", \
         \"later\", \"shorter\" or \"send nothing\"; or write the text yourself: `adjutant hitl edit {reference} --text …`"
    ))
}

impl WaitingMessage<'_> {
    /// Returns how the wishes are carried out, and in sentences what they do; none if they do not fit this message.
    fn plan(&self, wishes: &[ResponseWish]) -> Result<Option<(ResponseAct, Vec<String>)>, BadInput> {
        match wishes {
            [ResponseWish::SendNothing] => {
                Ok(Some((ResponseAct::Reject, vec!["nothing is sent, and the step is yours".to_owned()])))
            }
            [ResponseWish::AskLater { at }] => {
                let until = at.or_else(|| self.next_working_day()).ok_or_else(|| BadInput("say until when".into()))?;
                Ok(Some((ResponseAct::Snooze(until), vec![format!("you are asked again on {}", self.format(until))])))
            }
            [ResponseWish::Move(moment)] if self.kind != Some(SendKind::Invite) => self.plan_time_answer(*moment, None),
            [ResponseWish::Move(moment), ResponseWish::Place { place }]
            | [ResponseWish::Place { place }, ResponseWish::Move(moment)]
                if self.kind != Some(SendKind::Invite) =>
            {
                self.plan_time_answer(*moment, Some(place))
            }
            wishes
                if wishes.iter().all(|wish| matches!(wish, ResponseWish::Answer { .. } | ResponseWish::Say { .. })) =>
            {
                Ok(self.plan_text(wishes))
            }
            wishes => self.plan_revision(wishes),
        }
    }

    /// Plans another text: what the person says, or the answer to an invitation.
    fn plan_text(&self, wishes: &[ResponseWish]) -> Option<(ResponseAct, Vec<String>)> {
        let said = wishes.iter().find_map(|wish| match wish {
            ResponseWish::Say { text } => Some(text.as_str()),
            _ => None,
        });
        let answered = wishes.iter().find_map(|wish| match wish {
            ResponseWish::Answer { answer, period } => Some((*answer, *period)),
            _ => None,
        });
        match (self.kind, answered) {
            (Some(SendKind::Answer), Some((answer, period))) => Some(self.answer_invitation(answer, period, said)),
            (Some(SendKind::New | SendKind::Forward), Some(_)) => None,
            (_, Some((InvitationAnswer::Declined, period))) => {
                let words =
                    said.map_or_else(|| decline_letter(&self.language, self.me, self.mail_text, period), str::to_owned);
                Some(self.redo(words, "it is declined"))
            }
            // Only an invitation can be accepted, and what waits is approved by a key or a command of its own.
            (_, Some(_)) => None,
            (_, None) => said.map(|said| self.redo(said.to_owned(), "the message says something else")),
        }
    }

    /// Plans the answer to an invitation, with what is said beside it.
    fn answer_invitation(
        &self,
        answer: InvitationAnswer,
        period: Option<DeclinedPeriod>,
        said: Option<&str>,
    ) -> (ResponseAct, Vec<String>) {
        let reason = period.map(|period| decline_letter(&self.language, self.me, self.mail_text, Some(period)));
        let words = said.map(str::to_owned).or(reason).unwrap_or_default();
        let mut understood = vec![match answer {
            InvitationAnswer::Accepted => "the invitation is accepted".to_owned(),
            InvitationAnswer::Tentative => "the invitation is accepted tentatively".to_owned(),
            InvitationAnswer::Declined => "the invitation is declined".to_owned(),
        }];
        understood.extend((!words.is_empty()).then(|| format!("the message says: “{words}”")));
        (ResponseAct::Redo(StepInstruction { step: self.step.to_owned(), words, answer: Some(answer) }), understood)
    }

    /// Plans that the step is done again with these words; a reply takes the place of an invitation, of an answer to one
    /// and of a draft.
    fn redo(&self, words: String, what: &str) -> (ResponseAct, Vec<String>) {
        let is_own_text = matches!(self.kind, Some(SendKind::Reply | SendKind::New | SendKind::Forward));
        let step = if is_own_text { self.step } else { SEND_REPLY };
        let mut understood = vec![format!("{what}: “{words}”")];
        understood.extend(match self.kind {
            Some(SendKind::Invite) => Some("no invitation is sent; a reply takes its place".to_owned()),
            Some(SendKind::Answer) => Some("the invitation is not answered; a reply takes its place".to_owned()),
            _ => None,
        });
        (ResponseAct::Redo(StepInstruction { step: step.to_owned(), words, answer: None }), understood)
    }

    /// Plans an answer that names a time, where what waits is no invitation whose time could be changed. To somebody
    /// else's invitation it is a no with another time.
    fn plan_time_answer(
        &self,
        moment: NamedMoment,
        place: Option<&str>,
    ) -> Result<Option<(ResponseAct, Vec<String>)>, BadInput> {
        let (Some(day), Some(SendKind::Reply | SendKind::Answer)) = (moment.day, self.kind) else { return Ok(None) };
        let at = self.resolve(day.and_time(moment.time.unwrap_or(self.me.work_end)))?;
        let time = time_suits(&self.language, self.me, at, moment.time.is_some());
        let words = match place {
            Some(place) => format!("{time}\n{}", place_line(&self.language, place)),
            None => time,
        };
        Ok(Some(match self.kind {
            Some(SendKind::Answer) => self.answer_invitation(InvitationAnswer::Declined, None, Some(&words)),
            _ => self.redo(words, "the message names another time"),
        }))
    }

    /// Moves the meeting of an invitation. What was not said of day and hour stays, and so does its length. Returns the
    /// sentence that says so; none for a message without a meeting.
    fn move_meeting(&self, revision: &mut MessageRevision, moment: NamedMoment) -> Result<Option<String>, BadInput> {
        let Some(event) = revision.event() else { return Ok(None) };
        let old = self.local(event.start).naive_local();
        let day = moment.day.map_or(old.date(), |day| in_week_of(day, old.date(), moment.is_weekday));
        let start = self.resolve(day.and_time(moment.time.unwrap_or(old.time())))?;
        let end = start.plus(event.end.utc() - event.start.utc());
        revision.move_to(MeetingSpan { start, end });
        let until = self.local(end).format("%H:%M (UTC%:z)");
        Ok(Some(format!("the meeting is on {} to {until}", self.format(start))))
    }

    /// Plans changes of the message as it is: time, place, recipients, a sentence more, fewer words.
    fn plan_revision(&self, wishes: &[ResponseWish]) -> Result<Option<(ResponseAct, Vec<String>)>, BadInput> {
        let mut revision = MessageRevision::of(self.message, &self.language);
        let mut understood = Vec::new();
        let mut to_others = false;
        for wish in wishes {
            match wish {
                ResponseWish::SendTo { .. } if self.kind == Some(SendKind::Answer) => {
                    return Err(BadInput("the answer to an invitation goes to whoever invited".into()));
                }
                ResponseWish::SendTo { who, is_added } => {
                    understood.push(self.send_to(&mut revision, who, *is_added)?);
                    to_others = true;
                }
                ResponseWish::Move(moment) => match self.move_meeting(&mut revision, *moment)? {
                    Some(told) => understood.push(told),
                    None => return Ok(None),
                },
                ResponseWish::Place { place } if self.kind == Some(SendKind::Invite) => {
                    revision.hold_at(place);
                    understood.push(format!("the place is: {place}"));
                }
                ResponseWish::Append { text } => {
                    revision.append(text);
                    understood.push(format!("the message also says: “{text}”"));
                }
                ResponseWish::Shorten if revision.shorten() => {
                    understood.push("phrases of courtesy are left out".into())
                }
                _ => return Ok(None),
            }
        }
        // What cannot be brought into line is refused before anything is decided.
        revision.clone().compose(self.action_id, self.action_id, self.now).map_err(|cannot| BadInput(cannot.0))?;
        Ok(Some((ResponseAct::Revise { revision: Box::new(revision), to_others }, understood)))
    }

    /// Changes or adds a recipient. Returns the sentence that says so.
    fn send_to(&self, revision: &mut MessageRevision, who: &str, is_added: bool) -> Result<String, BadInput> {
        let person = find_person(who, &self.known, &self.me.addresses)?;
        let told = describe_person(&person);
        if is_added {
            if revision.message().recipients().any(|to| to.addr == person.addr) {
                return Err(BadInput(format!("it goes to {told} already")));
            }
            revision.add_recipient(person);
            return Ok(format!("it also goes to {told}"));
        }
        let before: Vec<String> = revision.message().recipients().map(describe_person).collect();
        revision.send_to(vec![person]);
        Ok(format!("it goes to {told} instead of {}", before.join(", ")))
    }

    /// Returns a time of the person's clock as a point in time. Refuses one that is past.
    fn resolve(&self, local: chrono::NaiveDateTime) -> Result<Instant, BadInput> {
        let at = self.me.time_zone.from_local_datetime(&local).earliest().and_then(|at| Instant::new(at.to_utc()));
        let at = at.ok_or_else(|| BadInput(format!("there is no {local} on your clock")))?;
        if at <= self.now {
            return Err(BadInput(format!("{} is past; say a time to come", self.format(at))));
        }
        Ok(at)
    }

    /// Returns the beginning of the next working day.
    fn next_working_day(&self) -> Option<Instant> {
        let today = self.local(self.now).date_naive();
        let mut days = (1..=7).filter_map(|ahead| today.checked_add_days(Days::new(ahead)));
        let day = days.find(|day| self.me.work_days.contains(&day.weekday())).or_else(|| today.succ_opt())?;
        self.resolve(day.and_time(self.me.work_start.max(NaiveTime::MIN))).ok()
    }

    fn local(&self, at: Instant) -> DateTime<Tz> {
        at.utc().with_timezone(&self.me.time_zone)
    }

    fn format(&self, at: Instant) -> String {
        self.local(at).format("%a %d %b %Y, %H:%M").to_string()
    }
}

/// Returns the day that is meant where a day was said by its name: that of the week in which the meeting is, if that
/// week comes later. Any other day is meant as it was said.
fn in_week_of(said: NaiveDate, meeting: NaiveDate, is_weekday: bool) -> NaiveDate {
    let monday = |day: NaiveDate| day.week(Weekday::Mon).first_day();
    let weeks = (monday(meeting) - monday(said)).num_weeks();
    let later = u64::try_from(weeks).ok().filter(|_| is_weekday).map(|weeks| Days::new(weeks * 7));
    later.and_then(|later| said.checked_add_days(later)).unwrap_or(said)
}
