import FoundationEssentials
import Testing

@testable import Journal

/// What is kept of the arguments of a change.
@Suite struct AuditEntryTests {
    private static let jobs = (1...2000).map { #""01HZX2\#($0)""# }.joined(separator: ",")

    @Test(arguments: [
        #"{"jobs":[\#(jobs)],"dry":true,"number":7,"none":null}"#,
        #"{"reason":"\#(String(repeating: "é\\\"\\n", count: 4000))"}"#,
        #"{"a":{"b":[[\#(jobs)],"\#(String(repeating: "x", count: 9000))"]}}"#, #"{"seconds":0.5,"jobs":[\#(jobs)]}"#,
        String(repeating: "no JSON ", count: 1000),
    ])
    func aLongOneIsStillJSON(arguments: String) throws {
        let kept = AuditEntry.shortened(arguments, toBytes: 4096)
        #expect(kept.utf8.count <= 4096)
        let value = try #require(JSONValue(kept), "\(kept)")
        #expect(value.object?.isEmpty == false)
    }

    @Test func whatIsLeftOutIsCounted() {
        let kept = AuditEntry.shortened(#"{"jobs":["a","b","c","d","e","f"],"reason":"abcdefghij"}"#, toBytes: 52)
        #expect(kept.utf8.count <= 52, "\(kept)")
        #expect(kept.contains("left_out_bytes") || kept.contains("… ("), "\(kept)")
        let list = AuditEntry.shortened(#"{"jobs":[\#(Self.jobs)]}"#, toBytes: 4096)
        #expect(list.hasPrefix(#"{"jobs":["01HZX21","01HZX22","#) && list.hasSuffix(#" more)"]}"#), "\(list)")
    }

    @Test func aShortOneIsKeptAsItIs() {
        let short = #"{"jobs":["01HZX2"],"seconds":0.5}"#
        #expect(AuditEntry.shortened(short, toBytes: short.utf8.count) == short)
    }
}
