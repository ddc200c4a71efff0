//! The OAuth client that the program signs in with: the file that the Google console offers for a desktop app.

use std::{fs, path::Path};

use google_gmail1::yup_oauth2::ConsoleApplicationSecret;

use crate::model::Secret;

/// An OAuth client of type "Desktop app".
#[derive(Clone)]
pub struct ClientApp {
    pub client_id: String,
    /// Not confidential in an installed app, according to Google; treated as a secret all the same.
    pub client_secret: Secret,
    pub auth_uri: String,
    pub token_uri: String,
}

impl ClientApp {
    /// Reads the JSON file that the console offers. The error says what is wrong with it and what to do.
    pub fn load(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = fs::read_to_string(path).map_err(|error| {
            format!("the client file {shown} cannot be read ({error}). docs/gmail.md says how to make it")
        })?;
        // The parser's own message may quote the file, and with it the secret.
        let console: ConsoleApplicationSecret =
            serde_json::from_str(&text).map_err(|_| format!("{shown} is not the JSON file of a Google client"))?;
        let app = console.installed.ok_or_else(|| {
            format!("{shown} is not of a client of type \"Desktop app\"; make one in the Google console")
        })?;
        Ok(Self {
            client_id: app.client_id,
            client_secret: app.client_secret.into(),
            auth_uri: app.auth_uri,
            token_uri: app.token_uri,
        })
    }
}
