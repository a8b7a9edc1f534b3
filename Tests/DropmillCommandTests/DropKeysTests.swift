import Files
import PipelineEngine
import Testing

@testable import DropmillCommand

/// Places in lists of drops, as text.
@Suite struct DropKeysTests {
    private static let names: [[UInt8]] = [
        Array("a".utf8), [0xFF, 0x0A, 0xFE], Array("-".utf8), Array("\u{202E}<script>".utf8),
        [UInt8](repeating: 0xC3, count: 255),
    ]

    @Test("A place comes back as it was, whatever the name is", arguments: names)
    func roundTrip(name: [UInt8]) throws {
        let path = DropPath(try #require(FileName(name)), in: InboxFolder([try #require(FileName([0x0D]))]))
        for since: Int64 in [0, 1, .max] {
            let place = DropPlace(since: MonotonicTime(nanoseconds: since), path: path)
            #expect(DropKeys.place(DropKeys.text(of: place)) == place)
        }
        let left = try #require(DropKeys.left(DropKeys.text(of: path, in: "a-b/ü")))
        #expect(left.path == path && left.pipeline == "a-b/ü")
    }

    @Test(
        "What is no place is none",
        arguments: ["", "-", "1-", "x-YQ==", "1-?", "1", "9223372036854775808-YQ==", "1-Lw=="])
    func nonsense(text: String) { #expect(DropKeys.place(text) == nil) }
}
