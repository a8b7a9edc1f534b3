import Digests
import Files
import Glibc
import PipelineKit
import SystemPackage

/// One look of a ledger at the folders.
struct LedgerCheck {
    typealias Violation = Ledger.Violation

    /// The folders of a layout.
    private enum Place { case inbox, work, processed, failed, output }

    private struct File {
        let place: Place
        /// The path from the place's folder on, escaped.
        let relative: String
        let digest: String
        var name: String { String(relative.split(separator: "/").last ?? "") }
        var folder: String { relative.split(separator: "/").dropLast().joined(separator: "/") }
        var isHidden: Bool { relative.split(separator: "/").contains { $0.hasPrefix(".") } }
    }

    let drops: [Ledger.Drop]
    let layout: Ledger.Layout
    private let moment: Ledger.Moment
    private var files: [FilePath: File] = [:]
    /// What has been explained.
    var explained: Set<FilePath> = []
    /// The drops that are published with a line: their names there, with their digests.
    private(set) var listed: [(name: String, digest: String)] = []
    /// Where each drop was found, by its number.
    private var places: [Int: [Place]] = [:]
    /// How often each drop's results were found whole.
    private var publications: [Int: Int] = [:]
    /// Drops whose results were found, but wrong.
    private var torn: Set<Int> = []
    private(set) var violations: [Violation] = []

    init(drops: [Ledger.Drop], layout: Ledger.Layout, moment: Ledger.Moment) {
        self.drops = drops
        self.layout = layout
        self.moment = moment
    }

    var isSettled: Bool { if case .settled = moment { true } else { false } }

    mutating func report(_ kind: Violation.Kind, _ text: String) {
        violations.append(Violation(kind: kind, text: text))
    }

    // MARK: Looking

    mutating func gather() throws {
        try gather(layout.inbox, .inbox)
        try gather(layout.work.appending("active"), .work)
        if let twin = layout.twin {
            try gather(twin.inbox, .inbox)
            try gather(twin.work.appending("active"), .work)
        }
        try gather(layout.processed, .processed)
        try gather(layout.failed, .failed)
        try gather(layout.output, .output)
    }

    private mutating func gather(_ folder: FilePath, _ place: Place) throws {
        guard Folder.kind(of: folder, followingLinks: true) == .folder else { return }
        let tree = try FileTree.list(folder)
        var hasher = try FileHasher.make([.sha256])
        for file in tree.files {
            let relative = EscapedText.of(file.bytes)
            // The work folder may lie inside an inbox that is a mount point.
            if place == .inbox, relative.hasPrefix(".dropmill/") { continue }
            let path = folder.pushing(file.relative)
            let file = try OpenFile.open(path, O_RDONLY)
            let digest = try hasher.hash(descriptor: file.descriptor).first
            files[path] = File(place: place, relative: relative, digest: digest?.hex ?? "")
        }
        for link in tree.links { report(.stranger, "a symbolic link '\(link.text)'") }
        if place == .work, isSettled {
            // An empty one waits for the next job.
            for left in tree.folders where left.components.count > 1 {
                report(.leftover, "'\(left.text)' in a job's folder")
            }
        }
    }

    mutating func expectStanding(_ path: FilePath, _ digest: String) {
        explained.insert(path)
        guard let file = files[path] else { return report(.lost, "'\(path.text)', which lay there before") }
        if file.digest != digest { report(.torn, "'\(path.text)' lay there before and was changed") }
    }

    /// Finds every drop by its bytes, with what must lie beside it.
    mutating func findDrops() throws {
        let numbers = Dictionary(
            drops.enumerated().map { ($0.element.digest, $0.offset) }, uniquingKeysWith: { first, _ in first })
        for (path, file) in files where !explained.contains(path) {
            // Copies under way have hidden names.
            guard !file.isHidden, let number = numbers[file.digest] else { continue }
            let drop = drops[number]
            explained.insert(path)
            places[number, default: []].append(file.place)
            if !isName(file.name, of: drop) { report(.stranger, "'\(drop.name)' is called '\(path.text)'") }
            switch file.place {
            case .inbox, .work: break
            case .processed:
                guard case .unpacked = drop.fate else {
                    report(.misjudged, "'\(drop.name)' is in processed")
                    continue
                }
            case .failed: try expectReport(beside: path, of: drop)
            case .output:
                if case .listed = drop.fate {
                    if file.folder != "by-listed" { report(.stranger, "'\(drop.name)' is in '\(file.folder)'") }
                    publications[number, default: 0] += 1
                    listed.append((file.name, file.digest))
                    continue
                }
                guard case .published = drop.fate else {
                    report(.misjudged, "'\(drop.name)' was published as it is")
                    continue
                }
                if file.folder != stem(of: drop) { report(.stranger, "'\(drop.name)' is in '\(file.folder)'") }
                publications[number, default: 0] += 1
                expectDigest(beside: path, file, of: drop)
            }
        }
    }

    private mutating func expectReport(beside path: FilePath, of drop: Ledger.Drop) throws {
        let beside = FilePath(path.string + ".error.json")
        explained.insert(beside)
        guard files[beside] != nil else {
            return report(.torn, "'\(drop.name)' is in failed without its reason")
        }
        let text = String(decoding: try ScratchFolder.read(beside), as: UTF8.self)
        if !text.hasPrefix("{") || !text.hasSuffix("}\n") || !text.contains("\"summary\"") {
            report(.torn, "'\(beside.text)' is no report")
        }
    }

    private mutating func expectDigest(beside path: FilePath, _ file: File, of drop: Ledger.Drop) {
        let beside = FilePath(path.string + ".sha256")
        explained.insert(beside)
        guard let digest = files[beside] else {
            return report(.torn, "'\(drop.name)' was published without its digest")
        }
        if digest.digest != Self.sha256(Array("\(file.digest)  \(file.name)\n".utf8)) {
            report(.torn, "'\(beside.text)' is not the digest of what lies beside it")
        }
    }

    /// Finds what was unpacked: folders that hold a file of an archive must hold exactly all of them.
    mutating func findPublishedFolders() {
        var owners: [String: Int] = [:]
        for (number, drop) in drops.enumerated() {
            for digest in drop.members.values { owners[digest] = number }
        }
        let outputs = files.filter { $0.value.place == .output && !explained.contains($0.key) && !$0.value.isHidden }
        let folders = Dictionary(grouping: outputs) {
            $0.value.relative.split(separator: "/").first.map(String.init) ?? ""
        }
        for (folder, found) in folders {
            guard let number = found.lazy.compactMap({ owners[$0.value.digest] }).first else { continue }
            explained.formUnion(found.map(\.key))
            let drop = drops[number]
            let contents = Dictionary(
                uniqueKeysWithValues: found.map {
                    (String($0.value.relative.dropFirst(folder.count + 1)), $0.value.digest)
                })
            let expected = drop.members
            if contents == expected {
                publications[number, default: 0] += 1
                if !isName(folder, stem(of: drop), isFolder: true) {
                    report(.stranger, "'\(drop.name)' was unpacked into '\(folder)'")
                }
            } else {
                torn.insert(number)
                let wrong = Set(expected.keys).union(contents.keys).filter { expected[$0] != contents[$0] }.sorted()
                report(.torn, "'\(folder)' of '\(drop.name)' is wrong in: \(wrong.prefix(5).joined(separator: ", "))")
            }
        }
    }

    /// Whatever is left is temporary, alone, or strange.
    mutating func judgeRest() {
        for (path, file) in files where !explained.contains(path) {
            if file.place == .work || file.isHidden {
                if isSettled { report(.leftover, "'\(path.text)'") }
            } else if file.name.hasSuffix(".sha256") || file.name.hasSuffix(".error.json") {
                if isSettled { report(.torn, "'\(path.text)' lies there without what it belongs to") }
            } else if drops.contains(where: { isName(file.name, of: $0) }) {
                report(.torn, "'\(path.text)' has not the bytes that were dropped")
            } else {
                report(.stranger, "'\(path.text)'")
            }
        }
    }

    // MARK: Judging

    mutating func judgeDrops() {
        for (number, drop) in drops.enumerated() {
            let found = places[number] ?? []
            let published = publications[number] ?? 0
            guard !drop.isFetched else {
                if !found.isEmpty { report(.doubled, "'\(drop.name)' was fetched and is in \(list(found))") }
                continue
            }
            if found.isEmpty { report(.lost, "'\(drop.name)' is nowhere") }
            if found.count > 1, !isCopy(found) { report(.doubled, "'\(drop.name)' is in \(list(found))") }
            if published > 1 { report(.publishedTwice, "'\(drop.name)', \(published) times") }
            if case .unpacked = drop.fate {
                if found == [.processed], published == 0, !torn.contains(number) {
                    report(.lost, "'\(drop.name)' is in processed, but what was in it is nowhere")
                }
                if found == [.failed], published > 0 { report(.misjudged, "'\(drop.name)' failed and was published") }
            }
            if isSettled, found.count == 1, let place = found.first { judgeEnd(of: drop, place) }
        }
    }

    private mutating func judgeEnd(of drop: Ledger.Drop, _ place: Place) {
        let expected: Place =
            switch drop.fate {
            case .published, .listed: .output
            case .unpacked: .processed
            case .failed: .failed
            }
        if place == expected { return }
        report(place == .inbox || place == .work ? .unsettled : .misjudged, "'\(drop.name)' is in \(place)")
    }

    private func isCopy(_ found: [Place]) -> Bool {
        guard case .interrupted(copying: true) = moment else { return false }
        return found.count == 2 && found.contains(.work) && !found.contains(.inbox)
    }

    private func list(_ places: [Place]) -> String { places.map { "\($0)" }.sorted().joined(separator: " and ") }

    // MARK: Names and digests

    private func stem(of drop: Ledger.Drop) -> String {
        FileName(drop.name).map { String(decoding: $0.stem, as: UTF8.self) } ?? drop.name
    }

    private func isName(_ name: String, of drop: Ledger.Drop) -> Bool { isName(name, drop.name, isFolder: false) }

    /// The name itself or one that stands aside for it, such as `report.2.pdf`.
    private func isName(_ name: String, _ wanted: String, isFolder: Bool) -> Bool {
        if name == wanted { return true }
        guard let wanted = FileName(wanted), let found = FileName(name) else { return false }
        // No more can stand aside than there are drops, and files that lay there before.
        return (2...(drops.count + 8)).contains { wanted.numbered($0, isFolder: isFolder) == found }
    }

    /// In the order of sha256sum's output over names sorted by bytes.
    static func manifest(of digests: [String: String]) -> [UInt8] {
        let names = digests.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return Array(names.map { "\(digests[$0] ?? "")  \($0)\n" }.joined().utf8)
    }

    static func sha256(_ bytes: [UInt8]) -> String {
        do throws(DigestError) {
            var context = try DigestContext.start(.sha256)
            var failure: DigestError?
            bytes.withUnsafeBytes { buffer in
                do throws(DigestError) { try context.update(buffer) } catch { failure = error }
            }
            if let failure { throw failure }
            return try context.finish().hex
        } catch {
            return "no digest: \(error)"
        }
    }
}
