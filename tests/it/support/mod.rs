//! What the tests are built with: a home in a temporary folder, servers on loopback, and the counts of a campaign.
//! Nothing in here is a test.

pub(crate) mod browser;
pub(crate) mod campaign;
pub(crate) mod gmail_home;
pub(crate) mod google;
pub(crate) mod mcp_client;
pub(crate) mod model_server;
pub(crate) mod outbox_fixture;
pub(crate) mod page_client;
pub(crate) mod page_crawl;
pub(crate) mod served_page;
pub(crate) mod team_script;
pub(crate) mod test_home;
