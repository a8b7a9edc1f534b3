import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport

/// A folder with secrets, open to its owner alone, and what would show that somebody was there.
struct Canary: Sendable {
    let folder: FilePath
    /// What is in its files; a stranger's file of the same name has other bytes.
    let secret: String
    private let before: [String]

    /// The names that the strangers' own folders hold, too.
    private static let names = ["passwd", "shadow", "f0000"]

    init(_ folder: FilePath, _ user: uid_t, _ group: gid_t) throws {
        self.folder = folder
        secret = "canary \(UInt64.random(in: 1 << 62 ... .max))\n"
        try Folder.make(folder)
        for name in Self.names {
            let file = try OpenFile.open(folder.appending(name), O_WRONLY | O_CREAT, mode: 0o600)
            try file.write(Array(secret.utf8))
            try file.close()
            try World.own(folder.appending(name), user, group, 0o600)
        }
        try World.own(folder, user, group, 0o700)
        // `relatime` notes the first reading after a change, so the files look as if nobody ever read them.
        for path in Self.names.map({ folder.appending($0) }) + [folder] {
            let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 2, tv_nsec: 0)]
            guard path.withPlatformString({ utimensat(AT_FDCWD, $0, times, 0) }) == 0 else {
                throw IOError("set the times of", path, .last)
            }
        }
        before = try Self.state(of: folder)
    }

    /// All that the file system says of it; asking does not change it.
    private static func state(of folder: FilePath) throws -> [String] {
        ([folder] + names.map { folder.appending($0) }).map { path in
            var status = stat()
            guard path.withPlatformString({ lstat($0, &status) }) == 0 else { return "'\(path.text)' is gone" }
            return
                "'\(path.text)': inode \(status.st_ino), owner \(status.st_uid):\(status.st_gid), "
                + "mode \(String(status.st_mode, radix: 8)), links \(status.st_nlink), size \(status.st_size), "
                + "read \(status.st_atim.tv_sec), written \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec), "
                + "changed \(status.st_ctim.tv_sec).\(status.st_ctim.tv_nsec)"
        }
    }

    /// What shows that it was touched or read. To be asked before anybody else looks into it.
    func traces() throws -> [String] {
        let now = try Self.state(of: folder)
        return zip(before, now).filter { $0 != $1 }.map { "was \($0)\nis  \($1)" }
    }

    /// Where below these folders its content came out: in a file as it is, in an archive, or as its digest.
    func leaks(in folders: [FilePath]) throws -> [String] {
        let digest = try Self.digest(of: secret)
        var found: [String] = []
        for folder in folders where Folder.kind(of: folder) == .folder {
            for file in try FileTree.list(folder).files {
                let path = folder.pushing(file.relative)
                let bytes = path.string.hasSuffix(".tar.zst") ? try Self.unpacked(path) : try ScratchFolder.read(path)
                let text = String(decoding: bytes, as: UTF8.self)
                if text.contains(secret) { found.append("the content of '\(self.folder.text)' is in '\(path.text)'") }
                if text.contains(digest) { found.append("its digest is in '\(path.text)'") }
            }
        }
        return found
    }

    private static func unpacked(_ archive: FilePath) throws -> [UInt8] {
        guard let tool = Tool.find("bsdtar") else { return [] }
        return try tool.run(["-xOf", archive.string]).bytes
    }

    static func digest(of content: String) throws -> String {
        guard let tool = Tool.find("sh") else { return "no sh" }
        return String(try tool.run(["-c", "printf %s \"$1\" | sha256sum", "sh", content]).text.prefix(64))
    }
}

extension World {
    /// What is wrong with the canaries, a line each; the folders that strangers may read are looked through.
    func harm() throws -> [String] {
        let traces = try canaries.flatMap { try $0.traces() }
        let open = ["output", "processed", "failed", "inbox", "home"].map { path($0) }
        return traces + (try canaries.flatMap { try $0.leaks(in: open) })
    }
}

extension DropmillProcess {
    /// How many lines of the events it has logged.
    func count(_ events: String...) throws -> Int {
        try text().split(separator: "\n").count { line in events.contains { line.contains("\"event\":\"\($0)\"") } }
    }

    /// What /proc/PID/status says in a line, as a number.
    func status(_ key: String) throws -> Int {
        let status = String(decoding: try ScratchFolder.read(FilePath("/proc/\(id)/status")), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(key):") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Asks it to end and says whether it did so by itself.
    mutating func stops(within limit: Duration = .seconds(20)) async throws -> Bool {
        try send(SIGTERM)
        var process = self
        let ended = try await eventually(within: limit) { try process.hasEnded() }
        self = process
        return ended
    }
}
