//! Integration tests: one binary, one file per behaviour, every test through one [`support::test_home::TestHome`].
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test that cannot go on should stop loudly where it is"
)]

mod answers;
mod approval;
mod approval_numbers;
mod approval_screen;
mod approve_exit_code;
mod architecture;
mod attacker;
mod audit_chain;
mod bad_input;
mod beside_a_daemon;
mod broken_places;
mod command_line;
mod conversation_cases;
mod conversation_effects;
mod conversations;
mod crash;
mod crash_matrix;
mod engine_faults;
mod engine_limits;
mod findings;
mod follow_ups;
mod full_disk;
mod fuzz_corpus;
#[path = "../../fuzz/src/entry.rs"]
#[expect(unreachable_pub, reason = "a file of another crate, where it is public")]
mod fuzz_entry;
mod gmail_auth;
mod gmail_calendar;
mod gmail_crash;
mod gmail_effects;
mod gmail_push;
mod gmail_quota;
mod gmail_schedules;
mod gmail_sync;
mod google_peer;
mod group_commit;
mod half_written;
mod hebrew;
mod import;
mod invitations;
mod ledger;
mod life_cycle;
mod linear_time;
mod linked_folders;
mod mail_parts;
mod maildir_life;
mod maildir_names;
mod memory_contract;
mod memory_faults;
mod memory_key;
mod memory_moves;
mod memory_server;
mod model_attacker;
mod model_budget;
mod model_key;
mod model_misbehaves;
mod model_off;
mod model_peer;
mod model_record;
mod model_words;
mod night_calendar;
mod night_doors;
mod night_learns;
mod night_reflections;
mod night_rewrite;
mod nobody_known;
mod node_contracts;
mod overrule;
mod pipes;
mod places;
mod plain_addresses;
mod planner;
mod planner_kills;
mod planner_model;
mod policy_broken;
mod qdrant_peer;
mod queue_files;
mod reading_guard;
mod recall;
mod reminders;
mod replaced_data;
mod replay_and_fork;
mod reply_bytes;
mod restore;
mod retry_skip_cancel;
mod rules_cut_off;
mod rules_file;
mod rules_kept;
mod samples;
mod schema;
mod search;
mod second_thoughts;
mod sending;
mod sim;
mod sqlite_client;
mod support;
mod tampering;
mod task_context;
mod terminal;
mod terminal_config;
mod terminal_letters;
mod times;
mod transport;
mod unreadable_rows;
mod warnings;
mod whole_homes;
