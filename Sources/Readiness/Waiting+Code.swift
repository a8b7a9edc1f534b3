package import FolderWatch

extension Waiting {
    /// A word for programs, which stays the same: `quiet`, `open-writer`, `marker`.
    package var code: String {
        switch self {
        case .unseen: "unseen"
        case .quiet: "quiet"
        case .blind: "blind"
        case .empty: "empty"
        case .growing: "growing"
        case .changing: "changing"
        case .heldOpen: "open-writer"
        case .blocked: "blocked"
        case .marker: "marker"
        case .manifest: "manifest"
        case .verifying: "verifying"
        case .sibling: "sibling"
        case .siblingOf: "sibling-of-drop"
        case .incomplete: "incomplete"
        case .reading: "reading"
        case .undetermined: "undetermined"
        case .suspect: "suspect"
        case .yielding: "yielding"
        case .unlisted: "unlisted"
        case .ceded: "another-node"
        case .room: "room"
        case .share: "share"
        case .rate: "rate"
        case .unwritten: "unwritten"
        case .paused: "paused"
        case .held: "held"
        case .outside: "outside-hours"
        case .markerWithoutDrop: "marker-without-drop"
        case .markerOf: "marker-of-drop"
        case .markerOfAll: "marker-of-all"
        case .refused: "refused"
        case .ignoredEmpty: "ignored-empty"
        case .ignored: "ignored"
        case .notIncluded: "not-included"
        case .excluded: "excluded"
        }
    }
}
