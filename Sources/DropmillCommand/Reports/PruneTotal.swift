import Control
import Files

/// What a removal comes to.
struct PruneTotal: Encodable {
    private(set) var files = 0
    private(set) var bytes: Int64 = 0
    private(set) var changed = 0
    private(set) var linked = 0
    private(set) var gone = 0
    private(set) var troubles = 0

    mutating func add(_ answer: PruneVerb.Answer) {
        files += answer.removed.count
        bytes = bytes.addingSaturated(answer.removed.map(\.bytes).saturatedSum)
        changed += answer.changed
        linked += answer.linked
        gone += answer.gone
        troubles += answer.troubles.count
    }

    /// `12 originals removed, 3 MiB; kept: 3 are not as we left them`.
    func text(isDry: Bool) -> String {
        let done = isDry ? "would be removed" : "removed"
        let first = "\(PruneText.originals(files)) \(done), \(ByteSize(bytes: bytes))"
        return [first, PruneText.kept(changed: changed, linked: linked)].compactMap(\.self).joined(separator: "; ")
    }
}

extension PruneVerb.Original {
    /// Its path, age, size and rule.
    func line(at now: Timestamp) -> String {
        let age = now - Timestamp(nanoseconds: since)
        return "\(EscapedText.printable(path))  \(max(.zero, age).text)  \(ByteSize(bytes: bytes))  \(pipeline) \(rule)"
    }
}
