//! Conversations in three languages with what they should leave, for the tests in `conversations`.

use crate::conversations::{Post, me, tom};

/// A conversation, and what it leaves: a line per task in the order of their mails, with the status and a piece of the
/// objective, the deadline, the notes or the reason.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) mails: Vec<Post>,
    pub(crate) tasks: &'static [(&'static str, &'static str)],
}

fn case(name: &'static str, mails: Vec<Post>, tasks: &'static [(&'static str, &'static str)]) -> Case {
    Case { name, mails, tasks }
}

const ASKS: &str = "Hello Alex,\n\nAre you coming to the harvest dinner on 5 December?\n\nTom";
const ASKS_DE: &str = "Hallo Alex,\n\nkommst du am 5. Dezember zum Vereinsabend?\n\nTom";
const ASKS_HE: &str = "היי אלכס,\n\nתגידי לי בבקשה אם את מגיעה לארוחה ב-5 בדצמבר.\n\nתום";
const WANTS_LEASE: &str = "Hello Alex,\n\nCould you please send me the signed lease?\n\nTom";
const WANTS_LEASE_DE: &str = "Hallo Alex,\n\nkönntest du mir bitte den unterschriebenen Mietvertrag schicken?\n\nTom";
const WANTS_PAYMENT: &str = "Hello Alex,\n\nPlease transfer the 214.60 for the tyres.\n\nTom";

pub(crate) fn answers() -> Vec<Case> {
    vec![
        case(
            "an answer completes a question",
            vec![tom(ASKS), me("Hi Tom,\n\nyes, both of us.\n\nAlex")],
            &[("DONE", "you answered it")],
        ),
        case(
            "the same in German",
            vec![tom(ASKS_DE), me("Hallo Tom,\n\nja, wir kommen zu zweit.\n\nAlex")],
            &[("DONE", "you answered it")],
        ),
        case("the same in Hebrew", vec![tom(ASKS_HE), me("היי תום, כן, שנינו באים.")], &[("DONE", "you answered it")]),
        case(
            "an answer without references is found by person and subject",
            vec![tom(ASKS), me("Yes, both of us.").without_references()],
            &[("DONE", "you answered it")],
        ),
        case(
            "a mail of one's own to the same person about something else is no answer",
            vec![tom(ASKS), me("The boat is in the shed.").without_references().under("The boat")],
            &[("READY", "dinner")],
        ),
        case(
            "who asks back has not answered",
            vec![tom(ASKS), me("Hi Tom,\n\nwhich dinner do you mean?\n\nAlex")],
            &[("READY", "dinner")],
        ),
        case(
            "thanks are no answer",
            vec![tom(ASKS), me("Hi Tom,\n\nthank you for the invitation!\n\nAlex")],
            &[("READY", "dinner")],
        ),
        case(
            "an answer put off is none",
            vec![tom(ASKS), me("I have to check, I'll get back to you.")],
            &[("READY", "dinner")],
        ),
        case(
            "the same in German",
            vec![tom(ASKS_DE), me("Ich muss das klären und melde mich.")],
            &[("READY", "Vereinsabend")],
        ),
        case("the same in Hebrew", vec![tom(ASKS_HE), me("אבדוק ואחזור אלייך.")], &[("READY", "ארוחה")]),
        case(
            "what is sent to somebody else answers nothing",
            vec![tom(ASKS), me("Yes, both of us.").for_ann()],
            &[("READY", "dinner")],
        ),
        case(
            "an automatic reply answers nothing",
            vec![tom(ASKS), me("I am out of the office until Friday.").with("Auto-Submitted: auto-replied")],
            &[("READY", "dinner")],
        ),
        case(
            "handing a mail on answers nothing",
            vec![tom(ASKS), me("Look at this.").under("Fwd: Matter")],
            &[("READY", "dinner")],
        ),
        case(
            "an answer does not do the work",
            vec![tom(WANTS_LEASE), me("Hi Tom,\n\nthe landlord was here on Sunday.\n\nAlex")],
            &[("READY", "lease")],
        ),
        case(
            "what was sent is done",
            vec![tom(WANTS_LEASE), me("Attached.").with_file("lease.pdf")],
            &[("DONE", "it is done")],
        ),
        case(
            "the file itself is enough",
            vec![tom(WANTS_LEASE), me("Hi Tom,\n\nas discussed.\n\nAlex").with_file("signed lease.pdf")],
            &[("DONE", "you sent it")],
        ),
        case(
            "another file is not",
            vec![tom(WANTS_LEASE), me("Hi Tom,\n\na photo of the cat.\n\nAlex").with_file("cat.jpg")],
            &[("READY", "lease")],
        ),
        case(
            "what is said to be done is done",
            vec![tom(WANTS_PAYMENT), me("I paid it this morning.")],
            &[("DONE", "it is done")],
        ),
        case(
            "what is not done is not",
            vec![tom(WANTS_PAYMENT), me("I haven't paid it yet, sorry.")],
            &[("READY", "214")],
        ),
    ]
}

pub(crate) fn promises() -> Vec<Case> {
    vec![
        case(
            "a promise gives the task its date",
            vec![tom(WANTS_LEASE), me("Hi Tom,\n\nI'll send you the lease on Friday.\n\nAlex")],
            &[("READY", "2026-11-20")],
        ),
        case(
            "the same in German",
            vec![tom(WANTS_LEASE_DE), me("Hallo Tom,\n\nich schicke dir den Mietvertrag am Freitag.\n\nAlex")],
            &[("READY", "2026-11-20")],
        ),
        case(
            "a promise of something else is a task of its own",
            vec![
                tom(ASKS),
                me("Hi Tom,\n\nyes, both of us. I'll send you the photos of the garden on Friday.\n\nAlex"),
            ],
            &[("DONE", "you answered it"), ("READY", "photos")],
        ),
        case(
            "a kept promise is done",
            vec![
                tom("Hello Alex,\n\nit was nice to see you.\n\nTom"),
                me("Hi Tom,\n\nI'll send you the photos of the garden on Friday.\n\nAlex"),
                me("Hi Tom,\n\nhere are the photos of the garden.\n\nAlex"),
            ],
            &[("DONE", "it is done")],
        ),
    ]
}

pub(crate) fn reminders() -> Vec<Case> {
    vec![
        case(
            "a reminder is put on the task",
            vec![tom(WANTS_LEASE), tom("Hi Alex,\n\nany news about the lease?\n\nTom")],
            &[("READY", "any news")],
        ),
        case(
            "a sum names the matter",
            vec![tom(WANTS_PAYMENT), tom("Hi Alex,\n\ndon't forget the 214.60, please.\n\nTom")],
            &[("READY", "don't forget")],
        ),
        case(
            "a new date that is only stated moves the task",
            vec![
                tom("Hello Alex,\n\nPlease send me the insurance form by Friday.\n\nTom"),
                tom(
                    "Hello Alex,\n\nI asked them again: they give us until Wednesday, 25 November, but that is final.\n\nTom",
                ),
            ],
            &[("READY", "2026-11-25")],
        ),
        case(
            "the same in German",
            vec![
                tom("Hallo Alex,\n\nbitte schick mir das Formular für die Versicherung bis Freitag.\n\nTom"),
                tom("Hallo Alex,\n\ndie Frist ist verlängert bis Mittwoch, 25. November.\n\nTom"),
            ],
            &[("READY", "2026-11-25")],
        ),
        case(
            "the same in Hebrew",
            vec![
                tom("היי אלכס,\n\nתשלחי לי בבקשה את טופס הביטוח עד יום שישי.\n\nתום"),
                tom("היי אלכס,\n\nהמועד נדחה ל-25 בנובמבר.\n\nתום"),
            ],
            &[("READY", "2026-11-25")],
        ),
        case(
            "an absence until a day moves nothing",
            vec![
                tom("Hello Alex,\n\nPlease send me the insurance form by 20 November.\n\nTom"),
                tom("Hello Alex,\n\nI am travelling until Wednesday, 25 November.\n\nTom"),
            ],
            &[("READY", "2026-11-20")],
        ),
        case(
            "a new date moves the task",
            vec![
                tom("Hello Alex,\n\nPlease send me the insurance form by Friday.\n\nTom"),
                tom(
                    "Hello Alex,\n\nI have not received the insurance form. Please send me the form by Wednesday, 25 November.\n\nTom",
                ),
            ],
            &[("READY", "2026-11-25")],
        ),
        case(
            "the same in German",
            vec![
                tom("Hallo Alex,\n\nbitte schick mir das Formular für die Versicherung bis Freitag.\n\nTom"),
                tom(
                    "Hallo Alex,\n\ndas Formular fehlt noch. Bitte schick mir das Formular für die Versicherung bis Mittwoch, 25. November.\n\nTom",
                ),
            ],
            &[("READY", "2026-11-25")],
        ),
        case(
            "the same in Hebrew",
            vec![
                tom("אלכס שלום,\n\nאנא שלחי לי את טופס הביטוח עד 20.11.2026.\n\nתום"),
                tom("אלכס שלום,\n\nטרם קיבלתי את טופס הביטוח. אנא שלחי לי את טופס הביטוח עד 25.11.2026.\n\nתום"),
            ],
            &[("READY", "2026-11-25")],
        ),
        case(
            "a second request in the conversation is a second task",
            vec![
                tom(WANTS_LEASE),
                tom("Hi Alex,\n\none more thing: could you book a table for the partners on Thursday?\n\nTom"),
            ],
            &[("READY", "lease"), ("READY", "table")],
        ),
        case(
            "another number is another matter",
            vec![
                tom("Hello Alex,\n\nPlease confirm order 4711 to us.\n\nTom"),
                tom("Hello Alex,\n\nPlease confirm order 4712 to us.\n\nTom"),
            ],
            &[("READY", "4711"), ("READY", "4712")],
        ),
        case(
            "a namesake does not remind",
            vec![
                tom(WANTS_LEASE),
                tom("Hi Alex,\n\ncould you water the plants in the office on Friday?\n\nTom").by("namesake"),
            ],
            &[("READY", "lease"), ("READY", "plants")],
        ),
        case(
            "equal requests of one day are one task",
            vec![
                tom("Hello Alex,\n\nCould you water the plants in the hall?\n\nTom"),
                tom("Hello,\n\nsorry, once more. Could you water the plants in the hall?\n\nTom").without_references(),
            ],
            &[("READY", "plants")],
        ),
        case(
            "two parcels in equal words are two tasks",
            vec![
                tom("Hello Alex,\n\nParcel 88123 is here. Could you collect the parcel?\n\nTom"),
                tom("Hello Alex,\n\nParcel 88124 is here. Could you collect the parcel?\n\nTom")
                    .without_references()
                    .under("Parcel"),
            ],
            &[("READY", "parcel"), ("READY", "parcel")],
        ),
    ]
}

pub(crate) fn endings() -> Vec<Case> {
    vec![
        case(
            "a withdrawal closes the task",
            vec![tom(WANTS_LEASE), tom("No need any more, the agent sent it to me. Thanks!")],
            &[("CANCELLED", "no longer")],
        ),
        case(
            "the same in German",
            vec![tom(WANTS_LEASE_DE), tom("Hat sich erledigt, der Makler hatte ihn noch.")],
            &[("CANCELLED", "no longer")],
        ),
        case("the same in Hebrew", vec![tom(ASKS_HE), tom("כבר לא צריך, ביטלנו הכול.")], &[("CANCELLED", "no longer")]),
        case(
            "what is solved is done",
            vec![tom(WANTS_LEASE), tom("Got it from the agent, all sorted, thanks!")],
            &[("DONE", "solved")],
        ),
        case(
            "who asks whether it is solved has not solved it",
            vec![tom(WANTS_LEASE), tom("Hat sich das erledigt?")],
            &[("READY", "lease")],
        ),
        case(
            "nobody else can take a request back",
            vec![tom(WANTS_LEASE), tom("No need any more, forget it.").by("ann")],
            &[("READY", "lease")],
        ),
        case(
            "a namesake cannot either",
            vec![tom(WANTS_LEASE), tom("No need any more, forget it.").by("namesake")],
            &[("READY", "lease")],
        ),
        case(
            "of two requests the named one is taken back",
            vec![
                tom(
                    "Hello Alex,\n\nCould you please send me the signed lease? Could you also book a table for Thursday evening?\n\nTom",
                ),
                tom("Never mind the table, we eat at home."),
            ],
            &[("READY", "lease"), ("CANCELLED", "no longer")],
        ),
        case(
            "of two requests neither is taken back when none is named",
            vec![
                tom(
                    "Hello Alex,\n\nCould you please send me the signed lease? Could you also book a table for Thursday evening?\n\nTom",
                ),
                tom("Hat sich erledigt."),
            ],
            &[("READY", "may be over"), ("READY", "may be over")],
        ),
        case(
            "agreement to what the person proposed asks for nothing",
            vec![
                tom("Hallo Alex,\n\nhier ist der Plan vom Sommer.\n\nTom"),
                me("Hallo Tom,\n\nder Bericht wird erst am 10. Dezember fertig. Geht das?\n\nAlex"),
                tom("Der 10. Dezember passt. Aber dann bitte wirklich."),
            ],
            &[],
        ),
        case(
            "a question beside the agreement is a task",
            vec![
                tom("Hello Alex,\n\nhere are the notes of the summer.\n\nTom"),
                me("Hi Tom,\n\nthe report takes until 10 December. Is that all right?\n\nAlex"),
                tom("Hi Alex,\n\nthe 10th works for me. Could you bring the projector to the office?\n\nTom"),
            ],
            &[("READY", "projector")],
        ),
        case(
            "a mail to a list does not close what it asked the person",
            vec![
                tom(WANTS_LEASE),
                tom("The newsletter is solved now.").with("List-Id: <all.example>\nPrecedence: bulk"),
            ],
            &[("READY", "lease")],
        ),
    ]
}
