import Glibc
import PipelineKit

/// Reads a list of digests and decides by its content what is to be done so that it has some lines, each whole and
/// once. Pure; memory is bounded by these lines, whatever the list holds.
///
/// A write that was cut off leaves the beginning of a line: one that is some job's, here or in another batch, is
/// completed, any other (an editor's) gets its newline. A power cut may leave NULs where a write went into a block that
/// was there already (`NULRun`): they become a comment. So does a line that another one replaces.
struct ListScan {
    /// In order, each once.
    private let wanted: [ListText]
    private let replaced: [Replaced: Set<[UInt8]>]
    /// The shapes of lines that may be replaced: the lengths of what stands before the digest, and of the digest.
    private let shapes: Set<Replaced.Shape>
    /// Whether lines that are there are written once more.
    private let isRewriting: Bool
    private let mark: UInt8
    private let shortest: Int
    private let longest: Int
    /// Lines of ours that were not seen whole: those that are wanted, then those of other jobs.
    private var missing: Set<[UInt8]>
    private var others: Set<[UInt8]>

    private var offset: Int64 = 0
    /// The line that is being read: where it began, and its bytes, as many as a line of ours may have.
    private var start: Int64 = 0
    private var line: [UInt8] = []
    private var run = NULRun()
    private var patches: [ListPatch] = []

    /// A line without its digest, by the lengths of its parts.
    private struct Replaced: Hashable {
        struct Shape: Hashable {
            let start: Int
            let digest: Int
        }
        let shape: Shape
        let rest: [UInt8]
    }

    /// `others`: lines of other jobs, which may be there in part. `replacing`: whether a line of the same name with
    /// another digest becomes a comment. `rewriting`: whether a line that is there is written again at its place.
    init(
        for wanted: [ListText], others: some Sequence<[UInt8]> = [], replacing: Bool = false, rewriting: Bool = false
    ) {
        var seen: Set<ListText> = []
        self.wanted = wanted.filter { seen.insert($0).inserted }
        isRewriting = rewriting
        mark = wanted.first?.mark ?? ListText.usualMark
        missing = Set(self.wanted.map(\.bytes))
        self.others = Set(others).subtracting(missing)
        let lengths = missing.union(self.others).map(\.count)
        (shortest, longest) = (lengths.min() ?? 0, lengths.max() ?? 0)
        var replaced: [Replaced: Set<[UInt8]>] = [:]
        if replacing {
            for text in self.wanted {
                let shape = Replaced.Shape(start: text.start.count, digest: text.digest.count)
                replaced[Replaced(shape: shape, rest: text.start + text.end), default: []].insert(text.bytes)
            }
        }
        self.replaced = replaced
        shapes = Set(replaced.keys.map(\.shape))
    }

    /// Takes the next bytes of the list. What is to be written over lines that ended in them.
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> [ListPatch] {
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            let length = memchr(base, 0x0A, rest.count).map { base.distance(to: UnsafeRawPointer($0)) }
            take(UnsafeRawBufferPointer(rebasing: rest[..<(length ?? rest.count)]))
            guard let length else { break }
            offset += 1
            endLine()
            rest = UnsafeRawBufferPointer(rebasing: rest[(length + 1)...])
        }
        defer { patches.removeAll(keepingCapacity: true) }
        return patches
    }

    /// Part of a line.
    private mutating func take(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        defer { offset += Int64(bytes.count) }
        guard run.isOpen || !run.isStrangers && memchr(base, 0, bytes.count) != nil else { return note(bytes) }
        var rest = bytes[...]
        while !rest.isEmpty {
            if run.isStrangers, !run.isOpen { return note(UnsafeRawBufferPointer(rebasing: rest)) }
            let text = rest.prefix { $0 != 0 }
            if !text.isEmpty {
                if run.isOpen { endRun(at: offset + Int64(text.startIndex)) }
                note(UnsafeRawBufferPointer(rebasing: text))
            }
            let nuls = rest.dropFirst(text.count).prefix { $0 == 0 }
            if !nuls.isEmpty, !run.isOpen { startRun(at: offset + Int64(nuls.startIndex)) }
            rest = rest[nuls.endIndex...]
        }
    }

    private mutating func note(_ bytes: UnsafeRawBufferPointer) {
        // One byte more than any has is enough to know that it is none of them.
        if line.count <= longest { line += bytes.prefix(longest + 1 - line.count) }
    }

    // MARK: NULs

    private mutating func startRun(at position: Int64) {
        let isOurs = line.isEmpty || !run.isSeen && (missing.contains(where: begins) || others.contains(where: begins))
        run.begin(at: position, line: isOurs ? start : nil)
        line.removeAll(keepingCapacity: true)
    }

    private mutating func endRun(at position: Int64) {
        run.end(at: position)
        line.removeAll(keepingCapacity: true)
    }

    /// A line that follows NULs without a newline.
    private mutating func noteFollowing() {
        let text = line + [0x0A]
        if !isRewriting, missing.contains(text) || others.contains(text) { run.following = text }
    }

    private func begins(_ whole: [UInt8]) -> Bool { whole.starts(with: line) }

    // MARK: Lines

    private mutating func endLine() {
        if run.isOpen { endRun(at: offset - 1) }
        if run.touches(start) { noteFollowing() } else { judge() }
        start = offset
        line.removeAll(keepingCapacity: true)
    }

    /// Whether the line is one of ours, which is not missing then.
    private mutating func isOurs() -> Bool {
        guard line.count + 1 >= shortest else { return false }
        line.append(0x0A)
        defer { line.removeLast() }
        let isOther = others.remove(line) != nil
        return missing.remove(line) != nil || isOther
    }

    /// A line that is whole.
    private mutating func judge() {
        guard line.count < longest else { return }
        if isOurs() {
            if isRewriting { patches.append(ListPatch(offset: start, bytes: line + [0x0A])) }
        } else if isReplaced {
            patches.append(ListPatch(offset: start, bytes: [mark]))
        }
    }

    private var isReplaced: Bool {
        shapes.contains { shape in
            let end = shape.start + shape.digest
            guard line.count >= end, line[shape.start..<end].allSatisfy(Self.isHexadecimal) else { return false }
            let rest = Array(line[..<shape.start] + line[end...]) + [0x0A]
            return replaced[Replaced(shape: shape, rest: rest)].map { !$0.contains(line + [0x0A]) } ?? false
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    // MARK: The end

    /// The list is at its end: what is to be done besides.
    consuming func mending() -> ListMending {
        var mending = ListMending()
        if run.isOpen { run.end(at: offset) }
        mending.patches = run.patches(mark: mark, size: offset)
        if !mending.patches.isEmpty, let following = run.following { missing.remove(following) }
        if start < offset {
            // What stands behind NULs is part of what they have become.
            let tail = line
            let isWhole = !run.touches(start) && tail.count <= longest
            let own = isWhole ? wanted.lazy.map(\.bytes).first { missing.contains($0) && $0.starts(with: tail) } : nil
            let whole = own ?? (isWhole ? others.first { $0.starts(with: tail) } : nil)
            mending.added = whole.map { Array($0.dropFirst(tail.count)) } ?? [0x0A]
            if let whole { missing.remove(whole) }
        }
        for text in wanted where missing.contains(text.bytes) { mending.added += text.bytes }
        return mending
    }
}
