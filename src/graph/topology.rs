//! The topology of the graph: the nodes, and one edge for every move that a node can make. It is validated at the
//! start, before the first mail, so that no run can come to a move that leads nowhere.

use std::fmt::Write as _;

use petgraph::{
    Directed, Direction,
    graph::{Graph, NodeIndex},
    visit::{Dfs, EdgeRef},
};

use crate::model::{Move, NodeName, RunStatus, text_enum::text_enum};

text_enum! {
    /// The kinds of move that a node can make.
    MoveKind { Next = "next", Again = "again", Wait = "wait", Park = "park", Skip = "skip", Done = "done" }
}

impl From<&Move> for MoveKind {
    fn from(mv: &Move) -> Self {
        match mv {
            Move::Next => MoveKind::Next,
            Move::Again => MoveKind::Again,
            Move::Wait { .. } => MoveKind::Wait,
            Move::Park { .. } => MoveKind::Park,
            Move::Skip { .. } => MoveKind::Skip,
            Move::Done => MoveKind::Done,
        }
    }
}

/// Where an edge leads: to a node, or to the end of the run with a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Node(NodeName),
    End(RunStatus),
}

/// Why a topology is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTopology {
    #[error("the graph must have one entry; it has {0}")]
    Entries(usize),
    #[error("{0} cannot be reached from the entry")]
    Unreachable(String),
    #[error("{node} can end in '{outcome}', and {edges} edges say where that leads; there must be one")]
    Edges { node: NodeName, outcome: MoveKind, edges: usize },
    #[error("an edge leaves {node} on '{outcome}', which it never does")]
    UnexpectedEdge { node: NodeName, outcome: MoveKind },
}

/// A validated topology.
pub struct GraphTopology {
    graph: Graph<Place, MoveKind, Directed>,
}

/// Returns the moves that a node can make. There must be exactly one edge for each of them, and no other.
pub const fn allowed_moves(node: NodeName) -> &'static [MoveKind] {
    match node {
        NodeName::PlanStep => &[MoveKind::Next, MoveKind::Skip, MoveKind::Park],
        NodeName::Prioritise => &[MoveKind::Next, MoveKind::Done, MoveKind::Park],
        NodeName::RetrieveContext => &[MoveKind::Next, MoveKind::Park],
        NodeName::ExecuteTool => &[MoveKind::Again, MoveKind::Wait, MoveKind::Next, MoveKind::Done, MoveKind::Park],
        NodeName::GenerateResponse => &[MoveKind::Done, MoveKind::Park],
    }
}

impl GraphTopology {
    /// Returns the topology of the shipped five nodes.
    pub fn standard() -> Result<Self, InvalidTopology> {
        use MoveKind::{Again, Done, Next, Skip, Wait};
        use NodeName::{ExecuteTool, GenerateResponse, PlanStep, Prioritise, RetrieveContext};
        let mut edges = vec![
            (PlanStep, Next, Place::Node(Prioritise)),
            (PlanStep, Skip, Place::End(RunStatus::Skipped)),
            (Prioritise, Next, Place::Node(RetrieveContext)),
            (Prioritise, Done, Place::End(RunStatus::Done)),
            (RetrieveContext, Next, Place::Node(ExecuteTool)),
            (ExecuteTool, Again, Place::Node(ExecuteTool)),
            (ExecuteTool, Wait, Place::Node(ExecuteTool)),
            (ExecuteTool, Next, Place::Node(GenerateResponse)),
            // Another run goes on with the plan.
            (ExecuteTool, Done, Place::End(RunStatus::Done)),
            (GenerateResponse, Done, Place::End(RunStatus::Done)),
        ];
        edges.extend(NodeName::ALL.iter().map(|node| (*node, MoveKind::Park, Place::End(RunStatus::Parked))));
        Self::build(&edges)
    }

    /// Builds a topology from its edges and validates it.
    fn build(edges: &[(NodeName, MoveKind, Place)]) -> Result<Self, InvalidTopology> {
        let mut shape = Self { graph: Graph::new() };
        for node in NodeName::ALL {
            shape.graph.add_node(Place::Node(*node));
        }
        for (from, outcome, to) in edges {
            let (from, to) = (shape.find_or_add_target(Place::Node(*from)), shape.find_or_add_target(*to));
            shape.graph.add_edge(from, to, *outcome);
        }
        shape.validate()?;
        Ok(shape)
    }

    /// Returns the graph's index of a place, which is added if it is new.
    fn find_or_add_target(&mut self, place: Place) -> NodeIndex {
        let known = self.graph.node_indices().find(|index| self.graph.node_weight(*index) == Some(&place));
        known.unwrap_or_else(|| self.graph.add_node(place))
    }

    /// Checks that there is one entry, that every place can be reached from it, and that every node has its edges.
    fn validate(&self) -> Result<(), InvalidTopology> {
        let entries: Vec<NodeIndex> =
            self.graph.node_indices().filter(|index| !self.has_incoming_edge(*index)).collect();
        let [entry] = entries[..] else { return Err(InvalidTopology::Entries(entries.len())) };
        let mut reached = Vec::new();
        let mut walk = Dfs::new(&self.graph, entry);
        while let Some(index) = walk.next(&self.graph) {
            reached.push(index);
        }
        if let Some(place) =
            self.graph.node_indices().find(|index| !reached.contains(index)).and_then(|i| self.graph.node_weight(i))
        {
            return Err(InvalidTopology::Unreachable(name(*place).to_owned()));
        }
        NodeName::ALL.iter().try_for_each(|node| self.validate_edges(*node))
    }

    /// Returns whether an edge leads here from another place. A node's edges to itself do not count.
    fn has_incoming_edge(&self, index: NodeIndex) -> bool {
        self.graph.edges_directed(index, Direction::Incoming).any(|edge| edge.source() != index)
    }

    /// Checks that a node has exactly one edge for each allowed move, and none for any other.
    fn validate_edges(&self, node: NodeName) -> Result<(), InvalidTopology> {
        for outcome in MoveKind::ALL {
            let edges = self.edge_targets(node, *outcome).count();
            match (allowed_moves(node).contains(outcome), edges) {
                (true, 1) | (false, 0) => {}
                (true, edges) => return Err(InvalidTopology::Edges { node, outcome: *outcome, edges }),
                (false, _) => return Err(InvalidTopology::UnexpectedEdge { node, outcome: *outcome }),
            }
        }
        Ok(())
    }

    /// Returns where the edges for a move lead. A valid topology has at most one.
    fn edge_targets(&self, node: NodeName, outcome: MoveKind) -> impl Iterator<Item = Place> + '_ {
        let from =
            self.graph.node_indices().find(move |index| self.graph.node_weight(*index) == Some(&Place::Node(node)));
        from.into_iter()
            .flat_map(|from| self.graph.edges(from))
            .filter(move |edge| *edge.weight() == outcome)
            .filter_map(|edge| self.graph.node_weight(edge.target()).copied())
    }

    /// Returns where `node` leads on `outcome`; none only for a move that the node cannot make.
    pub fn target_of(&self, node: NodeName, outcome: MoveKind) -> Option<Place> {
        self.edge_targets(node, outcome).next()
    }

    /// Returns the graph as a Mermaid flowchart.
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        for (from, outcome, to) in self.edges() {
            let _ = match to {
                Place::Node(_) => writeln!(text, "    {from} -->|{outcome}| {}", name(to)),
                Place::End(_) => writeln!(text, "    {from} -->|{outcome}| {}([{}])", name(to), name(to)),
            };
        }
        text
    }

    /// Returns the graph in the DOT language of Graphviz.
    pub fn dot(&self) -> String {
        let mut text = String::from("digraph adjutant {\n    rankdir = LR;\n");
        for (from, outcome, to) in self.edges() {
            let _ = writeln!(text, "    {from} -> {} [label = \"{outcome}\"];", name(to));
        }
        text + "}\n"
    }

    /// Returns all edges, in the order of the nodes.
    pub fn edges(&self) -> impl Iterator<Item = (NodeName, MoveKind, Place)> + '_ {
        NodeName::ALL.iter().flat_map(move |node| {
            MoveKind::ALL
                .iter()
                .flat_map(move |outcome| self.edge_targets(*node, *outcome).map(move |place| (*node, *outcome, place)))
        })
    }
}

/// Returns the name of a place: the node's name, or the status in which the run ends.
pub fn name(place: Place) -> &'static str {
    match place {
        Place::Node(node) => node.as_str(),
        Place::End(status) => status.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standard() -> Vec<(NodeName, MoveKind, Place)> {
        GraphTopology::standard().unwrap().edges().collect()
    }

    fn error(edges: &[(NodeName, MoveKind, Place)]) -> String {
        GraphTopology::build(edges).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn the_standard_graph_is_whole() {
        let shape = GraphTopology::standard().unwrap();
        assert_eq!(shape.target_of(NodeName::PlanStep, MoveKind::Next), Some(Place::Node(NodeName::Prioritise)));
        assert_eq!(shape.target_of(NodeName::ExecuteTool, MoveKind::Again), Some(Place::Node(NodeName::ExecuteTool)));
        assert!(shape.mermaid().contains("plan_step -->|next| prioritise"));
        assert!(shape.dot().contains("execute_tool -> generate_response"));
    }

    #[test]
    fn every_missing_edge_is_found() {
        let whole = standard();
        for (nth, removed) in whole.iter().enumerate() {
            let mut edges = whole.clone();
            edges.remove(nth);
            assert_ne!(error(&edges), "", "{removed:?} is missing and nobody said so");
        }
    }

    #[test]
    fn a_second_or_dangling_edge_is_found() {
        let mut twice = standard();
        twice.push((NodeName::PlanStep, MoveKind::Next, Place::Node(NodeName::ExecuteTool)));
        assert!(error(&twice).contains("2 edges"), "{}", error(&twice));
        let mut dangling = standard();
        dangling.push((NodeName::RetrieveContext, MoveKind::Done, Place::End(RunStatus::Done)));
        assert!(error(&dangling).contains("which it never does"));
    }
}
