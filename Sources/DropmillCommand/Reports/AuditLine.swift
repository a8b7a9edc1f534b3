import Control
import Files
import Journal
import PipelineKit
import SystemPackage

/// A change as a person would have typed it.
struct AuditLine: Equatable {
    let verb: String
    let arguments: String

    private static let mostJobs = 3

    /// What is on record is what the daemon was told; of what is too long for that, or of another version, the JSON.
    init(_ entry: AuditEntry) {
        let bytes = Array(entry.arguments.utf8)
        func arguments<Arguments: Decodable>(_ type: Arguments.Type) -> Arguments? {
            ControlLine.message(type, of: bytes)
        }
        var verb = entry.verb
        var words: [String]?
        switch verb {
        case HoldVerb.name:
            guard let hold = arguments(HoldVerb.Arguments.self) else { break }
            verb = hold.kind?.rawValue ?? "resume"
            words = hold.pipelines + Self.option("--reason", hold.reason.isEmpty ? nil : "\"\(hold.reason)\"")
            words? += Self.option("--for", hold.seconds.map(Self.time))
            words? += Self.option("--node", hold.node)
        case CancelVerb.name, ReleaseVerb.name, "forget":
            words = arguments(CancelVerb.Arguments.self).map { Self.jobs($0.jobs) }
        case BumpVerb.name:
            guard let bump = arguments(BumpVerb.Arguments.self) else { break }
            switch bump.waiting {
            case .job(let id): words = [id]
            case .drop(let drop): words = ["'\(EscapedText.of(Array(drop.path)))' of \(drop.pipeline)"]
            }
            if bump.isLast { words?.append("--last") }
        case RetryVerb.name, ReplayVerb.name, DismissVerb.name:
            words = arguments(SendingOrder.self).map { Self.words(of: $0) }
        case CancelAllVerb.name: words = arguments(SendingOrder.self).map { Self.words(of: $0, all: "--all") }
        case ReceiveVerb.name:
            words = arguments(ReceiveVerb.Arguments.self).map { file in
                ["'\(EscapedText.of(Array(file.path)))' into \(file.pipeline), \(ByteSize(bytes: file.size))"]
                    + (file.files.map { ["in \($0) files"] } ?? [])
            }
        case HaltVerb.name: words = arguments(HaltVerb.Arguments.self).map { [$0.run] }
        default: break
        }
        self.verb = verb
        let plain = entry.arguments == "{}" ? "" : entry.arguments
        self.arguments = EscapedText.printable(words?.joined(separator: " ") ?? plain)
    }

    private static func words(of order: SendingOrder, all: String = "--failed") -> [String] {
        func time(_ nanoseconds: Int64?) -> String? { nanoseconds.map { Timestamp(nanoseconds: $0).localText } }
        return jobs(order.jobs ?? []) + option("--state", order.states?.joined(separator: ","))
            + option("--pipeline", order.pipeline) + option("--producer", order.producer)
            + option("--name", order.name.map { "'\($0)'" }) + option("--code", order.code)
            + option("--since", time(order.since)) + option("--until", time(order.until))
            + option("--limit", order.limit.map(String.init)) + (order.choosesAll ? [all] : [])
            + option("--rate", order.interval.flatMap { rate($0) })
    }

    /// `10/s`, `100/m` or `500/h`; nil for none.
    private static func rate(_ interval: Double) -> String? {
        guard interval > 0, interval <= 3600 else { return nil }
        let units: [(name: String, seconds: Double)] = [("s", 1), ("m", 60), ("h", 3600)]
        guard let unit = units.first(where: { ($0.seconds / interval).rounded() >= 1 }) else { return nil }
        return "\(Int((unit.seconds / interval).rounded()))/\(unit.name)"
    }

    private static func jobs(_ ids: [String]) -> [String] {
        Array(ids.prefix(mostJobs)) + (ids.count > mostJobs ? ["and \(ids.count - mostJobs) more"] : [])
    }

    /// As it can be given again: `90m`.
    private static func time(_ seconds: Double) -> String {
        guard let whole = Int64(exactly: seconds), whole > 0 else { return "\(seconds)s" }
        let unit = [("d", 86_400), ("h", 3600), ("m", 60)].first { whole % $0.1 == 0 } ?? ("s", 1)
        return "\(whole / unit.1)\(unit.0)"
    }

    private static func option(_ name: String, _ value: String?) -> [String] { value.map { ["\(name) \($0)"] } ?? [] }
}
