import Files
package import FolderWatch
import PipelineKit

extension Waiting {
    /// One sentence without its subject and full stop: `held open for writing by rsync (pid 4121)`.
    package var text: String {
        switch self {
        case .unseen: "not examined yet"
        case .quiet(let passed, let quiet): "unchanged for \(Self.share(passed, of: quiet))"
        case .blind(let passed, let quiet):
            "unchanged for \(Self.share(passed, of: quiet)), because open writers cannot be detected here"
        case .empty(let passed, let quiet): "empty, unchanged for \(Self.share(passed, of: quiet))"
        case .growing(let rate, let passed, let quiet):
            "growing: \(Self.rate(rate)), quiet for \(Self.share(passed, of: quiet))"
        case .changing(let passed, let quiet): "changing: quiet for \(Self.share(passed, of: quiet))"
        case .heldOpen(let writer) where writer.isInFolder:
            "\(writer.text) is in the folder and may still add files"
        case .heldOpen(let writer) where writer.holdsLease:
            "\(writer.text) holds a lease that keeps others from opening it"
        case .heldOpen(let writer): "held open for writing by \(writer.text)"
        case .blocked(let reason): "it cannot be opened or examined: \(reason)"
        case .marker(let name, let fault): "marker \(name.text) \(fault.text)"
        case .manifest(let fault): fault.text
        case .verifying: "its digests are being verified"
        case .sibling(let name): "held back by \(name.text) beside it, \(SiblingNames.what(name))"
        case .siblingOf(let drop): "goes with \(drop.text) beside it, which it holds back"
        case .incomplete(let lack): "incomplete: \(lack)"
        case .reading: "its content is being examined"
        case .undetermined(let reason): "whether it is complete cannot be determined: \(reason)"
        case .suspect:
            "the daemon crashed while examining it; it is examined again when there is no other work"
        case .yielding: "complete; a job during which the daemon stopped earlier runs alone first"
        case .unlisted: "another node lists this inbox, and claims what is complete"
        case .ceded: "another node comes first; this one takes it where that does not, once it has nothing else to do"
        case .room: "complete; waits for a free place among the active jobs"
        case .rate(let limit): "complete; claimed as soon as the pipeline's limit allows (\(limit))"
        case .share(let producer): "complete; waits until one of the active jobs of '\(producer)' is over (fair.active)"
        case .unwritten(let job): "claimed as job \(job), which cannot be written to the journal yet"
        case .paused(let reason): "the pipeline is paused: \(reason)"
        case .held(let hold): "the pipeline is \(hold)"
        case .outside(let hours): "complete; the pipeline is \(hours)"
        case .markerWithoutDrop: "a marker whose drop has not arrived"
        case .markerOf(let drop): "a marker; it is claimed together with its drop \(drop.text)"
        case .markerOfAll: "a marker for all drops of its folder"
        case .refused(let reason): "refused: \(reason)"
        case .ignoredEmpty: "ignored as long as it is empty (`ready.empty: ignore`)"
        case .ignored(let reason): "ignored: \(reason)"
        case .notIncluded: "ignored: no pattern of `match.include` matches its name"
        case .excluded(let pattern): "ignored: '\(EscapedText.of(pattern))' of `match.exclude` matches its name"
        }
    }

    /// The same of what is over, without how far it was at some moment.
    package var reason: String {
        switch self {
        case .growing: "growing"
        case .changing: "changing"
        case .blind: "standing still for longer, because open writers cannot be detected here"
        default: text
        }
    }

    /// Whether it waits for something that time or a sender will bring, so that it counts as waiting.
    package var isWaiting: Bool {
        switch self {
        case .refused, .ignoredEmpty, .ignored, .notIncluded, .excluded: false
        default: true
        }
    }

    /// Whether its marker, its manifest or its own content contradicts it: it needs a person's attention.
    package var isContradicted: Bool {
        switch self {
        case .marker(_, .size), .marker(_, .digest), .manifest(.differs), .incomplete: true
        default: false
        }
    }

    /// `0.2 of 1 s`: at a glance how far it is.
    private static func share(_ passed: Duration, of whole: Duration) -> String {
        let passed = min(max(passed, .zero), whole)
        guard whole < .seconds(60) else { return "\(passed.text) of \(whole.text)" }
        guard whole >= .milliseconds(100) else { return "\(plain(passed, 1e6)) of \(plain(whole, 1e6)) ms" }
        return "\(plain(passed, 1e9)) of \(plain(whole, 1e9)) s"
    }

    /// A number with one digit behind the point, and without it where that is zero.
    private static func plain(_ duration: Duration, _ unit: Double) -> String {
        let tenths = Int((Double(duration.nanoseconds) / unit * 10).rounded(.down))
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    private static func rate(_ bytesPerSecond: Int64) -> String {
        let rate = Double(max(0, bytesPerSecond))
        let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")]
        guard let (unit, name) = units.first(where: { rate >= $0.0 }) else { return "\(Int(rate)) B/s" }
        let tenths = Int((rate / unit * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(name)/s"
    }
}

extension Waiting.Writer {
    /// `rsync (pid 4121)`, or as much of it as is known.
    package var text: String {
        guard let process else { return "a process" }
        guard let program else { return "process \(process)" }
        return "\(EscapedText.of(program)) (pid \(process))"
    }

    /// The same with the user: `rsync (pid 4121, user alice)`.
    package var fullText: String {
        guard let process, let user = ProcessScan.user(of: process) else { return text }
        return "\(program.map { EscapedText.of($0) } ?? "a process") (pid \(process), user \(EscapedText.of(user)))"
    }
}

extension Waiting.MarkerFault {
    /// What follows the marker's name.
    fileprivate var text: String {
        switch self {
        case .missing: "missing"
        case .outdated: "is older than the drop"
        case .unusable(let reason): "cannot be used: \(reason)"
        case .size(let announced, let found): "says \(announced) bytes; the drop has \(found)"
        case .digest(let algorithm): "has a different \(algorithm) digest than the file"
        }
    }
}

extension Waiting.ManifestFault {
    fileprivate var text: String {
        switch self {
        case .missing: "its manifest is missing"
        case .unusable(let name, let reason): "manifest \(name.text) cannot be used: \(reason)"
        case .unreadable(let reason): "what its manifest lists cannot be compared: \(reason)"
        case .lacks(1, let first): "manifest lists a missing file: \(first)"
        case .lacks(let count, let first): "manifest lists \(count) missing files, such as \(first)"
        case .differs(1, let first): "manifest has a different digest for \(first)"
        case .differs(let count, let first): "manifest has different digests for \(count) files, such as \(first)"
        }
    }
}
