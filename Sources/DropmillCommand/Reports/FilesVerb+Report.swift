import Control
import Files
import FoundationEssentials
import PipelineKit
import SystemPackage

extension FilesVerb.Difference {
    /// `press.yaml was changed 3 min ago and is not loaded`
    func text(now: Timestamp) -> String {
        let path = FilePath(bytes: Array(file))
        let name = path.lastName?.text ?? path.text
        switch kind {
        case .changed:
            // One that was moved here, or a clock that was set, makes a time of the future.
            let ago = at.map { now - Timestamp(nanoseconds: $0) }.flatMap { $0 >= .zero ? " \($0.text) ago" : nil }
            return "\(name) was changed\(ago ?? "") and is not loaded"
        case .added: return "\(name) is new and not loaded"
        case .silent:
            return "\(name) is not started: \(EscapedText.printable(reason ?? "")); it begins as soon as that does"
        case .gone: return "\(name) is not as it was loaded: \(EscapedText.printable(reason ?? "it is gone"))"
        }
    }

    /// The keys of one object: `file`, `change`, `at`, `reason`.
    func write(_ json: inout JSONText) {
        json.name("file", Array(file))
        json.text("change", kind.rawValue)
        if let at { json.text("at", Timestamp(nanoseconds: at).iso8601) }
        if let reason { json.text("reason", reason) }
    }
}
