import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand

@Suite struct RawArgumentsTests {
    @Test(arguments: [
        Array("plain".utf8), Array("größer".utf8), [0x61, 0xFF, 0x62], [0xC3], [], Array("\u{10FFFF}".utf8),
        Array("\u{10FF41}x".utf8) + [0xFF],
    ])
    func everyByteSurvives(bytes: [UInt8]) {
        #expect(RawArguments.bytes(of: RawArguments.text(of: bytes)) == bytes)
    }

    @Test func whatIsTextStaysAsItIs() { #expect(RawArguments.text(of: Array("größer\n".utf8)) == "größer\n") }

    @Test func aReasonThatIsNoTextIsMended() throws {
        let reason = RawArguments.text(of: Array("größer ".utf8) + [0xFF])
        #expect(try HoldArguments.parse(["--reason", reason]).reason == "größer \u{FFFD}")
        #expect(try HoldArguments.parse(["--reason", "RIP"]).reason == "RIP")
    }

    /// The real program, since arguments come from the kernel: a file whose name is no text, named by its bytes.
    @Test func aFileIsNamedByItsBytes() throws {
        let scratch = try ScratchFolder()
        try scratch.write(
            "inbox: in\nprocessed: done\nfailed: failed\nready: { quiet: 10ms }\nstages: [checksum]\n",
            to: "pipelines/a.yaml")
        let name = try #require(FileName([0x61, 0xFF]))
        try scratch.write([0x78], to: try scratch.makeFolder("pipelines/in").appending(name))
        let log = try OpenFile.open(scratch.path("log"), O_WRONLY | O_CREAT, mode: 0o600)
        let process = try ChildProcess.spawn(
            DropmillProcess.binary,
            ["explain", "--json"].map { Array($0.utf8) } + [Array("pipelines/in/a".utf8) + [0xFF]],
            output: log.descriptor, error: log.descriptor, folder: scratch.path)
        #expect(try ChildProcess.wait(for: process, of: DropmillProcess.binary) == 0)
        let text = try scratch.text("log")
        #expect(text.contains(#""file_base64":"cGlwZWxpbmVzL2luL2H/""#), "\(text)")
        #expect(text.contains(#""why":"complete""#))
    }
}
