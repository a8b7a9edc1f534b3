import Digests
import Files
import FolderWatch
import Glibc
import PipelineKit
import SystemPackage

/// Whether all that the manifests of a dropped folder list is there, and is what they say.
///
/// They are read line by line: once for their form, once for what is there, once for digests. Of a line no more is kept
/// than that it was seen, and a line that stands there twice is looked at once. It takes as long as it takes, on the
/// queue of `DigestCheck`, and ends soon when that is called off.
final class ManifestReading {
    private enum Halt: Error {
        case fault(Waiting.ManifestFault)
        case other(any Error)
    }

    /// The drop.
    private let folder: OpenFile
    private let names: [FileName]
    private let mostLines: Int
    private let cancellation: Cancellation

    /// The most files that are named or counted as different.
    private static let mostDiffering = 1000

    /// What is wrong; nil for nothing. Throws `DigestError.stopped` where it was called off.
    static func fault(
        of drop: FileName, in folder: borrowing OpenFile, matching pattern: Glob,
        mostLines: Int = DigestListReader.mostLines, _ cancellation: Cancellation
    ) throws -> Waiting.ManifestFault? {
        let opened = try OpenFile.open(drop, in: folder, O_RDONLY | O_DIRECTORY)
        let names = try Folder.names(in: opened).filter { pattern.matches($0) }.sorted()
        if names.isEmpty { return .missing }
        let reading = ManifestReading(opened, names, mostLines, cancellation)
        do throws(Halt) {
            let (lines, haveDigests) = try reading.checkForm()
            try reading.lookForFiles(lines)
            if haveDigests { try reading.compareDigests(lines) }
            return nil
        } catch {
            switch error {
            case .fault(let fault): return fault
            case .other(let error): throw error
            }
        }
    }

    private init(_ folder: consuming OpenFile, _ names: [FileName], _ mostLines: Int, _ cancellation: Cancellation) {
        self.folder = folder
        self.names = names
        self.mostLines = mostLines
        self.cancellation = cancellation
    }

    // MARK: Three times through the lines

    private func checkForm() throws(Halt) -> (lines: Int, haveDigests: Bool) {
        var lines = 0
        var haveDigests = false
        for name in names {
            let before = lines
            try forEachLine(of: name, after: before) { (_, _, expected) throws(Halt) in
                lines += 1
                if case .digest = expected { haveDigests = true }
            }
            // It was made before it is written: `sha256sum * > SHA256SUMS` takes its time.
            if lines == before { throw .fault(.unusable(name, "it lists nothing")) }
        }
        return (lines, haveDigests)
    }

    private func lookForFiles(_ lines: Int) throws(Halt) {
        let seen = SeenLines(atMost: lines)
        var missing = (count: 0, first: [UInt8]())
        var wrong = missing
        for name in names {
            try forEachLine(of: name, after: 0) { (file, listed, expected) throws(Halt) in
                // Of digests nothing is known yet, however many there are of one file.
                var size: Int64?
                if case .size(let announced) = expected { size = announced }
                guard seen.insert(Seen(path: file, size: size)) else { return }
                guard let status = status(of: file), FileKind(mode: status.st_mode) == .regular else {
                    if missing.count == 0 { missing.first = listed }
                    missing.count += 1
                    return
                }
                if let size, size != Int64(status.st_size) {
                    if wrong.count == 0 { wrong.first = listed }
                    wrong.count += 1
                }
            }
        }
        if missing.count > 0 { throw .fault(.lacks(missing.count, first: EscapedText.of(missing.first))) }
        if wrong.count > 0 { throw .fault(.differs(wrong.count, first: EscapedText.of(wrong.first))) }
    }

    private struct Seen: Hashable {
        let path: FilePath
        let size: Int64?
    }

    private func compareDigests(_ lines: Int) throws(Halt) {
        let seen = SeenLines(atMost: lines)
        // Lines that contradict each other do not have a file read for each: once it differs, it differs.
        var differing: Set<FilePath> = []
        var first: FilePath?
        for name in names {
            try forEachLine(of: name, after: 0) { (file, _, expected) throws(Halt) in
                guard case .digest(let digest) = expected, !differing.contains(file),
                    seen.insert(DigestCheck.Expectation(path: file, digest: digest))
                else { return }
                let found: [Digest]
                do {
                    found = try DigestCheck.digests(of: file, below: folder, [digest.algorithm], cancellation)
                } catch {
                    throw .other(error)
                }
                if found.first == digest { return }
                if first == nil { first = file }
                differing.insert(file)
                if differing.count == Self.mostDiffering { throw .fault(Self.differs(differing.count, first)) }
            }
        }
        if !differing.isEmpty { throw .fault(Self.differs(differing.count, first)) }
    }

    private static func differs(_ count: Int, _ first: FilePath?) -> Waiting.ManifestFault {
        .differs(count, first: first?.text ?? "")
    }

    // MARK: Lines

    /// Calls with the file's place from the dropped folder on, its path as it is listed, and what it is to be.
    private func forEachLine(
        of name: FileName, after linesBefore: Int,
        _ body: (FilePath, [UInt8], DigestList.Expected) throws(Halt) -> Void
    ) throws(Halt) {
        let file: OpenFile
        do throws(IOError) {
            file = try OpenFile.open(name, in: folder, O_RDONLY | O_NONBLOCK)
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw .fault(.unusable(name, "\(error.errno)")) }
            throw .other(error)
        }
        // RFC 8493: `manifest-sha256.txt` and `tagmanifest-sha256.txt`.
        let isBagIt = name.text.hasSuffix(".txt") && name.text.contains("manifest-")
        let form: DigestList.Form =
            isBagIt ? .bagIt : DigestList.isSFV(name.bytes) ? .sfv : .digestsAndSizes
        var reader = DigestListReader(
            descriptor: file.descriptor, algorithm: DigestList.algorithm(ofListNamed: name.bytes), form: form,
            mostLines: mostLines - linesBefore)
        while let line = try next(&reader, of: name) {
            // `a.bin.md5` may hold the digest alone.
            guard let path = line.path.map({ isBagIt ? BagPath.decoded($0) : $0 }) ?? Self.stem(of: name) else {
                throw .fault(.unusable(name, "it lists a digest without a path"))
            }
            guard let file = Self.path(path) else {
                throw .fault(.unusable(name, "'\(EscapedText.of(path))' leads out of the folder"))
            }
            try body(file, path, line.expected)
        }
    }

    private func next(
        _ reader: inout DigestListReader, of name: FileName
    ) throws(Halt) -> DigestList.Line? {
        if cancellation.isCancelled { throw .other(DigestError.stopped) }
        do throws(DigestListReader.Problem) {
            return try reader.next()
        } catch {
            switch error {
            case .strange(let line): throw .fault(.unusable(name, "line \(line) is not a digest and a path"))
            case .tooManyLines:
                throw .fault(.unusable(name, "there are more than \(mostLines) lines in all; send the folder in parts"))
            case .unreadable(let errno): throw .fault(.unusable(name, "\(errno)"))
            }
        }
    }

    /// Nil for what is not there, or not to be reached without a symbolic link.
    private func status(of file: FilePath) -> stat? {
        do throws(IOError) {
            guard let name = file.lastName else { return nil }
            return FileStatus.of(name, in: try OpenFile.openFolder(file.removingLastComponent(), below: folder))
        } catch {
            return nil
        }
    }

    private static func stem(of name: FileName) -> [UInt8]? {
        guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
        return Array(name.bytes[..<dot])
    }

    /// The place of a listed file, from the dropped folder on; nil for one that would be outside.
    private static func path(_ bytes: [UInt8]) -> FilePath? {
        guard bytes.first != UInt8(ascii: "/"), !bytes.contains(0) else { return nil }
        var path = FilePath()
        for part in bytes.split(separator: UInt8(ascii: "/")) where part != [UInt8(ascii: ".")] {
            guard let name = FileName(part) else { return nil }
            path = path.appending(name)
        }
        return path.isEmpty ? nil : path
    }
}
