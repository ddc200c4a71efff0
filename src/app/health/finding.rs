//! What `doctor` finds wrong: each finding has a code for a monitor, a sentence for a person, and a remedy. A finding
//! makes `doctor` exit with 4. What a person may want to know but need not repair (an account that observes, a model
//! that does not answer) is a note, never a finding.

use std::{collections::BTreeMap, fs, io, path::Path};

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use crate::{
    app::{Health, HealthUseCases, health::file_finding::find_sent_fault},
    config::{AccountConfig, AccountKind},
    model::{Account, AccountCondition, AccountMode, Instant, MailState, RunRow, text_enum::text_enum},
    source::Sendmail,
};

/// The age of the last poll that counts as a fault. Whoever runs `once` by a timer does so at least daily.
const NOT_POLLED_AFTER: chrono::Duration = chrono::Duration::days(1);

text_enum! {
    /// What a finding is about. Monitors rely on these words, so they must not change.
    FindingCode {
        UnaccountedMail = "unaccounted_mail",
        IllegalTransition = "illegal_transition",
        AuditBroken = "audit_broken",
        WitnessAway = "witness_away",
        UnreadableRow = "unreadable_row",
        RulesBroken = "rules_broken",
        PolicyBroken = "policy_broken",
        PolicyMissing = "policy_missing",
        MailboxMissing = "mailbox_missing",
        MailboxUnreachable = "mailbox_unreachable",
        TransportMissing = "transport_missing",
        MailFailed = "mail_failed",
        StepFailed = "step_failed",
        SentUnreadable = "sent_unreadable",
        QueueUnusable = "queue_unusable",
        EpochDamaged = "epoch_damaged",
        LastGoodUnusable = "last_good_unusable",
        LockUnusable = "lock_unusable",
        NeverDue = "never_due",
        WorkWaits = "work_waits",
        NotPolled = "not_polled",
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub code: FindingCode,
    /// What is wrong, as one sentence without a full stop. Text from outside is made safe where it is printed.
    pub what: String,
    /// What a person can do about it.
    pub remedy: String,
}

impl Finding {
    pub fn new(code: FindingCode, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code, what: what.into(), remedy: remedy.into() }
    }

    /// Returns what is wrong and the remedy, in one line.
    pub fn text(&self) -> String {
        format!("{}; {}", self.what, self.remedy)
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Finding", 2)?;
        fields.serialize_field("code", &self.code)?;
        fields.serialize_field("text", &self.text())?;
        fields.end()
    }
}

/// The deferred runs that wait for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingSteps {
    pub steps: u64,
    pub reason: String,
    /// When the first of them is tried again.
    pub next: Instant,
}

impl WaitingSteps {
    /// Groups deferred runs by their reason, the largest group first.
    pub(in crate::app) fn group(runs: Vec<RunRow>, now: Instant) -> Vec<Self> {
        let mut groups: BTreeMap<String, (u64, Instant)> = BTreeMap::new();
        for run in runs {
            let next = run.wait_until.unwrap_or(now);
            let reason = run.waits_for.strip_prefix("waits: ").unwrap_or(&run.waits_for).to_owned();
            let group = groups.entry(reason).or_insert((0, next));
            *group = (group.0 + 1, group.1.min(next));
        }
        let mut groups: Vec<Self> =
            groups.into_iter().map(|(reason, (steps, next))| Self { steps, reason, next }).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.steps));
        groups
    }
}

impl Health {
    /// Returns what is wrong with the audit chain and its witness.
    fn find_broken_records(&self) -> Vec<Finding> {
        let audit = self.audit.problem.iter().map(|problem| {
            let remedy = "the record of what was done was edited: compare with a backup from data/backups";
            Finding::new(FindingCode::AuditBroken, format!("the audit chain is broken: {problem}"), remedy)
        });
        let witness = self.witness.problem.iter().map(|problem| {
            let what = format!("nothing outside data/ can tell a restored copy: {problem}");
            let remedy = "make the state folder writable, or name another with `state` in adjutant.toml";
            Finding::new(FindingCode::WitnessAway, what, remedy)
        });
        audit.chain(witness).collect()
    }

    /// Returns what is wrong with the files that a person writes.
    fn find_broken_files(&self) -> Vec<Finding> {
        let rules = self.rules_broken.iter().map(|problem| {
            let remedy = "mend the file; `adjutant rules check` shows the place";
            Finding::new(FindingCode::RulesBroken, problem.clone(), remedy)
        });
        let policy = self.policy_broken.iter().map(|problem| {
            let what = format!("rules/policy.yml is broken, so every effect waits until it is mended: {problem}");
            Finding::new(FindingCode::PolicyBroken, what, "mend the file")
        });
        let missing = self.policy_missing.then(|| {
            let what = "rules/policy.yml is missing, though it was there before, so nobody is on the allow-list and the default caps count";
            Finding::new(FindingCode::PolicyMissing, what, "put it back; an empty file says that this is meant")
        });
        let never = self.next_night.is_none().then(|| {
            let what = "nightly in adjutant.toml names a time that never comes, so nothing is ranked anew or learned";
            Finding::new(FindingCode::NeverDue, what, "write another cron line, such as \"15 3 * * *\"")
        });
        rules.chain(policy).chain(missing).chain(never).collect()
    }

    /// Returns everything that is wrong with what was counted and checked.
    pub(in crate::app) fn find_faults(&self, failed_steps: u64) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut find = |is_wrong: bool, finding: Finding| found.extend(is_wrong.then_some(finding));
        find(
            self.unaccounted > 0,
            Finding::new(
                FindingCode::UnaccountedMail,
                format!("{} mails are unaccounted for", self.unaccounted),
                "run `adjutant once`; if they stay, this is a fault of the program: report it",
            ),
        );
        find(
            self.illegal_transitions > 0,
            Finding::new(
                FindingCode::IllegalTransition,
                format!("{} changes of state in the history are not allowed", self.illegal_transitions),
                "somebody edited data/tasks.db by hand: restore a backup from data/backups",
            ),
        );
        let unreadable = self.unreadable.count;
        find(
            unreadable > 0,
            Finding::new(
                FindingCode::UnreadableRow,
                format!("{unreadable} stored rows cannot be read; everything goes on without them"),
                "they are named above under rows: restore a backup from data/backups, or mend them by hand",
            ),
        );
        found.extend(self.find_broken_records());
        found.extend(self.find_broken_files());
        let mut find = |is_wrong: bool, finding: Finding| found.extend(is_wrong.then_some(finding));
        let failed: u64 = self
            .mails
            .iter()
            .filter(|(state, _)| matches!(state, MailState::Failed | MailState::Parked))
            .map(|(_, count)| count)
            .sum();
        find(
            failed > 0,
            Finding::new(
                FindingCode::MailFailed,
                format!("{failed} mails could not be read or worked"),
                "see `adjutant mail list --state parked` and `--state failed`; `adjutant mail not-a-task NR` puts one aside",
            ),
        );
        find(
            failed_steps > 0,
            Finding::new(
                FindingCode::StepFailed,
                format!("{failed_steps} steps failed and wait for you"),
                "`adjutant hitl list` shows them; retry, skip or cancel each",
            ),
        );
        find(
            self.left_behind > 0 && self.worker.is_none() && !self.paused,
            Finding::new(
                FindingCode::WorkWaits,
                format!(
                    "{} steps are due, approved ones perhaps among them, and no daemon works them",
                    self.left_behind
                ),
                "start `adjutant run`, or run `adjutant once`",
            ),
        );
        found
    }
}

impl HealthUseCases<'_> {
    /// Returns what is wrong with an account's mailbox and its transport. Retired accounts have no faults.
    pub(in crate::app) fn find_account_faults(
        self,
        account: &Account,
        condition: Option<&AccountCondition>,
    ) -> Vec<Finding> {
        let configured = self.app.config.accounts.iter().find(|known| known.name == account.account);
        let Some(known) = configured.filter(|_| account.mode != AccountMode::Retired) else { return Vec::new() };
        let unpolled = find_unpolled(known, account, self.app.clock.now());
        let mut found = self.find_mailbox_faults(known, condition);
        found.extend(unpolled);
        found
    }

    /// Returns what is wrong with the mailbox of a configured account, and with its transport or sign-in.
    fn find_mailbox_faults(self, known: &AccountConfig, condition: Option<&AccountCondition>) -> Vec<Finding> {
        match &known.kind {
            AccountKind::Maildir { path, sendmail } => {
                let transport =
                    sendmail.as_ref().and_then(|sendmail| Sendmail::parse(&sendmail.command_line, sendmail.timeout));
                let transport = transport.and_then(|sendmail| find_transport_fault(known, sendmail.name()));
                let mailbox = find_mailbox_fault(known, path).or_else(|| find_poll_fault(known, condition));
                // If the mailbox is missing, its Sent folder is not checked as well.
                let mailbox = mailbox.or_else(|| find_sent_fault(known));
                mailbox.into_iter().chain(transport).collect()
            }
            AccountKind::Gmail(gmail) => {
                let name = &known.name;
                let sign_in = || format!("run `adjutant auth gmail --account {name}`");
                let signed_out = !gmail.token_file.is_file() || condition.is_some_and(|condition| !condition.signed_in);
                if signed_out {
                    let what = format!("account {name} is not signed in, so its mail is not read");
                    return vec![Finding::new(FindingCode::MailboxUnreachable, what, sign_in())];
                }
                find_poll_fault(known, condition).into_iter().collect()
            }
        }
    }
}

/// Returns the failure of the account's last poll, whatever its mailbox looks like now.
fn find_poll_fault(known: &AccountConfig, condition: Option<&AccountCondition>) -> Option<Finding> {
    let condition = condition.filter(|condition| !condition.problem.is_empty())?;
    let what = format!("account {} could not be read at {}: {}", known.name, condition.at, condition.problem);
    let remedy = "it is tried again at every poll; `adjutant once` tries it now";
    Some(Finding::new(FindingCode::MailboxUnreachable, what, remedy))
}

/// Returns that an account was not polled for a day: the daemon, or what starts `once`, has stopped.
fn find_unpolled(known: &AccountConfig, account: &Account, now: Instant) -> Option<Finding> {
    let last = account.polled_at.filter(|last| !known.is_sample && last.plus(NOT_POLLED_AFTER) < now)?;
    let what = format!("account {} was polled last at {last}, so newer mail is not read", known.name);
    Some(Finding::new(FindingCode::NotPolled, what, "start `adjutant run`, or run `adjutant once`"))
}

/// Returns why a Maildir cannot be read. The sample mailbox is created at the first start, so it may be missing before.
fn find_mailbox_fault(account: &AccountConfig, path: &Path) -> Option<Finding> {
    let name = &account.name;
    let remedy = "check path of this [[account]] in adjutant.toml, its rights, and that its disk is there";
    let listed = ["new", "cur"].map(|state| fs::read_dir(path.join(state)).map(drop));
    let is_missing =
        |listed: &io::Result<()>| listed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    if listed.iter().all(is_missing) {
        if account.is_sample && !path.exists() {
            return None;
        }
        let what = format!("account {name}: there is no Maildir at {}", path.display());
        return Some(Finding::new(FindingCode::MailboxMissing, what, remedy));
    }
    let closed = listed.into_iter().filter_map(Result::err).find(|error| error.kind() != io::ErrorKind::NotFound)?;
    let what = format!("account {name}: the Maildir {} cannot be read: {closed}", path.display());
    Some(Finding::new(FindingCode::MailboxUnreachable, what, remedy))
}

/// Returns why the program that transmits mail cannot be run.
fn find_transport_fault(account: &AccountConfig, program: &str) -> Option<Finding> {
    let problem = match fs::metadata(program) {
        Err(error) => error.to_string(),
        Ok(found) if !found.is_file() => "it is not a file".to_owned(),
        Ok(_) => rustix::fs::access(program, rustix::fs::Access::EXEC_OK).err()?.to_string(),
    };
    let what = format!("account {}: mail cannot be transmitted, {program} cannot be run: {problem}", account.name);
    Some(Finding::new(
        FindingCode::TransportMissing,
        what,
        "install it, or correct sendmail of this [[account]] in adjutant.toml; approved mail waits as a failed step",
    ))
}
