//! The use cases of effects: the policy, the pause, the outbox, and undoing an effect. A broken or missing policy file
//! never allows more than the defaults. No effect is carried out here except an undo.

use std::{io, sync::Arc};

use tokio::sync::watch;

use crate::{
    app::App,
    model::{ActionId, JournalRow},
    outbox::{Outbox, OutboxSettings},
    policy::EffectPolicy,
    regular_file,
    store::Write,
};

/// The setting that says that a policy file existed at some time.
const POLICY_SEEN: &str = "policy_file_seen";

/// The use cases of effects: the policy, the pause, the outbox, and undoing.
#[derive(Clone, Copy)]
pub struct EffectUseCases<'a> {
    pub(super) app: &'a App,
}

impl EffectUseCases<'_> {
    /// Returns the policy in force. While the file is broken, no effect above risk class R0 is carried out.
    pub fn load_policy(self) -> EffectPolicy {
        self.try_load_policy().unwrap_or_else(|_| EffectPolicy::broken())
    }

    /// Returns the policy of the file, or what is wrong with the file. A missing file means the default policy.
    pub fn try_load_policy(self) -> Result<EffectPolicy, String> {
        match regular_file::read_to_string(&self.app.home.policy_file()) {
            Ok(text) => EffectPolicy::parse(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(EffectPolicy::default()),
            Err(error) => Err(format!("it cannot be read: {error}")),
        }
    }

    /// Stores that a policy file exists, so that `doctor` reports it if it is missing later.
    pub(in crate::app) async fn note_policy_file(self) -> anyhow::Result<()> {
        let is_noted = self.app.store.read(|reader| reader.settings().get(POLICY_SEEN)).await?.is_some();
        if !is_noted && self.app.home.policy_file().exists() {
            self.app.store.write(Write::StoreSetting { name: POLICY_SEEN.into(), value: "1".into() }).await?;
        }
        Ok(())
    }

    /// Returns whether a policy file existed before and is missing now. In that case the default limits apply.
    pub(in crate::app) async fn is_policy_file_missing(self) -> anyhow::Result<bool> {
        let is_noted = self.app.store.read(|reader| reader.settings().get(POLICY_SEEN)).await?.is_some();
        Ok(is_noted && !self.app.home.policy_file().exists())
    }

    /// Returns an outbox under the policy as it is now. No mailbox is registered with it yet.
    pub fn build_outbox(self) -> anyhow::Result<Outbox> {
        let (_, policy) = watch::channel(Arc::new(self.load_policy()));
        self.build_outbox_with_policy(policy)
    }

    /// Returns an outbox that follows a policy which may change while it is used.
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

    /// Stops all effects at once, or allows them again.
    pub async fn set_paused(self, on: bool) -> anyhow::Result<()> {
        self.app.store.write(Write::SetPaused { on, at: self.app.clock.now() }).await?;
        Ok(())
    }

    pub async fn is_paused(self) -> anyhow::Result<bool> {
        Ok(self.app.store.read(|reader| reader.settings().is_paused()).await?)
    }

    /// Returns the newest effects that can be undone.
    pub async fn list_undoable(self, limit: usize) -> anyhow::Result<Vec<JournalRow>> {
        Ok(self.app.store.read(move |reader| reader.outbox().undoable(limit)).await?)
    }

    /// Undoes an effect of risk class R1. Returns the result, in words.
    pub async fn undo(self, action_id: ActionId) -> anyhow::Result<String> {
        let outbox = self.build_outbox()?;
        for account in &self.app.config.accounts {
            // Every configured mailbox is registered, because the effect may belong to any account.
            outbox.register_mailbox(account.name.clone(), self.app.accounts().open_mailbox(account));
        }
        outbox.undo(action_id, self.app.clock.now()).await
    }
}
