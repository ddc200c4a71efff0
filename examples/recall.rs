//! Searches among given texts, for `make eval`: JSON lines `{"id","text"}` are stored as mails, then each
//! `{"id","query"}` is answered with the ids found by words, by meaning and by both, ten of each.

use std::{
    collections::HashMap,
    io::{self, BufRead as _, BufWriter, Write as _},
    sync::Arc,
};

use adjutant::{
    clock::Clock,
    memory::{Memory, MemoryQuery, Scope},
    model::{
        Account, AccountId, AccountMode, Arrival, ArrivalContent, ArrivalFile, Arrivals, Direction, Mail, UserId,
        memory::MemorySettings,
    },
    store::{Receipt, SearchDepth, Store, Write},
};
use anyhow::Context as _;
use serde::Deserialize;
use serde_json::json;

const RESULTS_PER_SEARCH: usize = 10;
const BATCH_SIZE: usize = 256;

/// One line of stdin.
#[derive(Deserialize)]
#[serde(untagged)]
enum InputLine {
    Text { id: String, text: String },
    Query { id: String, query: String },
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let lines: Vec<InputLine> =
        io::stdin().lock().lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect::<anyhow::Result<_>>()?;
    let folder = tempfile::tempdir()?;
    let shelf = SearchFixture::open(folder.path()).await?;
    let texts: Vec<(&str, &str)> = lines
        .iter()
        .filter_map(
            |line| if let InputLine::Text { id, text } = line { Some((id.as_str(), text.as_str())) } else { None },
        )
        .collect();
    let mut ids = HashMap::new();
    for part in texts.chunks(BATCH_SIZE) {
        shelf.store_texts(part, &mut ids).await?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    for line in &lines {
        let InputLine::Query { id, query } = line else { continue };
        let [words, meaning, both] = shelf
            .search_three_ways(query)
            .await?
            .map(|docs| docs.iter().filter_map(|doc| ids.get(doc)).collect::<Vec<_>>());
        writeln!(out, "{}", json!({ "id": id, "words": words, "meaning": meaning, "both": both }))?;
    }
    Ok(out.flush()?)
}

/// A store with one account and the memory over it.
struct SearchFixture {
    store: Store,
    memory: Memory,
    account: AccountId,
    user: UserId,
}

impl SearchFixture {
    async fn open(folder: &std::path::Path) -> anyhow::Result<Self> {
        let store = Store::open(&folder.join("tasks.db"), &folder.join("backups"))?;
        let memory = Memory::open(&MemorySettings::default(), store.clone(), Clock::System)?;
        let (account, user) = (AccountId::from("eval"), UserId::from("me"));
        let row = Account {
            account: account.clone(),
            user: user.clone(),
            kind: adjutant::model::MailboxKind::Import,
            mode: AccountMode::Observe,
            cursor: None,
            created_at: Clock::System.now(),
            polled_at: None,
        };
        store.write(Write::OpenAccount(row)).await?;
        Ok(Self { store, memory, account, user })
    }

    /// Stores texts as mails, and records in `ids` which document each id became.
    async fn store_texts<'a>(
        &self,
        texts: &[(&'a str, &str)],
        ids: &mut HashMap<String, &'a str>,
    ) -> anyhow::Result<()> {
        let at = Clock::System.now();
        let arrival = |(id, text): &(&str, &str)| {
            let mail = Mail { text: (*text).to_owned(), thread: (*id).to_owned(), ..Mail::default() };
            Arrival {
                source_key: (*id).to_owned(),
                folder: "INBOX".into(),
                direction: Direction::In,
                arrived_at: at,
                size: 1,
                content: ArrivalContent::StoreOnly { mail: Arc::new(mail), reason: "kept".into() },
                file: ArrivalFile::default(),
            }
        };
        let arrivals = texts.iter().map(arrival).collect();
        let (account, user) = (self.account.clone(), self.user.clone());
        let batch =
            Arrivals { account, user, cursor: None, arrivals, gone_keys: Vec::new(), unchanged_files: Vec::new(), at };
        let Receipt::Arrived(arrived) = self.store.write(Write::RecordArrivals(Box::new(batch))).await? else {
            anyhow::bail!("nothing arrived")
        };
        for entry in arrived {
            let (id, _) = texts.iter().find(|(id, _)| *id == entry.source_key).context("an unknown mail arrived")?;
            ids.insert(format!("mail:{}", entry.mail_id), *id);
        }
        Ok(())
    }

    /// Returns the documents found by words, by meaning and by both.
    async fn search_three_ways(&self, query: &str) -> anyhow::Result<[Vec<String>; 3]> {
        let account = &self.account;
        let words = self
            .store
            .read_blocking(|reader| reader.documents().find(query, account, SearchDepth::PERSON, RESULTS_PER_SEARCH))?;
        let near = self.memory.search_dense(account, query, RESULTS_PER_SEARCH).await?;
        let question = MemoryQuery {
            account,
            text: query,
            thread: "",
            person: "",
            invoice: "",
            leave_out: &[],
            now: Clock::System.now(),
            scope: Scope::person(RESULTS_PER_SEARCH),
        };
        let both = self.memory.search(&question).await?.found;
        Ok([
            words.into_iter().map(|hit| hit.document.doc).collect(),
            near.into_iter().map(|near| near.doc).collect(),
            both.into_iter().map(|found| found.doc).collect(),
        ])
    }
}
