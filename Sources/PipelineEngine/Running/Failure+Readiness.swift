import Files
import FolderWatch
import PipelineKit

extension Failure {
    static func empty(_ name: FileName) -> Failure {
        .file("drop.empty", "'\(name)' is empty (0 bytes).", remedy: "Drop it again with content.")
    }

    /// The drop was not complete within its `timeout`.
    static func overdue(_ name: FileName, _ waiting: Waiting, _ rule: ReadyRule) -> Failure {
        let time = rule.timeout.map { " within \($0.text)" } ?? ""
        return .file(
            "ready.timeout", "'\(name)' was not complete\(time): \(waiting.text).", remedy: remedy(for: waiting),
            detail: "ready.timeout")
    }

    /// The drop was complete, but changed before it was claimed, or cannot be made ours; `reason` as for drops in the
    /// inbox.
    static func unfit(_ name: FileName, _ reason: String) -> Failure {
        .file(
            "ready.unfit", "'\(name)' cannot be taken as it was claimed: \(reason).",
            remedy: "Drop it again, as a copy and not as a link, and do not change it afterwards.")
    }

    /// The drop exceeds a limit of its pipeline.
    static func excess(
        _ name: FileName, _ excess: ReadyRule.Limits.Excess, _ limits: ReadyRule.Limits
    ) -> Failure {
        let (fact, key) =
            switch excess {
            case .size: ("is larger than \(limits.size?.description ?? "0 B")", "max_size")
            case .entries: ("holds more than \(limits.entries) files and folders", "max_entries")
            case .depth: ("has more than \(limits.depth) nested folders", "max_depth")
            }
        return .file(
            "ready.limit", "'\(name)' \(fact), the limit of this pipeline.",
            remedy: "Drop it in smaller parts, or raise `ready.\(key)`.", detail: "ready.\(key)")
    }

    /// A marker whose drop never arrived.
    static func markerWithoutDrop(_ name: FileName, _ rule: ReadyRule) -> Failure {
        let time = rule.timeout.map { " within \($0.text)" } ?? ""
        return .file(
            "ready.marker", "'\(name)' is a marker whose drop did not arrive\(time).",
            remedy: "Drop the file that it announces, then the marker again.")
    }

    private static func remedy(for waiting: Waiting) -> Sentence {
        switch waiting {
        case .heldOpen(let writer): "Have \(writer.text) close it, and drop it again."
        case .blocked: "Give Dropmill's user access to it, and drop it again."
        case .marker(let name, .missing): "Drop it again with its marker '\(name)'."
        case .marker(let name, _): "Drop it again with a matching marker '\(name)'."
        case .manifest(.lacks): "Drop the folder again with everything that its manifest lists."
        case .manifest: "Drop the folder again with a matching manifest."
        case .sibling(let name):
            "Drop it again once it is complete; if it already is, remove '\(name)' beside it first."
        case .undetermined: "Drop it again; if that does not help, remove `ready.complete`."
        default: "Drop it again complete, or raise `ready.timeout`."
        }
    }
}
