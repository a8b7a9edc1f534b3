import Files

/// A descriptor on its way to another process; closed here once it is there, or not wanted any more.
final class HandedFile: Sendable {
    let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }
}
