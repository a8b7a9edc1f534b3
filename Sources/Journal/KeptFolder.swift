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

    /// Whether such a job leaves its original in it, there.
    package func takes(_ original: FilePath, of pipeline: String, state: String) -> Bool {
        self.pipeline == pipeline && place.rawValue == state && original.starts(with: root) && original != root
    }
}

extension Set<KeptFolder> {
    /// The one in which such a job has left its original.
    package func folder(of original: FilePath, by pipeline: String, state: String) -> KeptFolder? {
        filter { $0.takes(original, of: pipeline, state: state) }
            .max { $0.root.components.count < $1.root.components.count }
    }
}
