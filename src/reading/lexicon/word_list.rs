//! The lists of words that each language has beside its phrases.
#![allow(unreachable_pub, reason = "the macro writes `pub`; the module keeps it in the reading")]

use crate::model::text_enum::text_enum;

text_enum! {
    /// A list of words or short phrases, by the name of its section in the files of the languages.
    WordList {
        /// Words that, standing first in a clause, make it an order.
        Verbs = "verbs",
        /// German: infinitives, from which the forms of orders are made.
        Infinitives = "infinitives",
        /// German: what is taken off a verb and stands at the end of the clause.
        Particles = "particles",
        LeadIns = "lead_ins",
        /// Words that open a letter before the name.
        Greetings = "greetings",
        /// Names for everybody who reads the mail.
        Everybody = "everybody",
        NotAfterVerb = "not_after_verb",
        Conditions = "conditions",
        NoAskAfter = "no_ask_after",
        Fillers = "fillers",
        ClosingCourtesies = "closing_courtesies",
        TellPhrases = "tell_phrases",
        MeetingVerbs = "meeting_verbs",
        HandingVerbs = "handing_verbs",
        ForwardMarks = "forward_marks",
        HeaderFrom = "header_from",
        Cancellations = "cancellations",
        InvoiceWords = "invoice_words",
        /// What somebody did with an invoice that they were sent.
        InvoiceReceipts = "invoice_receipts",
        /// Whose it is, if it is the reader's.
        ReaderPossessives = "reader_possessives",
        NumberWords = "number_words",
        /// German: words that colour a wish and are left out of an objective.
        ModalParticles = "modal_particles",
        /// German: auxiliaries, which begin no order.
        Auxiliaries = "auxiliaries",
        /// German: words that open a subordinate clause.
        Subordinates = "subordinates",
        /// Hebrew: what is promised, and as what it is done: "I shall send", "to send".
        Promises = "promises",
        Departments = "departments",
        MeetingReferences = "meeting_references",
        MeetingLeads = "meeting_leads",
        Articles = "articles",
        /// Words that add to what was asked before.
        Additions = "additions",
        PointingWords = "pointing_words",
        /// Behind a pointing word they make a time.
        PointedTimes = "pointed_times",
        /// Verbs that say where somebody is.
        Presence = "presence",
        /// Wishes for an answer, which say nothing of what it is to be about.
        AnswerWishes = "answer_wishes",
        /// Words for a time that was named before.
        PointingTimes = "pointing_times",
        /// A time is good or possible.
        Suiting = "suiting",
        /// Wishes to talk or to meet, whatever it is called.
        Talks = "talks",
        /// A time is not possible.
        Unavailable = "unavailable",
        /// Wishes to be sent something that may be a file.
        FileWishes = "file_wishes",
        /// Short questions about a time that was named before.
        Joining = "joining",
        /// A question about a time leaves the day or the hour open.
        OpenTimes = "open_times",
        /// A time is taken: an appointment is made or confirmed.
        Bookings = "bookings",
        /// An appointment does not take place.
        Calloffs = "calloffs",
        /// From morning to evening, for whole days, or between two hours.
        Stretches = "stretches",
        /// Words that open what happens otherwise.
        ElseOpenings = "else_openings",
        /// Limits that are a time named before: "until then".
        PointingLimits = "pointing_limits",
        Abbreviations = "abbreviations",
        /// A request is taken back.
        Withdrawals = "withdrawals",
        /// A matter is solved, or what was asked for has arrived.
        Settlements = "settlements",
        /// What was proposed is accepted.
        Agreements = "agreements",
        /// Something is done or handed over.
        Completions = "completions",
        /// An answer is put off.
        Postponements = "postponements",
        /// The other will get something.
        Handovers = "handovers",
        /// A mail has arrived, and no more is said.
        Receipts = "receipts",
        /// Something asked before is asked again.
        Reminders = "reminders",
        /// What was asked is due at another time.
        NewDates = "new_dates",
        /// Another matter begins.
        NewMatters = "new_matters",
        Negations = "negations",
        /// Being somewhere, or coming there.
        Visits = "visits",
        /// An answer is how to do it.
        ByReply = "by_reply",
        /// Words that name nothing of their own.
        EmptyRequests = "empty_requests",
        /// Verbs of requests that an answer fulfils.
        AnswerVerbs = "answer_verbs",
        /// Verbs of requests that take more than an answer, as they stand in a question.
        ActVerbs = "act_verbs",
        /// Words of a question that only wants to know, whatever verb it has.
        InfoQuestions = "info_questions",
        /// Verbs by which the writer asks for a confirmation.
        ConfirmVerbs = "confirm_verbs",
        /// The arrival of a mail as a noun.
        ReceiptNouns = "receipt_nouns",
        /// A confirmation of arrival in one word.
        ReceiptWishes = "receipt_wishes",
        /// The arrival of a mail as a verb.
        ArrivalVerbs = "arrival_verbs",
        /// What arrives with a mail, or is the mail.
        ReceiptThings = "receipt_things",
        /// Words that stand for the mail where nothing follows them.
        MailPointers = "mail_pointers",
        /// Words that stand for what was sent.
        ReceiptPronouns = "receipt_pronouns",
        /// Words between a receipt and what was received.
        ReceiptLinks = "receipt_links",
        /// Words that join another request.
        Conjunctions = "conjunctions",
        BeforeOrdinals = "before_ordinals",
        Months = "months",
        /// What stands before a program that is spoken to.
        AgentCalls = "agent_calls",
        /// Words of a demand for money.
        PaymentWords = "payment_words",
        /// What waits for a fee to be paid.
        ParcelWords = "parcel_words",
        /// The start of a reason, which an objective leaves out.
        Reasons = "reasons",
        /// Words with which somebody goes on about themselves after a comma.
        WriterSubjects = "writer_subjects",
        /// Words before which a long sentence may end early.
        ClauseStarts = "clause_starts",
        /// What stands before the subject of an answer or a forwarded mail.
        SubjectMarks = "subject_marks",
        /// Subjects that say nothing.
        EmptySubjects = "empty_subjects",
        /// Words after "would you" that ask whether something is so.
        AsksState = "asks_state",
        /// Acts of the writer, when they ask whether something is possible.
        WriterActs = "writer_acts",
        /// Words in a short question that point at the sentence before it.
        PointingQuestions = "pointing_questions",
        /// Words that begin a time by which something is to be told.
        TimeStarts = "time_starts",
        /// Words that open what is told or asked, without which its verb says nothing.
        ObjectStarts = "object_starts",
        /// Words with which no line ends.
        DanglingWords = "dangling_words",
        /// Hebrew: words before an infinitive that make it the reader's duty.
        Duties = "duties",
        /// Hebrew: what is ordered, and as what it is done: "send", "to send".
        Orders = "orders",
    }
}
