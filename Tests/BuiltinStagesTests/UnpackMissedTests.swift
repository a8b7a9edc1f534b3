import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import BuiltinStages

/// A drop that should have been unpacked and was not is told.
@Suite struct UnpackMissedTests {
    private static let zip = {
        var zip = ZipBuilder()
        zip.add("a", content: "x")
        return zip.finished
    }()

    /// Bytes like a program's: none of an archive's marks.
    private static func code(_ count: Int) -> [UInt8] {
        Array("MZ".utf8) + (2..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) | 0x80 }
    }

    private static let sevenZip: [UInt8] = {
        let rest = [UInt8](repeating: 0, count: 20)
        let sum = CRC32Sum.of(rest)
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * UInt32($0))) }
        return [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C, 0, 4] + bytes + rest
    }()

    private static let rar = {
        var rar = RarBuilder()
        rar.add("a", content: "x")
        return rar.finished()
    }()

    /// Places count from the file's beginning, not from the zip's.
    private static let shifted = {
        var zip = ZipBuilder()
        zip.fill([UInt8](repeating: 7, count: 512))
        zip.add("a", content: "x")
        return zip.finished
    }()

    private static let missed: [(name: String, bytes: [UInt8], fact: String)] = [
        ("setup.exe", code(5000) + zip, "is a self-extracting archive, a program that contains a zip"),
        ("setup.exe", code(300_000) + zip, "is a self-extracting archive, a program that contains a zip"),
        ("setup.exe", code(300_000) + sevenZip, "is a self-extracting archive, a program that contains a 7z"),
        ("setup", code(100_000) + rar, "is a self-extracting archive, a program that contains a rar"),
        (
            "setup", code(4000) + RarBuilder.five("a", content: "x"),
            "is a self-extracting archive, a program that contains a rar5"
        ),
        ("data.bin", [UInt8](repeating: 7, count: 512) + zip, "has 512 bytes before the zip in it"),
        ("data.bin", [UInt8](repeating: 7, count: 20_000) + zip, "has 20000 bytes before the zip in it"),
        ("data.bin", shifted, "has 512 bytes before the zip in it"),
        ("a.z01", Array("content".utf8), "is one part of a split archive, judging by its name"),
        ("a.7z.002", Array("content".utf8), "is one part of a split archive, judging by its name"),
        ("A.PART2.RAR", Array("content".utf8), "is one part of a split archive, judging by its name"),
        ("a.r00", Array("content".utf8), "is one part of a split archive, judging by its name"),
        ("a.zip", Array("\u{FEFF}\n <!DOCTYPE html><title>Sign in</title>".utf8), "is named zip, but is a web page"),
        ("a.tar.gz", Array("<HTML>".utf8), "is named gz, but is a web page"),
        ("a.zip", Array("<?xml version=\"1.0\"?><Error/>".utf8), "is named zip, but is an XML text"),
        ("a.zip", Array("{\"error\": 403}".utf8), "is named zip, but is a JSON text"),
        ("a.ZIP", [], "is named zip, but is empty"),
        ("a.tgz", Array("plain".utf8), "is named tgz, but does not start like any archive"),
    ]

    @Test(arguments: missed.indices)
    func isTold(index: Int) throws {
        let (name, bytes, fact) = Self.missed[index]
        let fixture = try StageFixture(drop: name, bytes)
        let notes = StageNotes()
        let payload = try fixture.run("unpack", notes: notes)
        #expect(payload.shape == fixture.payload.shape && payload.isDrop)
        #expect(payload.facts == ["archive": "missed"])
        #expect(notes.text?.hasPrefix("not unpacked: it \(fact)") == true, "\(notes.text ?? "")")
        let failure = try fixture.failure("unpack", ["require": ["true"]])
        #expect(failure.code == "archive.none")
        #expect(failure.summary.hasPrefix("'\(name)' \(fact)"), "\(failure.summary)")
        #expect(!failure.remedy.isEmpty)
    }

    private static let plain: [(name: String, bytes: [UInt8])] = [
        ("report.pdf", Array("%PDF-1.7".utf8)), ("page.html", Array("<!doctype html>".utf8)), ("a.json", [0x7B]),
        ("tool.exe", code(200_000)), ("tool", code(30)), ("empty", []), ("data.001", Array("1,2".utf8)),
        // Programs that unpack know the marks, too.
        ("7z.exe", code(9000) + [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C] + Array("Rar!\u{1A}\u{7}".utf8) + [0] + code(90)),
        ("sheet.docx", Array("plain".utf8)), ("tool.jar", Array("#!/bin/sh\n".utf8) + zip),
        ("note.txt", Array("A PK\u{5}\u{6} is how a zip ends, at the latest".utf8)), ("z", Array("x".utf8)),
        (".zip", Array("x".utf8)),
    ]

    @Test(arguments: plain.indices)
    func otherFilesPassWithoutAWord(index: Int) throws {
        let (name, bytes) = Self.plain[index]
        let fixture = try StageFixture(drop: name, bytes)
        let notes = StageNotes()
        #expect(try fixture.run("unpack", notes: notes) == fixture.payload)
        #expect(notes.text == nil)
    }

    @Test func formatsThatAreNotUnpacked() throws {
        let fixture = try StageFixture(drop: "a.rar", Self.rar)
        let notes = StageNotes()
        #expect(try fixture.run("unpack", notes: notes).facts == ["archive": "missed"])
        #expect(notes.text == "not unpacked: rar is not among `formats`")
        // Whoever says which wants others to pass.
        #expect(try fixture.run("unpack", ["formats": ["zip"]]) == fixture.payload)
        let unpacked = try fixture.run("unpack", ["formats": ["rar"]])
        #expect(unpacked.facts == ["archive": "unpacked", "integrity": "verified"])
    }

    @Test func conditionsKnowIt() throws {
        var condition = Condition()
        condition.facts["archive"] = [try #require(Glob("missed"))]
        let missed = try StageFixture(drop: "a.zip", Array("<html>".utf8))
        #expect(condition.holds(for: missed.job.drop, facts: try missed.run("unpack").knownFacts))
        let good = try StageFixture(drop: "a.zip", Self.zip)
        #expect(!condition.holds(for: good.job.drop, facts: try good.run("unpack").knownFacts))
        #expect(try missed.stage("unpack").facts == ["archive"])
        #expect(condition.text == "of archive 'missed'")
    }

    /// What is cut and called a part is a part.
    @Test(arguments: ["a.zip.001", "a.001"])
    func partsThatAreDamaged(name: String) throws {
        let fixture = try StageFixture(drop: name, Array(Self.zip.dropLast(10)))
        let failure = try fixture.failure("unpack")
        #expect(failure.summary.hasSuffix("Its name marks it as one part of a split archive."))
        #expect(failure.remedy == "Join the parts and send the complete archive.")
    }
}
