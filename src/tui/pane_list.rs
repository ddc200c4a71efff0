use super::pane::{EntryKind, Pane};
use crate::model::AgentId;

/// The agents of a team, the manager first, then the workers in the order of their start, and which of them is in view.
#[derive(Debug, Default)]
pub(super) struct PaneList {
    panes: Vec<Pane>,
    view: usize,
}

impl PaneList {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Pane> {
        self.panes.iter()
    }

    pub(super) fn workers(&self) -> impl Iterator<Item = &Pane> {
        self.panes.iter().filter(|pane| !pane.is_manager())
    }

    /// Returns the place of the agent in view.
    pub(super) fn view(&self) -> usize {
        self.view
    }

    pub(super) fn in_view(&self) -> Option<&Pane> {
        self.panes.get(self.view)
    }

    pub(super) fn in_view_mut(&mut self) -> Option<&mut Pane> {
        self.panes.get_mut(self.view)
    }

    /// Moves the view, if there is an agent at that place.
    pub(super) fn set_view(&mut self, view: usize) {
        if view < self.panes.len() {
            self.view = view;
        }
    }

    pub(super) fn has(&self, agent: AgentId) -> bool {
        self.panes.iter().any(|pane| pane.agent == agent)
    }

    pub(super) fn get_mut(&mut self, agent: AgentId) -> Option<(usize, &mut Pane)> {
        self.panes.iter_mut().enumerate().find(|(_, pane)| pane.agent == agent)
    }

    /// Adds the manager at its place. Should a worker have been announced before, that one moves.
    pub(super) fn add_manager(&mut self, pane: Pane) {
        self.panes.insert(0, pane);
    }

    /// Adds a worker. Returns its place.
    pub(super) fn add_worker(&mut self, pane: Pane) -> usize {
        self.panes.push(pane);
        self.panes.len() - 1
    }

    /// Adds an entry to the conversation of an agent.
    pub(super) fn push(&mut self, agent: AgentId, kind: EntryKind, text: &str) {
        if let Some((_, pane)) = self.get_mut(agent) {
            pane.push(kind, text);
        }
    }

    pub(super) fn push_to_manager(&mut self, kind: EntryKind, text: &str) {
        if let Some(manager) = self.panes.first_mut().filter(|pane| pane.is_manager()) {
            manager.push(kind, text);
        }
    }

    /// Returns the first active worker behind this place, or else the first of all.
    pub(super) fn active_after(&self, place: usize) -> Option<usize> {
        let active = self.places(Pane::is_active_worker);
        active.iter().find(|at| **at > place).or(active.first()).copied()
    }

    /// Returns the place of the next or previous active worker, or of the next agent when no worker is active any more.
    pub(super) fn next_stop(&self, step: isize) -> Option<usize> {
        let mut stops = self.places(Pane::is_active_worker);
        if stops.is_empty() {
            stops = self.places(|_| true);
        }
        let count = isize::try_from(stops.len()).ok().filter(|count| *count > 0)?;
        let next = match stops.iter().position(|stop| *stop == self.view) {
            Some(at) => at.cast_signed() + step,
            // From elsewhere, forwards to the first that comes after it and backwards to the last before it.
            None => {
                let before = stops.iter().filter(|stop| **stop < self.view).count().cast_signed();
                if step > 0 { before } else { before - 1 }
            }
        };
        stops.get(next.rem_euclid(count).cast_unsigned()).copied()
    }

    fn places(&self, is_wanted: impl Fn(&Pane) -> bool) -> Vec<usize> {
        self.panes.iter().enumerate().filter(|(_, pane)| is_wanted(pane)).map(|(at, _)| at).collect()
    }
}
