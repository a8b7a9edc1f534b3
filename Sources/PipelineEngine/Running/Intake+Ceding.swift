import Files
import FolderWatch

// Nodes that share an inbox: what is another one's first is not looked at here until that had its time.
extension Intake {
    /// How often more is fetched in a turn, where most of what is due is another node's.
    private static let fetches = 16

    /// What is to be looked at now: this node's own, and what others did not take.
    func due(at now: MonotonicTime, limit: Int) -> [ReadyGate.Request] {
        guard node.changes > 0, lead == nil else { return gate.due(at: now, limit: limit) }
        followNodes(at: now)
        var requests: [ReadyGate.Request] = []
        for _ in 0..<Self.fetches where requests.count < limit {
            let found = gate.due(at: now, limit: limit - requests.count)
            if found.isEmpty { break }
            requests += found.filter { !cedes($0, at: now) }
        }
        // As long as there are looks of its own to be made it has something to do.
        let next = requests.count < limit ? nextKnown : ready.firstArrival?.known
        return requests
            + ceded.take(before: next, at: now, limit: limit).compactMap { gate.reclaim($0, at: now) }
    }

    /// When this has to look at what other nodes did not take.
    var nextCeded: MonotonicTime? { ceded.nextDue(before: nextKnown) }

    /// When that came which is to be claimed next here: in the distant future where there is nothing to be claimed; nil
    /// where nothing may be.
    private var nextKnown: MonotonicTime? {
        if let known = ready.firstArrival?.known { return known }
        let mayClaim = isClaiming && hasScanned && paused == nil && !isHeldBack && !isYielding && room.has(1)
        return mayClaim ? .distantFuture : nil
    }

    /// Leaves to another node what is its first; what this has looked at before it goes on with, if it may.
    private func cedes(_ request: ReadyGate.Request, at now: MonotonicTime) -> Bool {
        guard !node.isOwn(request.key), let since = gate.admitted(request.key) else { return false }
        guard !request.deciding || !CededDrops.isOver(since, before: nextKnown, at: now) else { return false }
        cede(request.key, since: since)
        return true
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
            let isOwn = node.isOwn(path)
            if isOwn, gate.contains(path) { gate.postpone(path, to: now) }
            return isOwn || !gate.contains(path)
        }
        for path in ready.some(.max) where rejected[path] == nil && !node.isOwn(path) {
            guard let known = ready.known(path) else { continue }
            ready.remove(path)
            gate.touch(path, at: known)
            cede(path, since: known)
        }
    }
}
