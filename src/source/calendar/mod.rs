//! Google Calendar of a Gmail account: when the person is busy, and the events of approved invitations and answers.
//!
//! Other people are told by the approved mail alone. This module only keeps the person's own calendar in step: it never
//! has Google notify anybody, and never changes an event that it recognises by its UID alone. A new event gets an id
//! derived from the action and is looked up before it is created, so repeating a call has no further effect.

mod part;

use std::sync::Arc;

use google_calendar3::{
    CalendarHub as Hub, Result as ApiResult,
    api::{Event, EventAttendee, EventDateTime, FreeBusyRequest, FreeBusyRequestItem, Scope},
    common::Response,
};
use tokio::runtime::Handle;

use super::{
    Busy, CalendarEvent,
    google::{ApiCaller, ApiError, CallPrice, Connector, FailureDetails, Quota, TokenProvider, build_http_client},
};
use crate::{
    failpoint,
    model::{ActionId, Instant, action::ComposedMessage},
};
use part::CalendarPart;

/// The API's name for the person's own calendar.
const PRIMARY: &str = "primary";
/// The value of `sendUpdates` by which Google notifies nobody: the approved mail has been sent already.
const TELL_NOBODY: &str = "none";
/// Scope for reading and changing events.
const EVENTS: Scope = Scope::Event;
/// Scope for reading when the person is busy, and nothing else.
const FREE_BUSY: Scope = Scope::Freebusy;
/// The scopes that the person must consent to at sign-in.
pub const SCOPES: [&str; 2] =
    ["https://www.googleapis.com/auth/calendar.events", "https://www.googleapis.com/auth/calendar.freebusy"];
/// The Calendar API counts requests, each as one unit.
const PRICE: CallPrice = CallPrice::of(1);

/// One person's calendar. Cheap to clone. Its methods block, so they must run on a blocking thread.
#[derive(Clone)]
pub struct Calendar {
    hub: Arc<Hub<Connector>>,
    caller: ApiCaller,
}

impl Calendar {
    /// Creates a client. `base` is the address of the API, if it is not Google's. Must be called inside the runtime
    /// that is to drive the connections.
    pub fn new(tokens: Arc<dyn TokenProvider>, quota: Arc<Quota>, base: Option<&str>) -> Self {
        let caller = ApiCaller::new(Handle::current(), tokens, quota);
        let mut hub = Hub::new(build_http_client(), caller.bearer());
        hub.user_agent(concat!("adjutant/", env!("CARGO_PKG_VERSION")).to_owned());
        if let Some(base) = base {
            let base = base.trim_end_matches('/');
            hub.base_url(format!("{base}/calendar/v3/"));
            hub.root_url(format!("{base}/"));
        }
        Self { hub: Arc::new(hub), caller }
    }

    /// Returns the periods between two times in which the person is busy, earliest first.
    pub fn busy(&self, from: Instant, to: Instant) -> Result<Vec<Busy>, ApiError> {
        let request = FreeBusyRequest {
            time_min: Some(from.utc()),
            time_max: Some(to.utc()),
            items: Some(vec![FreeBusyRequestItem { id: Some(PRIMARY.into()) }]),
            ..FreeBusyRequest::default()
        };
        let answer = failpoint::around("calendar.busy", || {
            self.call(async |hub, heard| {
                let call = hub.freebusy().query(request.clone()).add_scope(FREE_BUSY);
                call.delegate(heard).doit().await
            })
        })?;
        let own = answer.calendars.unwrap_or_default().remove(PRIMARY).unwrap_or_default();
        if let Some(error) = own.errors.iter().flatten().next() {
            let reason = error.reason.clone().unwrap_or_default();
            return Err(ApiError::Refused { status: 200, reason });
        }
        let mut busy: Vec<Busy> = own.busy.unwrap_or_default().into_iter().filter_map(span).collect();
        busy.sort_by_key(|busy| busy.from);
        Ok(busy)
    }

    /// Adds the event of an invitation that has been sent, unless it is there already. Returns what was done, as text
    /// for a person.
    pub fn add_event(&self, action_id: ActionId, message: &ComposedMessage) -> Result<String, ApiError> {
        let Some(part) = CalendarPart::from_message(message) else {
            return Ok("it held no event for the calendar".into());
        };
        let id = action_id.event_id();
        if self.event(&id)?.is_some() {
            return Ok("its event is in the calendar".into());
        }
        let event = Event { id: Some(id), ..entry(&part) };
        let made = failpoint::around("calendar.insert", || {
            self.call(async |hub, heard| {
                let call = hub.events().insert(event.clone(), PRIMARY).send_updates(TELL_NOBODY).add_scope(EVENTS);
                call.delegate(heard).doit().await
            })
        });
        match made {
            // A conflict means that the event was created since the lookup. Only this program uses ids of this form.
            Ok(_) | Err(ApiError::Conflict) => Ok("its event is in the calendar".into()),
            Err(error) => Err(error),
        }
    }

    /// Records the person's answer in the event of an invitation they received, provided that the event in the calendar
    /// is the one they answered. Returns what was done, as text for a person.
    pub fn answer(&self, message: &ComposedMessage) -> Result<String, ApiError> {
        let Some(part) = CalendarPart::from_message(message) else {
            return Ok("it held no answer for the calendar".into());
        };
        let (events, invited) = (self.events_of(&part.uid)?, part.event());
        let Some(first) = events.first().map(known) else { return Ok("the calendar holds no such event".into()) };
        let Some(event) = events.into_iter().find(|event| known(event).difference(&invited).is_none()) else {
            let why = first.difference(&invited).unwrap_or_default();
            return Ok(format!(
                "the calendar was left alone: what it has under the invitation's id is not the event you answered ({why}: '{}' of {})",
                first.summary, first.organizer
            ));
        };
        let Some(id) = event.id.clone() else { return Ok("the calendar holds no such event".into()) };
        let mut attendees = event.attendees.unwrap_or_default();
        let answers = part.attendees.first().map(|(address, status)| (address.as_str(), response(status)));
        let (own, response) = answers.unwrap_or_default();
        let mine = |one: &EventAttendee| {
            one.self_ == Some(true) || one.email.as_deref().is_some_and(|email| email.eq_ignore_ascii_case(own))
        };
        match attendees.iter_mut().find(|one| mine(one)) {
            Some(me) => me.response_status = Some(response.to_owned()),
            None => attendees.push(attendee(own, response)),
        }
        let change = Event { attendees: Some(attendees), ..Event::default() };
        failpoint::around("calendar.patch", || {
            self.call(async |hub, heard| {
                let call = hub.events().patch(change.clone(), PRIMARY, &id).send_updates(TELL_NOBODY).add_scope(EVENTS);
                call.delegate(heard).doit().await
            })
        })?;
        Ok("the calendar knows your answer".into())
    }

    /// Returns the event with one of our own ids.
    fn event(&self, id: &str) -> Result<Option<Event>, ApiError> {
        let read =
            self.call(async |hub, heard| hub.events().get(PRIMARY, id).add_scope(EVENTS).delegate(heard).doit().await);
        match read {
            Ok(event) => Ok(Some(event)),
            Err(ApiError::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the events that the calendar holds under a UID.
    pub fn invited(&self, uid: &str) -> Result<Vec<CalendarEvent>, ApiError> {
        let events = failpoint::around("calendar.invited", || self.events_of(uid))?;
        Ok(events.iter().map(known).collect())
    }

    /// Returns the events under a UID, as the API has them.
    fn events_of(&self, uid: &str) -> Result<Vec<Event>, ApiError> {
        let listed = self.call(async |hub, heard| {
            let call = hub.events().list(PRIMARY).i_cal_uid(uid).add_scope(EVENTS);
            call.delegate(heard).doit().await
        })?;
        Ok(listed.items.unwrap_or_default())
    }

    /// Makes a call. Every call in this module is idempotent, so all of them may be retried.
    fn call<T>(
        &self,
        request: impl AsyncFn(&Hub<Connector>, &mut FailureDetails) -> ApiResult<(Response, T)>,
    ) -> Result<T, ApiError> {
        self.caller.call(PRICE, async |heard| request(&self.hub, heard).await)
    }
}

/// Converts an event of Google's for comparison with an invitation. An all-day event begins at midnight UTC, as it does
/// in the iCalendar reader.
fn known(event: &Event) -> CalendarEvent {
    let at = |time: &Option<EventDateTime>| {
        let time = time.as_ref()?;
        let day = || Some(time.date?.and_hms_opt(0, 0, 0)?.and_utc());
        time.date_time.or_else(day).and_then(Instant::new)
    };
    let organizer = event.organizer.as_ref().and_then(|organizer| organizer.email.clone());
    let flagged = || event.attendees.iter().flatten().find(|one| one.organizer == Some(true))?.email.clone();
    CalendarEvent {
        summary: event.summary.clone().unwrap_or_default(),
        start: at(&event.start),
        end: at(&event.end),
        organizer: organizer.or_else(flagged).unwrap_or_default().to_lowercase(),
        sequence: event.sequence.and_then(|sequence| u32::try_from(sequence).ok()).unwrap_or_default(),
    }
}

/// Converts a busy period; none when one of its ends is missing.
fn span(period: google_calendar3::api::TimePeriod) -> Option<Busy> {
    Some(Busy { from: Instant::from_utc_clamped(period.start?), to: Instant::from_utc_clamped(period.end?) })
}

/// Returns the event to be created for an invitation.
fn entry(part: &CalendarPart) -> Event {
    let at = |time| EventDateTime { date_time: Some(time), ..EventDateTime::default() };
    let attendees = part.attendees.iter().map(|(address, status)| attendee(address, response(status))).collect();
    Event {
        summary: Some(part.summary.clone()),
        start: Some(at(part.start)),
        end: Some(at(part.end)),
        attendees: Some(attendees),
        ..Event::default()
    }
}

fn attendee(address: &str, response: &str) -> EventAttendee {
    EventAttendee {
        email: Some(address.to_owned()),
        response_status: Some(response.to_owned()),
        ..EventAttendee::default()
    }
}

/// Converts a participation status of RFC 5545 into the API's name for it.
fn response(status: &str) -> &'static str {
    match status {
        "ACCEPTED" => "accepted",
        "DECLINED" => "declined",
        "TENTATIVE" => "tentative",
        _ => "needsAction",
    }
}
