import CLinux
import Files
import FolderWatch
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine

/// Failed originals on their way back into an inbox whose folders are the senders'.
@Suite("Sending back", .timeLimit(.minutes(5))) struct SendBackTests {
    private let scratch: ScratchFolder
    private let disk: TemporaryMount?
    private let ids = JobIDGenerator()

    init() throws {
        scratch = try ScratchFolder()
        // In memory where that may be: each round brings two folders to the disk.
        disk = TemporaryMount.isPossible ? try TemporaryMount(tmpfs: "size=32m", at: scratch.path("disk")) : nil
        for folder in ["inbox", "failed", "canary"] { try scratch.makeFolder("disk/\(folder)") }
    }

    /// A failed job whose drop lay in folders of the inbox.
    private func failed(_ name: String, in folders: [String] = []) throws -> JobRecord {
        let id = ids.next()
        let drop = Drop(
            name: try name.fileName, folders: try folders.map { try $0.fileName }, size: 1, droppedAt: id.time)
        let job = Job(id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: "/work")
        var record = JobRecord(claimed: job, identity: .unknown, definition: "")
        record.original = try scratch.write(name, to: (["disk/failed"] + folders + [name]).joined(separator: "/"))
        return record
    }

    private func send(_ record: JobRecord) throws -> FilePath {
        try SendBack(inbox: scratch.path("disk/inbox")).send(record) { _ throws(SendBack.Refusal) in }.path
    }

    @Test("A drop goes back to where it lay, and its folders are made anew")
    func home() throws {
        let record = try failed("a", in: ["x", "y"])
        #expect(try send(record) == scratch.path("disk/inbox/x/y/a"))
        #expect(try scratch.tree("disk/inbox") == ["x/", "x/y/", "x/y/a"])
        #expect(try scratch.tree("disk/failed") == ["x/", "x/y/"])
    }

    @Test(
        "Where a folder is a link or a file by now, it goes to the inbox's top",
        arguments: ["link", "file", "dangling"])
    func top(kind: String) throws {
        switch kind {
        case "link": try scratch.link("disk/inbox/x", to: scratch.path("disk/canary").string)
        case "dangling": try scratch.link("disk/inbox/x", to: "nowhere")
        default: try scratch.write("", to: "disk/inbox/x")
        }
        #expect(try send(failed("a", in: ["x", "y"])) == scratch.path("disk/inbox/a"))
        #expect(try scratch.text("disk/inbox/a") == "a")
        #expect(try scratch.tree("disk/canary") == [])
    }

    @Test("A link in the inbox that has the drop's own name is left alone")
    func takenByLink() throws {
        try scratch.link("disk/inbox/a", to: scratch.path("disk/canary/a").string)
        #expect(try send(failed("a")) == scratch.path("disk/inbox/a.2"))
        #expect(try scratch.tree("disk/canary") == [])
    }

    @Test("No link is followed to a failed original", arguments: ["disk/failed/x", "disk/failed/x/y"])
    func link(_ folder: String) throws {
        let record = try failed("a", in: ["x", "y"])
        try scratch.makeFolder("disk/canary/y")
        try scratch.write("secret", to: "disk/canary/a")
        try scratch.write("secret", to: "disk/canary/y/a")
        try Folder.remove(scratch.path(folder))
        try scratch.link(folder, to: scratch.path("disk/canary").string)
        let refusal = #expect(throws: SendBack.Refusal.self) { _ = try send(record) }
        #expect(refusal?.message.contains("links to it are not followed") == true, "\(refusal?.message ?? "")")
        #expect(try scratch.tree("disk/inbox") == [])
        #expect(try scratch.tree("disk/canary") == ["a", "y/", "y/a"])
    }

    @Test("What others could exchange goes back only as what it was")
    func exchanged() throws {
        let (hers, whole, mended) = (
            try failed("a", in: ["x"]), try failed("b", in: ["x"]), try failed("c", in: ["y"])
        )
        #expect(scratch.path("disk/failed/x").withPlatformString { chmod($0, 0o1777) } == 0)
        try scratch.write("another", to: "disk/failed/x/a")
        let refusal = #expect(throws: SendBack.Refusal.self) { _ = try send(hers) }
        #expect(refusal?.message.contains("is no longer the file that failed") == true, "\(refusal?.message ?? "")")
        #expect(try scratch.text("disk/failed/x/a") == "another")
        #expect(try send(whole) == scratch.path("disk/inbox/x/b"))
        // Where nobody else can, it was the operator.
        try scratch.write("mended", to: "disk/failed/y/c")
        #expect(try send(mended) == scratch.path("disk/inbox/y/c"))
    }

    /// What another one does meanwhile, until it is told to stop.
    private final class Meanwhile: Sendable {
        let isOver = Atomic(false)
        let rounds = Atomic(0)
    }

    @Test("However a sender exchanges a folder of his for a link, nothing lands where that leads: 1,000 rounds")
    func swapRace() async throws {
        let rounds = 1_000
        let records = try (0..<rounds).map { try failed("f\($0)", in: ["sub"]) }
        try scratch.makeFolder("disk/inbox/sub")
        try scratch.link("disk/inbox/.lnk", to: scratch.path("disk/canary").string)
        let meanwhile = Meanwhile()
        let (one, other) = (scratch.path("disk/inbox/sub"), scratch.path("disk/inbox/.lnk"))
        let sender = Task.detached {
            while !meanwhile.isOver.load(ordering: .relaxed) {
                let swapped = one.withPlatformString { one in
                    other.withPlatformString { dm_rename_exchange(AT_FDCWD, one, AT_FDCWD, $0) }
                }
                if swapped == 0 { meanwhile.rounds.add(1, ordering: .relaxed) }
            }
        }
        #expect(await eventually { meanwhile.rounds.load(ordering: .relaxed) > 0 })
        var tops = 0
        for record in records where try send(record).removingLastComponent() == scratch.path("disk/inbox") { tops += 1 }
        meanwhile.isOver.store(true, ordering: .relaxed)
        await sender.value
        #expect(try scratch.tree("disk/canary") == [])
        #expect(try scratch.tree("disk/failed") == ["sub/"])
        let names = Set(try FileTree.list(scratch.path("disk/inbox")).files.compactMap { $0.relative.lastName?.text })
        #expect(names == Set((0..<rounds).map { "f\($0)" }), "nothing is lost")
        // Both ways were met, so the exchange did happen in between.
        #expect(tops > 0 && tops < rounds, "\(tops) of \(rounds) at the top")
        #expect(meanwhile.rounds.load(ordering: .relaxed) >= rounds)
    }

    @Test(
        "A copy that was exchanged in the inbox does not count for the original",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func copies() throws {
        let mount = try TemporaryMount(tmpfs: "size=4m", at: scratch.path("disk/inbox"))
        defer { withExtendedLifetime(mount) {} }
        let record = try failed("a", in: ["x"])
        let partial = scratch.path("disk/inbox/x/.dropmill-\(record.id.text).partial")
        var notes = 0
        let refusal = #expect(throws: SendBack.Refusal.self) {
            _ = try SendBack(inbox: scratch.path("disk/inbox")).send(record) { _ throws(SendBack.Refusal) in
                notes += 1
                // The second note is told of the copy, just before it gets its name.
                guard notes == 2 else { return }
                _ = partial.withPlatformString { unlink($0) }
                _ = partial.withPlatformString { symlink("/etc/passwd", $0) }
            }
        }
        #expect(refusal?.message.contains("was replaced") == true, "\(refusal?.message ?? "")")
        #expect(try scratch.text("disk/failed/x/a") == "a")
        #expect(try send(record).removingLastComponent() == scratch.path("disk/inbox/x"))
        #expect(try scratch.tree("disk/failed") == ["x/"])
    }

    @Test("A copy that is claimed as soon as it has its name was sent in")
    func claimed() async throws {
        let folder = HeldFolder(try OpenInbox.open(scratch.path("disk/inbox")))
        let (inbox, taken) = (scratch.path("disk/inbox/a"), scratch.path("disk/taken"))
        let meanwhile = Meanwhile()
        let daemon = Task.detached {
            while !meanwhile.isOver.load(ordering: .relaxed) {
                _ = inbox.withPlatformString { from in taken.withPlatformString { rename(from, $0) } }
            }
        }
        for _ in 0..<2000 {
            let copy = try HiddenCopy(of: ids.next(), in: folder)
            #expect(try SendBack.place(copy, of: "failed/a", as: "a".fileName, in: folder) == "a".fileName)
            while FileStatus.of(inbox) != nil { sched_yield() }
        }
        meanwhile.isOver.store(true, ordering: .relaxed)
        await daemon.value
    }

    @Test(
        "Of two at once that have to copy an original one sends it",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func twoAtOnce() throws {
        let mount = try TemporaryMount(tmpfs: "size=4m", at: scratch.path("disk/inbox"))
        defer { withExtendedLifetime(mount) {} }
        let record = try failed("a")
        var (notes, other) = (0, SendBack.Refusal?.none)
        _ = try SendBack(inbox: scratch.path("disk/inbox")).send(record) { _ throws(SendBack.Refusal) in
            notes += 1
            // The second note is told of the copy, before that is made.
            guard notes == 2 else { return }
            do throws(SendBack.Refusal) {
                _ = try SendBack(inbox: scratch.path("disk/inbox")).send(record) { _ throws(SendBack.Refusal) in }
            } catch {
                other = error
            }
        }
        #expect(other?.message.contains("is sending it; wait until that is through") == true, "\(other?.message ?? "")")
        #expect(try scratch.tree("disk/inbox") == ["a"])
        #expect(try scratch.tree("disk/failed") == [])
    }
}
