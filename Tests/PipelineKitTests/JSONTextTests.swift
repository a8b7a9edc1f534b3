import Foundation
import PipelineKit
import TestSupport
import Testing

/// What is written reads as what it was, in any JSON reader.
@Suite("JSON text") struct JSONTextTests {
    private func read(_ write: (inout JSONText) -> Void) throws -> [String: Any] {
        var json = JSONText()
        json.object { write(&$0) }
        return try #require(JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String: Any])
    }

    @Test("Every character, at every place of a word of eight bytes, before and after others")
    func everyCharacter() throws {
        for scalar in (0...0x7F).compactMap({ Unicode.Scalar($0 as UInt32) }) + ["é", "ф", "→", "\u{202E}", "😀"] {
            for length in 0...18 {
                let text = String(repeating: "b", count: length) + String(scalar) + String(repeating: "c", count: 7)
                let found = try read { $0.text("key", text) }
                #expect(found["key"] as? String == text, "\(scalar.value) at \(length)")
            }
        }
    }

    @Test("Texts of any characters, as keys and values")
    func anyText() throws {
        var generator = SeededGenerator(seed: 16)
        let pool = "ab\"\\\n\t\u{0}\u{7F}é→😀 /".map { $0 }
        for _ in 0..<2000 {
            let texts = (0..<2).map { _ in
                String(
                    (0..<Int.random(in: 0...40, using: &generator)).compactMap { _ in
                        pool.randomElement(using: &generator)
                    })
            }
            let found = try read { $0.text(texts[0], texts[1]) }
            #expect(found[texts[0]] as? String == texts[1])
        }
    }

    @Test("Numbers, to the ends of their range")
    func numbers() throws {
        for number in [0, 1, -1, 9, 10, .max, .min] as [Int64] {
            #expect(try read { $0.integer("key", number) }["key"] as? Int64 == number)
        }
        #expect(try read { $0.integer("key", UInt64.max) }["key"] as? UInt64 == .max)
        var json = JSONText()
        json.seconds(nil, .microseconds(1_500_007))
        #expect(json.string == "1.500007")
    }

    @Test("Commas stand between members, and nowhere else")
    func commas() {
        var json = JSONText()
        json.object { json in
            json.array("empty") { _ in }
            json.array("list") { json in
                json.flag(nil, true)
                json.null()
                json.object { _ in }
                json.text(nil, "a\"b")
            }
            json.integer("last", 2)
        }
        json.newline()
        #expect(json.string == #"{"empty":[],"list":[true,null,{},"a\"b"],"last":2}"# + "\n")
    }
}
