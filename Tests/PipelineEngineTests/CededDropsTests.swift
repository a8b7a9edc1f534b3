import Files
import TestSupport
import TestTools
import Testing

@testable import PipelineEngine

@Suite struct CededDropsTests {
    private let begin = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func path(_ number: Int) throws -> DropPath { DropPath(try #require(FileName("f\(number)"))) }

    @Test("A drop is left to another node for half a second, and longer where there is something to do")
    func times() {
        func isOver(after wait: Duration, before next: MonotonicTime?) -> Bool {
            CededDrops.isOver(begin, before: next, at: begin + wait)
        }
        #expect(!isOver(after: .milliseconds(499), before: .distantFuture))
        #expect(isOver(after: .milliseconds(500), before: .distantFuture))
        #expect(!isOver(after: .seconds(3600), before: begin + .seconds(59)))
        #expect(isOver(after: .seconds(3600), before: begin + .seconds(60)))
        #expect(!isOver(after: .milliseconds(10), before: begin + .seconds(60)))
        #expect(!isOver(after: .seconds(3600), before: nil))
    }

    @Test("Each drop is taken once, not before its time, and told of in time")
    func random() throws {
        for seed in 0..<100 {
            var source = SeededGenerator(seed: UInt64(seed))
            var ceded = CededDrops()
            var model: [(path: DropPath, since: MonotonicTime)] = []
            var now = begin
            for number in 0..<Int.random(in: 1...1500, using: &source) {
                now = now + .milliseconds(Int.random(in: 0...30, using: &source))
                let earlier = now - .seconds(Int.random(in: 0...100, using: &source))
                let known = [nil, earlier, .distantFuture, .distantFuture].randomElement(using: &source) ?? nil
                switch Int.random(in: 0...9, using: &source) {
                case 0:
                    let limit = Int.random(in: 0...20, using: &source)
                    let due = ceded.nextDue(before: known)
                    let taken = ceded.take(before: known, at: now, limit: limit)
                    let over = model.filter { CededDrops.isOver($0.since, before: known, at: now) }.map(\.path)
                    #expect(Set(taken).count == taken.count && Set(taken).isSubset(of: over))
                    #expect(taken.count <= limit)
                    if known == .distantFuture { #expect(taken.count == min(limit, over.count)) }
                    if limit > 0 { #expect((due.map { $0 <= now } ?? false) == !taken.isEmpty) }
                    model.removeAll { taken.contains($0.path) }
                case 1 where number % 100 == 1:
                    let gone = Set(model.filter { _ in Bool.random(using: &source) }.map(\.path))
                    ceded.removeAll { gone.contains($0) }
                    model.removeAll { gone.contains($0.path) }
                default:
                    let path = try path(number)
                    ceded.add(path, since: now)
                    model.append((path, now))
                }
            }
            let rest = ceded.take(before: .distantFuture, at: .distantFuture, limit: .max)
            #expect(rest.count == model.count && Set(rest) == Set(model.map(\.path)))
        }
    }
}
