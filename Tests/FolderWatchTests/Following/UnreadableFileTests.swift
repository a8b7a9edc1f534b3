import Files
import Platform
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

@Suite("FollowReader of what cannot be read", .timeLimit(.minutes(2))) struct UnreadableFileTests {
    private let file: FollowedFile

    init() throws { file = try FollowedFile() }

    @Test(
        "What is no regular file is not opened, until a file is there",
        arguments: ["fifo", "folder", "link", "socket"])
    func notRegular(_ kind: String) throws {
        switch kind {
        case "fifo": try #require(file.path.withPlatformString { mkfifo($0, 0o600) } == 0)
        case "folder": try file.scratch.makeFolder("folder/log")
        case "link":
            try file.append("secret", to: "target")
            try file.scratch.link("folder/log", to: "target")
        default: try #require(file.path.withPlatformString { mknod($0, S_IFSOCK | 0o600, 0) } == 0)
        }
        var reader = try file.reader()
        #expect(throws: IOError("follow", file.path, .invalidArgument)) { try reader.next() }
        if kind == "folder" {
            try #require(file.path.withPlatformString { rmdir($0) } == 0)
        } else {
            try file.remove()
        }
        try file.append("text")
        #expect(try all(&reader) == "text")
    }

    /// The old file stays open meanwhile, and nothing of it is lost.
    @Test("The old file stays open while the name is no regular file's")
    func notRegularSuccessor() throws {
        try file.append("one ")
        var reader = try file.reader()
        #expect(try all(&reader) == "one ")
        try file.rename("log", "log.1")
        try file.scratch.link("folder/log", to: "log.1")
        try file.append("two ", to: "log.1")
        #expect(try reader.next()?.bytes == Array("two ".utf8))
        #expect(throws: IOError.self) { try reader.next() }
        try file.remove()
        try file.append("three", to: "log.1")
        try file.append("four")
        #expect(try all(&reader) == "three|four")
    }

    @Test("A missing folder is an error that passes")
    func missingFolder() throws {
        var reader = try file.reader()
        try file.move("folder", "away")
        #expect(throws: IOError.self) { try reader.next() }
        try file.move("away", "folder")
        try file.append("text")
        #expect(try all(&reader) == "text")
        try file.move("folder", "away")
        try file.scratch.append(Array(" rest".utf8), to: file.scratch.path("away/log"))
        #expect(try reader.next()?.bytes == Array(" rest".utf8))
        #expect(throws: IOError.self) { try reader.next() }
        try file.scratch.makeFolder("folder")
        try file.append(" new")
        #expect(try all(&reader) == "| new")
    }

    @Test("A file that may not be read is tried again, and told once it may")
    func permission() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            try #require(scratch.path.withPlatformString { chmod($0, 0o755) } == 0)
            let log = try scratch.write("text", to: "log")
            try #require(log.withPlatformString { chmod($0, 0) } == 0)
            let user = geteuid()
            if user == 0 { try #require(seteuid(65_534) == 0) }
            var reader = FollowReader(try #require(FileName("log")), in: scratch.path, from: .start)
            #expect(throws: IOError("open", log, .permissionDenied)) { try reader.next() }
            if user == 0 { try #require(seteuid(0) == 0) }
            try #require(log.withPlatformString { chmod($0, 0o644) } == 0)
            if user == 0 { try #require(seteuid(65_534) == 0) }
            #expect(try reader.next()?.bytes == Array("text".utf8))
            if user == 0 { try #require(seteuid(0) == 0) }
        }
    }

    #if os(Linux)
        @Test("A rotated file stays open where there is no descriptor for the new one")
        func descriptors() async {
            await #expect(processExitsWith: .success) {
                let scratch = try ScratchFolder()
                let log = try scratch.write("one ", to: "log")
                var reader = FollowReader(try #require(FileName("log")), in: scratch.path, from: .start)
                #expect(try reader.next()?.bytes == Array("one ".utf8))
                let old = try OpenFile.open(log, O_WRONLY | O_APPEND)
                try #require(log.withPlatformString { unlink($0) } == 0)
                try scratch.write("three", to: "log")
                let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                try #require(getrlimit(files, &limit) == 0)
                let usual = limit.rlim_cur
                limit.rlim_cur = 0
                try #require(setrlimit(files, &limit) == 0)
                try old.write(Array("two ".utf8))
                #expect(try reader.next()?.bytes == Array("two ".utf8))
                #expect(throws: IOError.self) { try reader.next() }
                try old.write(Array("more ".utf8))
                #expect(try reader.next()?.bytes == Array("more ".utf8))
                limit.rlim_cur = usual
                try #require(setrlimit(files, &limit) == 0)
                #expect(try reader.next()?.bytes == Array("three".utf8))
            }
        }
    #endif

    @Test("A name need not be text")
    func name() throws {
        let name = try #require(FileName([0xFF, 0x0A, 0x62]))
        try file.scratch.write(Array("text".utf8), to: file.scratch.path(name))
        var reader = FollowReader(name, in: file.scratch.path, from: .start)
        #expect(try all(&reader) == "text")
    }
}
