import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Several hosts that see one work folder.
@Suite("Owner of a work folder") struct WorkOwnerTests {
    private let scratch: ScratchFolder
    private var work: FilePath { scratch.path }

    init() throws { scratch = try ScratchFolder() }

    private func holder(_ host: String, boot: String = "b", incarnation: UInt64 = 1) -> WorkOwner.Holder {
        WorkOwner.Holder(host: host, machine: "m-\(host)", boot: boot, process: 7, incarnation: incarnation)
    }

    private func age(by seconds: Int) throws {
        let path = scratch.path("owner")
        var status = stat()
        guard path.withPlatformString({ lstat($0, &status) }) == 0 else { throw IOError("examine", path, .last) }
        let time = timespec(tv_sec: status.st_mtim.tv_sec - seconds, tv_nsec: 0)
        guard path.withPlatformString({ utimensat(AT_FDCWD, $0, [time, time], 0) }) == 0 else {
            throw IOError("set the time of", path, .last)
        }
    }

    @Test("What is written is read") func text() throws {
        let own = WorkOwner.Holder.own
        #expect(WorkOwner.Holder(own.text) == own)
        #expect(WorkOwner.Holder("host x\n") == nil)
        #expect(WorkOwner.Holder("") == nil)
    }

    @Test("Another host's that was renewed lately is refused, and named") func fresh() throws {
        let first = try WorkOwner(of: work, of: "test", isShared: true, as: holder("one"))
        do throws(FolderError) {
            _ = try WorkOwner(of: work, of: "test", isShared: true, as: holder("two"))
            Issue.record("it was taken")
        } catch {
            #expect(error.kind == .locked)
            #expect(error.message.contains("'one'"))
        }
        #expect(!first.isLost)
        first.release()
        _ = try WorkOwner(of: work, of: "test", isShared: true, as: holder("two"))
    }

    @Test("What is refused leaves nothing, and takes nothing from another that is about to write")
    func refusal() throws {
        let first = try WorkOwner(of: work, of: "test", isShared: true, as: holder("one"))
        #expect(throws: FolderError.self) { try WorkOwner(of: work, of: "test", isShared: true, as: holder("two")) }
        #expect(try Folder.names(in: work).map(\.text) == ["owner"])
        // Another host's, half written.
        try scratch.write("host two", to: "owner.99")
        first.renew()
        #expect(!first.isLost)
        #expect(try WorkOwner.read(work)?.holder == holder("one"))
    }

    @Test("One that is old is taken; its owner sees that when it comes back") func old() throws {
        let first = try WorkOwner(of: work, of: "test", isShared: true, as: holder("one"))
        try age(by: 100)
        let second = try WorkOwner(of: work, of: "test", isShared: true, as: holder("two"))
        first.renew()
        #expect(first.isLost)
        second.renew()
        #expect(!second.isLost)
        first.release()
        #expect(try WorkOwner.read(work)?.holder == holder("two"), "what is lost is not removed")
    }

    @Test("The same host takes it at once, also after a start of its own") func sameHost() throws {
        _ = try WorkOwner(of: work, of: "test", isShared: true, as: holder("one"))
        _ = try WorkOwner(of: work, of: "test", isShared: true, as: holder("one", incarnation: 2))
        try age(by: 60)
        _ = try WorkOwner(of: work, of: "test", isShared: true, as: holder("one", boot: "c"), up: .seconds(40))
    }

    @Test("Another host of the same name is known by what it said since this one was started") func namesake() throws {
        _ = try WorkOwner(of: work, of: "test", isShared: true, as: holder("one"))
        try age(by: 60)
        let error = #expect(throws: FolderError.self) {
            try WorkOwner(of: work, of: "test", isShared: true, as: holder("one", boot: "c"), up: .seconds(80))
        }
        #expect(error?.kind == .locked)
        #expect(error?.message.contains("its own name and /etc/machine-id") == true)
    }

    @Test("Whoever has taken it is noticed, whatever name it goes by", arguments: [("b", 2), ("c", 1)])
    func taken(boot: String, incarnation: UInt64) throws {
        let other = holder("one", boot: boot, incarnation: incarnation)
        let first = try WorkOwner(of: work, of: "test", isShared: true, as: holder("one"))
        _ = try WorkOwner(of: work, of: "test", isShared: false, as: other)
        first.renew()
        #expect(first.isLost)
        first.release()
        #expect(try WorkOwner.read(work)?.holder == other)
    }

    @Test("On a local disk nobody else can be there") func local() throws {
        _ = try WorkOwner(of: work, of: "test", isShared: false, as: holder("one"))
        _ = try WorkOwner(of: work, of: "test", isShared: false, as: holder("two"))
    }

    @Test("Renewing makes it fresh again") func renewing() throws {
        let first = try WorkOwner(of: work, of: "test", isShared: true, as: holder("one"))
        try age(by: 100)
        first.renew()
        #expect(throws: FolderError.self) { try WorkOwner(of: work, of: "test", isShared: true, as: holder("two")) }
    }
}
