import Files
import PipelineKit

/// The files and folders that are to be there, exactly.
struct ExpectedTree: Sendable, Equatable {
    /// How a name is given.
    enum Name: Sendable, Equatable {
        /// As `EscapedText` shows it.
        case exact(String)
        /// As a glob, for names that hold a job's id.
        case like(String)
    }

    /// What is known of an entry besides its name.
    enum Detail: Sendable, Equatable {
        case none
        /// A file of these bytes.
        case contents([UInt8])
        /// A checksum file that `sha256sum -c` accepts.
        case checksums
        /// A symbolic link to this.
        case target(String)
    }

    /// One line.
    struct Entry: Sendable, Equatable {
        /// The folder it lies in, escaped, with `/` behind each part; empty at the top.
        let folder: String
        /// Its name; folders end in `/`.
        let name: Name
        /// More about it.
        let detail: Detail
    }

    /// The entries, as written.
    var entries: [Entry] = []

    /// What differs from the paths that are there (escaped, folders with `/` behind), one line each.
    func differences(from paths: [String]) -> [String] {
        var left = Set(paths)
        var problems: [String] = []
        for entry in entries {
            guard case .exact(let name) = entry.name else { continue }
            if left.remove(entry.folder + name) == nil { problems.append("missing: \(entry.folder)\(name)") }
        }
        for entry in entries {
            guard case .like(let pattern) = entry.name else { continue }
            if let path = Self.find(pattern, in: entry.folder, among: left) {
                left.remove(path)
            } else {
                problems.append("missing: \(entry.folder) like \(pattern)")
            }
        }
        return problems + left.sorted().map { "unexpected: \($0)" }
    }

    /// The path that an entry stands for.
    func path(of entry: Entry, among paths: [String]) -> String? {
        switch entry.name {
        case .exact(let name): entry.folder + name
        case .like(let pattern): Self.find(pattern, in: entry.folder, among: paths)
        }
    }

    private static func find(_ pattern: String, in folder: String, among paths: some Sequence<String>) -> String? {
        guard let glob = Glob(pattern) else { return nil }
        return paths.sorted().first { path in
            guard path.hasPrefix(folder), let name = FileName(path.dropFirst(folder.count)) else { return false }
            return glob.matches(name)
        }
    }
}
