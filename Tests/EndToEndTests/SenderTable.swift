import Files
import Glibc
import Synchronization
import SystemPackage
import TestSupport

/// One way of putting a file into an inbox that is to be told from a finished one.
struct Sender: Sendable {
    /// What it does, as the table in docs/readiness.md calls it.
    let title: String
    /// Whether it closes the file and is silent for longer than the quiet time: nobody can know that it will go on.
    var mayBeEarly = false
    /// Where it closes the file and opens it again: in how many quiet times. A machine that made it longer proves
    /// nothing, and it is tried again.
    var silence: Double?
    /// The programs that it needs.
    var needs: [String] = []
    /// Sends one file.
    let send: @Sendable (SenderDesk) throws -> Void
}

/// Where a sender works: the file that it is to make, and what is to be in it at the end.
final class SenderDesk: Sendable {
    /// A folder outside the inbox, on its file system.
    let outside: FilePath
    /// The file to be made.
    let target: FilePath
    /// What is to be in it in the end.
    let contents: [UInt8]
    /// The same in a file.
    let source: FilePath
    let quiet: Duration
    /// How `sftp` and `scp` reach this machine; nil without a server.
    let server: LoopbackServer?

    private struct Actions {
        var lastBegan: ContinuousClock.Instant?
        var longestSilence = Duration.zero
    }

    private let actions = Mutex(Actions())

    init(
        name: String, in inbox: FilePath, outside: FilePath, quiet: Duration, server: LoopbackServer?
    ) throws(IOError) {
        self.outside = outside
        self.quiet = quiet
        self.server = server
        target = inbox.pushing(FilePath(name))
        source = outside.pushing(FilePath("\(name).source"))
        contents = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ name.utf8.count) }
        let file = try OpenFile.open(source, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        try file.write(contents)
        try file.close()
    }

    /// So much of the contents.
    func piece(_ number: Int, of count: Int) -> [UInt8] {
        Array(contents[(contents.count * number / count)..<(contents.count * (number + 1) / count)])
    }

    /// Opens the target.
    func open(_ flags: Int32) throws(IOError) -> OpenFile { try OpenFile.open(target, flags, mode: 0o644) }

    /// Adds to the target, which is opened and closed for it.
    func append(_ bytes: [UInt8]) throws {
        try act {
            let file = try open(O_WRONLY | O_CREAT | O_APPEND)
            try file.write(bytes)
            try file.close()
        }
    }

    /// The longest time in which nothing may have been written, though the sender was not done.
    var longestSilence: Duration { actions.withLock { $0.longestSilence } }

    private func act(_ body: () throws -> Void) throws {
        let began = ContinuousClock.now
        try body()
        let ended = ContinuousClock.now
        actions.withLock { actions in
            if let last = actions.lastBegan { actions.longestSilence = max(actions.longestSilence, ended - last) }
            actions.lastBegan = began
        }
    }

    /// Lets a part of the quiet time go by: what a sender does in between is what is examined here.
    func pause(_ factor: Double) { _ = poll(nil, 0, Int32(quiet.seconds * factor * 1000)) }

    /// Runs a script of sh(1) with `$source`, `$target`, `$outside` and `$pause` (a quarter of the quiet time).
    func shell(_ script: String) throws {
        let text = """
            set -eu
            source='\(source.string)' target='\(target.string)' outside='\(outside.string)'
            pause=\(quiet.seconds / 4)
            \(script)
            """
        try act {
            let output = try Tool("/bin/sh").run(["-c", text])
            guard output.status == 0 else { throw SenderFailed(text: output.text) }
        }
    }
}

/// A program that a sender uses did not work.
struct SenderFailed: Error {
    let text: String
}

extension Sender {
    /// In pieces, a quarter of the quiet time apart.
    private static let pieces = 4

    /// A script that copies one of the pieces to its place.
    private static func copying(_ piece: Int) -> String {
        #"dd if="$source" of="$target" bs=75000 skip=\#(piece) seek=\#(piece) count=1 conv=notrunc status=none"#
    }

    /// All that are tried.
    static let all: [Sender] = [
        Sender(title: "`cp` from a slow source") { desk in
            try desk.shell(
                """
                { for i in 0 1 2 3; do
                    dd if="$source" bs=75000 skip=$i count=1 status=none; sleep $pause
                  done; } | cp /dev/stdin "$target"
                """)
        },
        Sender(title: "`cp -p`, which sets the time back") { try $0.shell(#"cp -p "$source" "$target""#) },
        Sender(title: "`mv` within the file system") { try $0.shell(#"mv "$source" "$target""#) },
        Sender(title: "`mv` from another file system", needs: ["/dev/shm"]) { desk in
            try desk.shell(
                #"other=$(mktemp -d /dev/shm/dropmill.XXXXXX); cp "$source" "$other/f"; "#
                    + #"mv "$other/f" "$target"; rmdir "$other""#)
        },
        Sender(title: "`rsync`", needs: ["rsync"]) { desk in
            try desk.shell(#"rsync -t --whole-file --bwlimit=300 "$source" "$target""#)
        },
        Sender(title: "`rsync --inplace`", needs: ["rsync"]) { desk in
            try desk.shell(#"rsync -t --inplace --whole-file --bwlimit=300 "$source" "$target""#)
        },
        Sender(title: "`sftp` through a local sshd", needs: ["sshd"]) { desk in
            try desk.shell(desk.server?.sftp ?? "false")
        },
        Sender(title: "`scp` through a local sshd", needs: ["sshd"]) { desk in
            try desk.shell(desk.server?.scp ?? "false")
        },
        Sender(title: "`curl -o`", needs: ["curl"]) { desk in
            try desk.shell(#"curl -sS --limit-rate 300k -o "$target" "file://$source""#)
        },
        Sender(title: "`fallocate`, then `dd` into it piece by piece", silence: 1, needs: ["fallocate"]) {
            desk in
            try desk.shell(#"fallocate -l 300000 "$target""#)
            for piece in [3, 1, 0, 2] {
                desk.pause(0.25)
                try desk.shell(copying(piece))
            }
        },
        Sender(title: "`truncate`, then writes in any order, the time set back after each", silence: 1) {
            desk in
            try desk.shell(#"truncate -s 300000 "$target""#)
            for piece in [2, 0, 3, 1] {
                desk.pause(0.25)
                try desk.shell(copying(piece) + #"; touch -d 2001-01-01 "$target""#)
            }
        },
        Sender(title: "stalls for 3 × quiet, the file open") { desk in
            let file = try desk.open(O_WRONLY | O_CREAT)
            try file.write(desk.piece(0, of: 2))
            desk.pause(3)
            try file.write(desk.piece(1, of: 2))
            try file.close()
        },
        Sender(title: "stalls for 3 × quiet, the file closed", mayBeEarly: true) { desk in
            try desk.append(desk.piece(0, of: 2))
            desk.pause(3)
            try desk.append(desk.piece(1, of: 2))
        },
        Sender(title: "writes through `mmap`, the descriptor closed") { desk in
            let file = try desk.open(O_RDWR | O_CREAT)
            guard ftruncate(file.descriptor, desk.contents.count) == 0 else {
                throw IOError("size", desk.target, .last)
            }
            let map = mmap(nil, desk.contents.count, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0)
            try file.close()
            guard let map, map != MAP_FAILED else { throw IOError("map", desk.target, .last) }
            for number in 0..<pieces {
                desk.pause(0.6)
                let piece = desk.piece(number, of: pieces)
                (map + desk.contents.count * number / pieces).copyMemory(from: piece, byteCount: piece.count)
            }
            munmap(map, desk.contents.count)
        },
        Sender(title: "writes too much, then shortens it by `ftruncate`") { desk in
            let file = try desk.open(O_WRONLY | O_CREAT)
            try file.write(desk.contents + desk.contents)
            desk.pause(1.5)
            guard ftruncate(file.descriptor, desk.contents.count) == 0 else {
                throw IOError("size", desk.target, .last)
            }
            try file.close()
        },
        Sender(title: "`ln` into the inbox, written on under the other name") { desk in
            let other = desk.outside.pushing(FilePath("\(desk.target.lastComponent?.string ?? "").other"))
            let file = try OpenFile.open(other, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
            try file.write(desk.piece(0, of: 2))
            let linked = other.withPlatformString { old in desk.target.withPlatformString { link(old, $0) } }
            guard linked == 0 else { throw IOError("link", desk.target, .last) }
            desk.pause(1.5)
            try file.write(desk.piece(1, of: 2))
            try file.close()
        },
        Sender(title: "a file renamed over the first one", silence: 1) { desk in
            try desk.append(desk.piece(0, of: 2))
            desk.pause(0.6)
            try desk.shell(#"mv "$source" "$target""#)
        },
        Sender(title: "closed, then appended to after 0.9 × quiet", silence: 1) { desk in
            for number in 0..<pieces {
                if number > 0 { desk.pause(0.9) }
                try desk.append(desk.piece(number, of: pieces))
            }
        },
        Sender(title: "zero bytes, filled after 2 × quiet", silence: 5) { desk in
            try desk.append([])
            desk.pause(2)
            try desk.append(desk.contents)
        },
    ]
}
