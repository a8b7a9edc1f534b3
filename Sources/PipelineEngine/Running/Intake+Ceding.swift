import Files
import FolderWatch

// Nodes that share an inbox: what is another one's first is not looked at here until that had its time.
extension Intake {
    /// How often more is fetched in a turn, where most of what is due is another node's.
    private static let fetches = 16

    /// What is to be looked at now.
    func due(at now: MonotonicTime, limit: Int) -> [ReadyGate.Request] {
        guard node.changes > 0, lead == nil else { return gate.due(at: now, limit: limit) }
        let next = nextKnown(at: now)
        followNodes(at: now)
        for path in ceded.take(before: next, at: now, limit: limit) where gate.isCeded(path) {
            gate.postpone(path, to: now)
        }
        var requests: [ReadyGate.Request] = []
        for _ in 0..<Self.fetches where requests.count < limit {
            let found = gate.due(at: now, limit: limit - requests.count)
            if found.isEmpty { break }
            requests += found.filter { request in
                let since = gate.admitted(request.key) ?? now
                let isAnothers = !node.isOwn(request.key) && !CededDrops.isOver(since, before: next, at: now)
                if isAnothers { cede(request.key, since: since) }
                return !isAnothers
            }
        }
        return requests
    }

    /// When this has to look at what other nodes did not take.
    func nextCeded(at now: MonotonicTime) -> MonotonicTime? { ceded.nextDue(before: nextKnown(at: now)) }

    /// When that came which is to be claimed next here: in the distant future where there is nothing to do; nil where
    /// nothing more may be claimed.
    private func nextKnown(at now: MonotonicTime) -> MonotonicTime? {
        if let known = ready.firstArrival?.known { return known }
        let mayClaim = isClaiming && hasScanned && paused == nil && !isHeldBack && !isYielding && room.has(1)
        return mayClaim && gate.nextDue.map { $0 > now } ?? true ? .distantFuture : nil
    }

    private func cede(_ path: DropPath, since: MonotonicTime) {
        gate.cede(path)
        ceded.add(path, since: since)
    }

    /// Other nodes came or went: what was this one's may be theirs, and the other way round.
    private func followNodes(at now: MonotonicTime) {
        let changes = node.changes
        guard changes != knownNodes else { return }
        knownNodes = changes
        ceded.removeAll { path in
            guard gate.isCeded(path) else { return true }
            let isOwn = node.isOwn(path)
            if isOwn { gate.postpone(path, to: now) }
            return isOwn
        }
        for path in ready.some(.max) where rejected[path] == nil && !node.isOwn(path) {
            guard let known = ready.known(path) else { continue }
            ready.remove(path)
            gate.touch(path, at: known)
            cede(path, since: known)
        }
    }
}
