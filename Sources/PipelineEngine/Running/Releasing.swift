package import SystemPackage

/// What became of a job that was to be released.
package enum Releasing: Sendable, Equatable {
    /// Its drop goes back into this inbox.
    case goes(FilePath)
    /// It has gone back, and is there.
    case went(FilePath)
    /// It goes as soon as it may: what keeps it from that.
    case waits(String)
    /// It stays as it is, for that reason.
    case refused(String)

    /// Whether it is released.
    package var isReleased: Bool { if case .refused = self { false } else { true } }

    /// Why it stays as it is; nil where it does not.
    package var refusal: String? { isReleased ? nil : text }

    /// For people.
    package var text: String {
        switch self {
        case .goes(let inbox): "released: its drop goes back into '\(inbox.text)'"
        case .went(let path): "released: its drop is '\(path.text)'"
        case .waits(let reason): "released; its drop goes back as soon as it may: \(reason)"
        case .refused(let reason): reason
        }
    }
}
