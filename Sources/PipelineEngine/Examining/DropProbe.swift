import Glibc
package import PipelineKit
package import SystemPackage

/// Watches one file of an inbox for a moment, where no daemon runs that could be asked: with the same gate.
package enum DropProbe {
    /// What was seen.
    package enum Outcome: Sendable, Equatable {
        /// Nothing of that name is there.
        case gone
        /// A daemon would wait, or leave it alone.
        case waiting(Waiting)
        /// A daemon would claim it now.
        case complete
    }

    /// Watches until it is complete, or so long.
    package static func watch(
        _ name: FileName, in inbox: FilePath, rule: ReadyRule, patience: Duration
    ) throws(IOError) -> Outcome {
        let folder = try OpenFile.open(inbox, O_RDONLY | O_DIRECTORY)
        let isOnNetwork = FileSystemKind.of(inbox) != .local
        let end = MonotonicTime.now() + patience
        var gate = ReadyGate<FileName>(rule: rule)
        gate.touch(name, at: .now())
        while true {
            for request in gate.due(at: .now()) {
                var sample = try Sample.take(of: name, in: folder, writers: request.deciding)
                if isOnNetwork, case .file(let fingerprint, .none) = sample { sample = .file(fingerprint, .unknown) }
                switch gate.record(sample, of: name, at: .now()) {
                case .ready: return .complete
                case .vanished: return .gone
                case .refused(let reason): return .waiting(.refused(reason))
                case .ignored: return .waiting(.ignoredEmpty)
                case .waiting: break
                }
            }
            let now = MonotonicTime.now()
            guard now < end, let due = gate.nextDue else {
                return .waiting(gate.standing(of: name, at: now)?.waiting ?? .unseen)
            }
            usleep(useconds_t(max(1, (min(due, end) - now).nanoseconds / 1000)))
        }
    }
}
