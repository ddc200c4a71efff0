//! Changes a message that waits for approval as a person asked: to whom it goes, where the meeting is, when and where the meeting is, what it says too,
//! and fewer words. Everything else stays as it was.

use super::{
    InvitationMove, MeetingSpan, ToolError,
    letter::{LetterWording, insert_before_ending, readdress_greeting, remove_courtesies},
    move_invitation, place_line,
    reword::{calendar_text, parse, recompose},
};
use crate::{
    icalendar::{EventTimes, UnfoldedCalendar, escape_text, quote_parameter},
    model::{ActionId, Address, Instant, action::ComposedMessage},
};

/// A message that is being changed.
#[derive(Debug, Clone)]
pub struct MessageRevision {
    old: ComposedMessage,
    new: ComposedMessage,
    calendar: Option<UnfoldedCalendar>,
    /// When the meeting is instead.
    moved: Option<MeetingSpan>,
    /// The language of its fixed words.
    language: String,
}

impl MessageRevision {
    /// Begins with the message as it is.
    pub fn of(message: &ComposedMessage, language: &str) -> Self {
        let calendar = parse(message).ok().and_then(|parsed| calendar_text(&parsed));
        let calendar = calendar.map(|text| UnfoldedCalendar::unfold(&text));
        Self { old: message.clone(), new: message.clone(), calendar, moved: None, language: language.to_owned() }
    }

    /// Returns the message as it will be, but for its bytes.
    pub const fn message(&self) -> &ComposedMessage {
        &self.new
    }

    /// Returns when the meeting is; none without one.
    pub fn event(&self) -> Option<EventTimes> {
        EventTimes::read(&self.calendar.as_ref()?.render())
    }

    /// Moves the meeting to another time: in the text, the subject and the calendar part.
    pub const fn move_to(&mut self, span: MeetingSpan) {
        self.moved = Some(span);
    }

    /// Sends it to other people, who are greeted in place of the first recipient and are the guests of a meeting.
    pub fn send_to(&mut self, to: Vec<Address>) {
        let wording = LetterWording::of(&self.language);
        if let (Some(old), Some(new)) = (self.new.to.first(), to.first()) {
            self.new.body = readdress_greeting(&self.new.body, old.name.as_deref(), new.name.as_deref(), wording);
        }
        self.new.cc.clear();
        self.set_recipients(to);
    }

    /// Sends it to one more person.
    pub fn add_recipient(&mut self, to: Address) {
        let mut all = self.new.to.clone();
        all.push(to);
        self.set_recipients(all);
    }

    fn set_recipients(&mut self, to: Vec<Address>) {
        let guests: Vec<String> = to
            .iter()
            .map(|to| {
                let name = quote_parameter(to.label());
                format!("ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN={name}:mailto:{}", to.addr)
            })
            .collect();
        self.calendar = self.calendar.take().map(|calendar| calendar.with_property("ATTENDEE", &guests));
        self.new.to = to;
    }

    /// Names the place of the meeting, in the text and in the calendar part.
    pub fn hold_at(&mut self, place: &str) {
        let line = place_line(&self.language, place);
        self.new.body = insert_before_ending(&self.new.body, &line, "\n");
        let property = format!("LOCATION:{}", escape_text(place));
        self.calendar = self.calendar.take().map(|calendar| calendar.with_property("LOCATION", &[property]));
    }

    /// Adds a sentence at the end of the text.
    pub fn append(&mut self, sentence: &str) {
        self.new.body = insert_before_ending(&self.new.body, sentence, "\n\n");
    }

    /// Leaves out phrases of courtesy. Returns whether there were any.
    pub fn shorten(&mut self) -> bool {
        let shorter = remove_courtesies(&self.new.body, LetterWording::of(&self.language));
        let is_shorter = shorter != self.new.body;
        self.new.body = shorter;
        is_shorter
    }

    /// Returns the message as bytes, with the ids and the date of the new action.
    pub fn compose(self, old: ActionId, new: ActionId, now: Instant) -> Result<ComposedMessage, ToolError> {
        // The event stands in a Google calendar under the id of the action.
        let (old_id, new_id) =
            (format!("UID:{}@google.com", old.event_id()), format!("UID:{}@google.com", new.event_id()));
        let calendar = self.calendar.map(|calendar| {
            let is_entered = calendar.render().replace("\r\n ", "").contains(&old_id);
            if is_entered { calendar.with_property("UID", &[new_id]).render() } else { calendar.render() }
        });
        let token = new.to_string();
        let message = recompose(self.new, &parse(&self.old)?, &token, calendar, now)?;
        match self.moved {
            Some(to) => move_invitation(&message, &InvitationMove { token: &token, to, their_zone: None, now }),
            None => Ok(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(body: &str) -> MessageRevision {
        let dana = Address { name: Some("Dana Levi".into()), addr: "dana@work.example".into() };
        let message = ComposedMessage { to: vec![dana], body: body.into(), ..ComposedMessage::default() };
        MessageRevision::of(&message, "en")
    }

    #[test]
    fn what_is_added_stands_before_the_closing() {
        let body = "Hi Dana,\n\nThursday suits me.\n\nBest regards,\nAlex Green\n";
        let mut revision = letter(body);
        revision.append("I will bring the contract.");
        let expected = "Hi Dana,\n\nThursday suits me.\n\nI will bring the contract.\n\nBest regards,\nAlex Green\n";
        assert_eq!(revision.message().body, expected);
        let mut revision = letter("Thursday suits me.\n");
        revision.append("I will bring it.");
        assert_eq!(revision.message().body, "Thursday suits me.\n\nI will bring it.\n");
    }

    #[test]
    fn another_recipient_is_greeted_by_their_name() {
        let marc = |name: Option<&str>| Address { name: name.map(str::to_owned), addr: "marc@vale.example".into() };
        for (greeting, name, expected) in [
            ("Hi Dana,", Some("Marc Weber"), "Hi Marc,"),
            ("Hello Dana Levi,", Some("Marc Weber"), "Hello Marc Weber,"),
            ("Dear Ms Levi,", Some("Marc Weber"), "Hello,"),
            ("Hi Dana,", None, "Hello,"),
            ("Thursday, Dana, suits me.", Some("Marc Weber"), "Thursday, Dana, suits me."),
        ] {
            let mut revision = letter(&format!("{greeting}\n\nYes.\n"));
            revision.send_to(vec![marc(name)]);
            assert_eq!(revision.message().body, format!("{expected}\n\nYes.\n"));
            assert_eq!(revision.message().to, [marc(name)]);
        }
    }

    #[test]
    fn only_courtesy_is_left_out() {
        for (language, body, expected) in [
            (
                "en",
                "Hi,\n\nThank you for your mail. Any of these times would suit me:\n\n- 1\n",
                Some("Hi,\n\nAny of these times would suit me:\n\n- 1\n"),
            ),
            ("en", "Hi,\n\nThank you for your mail, it has arrived.\n", Some("Hi,\n\nIt has arrived.\n")),
            ("de", "Hallo,\n\ndanke für deine Mail, sie ist angekommen.\n", Some("Hallo,\n\nsie ist angekommen.\n")),
            ("en", "Hi,\n\nThe thank you for your mail was nice.\n", None),
            ("en", "Hi,\n\nThank you for your mail.\n", None),
        ] {
            let message = ComposedMessage { body: body.into(), ..ComposedMessage::default() };
            let mut revision = MessageRevision::of(&message, language);
            assert_eq!(revision.shorten().then_some(revision.message().body.as_str()), expected, "{body}");
        }
    }
}
