import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Archive
@testable import BuiltinStages

/// What stages try of what they need, for `doctor`.
@Suite(.serialized) struct StageExaminingTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "letter.txt", Array("x".utf8)) }

    private func examine(_ kind: String, _ options: Options, in bench: Bool = true) throws -> [Finding] {
        let folder = bench ? try fixture.scratch.makeFolder("bench") : nil
        return try fixture.stage(kind, options).examine(in: folder)
    }

    // MARK: Programs

    @Test func aProgramIsLookedFor() throws {
        #expect(try examine("run", ["command": ["true"]]).map(\.grade) == [.good])
        let missing = try examine("run", ["command": ["no-such-program"]])
        #expect(missing.map(\.grade) == [.problem])
        #expect(missing.first?.fact == "The program 'no-such-program' is not found or not executable")
        try fixture.scratch.write("#!/bin/sh\n", to: "tool")
        chmod(fixture.scratch.path("tool").string, 0o644)
        #expect(try examine("run", ["command": ["./tool"]]).map(\.grade) == [.problem], "nobody may run it")
        chmod(fixture.scratch.path("tool").string, 0o755)
        #expect(try examine("run", ["command": ["./tool"]]).map(\.grade) == [.good])
    }

    @Test func aSecretThatIsNotThereIsMissed() throws {
        let file = try fixture.scratch.write("secret", to: "token")
        chmod(file.string, 0o600)
        let stage = try fixture.stage(
            "http", ["url": "http://127.0.0.1:1/", "headers": ["X": "${file:token}"]])
        #expect(stage.examine(in: nil).isEmpty)
        unlink(file.string)
        #expect(stage.examine(in: nil).map(\.grade) == [.problem])
    }

    // MARK: Files

    @Test func certificatesAreLookedAt() throws {
        func findings() throws -> [Finding] { try examine("http", ["url": "https://localhost/", "ca": "ca.pem"]) }
        #expect(try findings().map(\.grade) == [.problem])
        try fixture.scratch.write("no certificate", to: "ca.pem")
        #expect(try findings().map(\.grade) == [.problem])
        try fixture.scratch.write("-----BEGIN CERTIFICATE-----\n", to: "ca.pem")
        #expect(try findings().map(\.grade) == [.good])
    }

    @Test func passwordsAreLookedAt() throws {
        func findings() throws -> [Finding] { try examine("unpack", ["passwords_file": "passwords"], in: false) }
        #expect(try findings().map(\.grade) == [.problem])
        try fixture.scratch.write("one\ntwo\n", to: "passwords")
        chmod(fixture.scratch.path("passwords").string, 0o644)
        #expect(try findings().map(\.grade) == [.problem], "others may read it")
        chmod(fixture.scratch.path("passwords").string, 0o600)
        #expect(try findings().first?.fact.hasSuffix("has 2 passwords") == true)
    }

    // MARK: Helpers

    @Test func aHelperUnpacks() throws {
        let findings = try examine("unpack", [:])
        #expect(findings.map(\.grade) == [.good], "\(findings)")
        #expect(try fixture.scratch.tree("bench").contains("unpacked/doctor.txt"))
    }

    @Test func theArchiveToTryWithIsWhole() throws {
        let archive = SmallTar.bytes(of: Array("hello\n".utf8), as: "a.txt")
        try fixture.scratch.write(archive, to: fixture.scratch.path("a.tar"))
        let tar = try #require(Tool.find("tar"))
        #expect(try tar.run(["-xOf", "a.tar"], in: fixture.scratch.path).text == "hello\n")
    }

    /// It says which call was refused, and with what.
    @Test(arguments: [
        ("landlock-refused", "landlock_create_ruleset", 1), ("capset", "capset", 1),
        ("landlock", "landlock_create_ruleset", 38),
    ])
    func theCallThatIsRefusedIsNamed(kernel: String, call: String, errno: Int32) throws {
        let helpers = UnpackHelpers(
            program: DropmillProcess.built("oldkernel"),
            arguments: [kernel, DropmillProcess.binary.string, "unpack-worker"])
        try fixture.scratch.write(SmallTar.bytes(of: [1], as: "a"), to: fixture.scratch.path("a.tar"))
        let archive = try OpenFile.open(fixture.scratch.path("a.tar"), O_RDONLY)
        let folder = try OpenFile.openFolder(try fixture.scratch.makeFolder("out"))
        let request = UnpackRequest(
            format: .container(.tar), alone: Unpacking.LoneFile(name: [], modified: (0, 0)), policy: UnpackPolicy(),
            requiresSandbox: true, cpuSeconds: 10)
        let failure = #expect(throws: HelperFailure.self) {
            try helpers.unpack(
                UnpackHelpers.Task(request: request, seconds: 60, monitor: UnpackMonitor()),
                archive: archive.descriptor, folder: folder.descriptor)
        }
        #expect(failure == .unconfined(call: call, Errno(rawValue: errno)))
        let told = Failure(
            try #require(failure), archive: "a.tar", name: try #require(FileName("a.tar")), folder: "out")
        let isMissing = errno == ENOSYS
        #expect(
            told.summary.contains(
                isMissing ? "the kernel has no Landlock" : "\(call) is denied: Operation not permitted"))
        #expect(told.remedy.contains(isMissing ? "Linux 5.13" : "SystemCallFilter="))
    }
}
