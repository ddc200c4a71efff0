//! Attributions of the common mail programs in many languages, and prose that looks like them.

use super::*;

fn check(text: &str, expected: Option<usize>) {
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(attribution_len(&lines), expected, "{text}");
}

#[test]
fn attributions_of_the_common_programs() {
    for text in [
        // Gmail.
        "On Tue, Mar 3, 2026 at 10:12\u{202f}AM Dana Cohen <dana@x.example> wrote:",
        "Am Di., 3. März 2026 um 10:12 Uhr schrieb Max Muster <max@x.example>:",
        "Le mar. 3 mars 2026 à 10:12, Luc Martin <luc@x.example> a écrit :",
        "El mar, 3 mar 2026 a las 10:12, Ana Ruiz (<ana@x.example>) escribió:",
        "Il giorno mar 3 mar 2026 alle ore 10:12 Giulia Rossi <g@x.example> ha scritto:",
        "Em ter., 3 de mar. de 2026 às 10:12, João Silva <j@x.example> escreveu:",
        "Op di 3 mrt 2026 om 10:12 schreef Pieter de Vries <p@x.example>:",
        "wt., 3 mar 2026 o 10:12 Anna Kowalska <a@x.example> napisał(a):",
        "вт, 3 мар. 2026 г. в 10:12, Иван Петров <i@x.example>:",
        "\u{202b}בתאריך יום ג׳, 3 במרץ 2026 ב-10:12 מאת \u{202a}דנה כהן\u{202c}\u{200f} <\u{202a}d@x.example\u{202c}\u{200f}>:\u{202c}",
        "Den tis 3 mars 2026 kl 10:12 skrev Karin Berg <k@x.example>:",
        "Mehmet Yılmaz <m@x.example>, 3 Mar 2026 Sal, 10:12 tarihinde şunu yazdı:",
        "2026年3月3日(火) 10:12 山田太郎 <y@x.example>:",
        // Thunderbird.
        "On 03/03/2026 10:12, Dana Cohen wrote:",
        "Am 03.03.26 um 10:12 schrieb Max Muster:",
        "Le 03/03/2026 à 10:12, Luc Martin a écrit :",
        "El 3/3/26 a las 10:12, Ana Ruiz escribió:",
        "Il 03/03/2026 10:12, Giulia Rossi ha scritto:",
        "Em 03/03/2026 10:12, João Silva escreveu:",
        "Op 03-03-2026 om 10:12 schreef Pieter de Vries:",
        "W dniu 3.03.2026 o 10:12, Anna Kowalska pisze:",
        "03.03.2026 10:12, Иван Петров пишет:",
        "בתאריך 03/03/2026 10:12, דנה כהן כתב/ה:",
        "Den 2026-03-03 kl. 10:12, skrev Karin Berg:",
        "3.03.2026 10:12 tarihinde Mehmet Yılmaz yazdı:",
        "2026/03/03 10:12, 山田太郎 さんは書きました:",
        // Apple Mail.
        "On 3 Mar 2026, at 10:12, Dana Cohen <dana@x.example> wrote:",
        "Am 03.03.2026 um 10:12 schrieb Max Muster <max@x.example>:",
        "Le 3 mars 2026 à 10:12, Luc Martin <luc@x.example> a écrit :",
        "El 3 mar 2026, a las 10:12, Ana Ruiz <ana@x.example> escribió:",
        "Il giorno 3 mar 2026, alle ore 10:12, Giulia Rossi <g@x.example> ha scritto:",
        "No dia 3 de mar. de 2026, às 10:12, João Silva <j@x.example> escreveu:",
        "Op 3 mrt 2026, om 10:12 heeft Pieter de Vries <p@x.example> het volgende geschreven:",
        "Wiadomość napisana przez Anna Kowalska <a@x.example> w dniu 3 mar 2026, o godz. 10:12:",
        "3 марта 2026 г., в 10:12, Иван Петров <i@x.example> написал(а):",
        "ב-3 במרץ 2026, בשעה 10:12, דנה כהן <d@x.example> כתב/ה:",
        "3 mars 2026 kl. 10:12 skrev Karin Berg <k@x.example>:",
        "Mehmet Yılmaz <m@x.example> şunları yazdı (3 Mar 2026 10:12):",
        "2026/03/03 10:12、山田太郎 <y@x.example>のメール:",
        // Yahoo, Proton, mutt, GMX, Eudora.
        "On Tuesday, March 3, 2026 at 10:12:33 AM GMT+1, Dana Cohen <dana@x.example> wrote:",
        "Am Dienstag, 3. März 2026 um 10:12:33 MEZ hat Max Muster <max@x.example> Folgendes geschrieben:",
        "En martes, 3 de marzo de 2026, 10:12:33 CET, Ana Ruiz <ana@x.example> escribió:",
        "On Tuesday, March 3rd, 2026 at 10:12 AM, Dana <dana@x.example> wrote:",
        "On Tue, Mar 03, 2026 at 10:12:33AM +0100, Dana Cohen wrote:",
        "Max Muster <max@x.example> schrieb am 03.03.2026, 10:12:",
        "At 10:12 AM 3/3/2026, Dana Cohen wrote:",
        "On Sun, 8 Sep 2026, Dana Cohen wrote:",
        "Tuesday, March 3, 2026, 10:12:33 AM, you wrote:",
        "*On Tue, Mar 3, 2026 at 10:12 Dana <d@x.example> wrote:*",
    ] {
        let text = text.trim_matches('*');
        check(&format!("{text}\n\nCan you?"), Some(1));
        check(&format!("{text}\n> Can you?"), Some(1));
    }
}

#[test]
fn wrapped_attributions() {
    check(
        "On Tue, Mar 3, 2026 at 10:12 AM Dana Cohen of the Long Name <dana@x.example>\nwrote:\n\n> Can you?",
        Some(2),
    );
    check("Am Di., 3. März 2026 um 10:12 Uhr schrieb Max Muster <\nmax@x.example>:\n\n> Hallo", Some(2));
    check("Le mar. 3 mars 2026 à 10:12,\nLuc Martin\n<luc@x.example>\na écrit :\n\nBonjour", Some(4));
    check("3 марта 2026 г.\nв 10:12, Иван <i@x.example>\nнаписал(а):\n> x", Some(3));
    check("Mehmet Yılmaz <m@x.example>, 3 Mar 2026 Sal, 10:12 tarihinde şunu\nyazdı:\n> x", Some(2));
}

#[test]
fn a_name_alone_counts_above_a_quote() {
    check("Dana wrote:\n> x", Some(1));
    check("Dana wrote:\n\n> x", Some(1));
    check("Dana wrote:\nx", None);
    check("On Monday Dana wrote:\n> x", Some(1));
    check("Max schrieb:\n> x", Some(1));
}

#[test]
fn prose_is_none() {
    for text in [
        "On Monday we meet.\nOn 3 Mar 2026 at 10:12 Dana <d@x.example> wrote:\n> x",
        "Monday is fine.\nOn 3 Mar 2026 at 10:12 Dana <d@x.example> wrote:\n> x",
        "3 is better than 2\nOn 3 Mar 2026 at 10:12 Dana <d@x.example> wrote:\n> x",
        "I am at dana@x.example until 10:12\nMax <max@x.example> wrote:\n> x",
        "On 3 March 2026 the landlord wrote:\nPlease pay.",
        "On page 3 he wrote:\nnothing",
        "3 people wrote to me at 10:12:\nAnn, Ben, Cem",
        "On my list for 10:12:\n- milk",
        "On 3 March at 10:12 we start. Agenda:\n- talks",
        "Am 3. März um 10:12 treffen wir uns hier:\nHafen",
        "Le 3 mars à 10:12 au bureau :\nRéunion",
        "El 3 de marzo a las 10:12 en la oficina:\nreunión",
        "Op 3 maart om 10:12 in het kantoor:\nvergadering",
        "Den 3 mars kl 10:12 på kontoret:\nmöte",
        "2026-03-03 10:12:\nserver restarted",
        "10:12 Dana, 11:00 Max:\nplan",
        "> On 3 Mar 2026 at 10:12 Dana <d@x.example> wrote:\n> > x",
        "",
    ] {
        check(text, None);
    }
}
