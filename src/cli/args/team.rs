//! The arguments of `team`.

/// A request for a team, or what is done with one.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct TeamArgs {
    /// What is to be done, such as "list every open invoice of last month's supplier mail"; with --resume, what to tell
    /// the task manager
    #[arg(required_unless_present_any = ["resume", "stop", "list", "show"])]
    pub(in crate::cli) text: Vec<String>,
    /// The only account that is read [default: all]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) account: Option<String>,
    /// Go on with a team that was stopped or whose program ended [default: the newest]; a stopped one goes on with TEXT,
    /// or with "continue"
    #[arg(long, value_name = "TEAM", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["stop", "list", "show"])]
    pub(in crate::cli) resume: Option<String>,
    /// Stop a team with a summary [default: the newest]; it can be resumed
    #[arg(long, value_name = "TEAM", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["text", "list", "show"])]
    pub(in crate::cli) stop: Option<String>,
    /// List the teams
    #[arg(long, conflicts_with_all = ["text", "show"])]
    pub(in crate::cli) list: bool,
    /// Show what happened in a team [default: the newest]
    #[arg(long, value_name = "TEAM", num_args = 0..=1, default_missing_value = "", conflicts_with = "text")]
    pub(in crate::cli) show: Option<String>,
    /// Leave the team to the daemon instead of following it; questions wait in the approval queue
    #[arg(long, conflicts_with_all = ["stop", "list", "show"])]
    pub(in crate::cli) background: bool,
}
