package import SystemPackage

/// A folder in which a pipeline leaves originals, and for which jobs.
package struct KeptFolder: Sendable, Hashable {
    package enum Place: String, Sendable, CaseIterable {
        case processed
        case failed
    }

    package let pipeline: String
    package let place: Place
    /// The folder that its file names, up to the first placeholder.
    package let root: FilePath

    package init(_ pipeline: String, _ place: Place, _ root: FilePath) {
        (self.pipeline, self.place, self.root) = (pipeline, place, root)
    }
}
