import Files
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

/// The disk of the journal dies under it.
@Suite(.timeLimit(.minutes(5)), .enabled(if: DiskImage.isPossible, "needs root, and ext4 through a loop device"))
struct DeadDiskTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test func aDeadDiskIsNoDamage() throws {
        let disk = try DiskImage(at: scratch.path("state"))
        let run = RunRecord(boot: "boot", process: 1, startedAt: .now())
        let journal = try SQLiteJournal.open(writing: disk.path, durable: true)
        _ = try journal.beginRun(run)
        try disk.shutDown()
        // The first is an error of the disk; what SQLite makes of the next ones may be another.
        for _ in 0..<3 {
            let errors = [
                #expect(throws: JournalError.self) { try journal.endRun() },
                #expect(throws: JournalError.self) { try journal.probe() },
                #expect(throws: JournalError.self) { _ = try SQLiteJournal.open(reading: disk.path).unfinished() },
            ]
            for error in errors {
                #expect(error?.kind == .environment, "\(error?.message ?? "")")
                #expect(error?.message.contains("heck the disk") == true, "\(error?.message ?? "")")
            }
        }
        journal.close()
        try disk.powerOn()
        let again = try SQLiteJournal.open(writing: disk.path, durable: true)
        #expect(try again.lastRun()?.boot == "boot")
        again.close()
    }
}
