//! The arguments of `ask`.

/// A request, and how it is executed.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct AskArgs {
    /// What is to be done, such as "1. collect last month's invoices 2. remind me Friday"; @FILE attaches a text file
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub(in crate::cli) text: Vec<String>,
    /// Execute the plan without asking; what needs a person waits in the approval queue
    #[arg(long, short)]
    pub(in crate::cli) yes: bool,
    /// Execute the request as one step, without a plan
    #[arg(long, conflicts_with = "resume")]
    pub(in crate::cli) direct: bool,
    /// Go on with the plan of a task [default: the newest plan that has not ended]
    #[arg(long, value_name = "TASK", num_args = 0..=1, default_missing_value = "")]
    pub(in crate::cli) resume: Option<String>,
    /// The account that mail is sent from and searched in [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) account: Option<String>,
}
