import Files
import FolderWatch
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Completeness

/// Files that are cut off: which cuts each format sees. docs/readiness.md has what this prints.
@Suite("Cuts", .serialized, .timeLimit(.minutes(10))) struct CutTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("Every cut of a small file", arguments: Sample.all) func small(_ sample: Sample) throws {
        guard let bytes = try sample.make(in: scratch, Sample.sizes.small) else { return }
        let cuts = Array(0..<bytes.count)
        try look(at: sample, bytes, cuts, "every")
    }

    @Test("200 cuts of a larger file", arguments: Sample.all) func large(_ sample: Sample) throws {
        guard let bytes = try sample.make(in: scratch, Sample.sizes.large) else { return }
        var generator = SeededGenerator(seed: 11)
        let cuts = (0..<200).map { _ in Int.random(in: 0..<bytes.count, using: &generator) }.sorted()
        try look(at: sample, bytes, cuts, "200")
    }

    private func look(at sample: Sample, _ bytes: [UInt8], _ cuts: [Int], _ what: String) throws {
        let path = try scratch.write(bytes, to: scratch.path("cut"))
        let file = try OpenFile.open(path, O_RDWR)
        #expect(Format.verdict(on: file.descriptor) == .whole, "\(sample.name), whole")
        var unseen: [Int] = []
        for cut in cuts.reversed() {
            ftruncate(file.descriptor, off_t(cut))
            let verdict = Format.verdict(on: file.descriptor)
            if verdict.lack == nil { unseen.append(cut) }
        }
        unseen.reverse()
        let seams = unseen.filter { $0 >= sample.format.head }
        #expect(unseen.count - seams.count == cuts.count { $0 < sample.format.head }, "known by its first bytes alone")
        if let most = sample.seams { #expect(seams.count <= most, "\(sample.name): \(Self.ranges(unseen))") }
        print("\(sample.name): \(bytes.count) bytes, \(what) cut: \(unseen.count) unseen: \(Self.ranges(unseen))")
    }

    @Test("Every cut of a small file that keeps its length, filled with zeros", arguments: Sample.all)
    func unwritten(_ sample: Sample) throws {
        guard var bytes = try sample.make(in: scratch, Sample.sizes.small) else { return }
        let file = try OpenFile.open(scratch.write(bytes, to: scratch.path("cut")), O_RDWR)
        var unseen: [Int] = []
        for cut in bytes.indices.reversed() where bytes[cut] != 0 {
            bytes[cut] = 0
            guard pwrite(file.descriptor, [0] as [UInt8], 1, off_t(cut)) == 1 else {
                throw IOError("write", file.path, .last)
            }
            if cut >= sample.format.head, Format.verdict(on: file.descriptor).lack == nil { unseen.append(cut) }
        }
        unseen.reverse()
        if let most = sample.unwritten { #expect(unseen.count <= most, "\(sample.name): \(Self.ranges(unseen))") }
        print("\(sample.name): zeros from one place on, unseen: \(Self.ranges(unseen))")
    }

    @Test("docs/readiness.md says by how many bytes each format is known", arguments: Sample.all)
    func page(_ sample: Sample) throws {
        let page = FilePath(#filePath).removingLastComponent().pushing("../../docs/readiness.md")
        let lines = String(decoding: try ScratchFolder.read(page), as: UTF8.self).split(separator: "\n")
        let row = try #require(lines.first { $0.hasPrefix("| \(sample.format.row)") && $0.contains(" bytes |") })
        #expect(row.contains("| \(sample.format.head) bytes |"))
    }

    /// `0–3, 512`
    static func ranges(_ numbers: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }
            .joined(separator: ", ")
    }
}

extension Sample: CustomTestStringConvertible { var testDescription: String { name } }
