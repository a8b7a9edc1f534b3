package import Files
import PipelineKit

/// What follows from an order for each pipeline that it names.
package struct HoldChange: Sendable, Equatable {
    /// What holds them from now on.
    package private(set) var held: [HoldRecord] = []
    /// What does not hold them any more, although nothing takes its place.
    package private(set) var lifted: [HoldRecord] = []
    /// Those that were to be released and are not held.
    package private(set) var free: [String] = []
    /// What goes on to hold, on all nodes, those that were to be released on one.
    package private(set) var kept: [HoldRecord] = []

    /// Of the pipelines with these names, all or none; without names of all that there are. What is lifted on all nodes
    /// is lifted on each; what holds one node stays where all are held.
    ///
    /// `loaded`: the pipelines that there are; `before`: what is held, also of pipelines that are not loaded; `nodes`:
    /// those that there are, where several share a journal.
    package init(
        _ order: HoldOrder, of names: [String], loaded: [String], before: [HoldRecord], nodes: Set<String> = [],
        at now: Timestamp
    ) throws(HoldRefusal) {
        if let node = order.node, !nodes.contains(node) {
            let hint = Suggestion.hint(for: node, orListing: nodes.sorted())
            throw HoldRefusal("there is no node '\(EscapedText.of(node))'\(hint)")
        }
        let known = loaded + Set(before.map(\.pipeline)).subtracting(loaded).sorted()
        if let unknown = names.first(where: { !known.contains($0) }) {
            let hint = Suggestion.hint(for: unknown, orListing: known)
            let rest = names.count > 1 ? "; nothing was done for the others" : ""
            throw HoldRefusal("there is no pipeline '\(EscapedText.of(unknown))'\(hint)\(rest)")
        }
        var named: [String] = []
        for name in names where !named.contains(name) { named.append(name) }
        guard let kind = order.kind else {
            for name in names.isEmpty ? known : named {
                let holds = before.filter { $0.pipeline == name }
                let own = holds.filter { order.node == nil || $0.node == order.node }
                lifted += own
                let others = order.node == nil ? [] : holds.filter { $0.node == nil }
                kept += others
                if own.isEmpty, others.isEmpty, !names.isEmpty { free.append(name) }
            }
            return
        }
        // Clocks end in the year 2262.
        let until = order.time.map { Timestamp(nanoseconds: now.nanoseconds.addingSaturated($0.nanoseconds)) }
        held = (names.isEmpty ? loaded : named).map { name in
            HoldRecord(
                pipeline: name, kind: kind, by: order.by, user: order.user, since: now, until: until,
                reason: order.reason, on: order.node)
        }
    }

    /// That the time of holds is over.
    package init(over: [HoldRecord]) { lifted = over }

    /// That pipelines have other names: what held one holds it under the new name, unless that is held already.
    package init(renamed: [(old: String, new: String)], before: [HoldRecord]) {
        for (old, new) in renamed {
            for hold in before where hold.pipeline == old {
                lifted.append(hold)
                let passed = hold.passed(to: new)
                if !before.contains(where: passed.isInPlace) { held.append(passed) }
            }
        }
    }

    /// The same holds once more.
    package init(of held: [HoldRecord]) { self.held = held }

    /// What is held once this is done.
    package func done(to before: [HoldRecord]) -> [HoldRecord] {
        before.filter { hold in !lifted.contains(hold) && !held.contains { $0.isInPlace(of: hold) } } + held
    }

    /// A line for each pipeline.
    package var lines: [String] {
        held.map { "\($0.pipeline): \($0.news)" } + lifted.map { "\($0.pipeline): resumed\($0.place)" }
            + free.map { "\($0): was not held" }
    }

    /// A line for each that goes on to be held.
    package func rest(at now: Timestamp) -> [String] {
        kept.map { "\($0.pipeline): \($0.text(at: now)), on all nodes; 'dropmill resume' without --node lifts that" }
    }
}
