import Journal
import PipelineKit
import Testing

@testable import PipelineEngine

@Suite struct NodeComparisonTests {
    private func record(_ name: String, _ definition: String?) -> PipelineRecord {
        var record = JournalSamples.pipeline(name)
        record.definition = definition
        return record
    }

    @Test func aClockThatIsWrongIsToldOnceEachTime() {
        var comparison = NodeComparison()
        #expect(comparison.warning(ofClock: .seconds(59)) == nil)
        let ahead = comparison.warning(ofClock: .seconds(600))
        #expect(ahead?.hasPrefix("this host's clock is 10 min ahead of the database's") == true)
        #expect(comparison.warning(ofClock: .seconds(601)) == nil)
        #expect(comparison.warning(ofClock: .zero) == nil)
        #expect(comparison.warning(ofClock: .seconds(-600))?.contains("10 min behind the database's") == true)
    }

    @Test func stagesThatDifferAreToldOnceUntilTheyChange() {
        var comparison = NodeComparison()
        let own: [String: Definition] = ["a": "1 2", "b": "3"]
        func told(_ others: [String: [PipelineRecord]]) -> [String] {
            comparison.warnings(own: own, others: others).map { "\($0.pipeline): \($0.message)" }
        }
        #expect(told(["x": [record("a", "1 2"), record("c", "9")], "y": [record("a", nil)]]) == [])
        let others = [
            "x": [record("a", "1 3"), record("b", "3")], "y": [record("a", "1 4")], "z": [record("a", "1 2")],
        ]
        let first = told(others)
        #expect(first.count == 1 && first[0].hasPrefix("a: its stages here are not those on 'x', 'y', by some setting"))
        #expect(told(others) == [])
        #expect(told(["x": [record("a", "1 5")], "y": [record("a", "1 4")]]).count == 1, "another again")
        #expect(told([:]) == [])
        #expect(told(others).count == 1, "they were well in between")
    }
}
