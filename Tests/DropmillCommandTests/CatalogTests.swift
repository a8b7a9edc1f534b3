import Files
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand

/// What journalctl says about our entries.
@Suite struct CatalogTests {
    private static let checkout = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()

    private func text(_ path: String) throws -> String {
        String(decoding: try ScratchFolder.read(Self.checkout.pushing(FilePath(path))), as: UTF8.self)
    }

    @Test func everyEventHasAnEntryUnderItsNumber() throws {
        let sources = try text("Sources/DropmillCommand/Logging/LogRecord+Events.swift")
        let events = Set(sources.matches(of: /self\.init\(\s*"(\w+)"/).map { String($0.output.1) } + ["not_started"])
        #expect(events.isSuperset(of: ["processed", "failed", "paused", "stalled", "warning"]))
        let entries = try text("packaging/dropmill.catalog").split(separator: "\n\n# ").dropFirst()
        for entry in entries {
            let lines = entry.split(separator: "\n", omittingEmptySubsequences: false)
            try #require(lines.count > 5)
            #expect(lines[1] == "-- \(JournalLogHandler.messageID(of: String(lines[0])))", "\(lines[0])")
            #expect(lines[2].hasPrefix("Subject: ") && lines[3] == "Defined-By: Dropmill" && lines[4].isEmpty)
        }
        #expect(Set(entries.map { String($0.prefix { $0 != "\n" }) }) == events)
    }
}
