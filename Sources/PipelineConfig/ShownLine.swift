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
        return LineDifference.steps(from: loaded.written, to: disk.written).map { step in
            switch step {
            case .same(let line, _): ShownLine(place: .both, text: loaded.lines[line])
            case .old(let line): ShownLine(place: .loaded, text: loaded.lines[line])
            case .new(let line): ShownLine(place: .disk, text: disk.lines[line])
            }
        }
    }
}
