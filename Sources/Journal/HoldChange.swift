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

    /// Of the pipelines with these names, all or none; without names of all that there are.
    ///
    /// `loaded`: the pipelines that there are; `before`: what is held, also of pipelines that are not loaded.
    package init(
        _ order: HoldOrder, of names: [String], loaded: [String], before: [HoldRecord], at now: Timestamp
    ) throws(HoldRefusal) {
        let before = Dictionary(before.map { ($0.pipeline, $0) }) { first, _ in first }
        let known = loaded + before.keys.filter { !loaded.contains($0) }.sorted()
        if let unknown = names.first(where: { !known.contains($0) }) {
            let hint = Suggestion.hint(for: unknown, orListing: known)
            let rest = names.count > 1 ? "; nothing was done for the others" : ""
            throw HoldRefusal("there is no pipeline '\(EscapedText.of(unknown))'\(hint)\(rest)")
        }
        var named: [String] = []
        for name in names where !named.contains(name) { named.append(name) }
        guard let kind = order.kind else {
            for name in names.isEmpty ? known : named {
                if let hold = before[name] {
                    lifted.append(hold)
                } else if !names.isEmpty {
                    free.append(name)
                }
            }
            return
        }
        // Clocks end in the year 2262.
        let until = order.time.map { Timestamp(nanoseconds: now.nanoseconds.addingSaturated($0.nanoseconds)) }
        held = (names.isEmpty ? loaded : named).map { name in
            HoldRecord(
                pipeline: name, kind: kind, by: order.by, user: order.user, since: now, until: until,
                reason: order.reason)
        }
    }

    /// That the time of holds is over.
    package init(over: [HoldRecord]) { lifted = over }

    /// That pipelines have other names: what held one holds it under the new name, unless that is held already.
    package init(renamed: [(old: String, new: String)], before: [String: HoldRecord]) {
        for (old, new) in renamed {
            guard let hold = before[old] else { continue }
            lifted.append(hold)
            if before[new] == nil { held.append(hold.passed(to: new)) }
        }
    }

    /// The same holds once more.
    package init(of held: [HoldRecord]) { self.held = held }

    /// A line for each pipeline.
    package var lines: [String] {
        held.map { "\($0.pipeline): \($0.news)" } + lifted.map { "\($0.pipeline): resumed" }
            + free.map { "\($0): was not held" }
    }
}
