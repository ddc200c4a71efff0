//! The configuration file as it is written, before it is checked. Unknown keys are errors, so that no typing error is
//! ignored.

use serde::Deserialize;

/// The file that `adjutant init` writes: every key, with its default.
pub const TEMPLATE: &str = include_str!("template.toml");

/// The whole file. What the keys mean is written in `template.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawConfig {
    #[serde(alias = "daily")]
    pub(super) nightly: String,
    pub(super) state: String,
    pub(super) me: RawMe,
    pub(super) mail: RawMail,
    pub(super) reading: RawReading,
    pub(super) engine: RawEngine,
    pub(super) memory: RawMemory,
    pub(super) llm: RawLlm,
    pub(super) planner: super::planner::RawPlanner,
    pub(super) mcp: RawMcp,
    pub(super) web: RawWeb,
    pub(super) account: Vec<RawAccount>,
}

impl Default for RawConfig {
    fn default() -> Self {
        Self {
            nightly: "15 3 * * *".into(),
            state: String::new(),
            me: RawMe::default(),
            mail: RawMail::default(),
            reading: RawReading::default(),
            engine: RawEngine::default(),
            memory: RawMemory::default(),
            llm: RawLlm::default(),
            planner: super::planner::RawPlanner::default(),
            mcp: RawMcp::default(),
            web: RawWeb::default(),
            account: Vec::new(),
        }
    }
}

/// The section `[me]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawMe {
    pub(super) names: Vec<String>,
    pub(super) addresses: Vec<String>,
    pub(super) time_zone: String,
    pub(super) working_hours: String,
    pub(super) working_days: Vec<String>,
    pub(super) signature: String,
    pub(super) decline: String,
    pub(super) languages: Vec<String>,
}

impl Default for RawMe {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            addresses: Vec::new(),
            time_zone: "UTC".into(),
            working_hours: "09:00-17:00".into(),
            working_days: Vec::new(),
            signature: String::new(),
            decline: String::new(),
            languages: vec!["en".into(), "he".into()],
        }
    }
}

/// The section `[mail]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawMail {
    pub(super) labels: Vec<String>,
    pub(super) poll_seconds: u64,
    pub(super) old_after_days: u32,
}

impl Default for RawMail {
    fn default() -> Self {
        let kinds = crate::model::TaskKind::ALL.iter().map(ToString::to_string).collect();
        Self { labels: kinds, poll_seconds: 30, old_after_days: 30 }
    }
}

/// The section `[reading]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawReading {
    pub(super) second_reader: bool,
}

impl Default for RawReading {
    fn default() -> Self {
        Self { second_reader: true }
    }
}

/// The section `[engine]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawEngine {
    pub(super) in_flight: usize,
}

impl Default for RawEngine {
    fn default() -> Self {
        Self { in_flight: 64 }
    }
}

/// The key `kind` of an account. Parsed by hand, so that the error names the key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) enum RawKind {
    #[default]
    Maildir,
    Gmail,
}

impl TryFrom<String> for RawKind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "maildir" => Ok(Self::Maildir),
            "gmail" => Ok(Self::Gmail),
            _ => Err(format!("account.kind is '{text}'; expected one of maildir, gmail")),
        }
    }
}

/// The section `[memory]`. It has no `Debug`, because a variable may have brought a key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawMemory {
    pub(super) qdrant_url: String,
    /// Set only by a variable; in the file it is refused.
    pub(super) qdrant_api_key: String,
    pub(super) qdrant_api_key_file: String,
    pub(super) collection: String,
    pub(super) embeddings_url: String,
    pub(super) embeddings_model: String,
    /// Set only by a variable; in the file it is refused.
    pub(super) embeddings_key: String,
    pub(super) embeddings_key_file: String,
    pub(super) embeddings_dimension: usize,
}

impl Default for RawMemory {
    fn default() -> Self {
        Self {
            qdrant_url: String::new(),
            qdrant_api_key: String::new(),
            qdrant_api_key_file: String::new(),
            collection: "task_snippets".into(),
            embeddings_url: String::new(),
            embeddings_model: String::new(),
            embeddings_key: String::new(),
            embeddings_key_file: String::new(),
            embeddings_dimension: 0,
        }
    }
}

/// The section `[llm]`. It has no `Debug`, because a variable may have brought the key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawLlm {
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) base_url: String,
    /// Set only by a variable; in the file it is refused.
    pub(super) key: String,
    pub(super) key_file: String,
    pub(super) timeout_seconds: u64,
    pub(super) at_once: usize,
    pub(super) tokens_per_day: u64,
    pub(super) tokens_per_task: u64,
    pub(super) money_per_day: f64,
    pub(super) money_per_task: f64,
    pub(super) price_in: f64,
    pub(super) price_out: f64,
    pub(super) reword_replies: bool,
}

impl Default for RawLlm {
    fn default() -> Self {
        Self {
            provider: "off".into(),
            model: String::new(),
            base_url: String::new(),
            key: String::new(),
            key_file: String::new(),
            timeout_seconds: 30,
            at_once: 4,
            tokens_per_day: 2_000_000,
            tokens_per_task: 200_000,
            money_per_day: 0.0,
            money_per_task: 0.0,
            price_in: 0.0,
            price_out: 0.0,
            reword_replies: false,
        }
    }
}

/// The section `[mcp]`. It has no `Debug`, because a variable may have brought the token.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawMcp {
    pub(super) mail_text: bool,
    pub(super) http: String,
    /// Set only by a variable; in the file it is refused.
    pub(super) token: String,
    pub(super) token_file: String,
}

/// The section `[web]`. It has no `Debug`, because a variable may have brought the token.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawWeb {
    pub(super) enabled: bool,
    /// Zero: the usual port, or the next free one.
    pub(super) port: u16,
    pub(super) allowed_hosts: Vec<String>,
    /// Set only by a variable; in the file it is refused.
    pub(super) metrics_token: String,
    pub(super) metrics_token_file: String,
}

impl Default for RawWeb {
    fn default() -> Self {
        Self {
            enabled: true,
            port: 0,
            allowed_hosts: Vec::new(),
            metrics_token: String::new(),
            metrics_token_file: String::new(),
        }
    }
}

/// One `[[account]]`. Which keys belong to which kind is checked later, to say so in words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAccount {
    pub(super) name: String,
    #[serde(default)]
    pub(super) kind: RawKind,
    #[serde(default)]
    pub(super) path: Option<String>,
    #[serde(default)]
    pub(super) address: Option<String>,
    #[serde(default)]
    pub(super) trusted_servers: Option<Vec<String>>,
    #[serde(default)]
    pub(super) sendmail: Option<String>,
    #[serde(default)]
    pub(super) sendmail_patience: Option<u64>,
    #[serde(default)]
    pub(super) never_touch: Vec<String>,
    #[serde(default)]
    pub(super) labels: Option<Vec<String>>,
    #[serde(default)]
    pub(super) since: Option<String>,
    #[serde(default)]
    pub(super) client_file: Option<String>,
    #[serde(default)]
    pub(super) calendar: Option<bool>,
    #[serde(default)]
    pub(super) push: Option<RawPush>,
    #[serde(default)]
    pub(super) api: Option<String>,
    #[serde(default)]
    pub(super) pubsub_api: Option<String>,
}

/// The key `push` of a Gmail account, with both names in the form that Pub/Sub demands.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(super) struct RawPush {
    pub(super) topic: String,
    pub(super) subscription: String,
}

impl TryFrom<toml::Value> for RawPush {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        let part = |name: &str, kind: &str| {
            let text = value.get(name)?.as_str()?.to_owned();
            let mut parts = text.split('/');
            let shaped = parts.next() == Some("projects") && parts.next().is_some() && parts.next() == Some(kind);
            (shaped && parts.next().is_some_and(|last| !last.is_empty()) && parts.next().is_none()).then_some(text)
        };
        match (part("topic", "topics"), part("subscription", "subscriptions")) {
            (Some(topic), Some(subscription)) => Ok(Self { topic, subscription }),
            _ => Err(
                "account.push: expected { topic = \"projects/P/topics/T\", subscription = \"projects/P/subscriptions/S\" }"
                    .into(),
            ),
        }
    }
}
