//! The engine: loads a run, evaluates one node, commits one checkpoint, and repeats. Killed at any point and started
//! again, it finishes every run exactly once.
//!
//! A node says which kind of move comes next, the topology says where it leads. Nodes make no calls: the engine makes
//! them and records the replies. No effect is carried out before it is part of a committed checkpoint.
//!
//! [`Engine`] is the handle. `RunDriver` takes a run from node to node, `CallRecorder` makes the calls,
//! `CheckpointCommitter` commits the checkpoints, and `RunSupervisor` knows the runs in flight and abandons those whose
//! node hangs.

mod active_run;
mod call_handler;
mod call_recorder;
mod checkpoint;
mod commit;
mod drive;
mod engine;
pub mod entry;
mod failure;
mod fork;
mod interrupt;
mod meeting_gate;
mod model_caller;
pub mod node;
mod park;
mod recall;
mod replay;
mod supervisor;
mod thread_queue;
pub mod topology;

pub use active_run::ActiveRun;
pub use call_handler::{
    CallContext, CallError, CallHandler, CallReply, CallResult, LiveCallHandler, ReplyFuture, RunDeferred,
};
pub use engine::{Engine, EngineLimits, RunningIntake};
pub use fork::fork_run;
pub use model_caller::{MODEL_IN_USE, NodeModelCaller};
pub use recall::material::FilesPresence;
pub use replay::{Replay, replay_run};
