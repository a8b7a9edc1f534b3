import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine

@Suite("Settlement plan") struct SettlementPlanTests {
    private static let names = ["a", "b.txt", "c.tar.gz", ".hidden", "d.2.txt", "e"].compactMap { FileName($0) }
    private static let policies: [Pipeline.ConflictPolicy] = [.rename, .replace, .fail]

    /// What stages may have made, as chance has it.
    private func settlement(_ random: inout SeededGenerator, _ ids: JobIDGenerator) -> Settlement {
        let id = ids.next()
        let name = Self.names[Int(random.next() % UInt64(Self.names.count))]
        let drop = Drop(name: name, size: 1, droppedAt: id.time, isFolder: random.next() % 2 == 0)
        let job = Job(id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: FilePath("/work/active/\(id)"))
        var payload = Payload(dropOf: job)
        if random.next() % 2 == 0 { payload.destination = "/out/published" }
        for number in 0..<random.next() % 4 {
            payload.copies.append(
                PayloadCopy(
                    path: job.folder.appending(".\(number)-copy").appending(name), of: payload.path,
                    isFolder: drop.isFolder, sidecars: [Sidecar(suffix: ".sha256", parts: [.text("x")])],
                    destination: FilePath("/out/copy").appending("\(number % 2)")))
        }
        var record = JobRecord(claimed: job, identity: .unknown, definition: "")
        record.payload = payload
        let failure = Failure.file("test.bad", "Bad.")
        guard random.next() % 3 == 0 else {
            return Settlement(job: job, record: record, outcome: .processed, report: nil)
        }
        let report = FailureReport(failure, of: job, stage: "fake", attempts: 1, at: id.time)
        return Settlement(job: job, record: record, outcome: .failed(failure), report: report)
    }

    @Test("Outputs come first, the original last and once; of a failed job nothing else")
    func order() throws {
        var random = SeededGenerator(seed: 7)
        let ids = JobIDGenerator()
        for _ in 0..<2000 {
            let settlement = settlement(&random, ids)
            var pipeline = Pipeline(
                name: "test", source: "/p.yaml", inbox: "/in", processed: .folder("/done"), failed: "/bad", stages: [])
            pipeline.onConflict = Self.policies[Int(random.next() % 3)]
            let found = SettlementPlan.Found(
                marker: random.next() % 2 == 0 ? settlement.job.folder.appending(".marker") : nil,
                hasOriginal: random.next() % 2 == 0)
            let placements = try SettlementPlan(settlement, finding: found, for: pipeline).placements
            let originals = placements.filter { $0.role == .original }
            #expect(originals.count <= 1)
            #expect(originals.isEmpty || placements.last?.role == .original)
            #expect(Set(placements.compactMap(\.source)).count == placements.compactMap(\.source).count)
            switch settlement.outcome {
            case .processed:
                let isPublished = settlement.record.payload?.destination != nil
                #expect(originals.isEmpty == isPublished, "what is published is not kept as well")
                #expect(placements.allSatisfy { !$0.isFailure && $0.onConflict == pipeline.onConflict })
            case .failed:
                #expect(placements.count == 1 && originals.first?.folder == "/bad")
                #expect(originals.first?.onConflict != .fail, "a failure finds a place whatever is there")
                #expect((originals.first?.source != nil) == found.hasOriginal)
                #expect(originals.first?.sidecars.map(\.suffix) == [".error.json"])
            }
        }
    }

    @Test("No name is given of which a path is taken; numbers are tried in order, from the last that was given")
    func naming() throws {
        var random = SeededGenerator(seed: 11)
        let ids = JobIDGenerator()
        var taken: Set<FilePath> = []
        for _ in 0..<2000 {
            let settlement = settlement(&random, ids)
            let placement = Placement(
                role: .output, source: settlement.job.original, folder: "/out", name: settlement.job.drop.name,
                isFolder: settlement.job.drop.isFolder, sidecars: [Sidecar(suffix: ".sha256", parts: [])],
                onConflict: Self.policies[Int(random.next() % 3)])
            func firstTaken(_ name: Placement.Name) -> FilePath? { name.targets.first(where: taken.contains) }
            let own = placement.name(1, of: settlement.job)
            if placement.onConflict == .fail, let path = firstTaken(own) {
                #expect(throws: IOError("publish", path, .fileExists)) {
                    try placement.firstName(of: settlement.job, after: { nil }, takenPath: firstTaken)
                }
                continue
            }
            let name = try placement.firstName(of: settlement.job, after: { nil }, takenPath: firstTaken)
            #expect(firstTaken(name) == nil && Set(name.targets).count == 2)
            #expect((1..<name.number).allSatisfy { firstTaken(placement.name($0, of: settlement.job)) != nil })
            let later = try placement.firstName(of: settlement.job, after: { 40 }, takenPath: firstTaken)
            #expect(later.number == 1 || later.number > 40)
            taken.formUnion(name.targets)
        }
    }
}
