package import Files
import Glibc
import PipelineKit
package import SystemPackage

/// Where the settings of a daemon are.
package enum SettingsPlace: Sendable {
    /// In a file that was named.
    case file(FilePath)
    /// In `dropmill.yaml`, if there is one: in the folder of the pipelines, or beside it.
    case beside

    /// The name of a file that is never taken for a pipeline's when it is found in a folder.
    package static let fileName = FileName(unchecked: Array("dropmill.yaml".utf8))

    /// The file for these pipelines, and the folder that it was found by; nil where there is none.
    func find(for pipelines: [FilePath]) -> (file: FilePath, folder: FilePath?)? {
        if case .file(let path) = self { return (path, nil) }
        guard let first = pipelines.first else { return nil }
        let isFolder = Folder.kind(of: first, followingLinks: true) == .folder
        let folder = isFolder ? first : Self.parent(of: first)
        let places = [folder, Self.parent(of: folder)].map { $0.appending(Self.fileName) }
        return places.first { !pipelines.contains($0) && FileStatus.of($0) != nil }.map { ($0, folder) }
    }

    /// Why what was found is not to be trusted; nil if it is. Trusted are root, our user and whoever the pipelines'
    /// folder belongs to: with the file, and with its name, as others may lead that to a file of ours. `entry`: what
    /// was there under the name just before the file was opened.
    static func fault(of entry: stat?, _ file: stat, by folder: FilePath) -> String? {
        let trusted = [0, geteuid(), FileStatus.of(folder.pushing("."))?.st_uid]
        for status in [entry ?? file, file] {
            guard trusted.contains(status.st_uid) else {
                return "belongs to \(AccountName.user(status.st_uid)), who is not trusted to set up the daemon"
            }
            if FileKind(mode: status.st_mode) == .regular, status.st_mode & 0o002 != 0 {
                return "is writable by everybody, who could set up the daemon; chmod o-w it"
            }
            if status.st_nlink != 1 { return "has more than one hard link, so somebody else may have put it here" }
        }
        return nil
    }

    private static func parent(of path: FilePath) -> FilePath {
        guard case .regular = path.lastComponent?.kind else {
            return path.absolute.lexicallyNormalized().removingLastComponent()
        }
        return path.removingLastComponent()
    }
}
