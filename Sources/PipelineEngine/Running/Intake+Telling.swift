import PipelineKit

// For those who ask what waits.
extension Intake {
    /// Tells what waits, on the intake's queue: of those that wait and of those that are left alone at most so many.
    func tell(limit: Int, _ told: @escaping @Sendable (InboxSnapshot) -> Void) {
        queue.async { @Sendable [self] in told(snapshot(limit: limit)) }
    }

    /// Tells what one file waits for, by its path from the inbox on; nil for one that is not known.
    func tell(of path: [UInt8], _ told: @escaping @Sendable (WaitingDrop?) -> Void) {
        let names = path.split(separator: UInt8(ascii: "/")).compactMap { FileName($0) }
        guard let name = names.last else { return told(nil) }
        let path = DropPath(name, in: InboxFolder(names.dropLast()))
        queue.async { @Sendable [self] in told(standing(of: path, at: .now())) }
    }

    private func snapshot(limit: Int) -> InboxSnapshot {
        let now = MonotonicTime.now()
        let inGate = gate.longest(limit)
        let complete = fingerprints.keys.prefix(max(0, limit - inGate.count))
        let left = reported.keys.prefix(limit).sorted()
        let claimed = draining.standing(at: now, limit: limit)
        return InboxSnapshot(
            watching: watcher?.watching, waiting: gate.waitingCount + fingerprints.count + draining.paths.count,
            longest: Array((claimed + (inGate + complete).compactMap { standing(of: $0, at: now) }).prefix(limit)),
            leftCount: reported.count, left: left.compactMap { standing(of: $0, at: now) })
    }

    private func standing(of path: DropPath, at now: MonotonicTime) -> WaitingDrop? {
        if let (known, waiting) = gate.standing(of: path, at: now) {
            return WaitingDrop(path: path.bytes, known: now - known, waiting: waiting)
        }
        if let reason = reported[path] { return WaitingDrop(path: path.bytes, known: nil, waiting: .refused(reason)) }
        if fingerprints[path] != nil { return WaitingDrop(path: path.bytes, known: nil, waiting: .room) }
        return gate.contains(path) ? WaitingDrop(path: path.bytes, known: nil, waiting: .ignoredEmpty) : nil
    }
}
