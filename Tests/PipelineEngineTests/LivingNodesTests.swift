import Files
import Testing

@testable import PipelineEngine

@Suite struct LivingNodesTests {
    private func path(_ number: Int) throws -> DropPath {
        DropPath(try #require(FileName("scan-\(number).pdf")))
    }

    private func nodes(_ names: [String]) -> [LivingNodes] {
        names.map { name in
            let nodes = LivingNodes()
            nodes.note(names, own: name)
            return nodes
        }
    }

    @Test("Each drop is one node's, and each node's share is about the same") func shares() throws {
        let names = (1...4).map { "incarnation-\($0)" }
        let all = nodes(names)
        var counts = [0, 0, 0, 0]
        for number in 0..<4000 {
            let path = try path(number)
            let owners = all.indices.filter { all[$0].isOwn(path) }
            try #require(owners.count == 1)
            counts[owners[0]] += 1
        }
        #expect(counts.allSatisfy { (800...1200).contains($0) }, "\(counts)")
    }

    @Test("When a node dies its drops are others', and the rest stay whose they were") func dies() throws {
        let names = (1...4).map { "incarnation-\($0)" }
        let (before, after) = (nodes(names), nodes(Array(names.dropLast())))
        for number in 0..<1000 {
            let path = try path(number)
            let owner = before.firstIndex { $0.isOwn(path) }
            let heir = after.firstIndex { $0.isOwn(path) }
            #expect(heir != nil && (owner == 3 || owner == heir))
        }
    }

    @Test("Where nothing is known of others all is its own") func alone() throws {
        #expect(LivingNodes().isOwn(try path(1)))
        #expect(nodes(["one"])[0].isOwn(try path(1)))
    }
}
