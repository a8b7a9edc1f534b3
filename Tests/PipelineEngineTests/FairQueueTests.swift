import Files
import PipelineKit
import Testing

@testable import FolderWatch
@testable import PipelineEngine
@testable import Readiness

/// Complete drops, and jobs before a stage, in a pipeline that is shared.
@Suite("Shared queues") struct FairQueueTests {
    private func pipeline(_ change: (inout Pipeline) -> Void) -> Pipeline {
        var pipeline = Pipeline(
            name: "press", source: "press.yaml", inbox: "in", processed: .delete, failed: "failed")
        change(&pipeline)
        return pipeline
    }

    private func add(_ text: String, to queue: inout ReadyQueue, of pipeline: Pipeline, size: Int64 = 1) throws {
        let path = try #require(DropPath(bytes: Array(text.utf8)))
        queue.add(
            path, Fingerprint(device: 1, inode: 1, size: size, modified: FileTime(seconds: 1), changed: .distantPast),
            known: MonotonicTime(nanoseconds: 1_000_000_000),
            at: FairOrder.Place(of: path, in: pipeline, owner: nil))
    }

    private func drain(_ queue: inout ReadyQueue, _ most: Int = .max) -> [String] {
        var names: [String] = []
        while names.count < most, let next = queue.first() {
            names.append(next.path.text)
            queue.removeFirst()
        }
        return names
    }

    @Test("Producers take turns, and each one's drops come in the order that was asked for")
    func turns() throws {
        let pipeline = pipeline { ($0.fair, $0.order) = (FairRule(by: .folder), .smallest) }
        var queue = ReadyQueue(of: pipeline)
        for size in [3, 1, 2] { try add("acme/\(size)", to: &queue, of: pipeline, size: Int64(size)) }
        try add("zeta/deep/er", to: &queue, of: pipeline, size: 9)
        try add("alone", to: &queue, of: pipeline, size: 5)
        #expect(queue.count == 5 && queue.bytes == 20)
        #expect(drain(&queue) == ["acme/1", "zeta/deep/er", "alone", "acme/2", "acme/3"])
        #expect(queue.isEmpty && queue.first() == nil)
    }

    @Test("What is taken out, changed, or put first or last keeps nobody else from being served")
    func bumped() throws {
        let pipeline = pipeline { $0.fair = FairRule(by: .folder) }
        var queue = ReadyQueue(of: pipeline)
        for number in 1...3 {
            for producer in ["a", "b"] { try add("\(producer)/\(number)", to: &queue, of: pipeline) }
        }
        let path = { (text: String) in DropPath(bytes: Array(text.utf8)) }
        let (first, last) = (try #require(path("b/3")), try #require(path("a/1")))
        let areBumped = [queue.bump(first, last: false), queue.bump(last, last: true)]
        #expect(areBumped == [true, true])
        let gone = try #require(path("b/1"))
        let wasThere = queue.remove(gone)
        let isBumped = queue.bump(gone, last: true)
        #expect(wasThere && !queue.contains(gone) && !isBumped)
        #expect(drain(&queue) == ["b/3", "a/2", "b/2", "a/3", "a/1"])
    }

    @Test("Levels come first, until something has waited for too long")
    func levels() throws {
        let glob = try #require(Glob("urgent-*"))
        let bulk = try #require(Glob("bulk/**"))
        let pipeline = pipeline {
            $0.priority = PriorityRule([
                .init(glob, isOfPath: false, level: 10), .init(bulk, isOfPath: true, level: -5),
            ])
        }
        var queue = ReadyQueue(of: pipeline)
        try add("bulk/x", to: &queue, of: pipeline)
        try add("usual", to: &queue, of: pipeline)
        // A constant stream: there is always one that is urgent.
        for number in 0..<100 { try add("urgent-\(number)", to: &queue, of: pipeline) }
        #expect(drain(&queue, 50).allSatisfy { $0.hasPrefix("urgent-") })
        queue.age(at: MonotonicTime(nanoseconds: 3_600_000_000_000))
        #expect(drain(&queue, 10).allSatisfy { $0.hasPrefix("urgent-") })
        queue.age(at: MonotonicTime(nanoseconds: 3_601_000_000_000))
        // All of them have waited for an hour: the longest first.
        #expect(drain(&queue, 3) == ["bulk/x", "usual", "urgent-60"])
    }

    @Test("A name that comes again is as old as its drop, and the names before it cost nothing for long")
    func comingAgain() throws {
        let glob = try #require(Glob("bulk-*"))
        let pipeline = pipeline { $0.priority = PriorityRule([.init(glob, isOfPath: false, level: -5)]) }
        var queue = ReadyQueue(of: pipeline)
        let path = try #require(DropPath(bytes: Array("bulk-latest".utf8)))
        let begun = MonotonicTime.now()
        for second in 0..<7200 {
            let known = begun + .seconds(second)
            queue.add(
                path, Fingerprint(device: 1, inode: 1, size: 1, modified: FileTime(seconds: 1), changed: .distantPast),
                known: known, at: FairOrder.Place(of: path, in: pipeline, owner: nil))
            queue.age(at: known)
            if second < 7199 { #expect(drain(&queue) == ["bulk-latest"]) }
        }
        // It has waited for a moment, and others come first.
        try add("usual", to: &queue, of: pipeline)
        #expect(drain(&queue) == ["usual", "bulk-latest"])
    }

    @Test("A producer's name is what stands for the star, its folder, or nothing")
    func producers() throws {
        let path = { (text: String) throws in try #require(DropPath(bytes: Array(text.utf8))) }
        let pattern = FairRule(by: try #require(FairRule.By(pattern: "*_invoice.pdf")))
        for (name, producer) in [
            ("x/acme_invoice.pdf", "acme"), ("_invoice.pdf", "(others)"), ("acme.pdf", "(others)"),
        ] {
            #expect(pattern.producer(of: try path(name)) == producer)
        }
        #expect(
            FairRule.By(pattern: "*-*") == nil && FairRule.By(pattern: "a/*") == nil && FairRule.By(pattern: "a") == nil
        )
        for (name, producer) in [("acme/new/x", "acme"), ("x", ".")] {
            #expect(FairRule(by: .folder).producer(of: try path(name)) == producer)
            #expect(FairRule(by: .owner).producer(of: try path(name)) == nil)
        }
    }
}
