/// A line of a pipeline file as it may be shown, and where it is: in force, on disk or in both.
package struct ShownLine: Sendable, Equatable {
    package enum Place: Sendable, Equatable {
        case both, loaded, disk
    }

    package let place: Place
    package let text: String

    /// The lines of what is in force, and of what is on disk, if that can be shown, in one order. Lines differ as they
    /// were written: two that look the same may have other secrets.
    package static func lines(of loaded: ShownText, and disk: ShownText?) -> [ShownLine] {
        guard let disk else { return loaded.lines.map { ShownLine(place: .both, text: $0) } }
        // A comment of one may have what is a secret of the other.
        let (old, new) = (loaded.lines(beside: disk), disk.lines(beside: loaded))
        return LineDifference.steps(from: loaded.written, to: disk.written).map { step in
            switch step {
            case .same(let line, _): ShownLine(place: .both, text: old[line])
            case .old(let line): ShownLine(place: .loaded, text: old[line])
            case .new(let line): ShownLine(place: .disk, text: new[line])
            }
        }
    }
}
