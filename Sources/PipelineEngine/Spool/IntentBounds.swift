import Journal
import PipelineKit
import SystemPackage

/// Between which folders a settlement of a pipeline moves things, whatever a journal says: from a job's folder to the
/// configured ones. A value, decided by the paths alone.
struct IntentBounds: Sendable {
    private let folders: [FilePath]
    /// Targets without placeholders: a folder that is published becomes the target itself.
    private let places: [FilePath]

    init(of pipeline: Pipeline) {
        folders = OwnFolders.targets(of: pipeline).map(\.path)
        places = pipeline.stages.flatMap(\.targets.values).filter(\.template.isFixed).map(\.fixedFolder)
    }

    func allow(_ intent: Intent, of job: Job) -> Bool {
        isBelow(intent.source, job.folder) && (folders.contains { isBelow(intent.target, $0) } || isAt(intent.target))
    }

    /// Whether what a job's stages made, as it is on record, lies in the job's folder.
    func allow(_ payload: Payload, in folder: FilePath) -> Bool {
        isBelow(payload.path, folder) && payload.copies.allSatisfy { isBelow($0.path, folder) }
    }

    /// Strictly below, name by name and never up again. The kernel is not asked: a link in the text is for whoever
    /// makes the move to refuse.
    private func isBelow(_ path: FilePath, _ folder: FilePath) -> Bool {
        // By bytes: this is asked of every job. A path is kept without any slash that it does not need.
        path.withBytes { path in
            folder.withBytes { folder in
                let isRoot = folder.count == 1 && folder[0] == Self.slash
                let start = isRoot ? 1 : folder.count + 1
                guard path.first == Self.slash, path.count > start, path.starts(with: folder),
                    path[start - 1] == Self.slash
                else { return false }
                return !Self.hasDots(path[start...])
            }
        }
    }

    /// Whether any name is `.` or `..`.
    private static func hasDots(_ names: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var (dots, length) = (0, 0)
        for byte in names {
            if byte == slash {
                if length > 0, length == dots, dots < 3 { return true }
                (dots, length) = (0, 0)
            } else {
                length += 1
                if byte == UInt8(ascii: ".") { dots += 1 }
            }
        }
        return length > 0 && length == dots && dots < 3
    }

    private static let slash = UInt8(ascii: "/")

    /// Whether it is such a target, another number of it, or a file beside it: `photos`, `photos.2`, `photos.sha256`.
    private func isAt(_ path: FilePath) -> Bool {
        guard let name = path.lastName else { return false }
        return places.contains { place in
            guard let own = place.lastName, path.removingLastComponent() == place.removingLastComponent() else {
                return false
            }
            return name == own || name.bytes.starts(with: own.bytes + [UInt8(ascii: ".")])
        }
    }
}

extension Failure {
    /// An intent leads out of the folders that are the pipeline's.
    static func outside(_ intent: Intent, of job: Job) -> Failure {
        .file(
            "intent.outside",
            "Settling '\(job.drop.name)' would move '\(intent.source.text)' to '\(intent.target.text)', and one "
                + "of them is outside the pipeline's folders.",
            remedy:
                "If the pipeline's folders were changed, restore them until this job is settled. Otherwise find out "
                + "who can write to the journal.")
    }
}
