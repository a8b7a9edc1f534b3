import Files
import Glibc
package import PipelineKit
package import SystemPackage

/// A pipeline's folders on this host, by their names: other hosts may have them elsewhere. What several hosts have in
/// common names a path by the folder that it is in: `{inbox}/a/b`.
package struct PathRoots: Sendable, Equatable {
    private struct Root: Sendable, Equatable {
        /// `{inbox}`
        let mark: FilePath
        let path: FilePath
    }

    /// What a pipeline's inbox is called here.
    package static let inbox = "inbox"

    /// The longest paths first.
    private let roots: [Root]

    /// No name has a slash, no two are the same, and the paths are absolute.
    package init(_ folders: [(name: String, path: FilePath)]) {
        roots = folders.map { Root(mark: Self.mark($0.name), path: $0.path) }.sorted { $0.path.length > $1.path.length }
    }

    private static func mark(_ name: String) -> FilePath { FilePath("{\(name)}") }

    /// By the folder that it is in, the innermost; as it is where it is in none.
    package func relative(_ path: FilePath) -> FilePath {
        for root in roots { if let way = path.way(from: root.path) { return root.mark.pushing(way) } }
        return path
    }

    /// Where it is on this host.
    package func absolute(_ path: FilePath) -> FilePath {
        guard path.isRelative else { return path }
        for root in roots { if let way = path.way(from: root.mark) { return root.path.pushing(way) } }
        return path
    }

    /// Whether that is the pipeline's inbox.
    package func isInbox(_ path: FilePath) -> Bool { relative(path) == Self.mark(Self.inbox) }
}

extension FilePath {
    /// What leads to it from that folder; nil where it is not in it. By bytes: it is asked for every job.
    fileprivate func way(from folder: FilePath) -> FilePath? {
        withPlatformString { path in
            folder.withPlatformString { folder in
                let (slash, length) = (CChar(bitPattern: UInt8(ascii: "/")), strlen(folder))
                guard strncmp(path, folder, length) == 0 else { return nil }
                var rest = path + length
                guard rest.pointee == 0 || rest.pointee == slash || length > 0 && folder[length - 1] == slash else {
                    return nil
                }
                while rest.pointee == slash { rest += 1 }
                return FilePath(platformString: rest)
            }
        }
    }
}

extension JSONText {
    package mutating func roots(_ roots: PathRoots) { roots.write(to: &self) }
}

extension JSONValue {
    package var roots: PathRoots? { PathRoots(self) }
}

extension PathRoots {
    fileprivate func write(to json: inout JSONText) {
        json.array { json in
            for root in roots {
                json.object { json in
                    json.path("name", root.mark)
                    json.path("path", root.path)
                }
            }
        }
    }

    fileprivate init?(_ json: JSONValue) {
        let all = json.all { member -> Root? in
            guard let mark = member.object?["name"]?.path, let path = member.object?["path"]?.path else { return nil }
            return Root(mark: mark, path: path)
        }
        guard let all else { return nil }
        roots = all
    }
}
