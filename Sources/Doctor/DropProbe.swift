@preconcurrency import Dispatch
package import Files
package import FolderWatch
import Glibc
package import PipelineKit
package import Readiness
import SystemPackage

/// Watches one drop of an inbox for a moment, where no daemon runs that could be asked: by the same gate and the same
/// looks.
// @unchecked: every `var` below is touched on `queue` only.
package final class DropProbe: @unchecked Sendable {
    /// What was seen.
    package enum Outcome: Sendable, Equatable {
        /// Nothing of that name is there.
        case gone
        /// A daemon would wait, or leave it alone.
        case waiting(Waiting)
        /// A daemon would claim it now.
        case complete
    }

    private let path: DropPath
    private let inbox: FilePath
    private let queue = DispatchQueue(label: "dropmill.probe")
    private let digests: DigestCheck.Reading
    private let formats: FormatCheck.Reading
    private let examiner: Examiner
    private var gate: ReadyGate

    /// The longest pause between two looks while it is being read.
    private static let glance = Duration.milliseconds(50)

    private init(_ path: DropPath, of pipeline: Pipeline, asking judge: FormatJudge?) {
        inbox = pipeline.inbox
        let rule = pipeline.ready.holding(in: inbox)
        self.path = path
        digests = DigestCheck.reading(of: "probe", in: inbox, for: queue)
        formats = FormatCheck.reading(of: "probe", in: inbox, limits: rule.limits, by: judge, for: queue)
        examiner = Examiner(
            rule: rule, match: pipeline.match, sight: WriterSight(of: inbox), digests: digests, formats: formats,
            isNotified: false)
        gate = ReadyGate(rule: rule)
    }

    /// Watches until it is complete, or so long. Blocks the calling thread. `judge`: who knows formats.
    package static func watch(
        _ path: DropPath, of pipeline: Pipeline, asking judge: FormatJudge? = nil, patience: Duration
    ) throws(IOError) -> Outcome {
        let probe = DropProbe(path, of: pipeline, asking: judge)
        defer {
            probe.queue.sync {
                probe.digests.stop()
                probe.formats.stop()
            }
        }
        let end = MonotonicTime.now() + patience
        while true {
            switch probe.queue.sync(execute: { probe.sample(until: end) }) {
            case .failure(let error): throw error
            case .success(.over(let outcome)): return outcome
            case .success(.again(let pause)): usleep(useconds_t(max(1, pause.nanoseconds / 1000)))
            }
        }
    }

    private enum Step {
        case over(Outcome)
        case again(after: Duration)
    }

    private func sample(until end: MonotonicTime) -> Result<Step, IOError> {
        dispatchPrecondition(condition: .onQueue(queue))
        do throws(IOError) {
            return .success(try step(until: end))
        } catch {
            return .failure(error)
        }
    }

    private func step(until end: MonotonicTime) throws(IOError) -> Step {
        let folder = try OpenInbox(inbox).open(path.folder)
        if gate.contains(path) { gate.recheck(path, at: .now()) } else { gate.touch(path, at: .now()) }
        for request in gate.due(at: .now()) {
            let found: Examiner.Outcome
            switch try examiner.examine(path, in: folder.file, deciding: request.deciding) {
            case .over(let finding): found = finding
            case .underWay(let look):
                _ = try look.goOn(until: .distantFuture)
                found = try examiner.finding(of: look, at: path, in: folder.file, deciding: request.deciding)
            }
            switch gate.record(found.sample, of: path, at: .now(), lacking: found.lacking) {
            case .ready: return .over(.complete)
            case .vanished: return .over(.gone)
            case .refused(let reason): return .over(.waiting(.refused(reason)))
            case .ignored: return .over(.waiting(.ignoredEmpty))
            case .overdue(_, let waiting): return .over(.waiting(waiting))
            case .waiting: break
            }
        }
        let now = MonotonicTime.now()
        let waiting = gate.waiting(for: path, at: now) ?? .unseen
        // What else it lacks does not come while we look.
        guard now < end, !waiting.isLack || waiting.isUnderWay else { return .over(.waiting(waiting)) }
        let next = waiting.isUnderWay ? now + Self.glance : gate.nextDue ?? end
        return .again(after: min(next, end) - now)
    }
}
