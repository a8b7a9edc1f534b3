import FolderWatch
import PipelineKit

extension StageFailure {
    /// The drop has zero bytes, and such drops fail.
    static func empty(_ name: FileName) -> StageFailure {
        .file("drop.empty", "'\(name)' is empty (0 bytes).", remedy: "Drop it again with its content.")
    }

    /// The drop was not complete in the time that it may take.
    static func overdue(_ name: FileName, _ waiting: Waiting, _ rule: ReadyRule) -> StageFailure {
        let time = rule.timeout.map { " within \($0.text)" } ?? ""
        return .file(
            "ready.timeout", "'\(name)' was not complete\(time): \(waiting.text).", remedy: remedy(for: waiting),
            detail: "ready.timeout")
    }

    /// The drop was complete, and something else when it was claimed; `reason` as it is said of drops in the inbox.
    static func unfit(_ name: FileName, _ reason: String) -> StageFailure {
        .file(
            "ready.unfit", "'\(name)' was exchanged or added to while it was claimed: \(reason).",
            remedy: "Drop it again as it is meant to be, and leave it alone from then on.")
    }

    /// The drop is beyond what its pipeline takes.
    static func excess(
        _ name: FileName, _ excess: ReadyRule.Limits.Excess, _ limits: ReadyRule.Limits
    ) -> StageFailure {
        let (fact, key) =
            switch excess {
            case .size: ("has more than \(limits.size?.description ?? "0 B")", "max_size")
            case .entries: ("holds more than \(limits.entries) files and folders", "max_entries")
            case .depth: ("has more than \(limits.depth) folders in each other", "max_depth")
            }
        return .file(
            "ready.limit", "'\(name)' \(fact), which is as much as is taken here.",
            remedy: "Drop it in smaller parts, or raise `ready.\(key)`.", detail: "ready.\(key)")
    }

    /// A marker is there, and its drop never came.
    static func markerWithoutDrop(_ name: FileName, _ rule: ReadyRule) -> StageFailure {
        let time = rule.timeout.map { " within \($0.text)" } ?? ""
        return .file(
            "ready.marker", "'\(name)' is a marker whose drop never came\(time).",
            remedy: "Drop the file that it speaks for, then the marker again.")
    }

    private static func remedy(for waiting: Waiting) -> String {
        switch waiting {
        case .heldOpen(let writer): "Let \(writer.text) close it, and drop it again."
        case .blocked: "See to it that the user that Dropmill runs as can open it, and drop it again."
        case .marker(let name, .missing): "Drop it again with its marker '\(name)'."
        case .marker(let name, _): "Drop it again with a marker '\(name)' that fits it."
        case .manifest(.lacks): "Drop the folder again with all that its manifest lists."
        case .manifest: "Drop the folder again with a manifest that fits it."
        case .sibling(let name):
            "Drop it again once it is done; should it be done, remove '\(name)' first, which lay beside it."
        case .untold: "Drop it again; should that come to the same, leave out `ready.complete`."
        default: "Drop it again as a whole, or raise `ready.timeout`."
        }
    }
}
