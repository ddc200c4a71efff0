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
        PointingWords = "pointing_words",
        Abbreviations = "abbreviations",
        BeforeOrdinals = "before_ordinals",
        Months = "months",
    }
}
