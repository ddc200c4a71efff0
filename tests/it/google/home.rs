//! Houses whose account is at Google: signed in, and allowed to act.

use std::fs;

use adjutant::{
    model::AccountMode,
    source::{calendar, gmail},
};
use serde_json::json;

use super::{Google, Person};
use crate::house::{House, Kind, WORK};

impl Google {
    /// For the real binary, which has the real time.
    pub(crate) fn home(&self, address: &str) -> House {
        self.furnish(House::real_time(Kind::Observing), address)
    }

    /// With a stopped clock.
    pub(crate) fn still_home(&self, address: &str) -> House {
        self.furnish(House::observing(), address)
    }

    fn furnish(&self, house: House, address: &str) -> House {
        house.write(
            "adjutant.toml",
            &format!(
                "[me]\nnames = [\"Alex Green\"]\naddresses = [\"{address}\"]\n\n[[account]]\nname = \"{WORK}\"\nkind = \"gmail\"\n\
                 trusted_servers = [\"mx.home.example\"]\napi = \"{}\"\n",
                self.url()
            ),
        );
        let app = json!({ "installed": {
            "client_id": "desk", "client_secret": "not very", "project_id": "it", "redirect_uris": ["http://localhost"],
            "auth_uri": self.auth_uri(), "token_uri": self.token_uri(),
        } });
        house.write("google-client.json", &app.to_string());
        let scopes = [gmail::SCOPE_NAME].into_iter().chain(calendar::SCOPES).collect();
        signed_in(&house, &self.person(address), scopes);
        let turn_on = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { house.app().await.set_mode(WORK, AccountMode::Active).await.unwrap() });
        };
        std::thread::scope(|scope| scope.spawn(turn_on).join().unwrap());
        house
    }
}

/// As `adjutant auth gmail` leaves it, with these scopes and an access token that is over.
pub(crate) fn signed_in(house: &House, person: &Person<'_>, scopes: Vec<&str>) {
    let kept = json!({
        "client_id": "desk", "refresh_token": person.signs_in(&scopes.join(" ")), "access_token": "over",
        "expires_at": "2020-01-01T00:00:00Z", "scopes": scopes,
    });
    let file = house.home().token_file(WORK);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, kept.to_string()).unwrap();
}
