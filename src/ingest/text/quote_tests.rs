//! Replies, answers between quotes, forwards, and prose that looks like them.

use super::*;

fn check(subject: &str, body: &str, own: &str, forwarded: &str) {
    let lines: Vec<_> = body.lines().collect();
    let split = split_quotes(&lines, subject);
    assert_eq!(split.own.join("\n").trim(), own, "own of {body:?}");
    assert_eq!(split.forwarded.join("\n").trim(), forwarded, "forwarded of {body:?}");
}

#[test]
fn replies_keep_their_own_words() {
    for body in [
        "Yes.\n\nOn Mon, 3 Mar 2025 at 10:00, Dana <d@x.example> wrote:\n> Can you?\n> Thanks",
        "Yes.\n\nOn Mon, 3 Mar 2025 at 10:00, Dana Cohen of the long name\n<d@x.example> wrote:\n\n> Can you?",
        "Yes.\n\nOn 3/3/25, Dana wrote:\nCan you?\nThanks",
        "Yes.\n\n-----Original Message-----\nFrom: Dana\nCan you?",
        "Yes.\n\n________________________________\nFrom: Dana <d@x.example>\nSent: Monday\nTo: me\nSubject: x\n\nCan you?",
        "Yes.\nFrom: Dana [mailto:d@x.example] Sent: Monday To: me Subject: x\nCan you?",
        "Yes.\n*From:* Dana\n*Sent:* Monday\n*To:* me\n\nCan you?",
        "Yes.\nבתאריך יום ב׳, 3 במרץ 2025 ב-10:00 מאת דנה <d@x.example>:\n> אפשר?",
        "Yes.\nב-3 במרץ 2025, דנה <d@x.example> כתב/ה:\n\nאפשר?",
        "Yes.\nמאת: דנה\nנשלח: יום שני\nאל: אבי\nנושא: x\n\nאפשר?",
        "Yes.\n---- הודעה מקורית ----\nאפשר?",
        "> Can you?\nYes.",
        "----- Original Message -----\nFrom: Dana\n\n> Can you?\nYes.",
        "Dana wrote:\n> Can you?\n\nYes.",
        "Tuesday, March 3, 2026, 10:12:33 AM, you wrote:\nDC> Can you?\nDC>> Really?\n\nYes.",
    ] {
        check("Re: x", body, "Yes.", "");
    }
}

#[test]
fn inline_answers_are_kept() {
    check("Re: x", "Hi,\nOn 3 Mar 2025 Dana wrote:\n> When?\nFriday.\n> Where?\nHere.\n", "Hi,\nFriday.\nHere.", "");
}

#[test]
fn forwards_keep_their_content() {
    let gmail =
        "---------- Forwarded message ---------\nFrom: Dana <d@x.example>\nDate: Mon\nSubject: x\nTo: me\n\nPay this.";
    check("Fwd: x", &format!("Please handle.\n\n{gmail}"), "Please handle.", gmail);
    check("x", &format!("Please handle.\n\n{gmail}"), "Please handle.", gmail);
    let outlook = "From: Dana\nSent: Monday\nTo: me\nSubject: x\n\nPay this.";
    check("FW: x", &format!("See below\n{outlook}"), "See below", outlook);
    check("x", outlook, "", outlook);
    let apple = "> Begin forwarded message:\n> \n> From: Dana\n> Pay this.";
    check("Fwd: x", &format!("FYI\n\n{apple}"), "FYI", apple);
}

#[test]
fn prose_is_not_mistaken() {
    for body in [
        "On Monday we meet.\nPlease bring the report.",
        "From: the kitchen\nWith love",
        "He wrote:\n\nnothing new",
        "On my list:\n- milk",
        "> all of it quoted\n> for no reason",
        "-----\nPrice list\n-----",
        "",
    ] {
        check("x", body, body, "");
    }
}

#[test]
fn a_quoted_forward_in_an_answer_is_a_quote() {
    check("Re: x", "Ok.\nOn 3/3 D wrote:\n> hi\n> ---------- Forwarded message ---------\n> x", "Ok.", "");
}

#[test]
fn forwards_in_many_languages() {
    for marker in [
        "---------- Forwarded message ---------",
        "---------- Weitergeleitete Nachricht ---------",
        "-------- Weitergeleitete Nachricht --------",
        "---------- Message transféré ---------",
        "---------- Mensaje reenviado ---------",
        "---------- Messaggio inoltrato ---------",
        "---------- Mensagem encaminhada ---------",
        "---------- Doorgestuurd bericht ----------",
        "-------- Wiadomość przekazana dalej --------",
        "---------- Пересылаемое сообщение ---------",
        "-------- Перенаправленное сообщение --------",
        "---------- הודעה שהועברה ---------",
        "-------- Vidarebefordrat meddelande --------",
        "---------- İletilen ileti ---------",
        "-------- Yönlendirilmiş İleti --------",
        "---------- 転送されたメッセージ ---------",
        "Begin forwarded message:",
        "Anfang der weitergeleiteten Nachricht:",
        "Début du message réexpédié :",
        "Inicio del mensaje reenviado:",
        "Inizio messaggio inoltrato:",
        "Início da mensagem encaminhada:",
        "Begin doorgestuurd bericht:",
        "Początek przekazywanej wiadomości:",
        "Начало переадресованного сообщения:",
        "תחילת ההודעה שהועברה:",
        "Vidarebefordrat brev:",
        "İletilmiş ileti başlangıcı:",
        "転送されたメッセージ:",
    ] {
        let forwarded = format!("{marker}\nx\n\nPay this.");
        check("x", &format!("See below.\n\n{forwarded}"), "See below.", &forwarded);
    }
    for prefix in ["Fwd", "FW", "WG", "TR", "RV", "I", "ENC", "Doorst", "PD", "VB", "İLT", "転送", "הועבר"] {
        assert!(is_forward_subject(&format!("{prefix}: x")), "{prefix}");
    }
    for subject in ["Re: Fwd: x", "Forward: x", "x", "I think: x", "Track: x", ""] {
        assert!(!is_forward_subject(subject), "{subject}");
    }
}

#[test]
fn earlier_mails_in_many_languages() {
    for marker in [
        "-----Original Message-----",
        "-----Ursprüngliche Nachricht-----",
        "-------- Original-Nachricht --------",
        "-----Message d'origine-----",
        "-------- Message d’origine --------",
        "-----Mensaje original-----",
        "-----Messaggio originale-----",
        "-----Mensagem original-----",
        "-----Oorspronkelijk bericht-----",
        "-----Wiadomość oryginalna-----",
        "-----Исходное сообщение-----",
        "-----הודעה מקורית-----",
        "-----Ursprungligt meddelande-----",
        "-----Özgün İleti-----",
        "-----元のメッセージ-----",
        "------- Original Message -------",
    ] {
        check("Re: x", &format!("Yes.\n\n{marker}\nCan you?"), "Yes.", "");
        check("Re: x", &format!("{marker}\nFrom: Dana\n\n> Can you?\nYes."), "Yes.", "");
    }
}

#[test]
fn what_is_quoted_is_told_apart() {
    let lines: Vec<_> = "Ok.\nOn 3/3/26 D wrote:\n> Can you?\nYes.\n> > Really?".lines().collect();
    assert_eq!(split_quotes(&lines, "Re: x").quoted, ["Can you?", "Really?"]);
    let lines: Vec<_> = "Ok.\nFrom: D\nSent: Monday\nTo: me\n\nCan you?".lines().collect();
    assert_eq!(split_quotes(&lines, "Re: x").quoted.join(" ").trim(), "Can you?");
    assert!(split_quotes(&lines, "Fwd: x").quoted.is_empty());
}

#[test]
fn lists_and_forms_are_no_header_blocks() {
    for body in [
        "Flight:\nFrom: London\nTo: Paris\nDate: 3 March",
        "Leave\nFrom: 3 March\nTo: 5 March\nSubject: holiday",
        "Termin\nVon: 10 Uhr\nBis: 12 Uhr\nOrt: Büro\nDatum: 3.3.",
        "Trajet\nDe : Lyon\nÀ : Paris\nDate : 3 mars",
        "A: yes\nDo: no\nTo: maybe",
        "Date: Monday\nTo: everyone\nSubject: cleaning",
        "From: the kitchen\nWith love",
    ] {
        check("x", body, body, "");
    }
}
