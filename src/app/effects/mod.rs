//! What the program may do: policy, pause, the outbox.

use std::{io, sync::Arc};

use tokio::sync::watch;

use crate::{
    app::App,
    model::ActionId,
    outbox::{Outbox, OutboxSettings},
    policy::EffectPolicy,
    regular_file,
    store::{JournalRow, Write},
};

/// The setting that says that there was a policy file.
const POLICY_SEEN: &str = "policy_file_seen";

/// The use cases of effects: the policy, the pause, the outbox, and undoing.
#[derive(Clone, Copy)]
pub struct EffectUseCases<'a> {
    pub(super) app: &'a App,
}

impl EffectUseCases<'_> {
    /// The policy in force. Under a broken file nothing above R0 is carried out.
    pub fn load_policy(self) -> EffectPolicy {
        self.try_load_policy().unwrap_or_else(|_| EffectPolicy::broken())
    }

    pub fn try_load_policy(self) -> Result<EffectPolicy, String> {
        match regular_file::read_to_string(&self.app.home.policy_file()) {
            Ok(text) => EffectPolicy::parse(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(EffectPolicy::default()),
            Err(error) => Err(format!("it cannot be read: {error}")),
        }
    }

    /// Remembers that there is a policy file, so that one that is missing later is told.
    pub(in crate::app) async fn note_policy_file(self) -> anyhow::Result<()> {
        let is_noted = self.app.store.read(|reader| reader.settings().get(POLICY_SEEN)).await?.is_some();
        if !is_noted && self.app.home.policy_file().exists() {
            self.app.store.write(Write::StoreSetting { name: POLICY_SEEN.into(), value: "1".into() }).await?;
        }
        Ok(())
    }

    /// Returns whether there was a policy file before and is none now: then the default caps count.
    pub(in crate::app) async fn is_policy_file_missing(self) -> anyhow::Result<bool> {
        let is_noted = self.app.store.read(|reader| reader.settings().get(POLICY_SEEN)).await?.is_some();
        Ok(is_noted && !self.app.home.policy_file().exists())
    }

    /// An outbox under the policy as it stands now, serving no mailbox yet.
    pub fn build_outbox(self) -> anyhow::Result<Outbox> {
        let (_, policy) = watch::channel(Arc::new(self.load_policy()));
        self.build_outbox_with_policy(policy)
    }

    pub(in crate::app) fn build_outbox_with_policy(
        self,
        policy: watch::Receiver<Arc<EffectPolicy>>,
    ) -> anyhow::Result<Outbox> {
        let (epoch, restored) =
            self.app.store.read_blocking(|reader| Ok((reader.audit().epoch()?, reader.audit().last_restore()?)))?;
        let setting = OutboxSettings {
            files: self.app.home.files(),
            labels: self.app.config.labels.clone(),
            own: self.app.config.me.addresses.clone(),
            policy,
            epoch,
            restored_at: restored.map(|restored| restored.at),
            witness: self.app.witness.clone(),
            open_files: self.app.open_files.clone(),
        };
        Ok(Outbox::new(self.app.store.clone(), setting, self.app.clock.now())?)
    }

    /// Holds every effect at once, or lets them go.
    pub async fn set_paused(self, on: bool) -> anyhow::Result<()> {
        self.app.store.write(Write::SetPaused { on, at: self.app.clock.now() }).await?;
        Ok(())
    }

    pub async fn is_paused(self) -> anyhow::Result<bool> {
        Ok(self.app.store.read(|reader| reader.settings().is_paused()).await?)
    }

    pub async fn list_undoable(self, limit: usize) -> anyhow::Result<Vec<JournalRow>> {
        Ok(self.app.store.read(move |reader| reader.outbox().undoable(limit)).await?)
    }

    /// Takes an R1 effect back; in words what came of it.
    pub async fn undo(self, action_id: ActionId) -> anyhow::Result<String> {
        let outbox = self.build_outbox()?;
        for account in &self.app.config.accounts {
            outbox.register_mailbox(account.name.clone(), self.app.accounts().open_mailbox(account));
        }
        outbox.undo(action_id, self.app.clock.now()).await
    }
}
