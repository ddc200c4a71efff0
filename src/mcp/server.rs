//! What the protocol asks for, and which part of this module answers it. One value serves any number of clients.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
        GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;
use tokio::sync::Notify;

use super::{UNTRUSTED_TEXT, failure::Failure, prompt, resource, tool::McpTool};
use crate::{
    app::App,
    model::{ClientName, UserId},
};

/// How long changes may wait until the head of the audit chain is recorded outside the database. Recording it costs as
/// much as a change, and calls often come in groups.
const RECORD_INTERVAL: Duration = Duration::from_secs(1);

/// The server of one home and one user. Clones are cheap.
#[derive(Clone)]
pub(super) struct McpServer {
    app: App,
    /// The tools as they are listed. Generating their schemas for each request would be wasted.
    tools: Arc<[Tool]>,
    /// Signalled after each change.
    changed: Arc<Notify>,
}

impl McpServer {
    pub(super) fn new(app: App) -> Self {
        let tools = McpTool::ALL.iter().map(|tool| tool.describe()).collect();
        Self { app, tools, changed: Arc::default() }
    }

    pub(super) const fn app(&self) -> &App {
        &self.app
    }

    pub(super) const fn user(&self) -> &UserId {
        &self.app.user
    }

    /// Returns whether clients may read text of mails beyond subject and objective.
    pub(super) fn shows_mail_text(&self) -> bool {
        self.app.config.mcp.mail_text
    }

    /// Refuses a change when the data folder was replaced: nobody would see it.
    pub(super) fn check_data_folder(&self) -> Result<(), Failure> {
        self.app.check_data_folder().map_err(|replaced| {
            tracing::error!(error = %replaced, "nothing more is changed; start `adjutant mcp` again");
            Failure::refused("The data of Adjutant were replaced while this server was running. Start it again.")
        })
    }

    /// Has the new head of the audit chain recorded outside the database.
    pub(super) fn note_change(&self) {
        self.changed.notify_one();
    }

    /// Records the head of the audit chain after changes. Runs until it is dropped; whoever drops it records once more.
    pub(super) async fn record_heads(self) {
        loop {
            self.changed.notified().await;
            tokio::time::sleep(RECORD_INTERVAL).await;
            self.app.audit().record_head().await;
        }
    }

    /// Executes a tool in a task of its own: a panic fails the call and not the connection, and a change that has begun
    /// is finished when the client is gone.
    async fn execute(&self, tool: McpTool, request: CallToolRequestParams, client: ClientName) -> CallToolResult {
        let server = self.clone();
        let call = tokio::spawn(async move { tool.call(&server, request.arguments, client).await });
        let outcome = call.await.unwrap_or_else(|panicked| Err(Failure::Internal(panicked.into())));
        match outcome {
            Ok(answer) => {
                let notice = answer.get("notice").and_then(Value::as_str).map(ContentBlock::text);
                let mut result = CallToolResult::structured(answer);
                // The fields of an object have no order, and a client may show only the text.
                result.content.splice(0..0, notice);
                result
            }
            Err(failure) => CallToolResult::error(vec![ContentBlock::text(failure.tell(tool.as_str()))]),
        }
    }
}

/// Returns the name under which the client of a request is recorded.
fn client_name(context: &RequestContext<RoleServer>) -> ClientName {
    let given = context.client_info().map(|client| client.name).unwrap_or_default();
    ClientName::of_mcp_client(&given)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let instructions = format!(
            "Adjutant turns the person's mail into ranked tasks and works on them. Here you can look at these tasks, add, \
             complete, delete and reword them, and see what waits for approval. You cannot approve or send anything: only \
             the person can, with `adjutant hitl`. {UNTRUSTED_TEXT}"
        );
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("adjutant", env!("CARGO_PKG_VERSION")))
            .with_instructions(instructions)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Ok(tool) = request.name.parse::<McpTool>() else {
            let known: Vec<&str> = McpTool::ALL.iter().map(|tool| tool.as_str()).collect();
            let known = known.join(", ");
            return Err(ErrorData::invalid_params(format!("there is no such tool; the tools are {known}"), None));
        };
        let client = client_name(&context);
        Ok(self.execute(tool, request, client).await.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resource::list()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resource::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resource::read(self, &request.uri).await.map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompt::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompt::get(self, &request.name).await.map(Into::into)
    }
}
