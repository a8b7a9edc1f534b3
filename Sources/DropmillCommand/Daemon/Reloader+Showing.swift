import Dispatch
import Files
import PipelineConfig
import SystemPackage

extension Reloader {
    /// A pipeline's file, without the secrets in it.
    struct FileLook: Sendable {
        enum Disk: Sendable {
            case same
            /// As it may be shown; nil where nobody knows what may be.
            case changed(ShownText?, FileTime)
            /// It is gone, or cannot be read any more: a sentence.
            case gone(String)
            /// It does not answer.
            case silent(FilePath)
        }

        let path: FilePath
        /// As it is in force.
        let loaded: ShownText?
        let takenAt: Timestamp
        let disk: Disk
    }

    /// A file in force by its absolute path, and what is on disk in its place; nil where it is not in force. It blocks.
    func file(_ path: FilePath) -> FileLook? {
        let (files, takenAt) = inForce
        guard let loaded = files.all.first(where: { $0.path.absolute == path }) else { return nil }
        return FileLook(path: path, loaded: loader.shown(loaded), takenAt: takenAt, disk: disk(loaded))
    }

    private func disk(_ loaded: PipelineFiles.File) -> FileLook.Disk {
        let path = loaded.path
        let read = lookout.attempt(until: .now() + Self.patienceWithAsking) { @Sendable mayLook in
            PipelineLoader.read([path], mayLook)
        }
        switch read {
        case .silent(let place): return .silent(place ?? path)
        case .over(let files):
            guard let file = files.all.first(where: { $0.path == path }) else {
                return .gone(files.problems.first?.message ?? "a folder is in its place")
            }
            return file.text == loaded.text ? .same : .changed(loader.shown(file), file.changed)
        }
    }
}
