import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import PipelineEngine
@testable import Readiness

/// What names cost while they are known.
@Suite("Memory of those that wait") struct WaitingMemoryTests {
    /// Just above 3/4 of a power of two, where hash tables have most of their room empty.
    fileprivate static let count = 50_000
    /// In bytes, of a name of 23 bytes, all structures together; of longer names by as much more as they are longer.
    fileprivate static let most = 200

    /// Bytes that the process has in memory, files left out.
    private static func used() throws -> Int {
        let text = String(decoding: try ScratchFolder.read("/proc/self/status"), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return 1024 * (try #require(Int(line.filter(\.isNumber))))
    }

    /// As long as names of scanners and cameras are, each with memory of its own as the kernel's are.
    private static func name(_ number: Int) -> FileName? {
        "2026-03-01-\(1_000_000 + number).tiff".withCString { FileName(cString: $0) }
    }

    @Test(
        "A drop that is known, and waits for its marker, costs less than 200 bytes; so does one that waits for room",
        arguments: ["{name}.done", "{stem}.done"])
    func waiting(marker: String) async {
        // In a process of its own, where nobody else asks for memory.
        await #expect(processExitsWith: .success) { [marker] in
            // What the runtime asks for at the first use of anything is no cost of a name.
            _ = try WaitingMemoryTests.measure(marker, count: 1000)
            let (waiting, complete) = try WaitingMemoryTests.measure(marker, count: WaitingMemoryTests.count)
            let isLittle = [waiting, complete].allSatisfy { 60..<WaitingMemoryTests.most ~= $0 }
            try #require(isLittle, "\(waiting) bytes each while they wait for markers, \(complete) for room")
        }
    }

    /// Bytes of each while all wait for their markers, and while all are complete.
    fileprivate static func measure(_ marker: String, count: Int) throws -> (waiting: Int, complete: Int) {
        let rule = ReadyRule(quiet: .seconds(1), marker: try MarkerRule(try Template(marker, use: .name)))
        var scan = InboxScan()
        var gate = ReadyGate(
            rule: rule,
            usualLack: { @Sendable path in rule.marker?.name(for: path.name).map { .marker($0, .missing) } })
        var markers = MarkerIndex(timeout: nil) { @Sendable drop in rule.marker?.name(for: drop) }
        let isOnly = rule.marker?.isOfWholeName ?? false
        var ready = ReadyQueue(by: .init(.smallest))
        var now = MonotonicTime(nanoseconds: 0)
        let before = try used()
        _ = try scan.list(.top) { (listing) throws(IOError) in
            for number in 0..<count {
                guard let name = name(number), listing.saw(name) else { continue }
                let path = DropPath(name)
                gate.touch(path, at: now)
                if let marker = rule.marker?.name(for: name).map({ DropPath($0) }) {
                    markers.appeared(drop: path, of: marker, isOnly: isOnly)
                }
            }
        }
        /// Looks at all that is due.
        func sample(lacking: Bool) {
            while true {
                let requests = gate.due(at: now, limit: 256)
                if requests.isEmpty { return }
                for request in requests {
                    let time = FileTime(seconds: 4)
                    let state = Fingerprint(device: 1, inode: 2, size: 3, modified: time, changed: time)
                    let lack = lacking ? rule.marker?.name(for: request.key.name) : nil
                    let decision = gate.record(
                        .file(state, .none), of: request.key, at: now, lacking: lack.map { .marker($0, .missing) })
                    if case .ready(let fingerprint) = decision { ready.add(request.key, fingerprint) }
                }
            }
        }
        sample(lacking: true)
        now = now + .seconds(1)
        sample(lacking: true)
        try #require(scan.count == count && gate.waitingCount == count && gate.nextDue == nil)
        let isLacking = gate.waiting.allSatisfy { $0.isDisturbed }
        try #require(isLacking)
        let each = (try used() - before) / count

        gate.touchParked(at: now)
        sample(lacking: false)
        try #require(ready.count == count && gate.waitingCount == 0)
        let complete = (try used() - before) / count
        return (each, complete)
    }
}
