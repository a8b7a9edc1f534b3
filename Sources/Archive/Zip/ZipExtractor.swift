import Glibc
import Synchronization
import SystemPackage

/// Unpacks a zip, by several threads over disjoint entries where it is worth it: the directory says where each lies.
/// For speed alone: on two cores a zip of 1 GiB takes 0.43 of what bsdtar takes (libarchive, one thread), a thousand of
/// 100 files 0.86 (docs/benchmarks.md).
enum ZipExtractor {
    /// A thread takes entries of about so many bytes at once: what it reads lies together, and so mostly in one folder.
    private static let portion: UInt64 = 1 << 20
    /// Entries count as so many bytes more: small ones cost by their number.
    private static let entryCost: UInt64 = 16 << 10
    /// The longest target of a symbolic link (PATH_MAX).
    private static let longestTarget: UInt64 = 4096

    /// Extracts everything but links and the times of folders, which the writer keeps for the end.
    static func extract(_ input: ArchiveInput, _ descriptor: Int32, to writer: inout TreeWriter) throws(ArchiveError) {
        let directory = try ZipDirectory(input, writer.policy, writer.budget)
        // Names are looked at in one place, before anything is made: they must be different from all others.
        var items: [Item] = []
        items.reserveCapacity(directory.entries.count)
        for entry in directory.entries {
            let path = try writer.check(entry.name, isLink: entry.kind == .symbolicLink)
            items.append(Item(entry: entry, path: path))
        }
        guard !directory.needsLibrary else {
            return try extractByLibrary(input, descriptor, directory, items, to: &writer)
        }
        let portions = portions(of: items)
        let threads = min(writer.policy.workers, portions.count)
        let work = Work(descriptor, items, portions, threads, root: writer.root, writer.policy, writer.budget)
        Threads.run(threads) { work.run() }
        try writer.deferred.add(work.result())
    }

    fileprivate struct Item {
        let entry: ZipEntry
        let path: EntryPath
    }

    private static func portions(of items: [Item]) -> [Range<Int>] {
        var portions: [Range<Int>] = []
        var first = 0
        var cost: UInt64 = 0
        for (index, item) in items.enumerated() {
            cost += min(item.entry.size, portion) + entryCost
            guard cost >= portion else { continue }
            portions.append(first..<(index + 1))
            first = index + 1
            cost = 0
        }
        if first < items.count { portions.append(first..<items.count) }
        return portions
    }

    /// For methods that are rarely used, and what is encrypted: only such entries. The library reads the directory by
    /// itself, so what it gives is held against what was read of it here, entry by entry.
    private static func extractByLibrary(
        _ input: ArchiveInput, _ descriptor: Int32, _ directory: ZipDirectory, _ items: [Item],
        to writer: inout TreeWriter
    ) throws(ArchiveError) {
        for entry in directory.entries where entry.isByLibrary && entry.kind == .symbolicLink {
            // It would take the target as it lies there.
            throw .unsupported(entry.name, "is a symbolic link that is encrypted or compressed", detail: "")
        }
        let passwords = try ZipPasswords.fitting(input, directory, writer.policy, writer.budget)
        _ = input.seek(to: 0)
        var reader = try ArchiveReader.open(input, .zip, writer.policy, passwords: passwords)
        let ownReader = ZipEntryReader(descriptor, writer.budget)
        for item in items {
            guard let entry = try reader.next(), item.entry.isSame(as: entry) else {
                throw .damaged(item.entry.name, "differs from the archive's directory")
            }
            if item.entry.isByLibrary {
                try ownReader.checkHeader(of: item.entry)
                try LibraryExtractor.extract(entry, reader, to: &writer)
            } else {
                try extract(item, ownReader, &writer)
            }
        }
        guard try reader.next() == nil else {
            throw .damaged(nil, detail: "the directory's entry count is wrong")
        }
    }

    fileprivate static func extract(
        _ item: Item, _ reader: ZipEntryReader, _ writer: inout TreeWriter
    ) throws(ArchiveError) {
        let (entry, path) = (item.entry, item.path)
        switch entry.kind {
        case .folder:
            try writer.budget.begin(entry.name)
            try reader.read(entry) { (_) throws(ArchiveError) in }
            try writer.makeFolder(path, modified: entry.modified)
        case .file:
            try writer.budget.begin(entry.name, size: Int64(entry.size))
            var file = try writer.createFile(path, mode: entry.mode)
            var length: Int64 = 0
            var isFirst = true
            // The closure must not hold what cannot be copied.
            try reader.read(entry) { (block) throws(ArchiveError) in
                if isFirst { writer.noteArchive(path, head: block) }
                isFirst = false
                try file.write(block, at: length)
                length += Int64(block.count)
            }
            try file.finish(length: length, modified: entry.modified.map { FileTimes.clamp($0, to: writer.now) })
        case .symbolicLink:
            try writer.budget.begin(entry.name)
            guard entry.size <= longestTarget else {
                throw .unsafe(entry.name, "is a symbolic link whose target is too long")
            }
            var target: [UInt8] = []
            try reader.read(entry) { (block) throws(ArchiveError) in target += block }
            try writer.addLink(path, to: target)
        case .special(let word): throw .unsafe(entry.name, "is \(word); only files, folders and links are accepted")
        }
    }

    /// Portions that lie one after the other.
    private final class Share: Sendable {
        private let next: Atomic<Int>
        private let end: Int

        init(_ range: Range<Int>) {
            next = Atomic(range.lowerBound)
            end = range.upperBound
        }

        /// The next one; nil when all are taken.
        func dequeue() -> Int? {
            let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
            return index < end ? index : nil
        }
    }

    /// What the threads share.
    // @unchecked: everything is immutable but what is atomic, and `outcome`, which has its lock.
    private final class Work: @unchecked Sendable {
        private struct Outcome {
            var deferred = TreeWriter.Deferred()
            var failure: ArchiveError?
        }

        private let descriptor: Int32
        private let items: [Item]
        private let portions: [Range<Int>]
        /// The first portion that is not taken of each thread's share, and where that ends.
        private let shares: [Share]
        private let root: Int32
        private let policy: UnpackPolicy
        private let budget: Budget
        private let nextShare = Atomic<Int>(0)
        private let outcome = Mutex(Outcome())

        init(
            _ descriptor: Int32, _ items: [Item], _ portions: [Range<Int>], _ threads: Int, root: Int32,
            _ policy: UnpackPolicy, _ budget: Budget
        ) {
            shares = (0..<threads).map { thread in
                Share(portions.count * thread / threads..<portions.count * (thread + 1) / threads)
            }
            self.descriptor = descriptor
            self.items = items
            self.portions = portions
            self.root = root
            self.policy = policy
            self.budget = budget
        }

        /// Takes portions until there are no more: first those of a share of its own, so that several threads mostly
        /// write to folders of their own, since only one at a time can make a name in a folder; then those of others.
        func run() {
            let first = nextShare.wrappingAdd(1, ordering: .relaxed).oldValue
            var writer = TreeWriter(root: root, policy, budget)
            do throws(ArchiveError) {
                let reader = ZipEntryReader(descriptor, budget)
                for share in shares.indices {
                    while let index = shares[(first + share) % shares.count].dequeue() {
                        for item in portions[index] { try ZipExtractor.extract(items[item], reader, &writer) }
                    }
                }
                let deferred = writer.deferred
                outcome.withLock { $0.deferred.add(deferred) }
            } catch {
                // The first failure counts; that of the others is that they were stopped.
                outcome.withLock { if $0.failure == nil { $0.failure = error } }
                budget.callOff()
            }
        }

        func result() throws(ArchiveError) -> TreeWriter.Deferred {
            let outcome = outcome.withLock { $0 }
            if let failure = outcome.failure { throw failure }
            return outcome.deferred
        }
    }
}
