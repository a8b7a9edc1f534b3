import Files
import PipelineKit

/// Which files and folders are on their way in, and how much of them is still to come.
struct UploadBook {
    /// How many at a time.
    static let most = 8

    private struct Entry {
        let pipeline: String
        let path: [UInt8]
        let size: Int64
        var written: Int64 = 0
        /// The file system; nil as long as it is not known, and then it may be any.
        var device: UInt64?
    }

    private var entries: [Int: Entry] = [:]
    private var last = 0
    private(set) var isClosed = false

    var count: Int { entries.count }

    /// Takes one of the places.
    mutating func enter(_ pipeline: String, _ path: [UInt8], size: Int64) throws(UploadRefusal) -> Int {
        guard !isClosed else {
            throw UploadRefusal(.stopping, "the daemon stops", remedy: "Send it again once it runs.")
        }
        guard entries.count < Self.most else {
            throw UploadRefusal(
                .tooMany, "\(Self.most) files and folders are on their way in already",
                remedy: "Send it again in a while.")
        }
        guard !entries.values.contains(where: { $0.pipeline == pipeline && $0.path == path }) else {
            throw UploadRefusal(
                .nameTaken, "something of this name is on its way in", remedy: "Send it under another name.")
        }
        last += 1
        entries[last] = Entry(pipeline: pipeline, path: path, size: size)
        return last
    }

    /// What the others are still to bring to a file system, where this one goes, too.
    mutating func promised(on device: UInt64, besides number: Int) -> Int64 {
        entries[number]?.device = device
        return entries.reduce(into: Int64(0)) { sum, other in
            guard other.key != number, other.value.device ?? device == device else { return }
            sum = sum.addingSaturated(max(0, other.value.size.subtractingSaturated(other.value.written)))
        }
    }

    mutating func note(_ number: Int, written: Int64) { entries[number]?.written = max(0, written) }

    mutating func leave(_ number: Int) { entries[number] = nil }

    /// Nothing is entered any more.
    mutating func close() { isClosed = true }
}
