//! The tools that only read.

use crate::{
    app::SearchResults,
    mcp::{
        arguments::{
            ListApprovalsArguments, ListRunsArguments, ListTasksArguments, SearchArguments, TaskArguments,
            TaskReference,
        },
        failure::Failure,
        server::McpServer,
        tool::McpTool,
        view::{
            ApprovalListView, ApprovalView, DigestView, FoundView, FullTaskView, MailTextView, PriorityView,
            RunListView, RunView, SearchView, TaskListView,
        },
    },
    model::{ListedStatus, MailId},
};

impl McpServer {
    pub(super) async fn list_tasks(&self, arguments: &ListTasksArguments) -> Result<TaskListView, Failure> {
        let (filter, skipped, limit) = arguments.check().map_err(|refusal| refusal.about(McpTool::ListTasks))?;
        self.page_of_tasks(filter, skipped, limit).await
    }

    /// Returns a page of the list of tasks.
    pub(in crate::mcp) async fn page_of_tasks(
        &self,
        filter: ListedStatus,
        skipped: usize,
        limit: usize,
    ) -> Result<TaskListView, Failure> {
        let (rows, total) = self.app().task_lists().from_offset(filter, skipped, limit).await?;
        Ok(TaskListView::new(&rows, total, skipped, filter))
    }

    pub(super) async fn get_task(&self, arguments: &TaskArguments) -> Result<FullTaskView, Failure> {
        self.full_task(&arguments.task_id).await
    }

    /// Returns everything about a task that a client may read.
    pub(in crate::mcp) async fn full_task(&self, task: &TaskReference) -> Result<FullTaskView, Failure> {
        let row = self.find_task(task).await?;
        let detail = self.app().tasks().detail(&row.task.task_id.to_string()).await?;
        let mail_text = match detail.row.mail_id.filter(|_| self.shows_mail_text()) {
            Some(mail_id) => Some(MailTextView::new(&detail, self.body_of_mail(mail_id).await?)),
            None => None,
        };
        Ok(FullTaskView::new(&detail, mail_text))
    }

    async fn body_of_mail(&self, mail_id: MailId) -> Result<Option<String>, Failure> {
        let detail = self.app().mail().detail(mail_id).await?;
        Ok(detail.mail.map(|mail| mail.text))
    }

    pub(super) async fn explain_priority(&self, arguments: &TaskArguments) -> Result<PriorityView, Failure> {
        let row = self.find_task(&arguments.task_id).await?;
        let why = self.app().tasks().explain_priority(&row.task.task_id.to_string()).await?;
        Ok(PriorityView::new(&why))
    }

    pub(super) async fn search(&self, arguments: &SearchArguments) -> Result<SearchView, Failure> {
        let (text, limit) = arguments.check().map_err(|refusal| refusal.about(McpTool::Search))?;
        let SearchResults { found, trouble } = self.app().search().find(text, limit).await?;
        let mut views = Vec::with_capacity(found.len());
        for document in &found {
            let task = match document.doc.strip_prefix("task:") {
                Some(id) => self.app().tasks().find(id).await.ok(),
                None => None,
            };
            views.push(FoundView::new(document, task.as_ref(), self.shows_mail_text()));
        }
        Ok(SearchView::new(views, trouble.is_some()))
    }

    pub(super) async fn list_approvals(&self, arguments: &ListApprovalsArguments) -> Result<ApprovalListView, Failure> {
        let limit = arguments.check().map_err(|refusal| refusal.about(McpTool::ListApprovals))?;
        let items = self.app().approvals().list().await?;
        let mut views = Vec::new();
        for item in items.iter().take(limit) {
            let task = match item.task_id {
                Some(task_id) => self.app().tasks().find(&task_id.to_string()).await.ok(),
                None => None,
            };
            views.push(ApprovalView::new(item, task.as_ref(), self.shows_mail_text()));
        }
        Ok(ApprovalListView::new(views, items.len()))
    }

    pub(super) async fn list_runs(&self, arguments: &ListRunsArguments) -> Result<RunListView, Failure> {
        let limit = arguments.check().map_err(|refusal| refusal.about(McpTool::ListRuns))?;
        let rows = self.app().runs().list(arguments.status, limit).await?;
        let total = self.app().runs().count(arguments.status).await?;
        let runs = rows.iter().map(|row| RunView::new(row, self.shows_mail_text())).collect();
        Ok(RunListView::new(runs, total))
    }

    /// Returns what happened in the last day.
    pub(in crate::mcp) async fn digest(&self) -> Result<DigestView, Failure> {
        /// How far back the digest goes.
        const HOURS: i64 = 24;
        let digest = self.app().nightly().build_digest(HOURS).await?;
        Ok(DigestView::new(&digest, self.shows_mail_text()))
    }
}
