//! Notices and footers of many kinds, and a sender's own words that look like them.

use super::*;

/// Everything behind `§` should be cut; without one, nothing.
fn check(marked: &str) {
    let text = marked.replace('§', "");
    let lines: Vec<&str> = text.lines().collect();
    let (kept, cut) = cut_notices(&lines, NoticePlace::End);
    let own = marked.split('§').next().unwrap_or_default().trim_end();
    assert_eq!(kept.join("\n").trim_end(), own, "cut {cut:?} of {marked}");
    assert_eq!(cut.is_empty(), !marked.contains('§'), "{marked}");
}

#[test]
fn legal_notices_are_cut() {
    for notice in [
        "This e-mail is confidential and intended for the addressee only.",
        "This message is privileged.\nIf you are not the intended recipient, delete it.",
        "This e-mail and any attachments are confidential and intended solely for the use of the individual or entity to whom they are addressed. If you have received this email in error please notify the system manager. Any views or opinions presented are solely those of the author and do not necessarily represent those of the company.",
        "CONFIDENTIALITY NOTICE:\nThis email and any files transmitted with it are privileged. If you are not the intended recipient you are notified that disclosing, copying or distributing it is strictly prohibited.",
        "CONFIDENTIALITY NOTICE\n\nThe information contained in this message may be privileged and protected from disclosure.",
        "If you are not the intended recipient, please notify us and delete this message.",
        "Disclaimer: The information contained in this communication is confidential.\n\nE-mail transmission cannot be guaranteed to be secure or error-free. The sender accepts no liability for viruses.",
        "Diese E-Mail enthält vertrauliche und/oder rechtlich geschützte Informationen. Wenn Sie nicht der richtige Adressat sind oder diese E-Mail irrtümlich erhalten haben, informieren Sie bitte sofort den Absender und vernichten Sie diese Mail. Das unerlaubte Kopieren sowie die unbefugte Weitergabe dieser Mail ist nicht gestattet.",
        "Diese E-Mail enthält vertrauliche und/oder rechtlich geschützte\nInformationen. Wenn Sie nicht der richtige Adressat sind oder diese\nE-Mail irrtümlich erhalten haben, informieren Sie bitte sofort den\nAbsender und vernichten Sie diese Mail.",
        "Sollten Sie diese Nachricht versehentlich erhalten haben, benachrichtigen Sie bitte den Absender und löschen Sie sie.",
        "הודעה זו וכל המצורף לה מיועדים לנמען בלבד ועשויים להכיל מידע סודי. אם אינך הנמען, אין להעתיק או להפיץ אותה. אם קיבלת הודעה זו בטעות, נא להודיע לשולח ולמחוק אותה.",
        "המידע הכלול בהודעה זו הוא סודי ומיועד לנמען בלבד.",
        "Ce message et toutes les pièces jointes sont confidentiels et établis à l'intention exclusive de ses destinataires. Si vous avez reçu ce message par erreur, merci d'en avertir l'expéditeur et de le détruire.",
        "Este mensaje y sus archivos adjuntos son confidenciales y van dirigidos exclusivamente a su destinatario. Si usted no es el destinatario, le rogamos lo comunique al remitente y lo elimine.",
        "Questo messaggio contiene informazioni riservate ed è indirizzato esclusivamente al destinatario. Se avete ricevuto questo messaggio per errore, vi preghiamo di avvertire il mittente e di cancellarlo.",
        "Esta mensagem pode conter informação confidencial e destina-se apenas ao destinatário. Se recebeu esta mensagem por engano, avise o remetente e apague-a.",
        "Dit bericht is vertrouwelijk en uitsluitend bestemd voor de geadresseerde. Indien u dit bericht abusievelijk ontvangt, verzoeken wij u de afzender te waarschuwen en het bericht te verwijderen.",
        "Niniejsza wiadomość jest poufna i przeznaczona wyłącznie dla adresata. Jeżeli otrzymali Państwo tę wiadomość omyłkowo, prosimy o poinformowanie nadawcy i usunięcie jej.",
        "Это сообщение содержит конфиденциальную информацию и предназначено исключительно для адресата. Если вы получили это сообщение по ошибке, сообщите отправителю и удалите его.",
        "Detta meddelande är konfidentiellt och endast avsett för mottagaren. Om du har fått detta meddelande av misstag, meddela avsändaren och radera det.",
        "Bu e-posta gizlidir ve yalnızca alıcısı içindir. Eğer bu e-postayı yanlışlıkla aldıysanız gönderene bildirin ve siliniz.",
        "このメールには機密情報が含まれている場合があります。誤って受信された場合は、送信者にご連絡の上、削除してください。",
    ] {
        check(&format!("Please send the list.\n\n§{notice}"));
        check(&format!(
            "Please send the list.\n\nDana Cohen\n§{notice}\n\nPlease consider the environment before printing this e-mail."
        ));
    }
}

#[test]
fn taglines_and_footers_are_cut() {
    for footer in [
        "Please consider the environment before printing this email.",
        "Think before you print!",
        "Virus-free. www.avast.com",
        "Virenfrei. www.avast.com",
        "Virusvrij.www.avast.com",
        "Garanti sans virus. www.avast.com",
        "This email has been checked for viruses by Avast antivirus software.\nhttps://www.avast.com/antivirus",
        "Diese E-Mail wurde von Avast-Antivirussoftware auf Viren geprüft.",
        "Sent from my iPhone",
        "Sent from my phone",
        "Sent from Outlook for Android",
        "Sent from Mail for Windows",
        "Sent with Proton Mail secure email.",
        "Get Outlook for Android<https://aka.example/x>",
        "Get Outlook for iOS <https://aka.example/x>",
        "Von meinem iPhone gesendet",
        "Gesendet mit der GMX Mail App",
        "Gesendet von Mail für Windows",
        "-- \nDiese Nachricht wurde von meinem Android-Gerät mit GMX Mail gesendet.",
        "Envoyé de mon iPhone",
        "Enviado desde mi iPhone",
        "Inviato da iPhone",
        "Enviado do meu iPhone",
        "Verstuurd vanaf mijn iPhone",
        "Wysłane z iPhone'a",
        "Отправлено с iPhone",
        "נשלח מה-iPhone שלי",
        "נשלח מהטלפון הנייד שלי",
        "Skickat från min iPhone",
        "iPhone'umdan gönderildi",
        "iPhoneから送信",
        "You are receiving this because you are subscribed to this thread.\nReply to this email directly or view it on GitHub: https://x.example/1",
        "You receive this bulletin as a parent of EIS. Unsubscribe",
        "To unsubscribe from this list click here.",
        "If you no longer wish to receive these emails, click here to unsubscribe.",
        "If you no longer wish to receive our newsletter, you can unsubscribe\nhere: https://x.example/u",
        "Unsubscribe: https://x.example/u/1",
        "Unsubscribe | Privacy Policy | Contact us",
        "Don't want these emails? Change preferences",
        "View this email in your browser",
        "To leave this list write to committee-leave@x.example",
        "© 2026 Panfull SE. All rights reserved.",
        "Unsubscribe\nPanfull SE, Lange Str. 12, 10115 Berlin",
        "Sie erhalten diese E-Mail, weil Sie sich für unseren Newsletter angemeldet haben.\nAbmelden",
        "Newsletter abbestellen: https://x.example/aus\nRuderverband Elbe-Küste e.V., Vereinsregister 00000",
        "Wenn Sie keine weiteren E-Mails von uns erhalten möchten, klicken Sie hier.\nImpressum | Datenschutz",
        "Sitz der Gesellschaft: Hamburg, Amtsgericht Hamburg, HRB 12345",
        "Registered in England, company number 01234567",
        "להסרה מרשימת התפוצה לחצו כאן",
        "הודעה זו נשלחה אליך כי נרשמת לרשימת הדיוור שלנו.\nהסרה",
        "Vous recevez ce message car vous êtes inscrit à notre newsletter. Se désabonner",
        "Si no deseas recibir más correos, haz clic aquí.",
        "Если вы не хотите получать рассылку, нажмите здесь.",
        "_______________________________________________\nfoo mailing list\nfoo@lists.x.example\nhttps://lists.x.example/listinfo/foo",
        "--------------------------------------------------\nTo unsubscribe from this list send a mail to x@y.example",
        "__________________________________\nDo more with Yahoo\nhttp://x.example",
    ] {
        check(&format!("Please send the list.\n\n§{footer}"));
    }
}

#[test]
fn warnings_above_the_words_are_cut() {
    for banner in [
        "CAUTION: This email originated from outside of the organization. Do not click links or open attachments unless you recognize the sender.",
        "[EXTERNAL]",
        "You don't often get email from dana@x.example. Learn why this is important",
        "ACHTUNG: Diese E-Mail stammt von einem externen Absender.",
    ] {
        let text = format!("{banner}\n\nPlease send the list.");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(cut_notices(&lines, NoticePlace::End).0.join("\n").trim(), "Please send the list.", "{banner}");
    }
}

#[test]
fn own_words_stay() {
    for text in [
        "Please treat this as confidential and send me the signed copy by Friday.",
        "Can you unsubscribe me from the newsletter?",
        "Unsubscribe me from the newsletter please.",
        "Unsubscribe the whole team from the old list, then tell Dana.",
        "This message is for the intended team, please read it.",
        "This email is confidential: I need the signed contract by the intended recipient.",
        "This e-mail is confidential, please answer the addressees by Friday.",
        "Is this email confidential or may the recipients forward it?",
        "The information in this offer is good until Monday and intended for the board, keep it confidential.",
        "Please consider the environment when choosing the caterer.",
        "Please print this before the meeting.",
        "We sent the parcel yesterday. Sent via DHL, number 1234.",
        "Sent from my account: 500 EUR for the boat.",
        "Sent from my phone, can you call me back?",
        "Von meinem Konto wurden 500 EUR abgebucht.",
        "Von meinem Handy geht das nicht, ruf Tom an.",
        "נשלח מהמחסן אתמול, נא לאשר קבלה.",
        "Get Outlook for the new laptop.",
        "You are receiving the keys from Tom.",
        "To opt out of the pension scheme, return the form.",
        "If you do not wish to receive the report, tell Dana.",
        "View the contract online and sign it.",
        "Abmelden müsst ihr euch bei Ole.",
        "Geschäftsführer und Aufsichtsrat treffen sich im Büro.",
        "Bitte behandle das vertraulich und schick mir die Unterlagen.",
        "Diese E-Mail ist vertraulich, antworte bitte bis Freitag.",
        "Wichtiger Hinweis: Bitte melden Sie sich verbindlich an und informieren Sie uns.",
        "אני מבקשת לשמור את זה בסודיות ולשלוח לי עד מחר.",
        "הודעה זו חשובה, נא לענות.",
        "Ce message est important, merci de répondre.",
        "The template needs:\n- Unsubscribe\n- View in browser\n- Privacy policy",
        "Help",
        "Contact\nDana, 12 High Street",
        "Agenda\n--------------------\nPlease fill in http://x.example/doodle",
        "One\n----------------------------\nTwo",
        "External email addresses have to be collected.",
        "Copyright for the photos is still open, ask Dana.",
        "To make sure you get paid, send the invoice.",
        "Scanned by Ann, the contract is attached.",
        "",
    ] {
        check(text);
        check(&format!("Hello Tom,\n\n{text}\n\nDana"));
    }
}

#[test]
fn own_words_beside_a_notice_stay() {
    let text = "Please pay. Sent from my iPhone\n\nThis e-mail is confidential and intended for the addressee only. Send me the contract.\n\nAnd call Dana.";
    let lines: Vec<&str> = text.lines().collect();
    let (kept, cut) = cut_notices(&lines, NoticePlace::End);
    assert_eq!(kept.join("\n"), "Please pay.\n\nSend me the contract.\n\nAnd call Dana.");
    assert_eq!(cut.len(), 2, "{cut:?}");
}

#[test]
fn a_forwarded_mail_is_swept_throughout() {
    let text = format!("Pay this.\nSent from my iPhone\n\n{}", "More words.\n".repeat(60));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(cut_notices(&lines, NoticePlace::Anywhere).1, ["Sent from my iPhone"]);
    assert!(cut_notices(&lines, NoticePlace::End).1.is_empty());
}
