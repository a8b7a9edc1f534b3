import Digests
import Glibc
import PipelineKit
import SystemPackage

/// What the manifests at the top of a dropped folder ask for, as far as it can be told without reading the files.
struct ManifestReading {
    /// What is wrong, if anything.
    private(set) var fault: Waiting.ManifestFault?
    /// The digests that are to be compared.
    private(set) var expected: [DigestCheck.Expectation] = []
    /// The first manifest.
    private(set) var first: FileName?

    private let drop: FilePath
    private var missing: [[UInt8]] = []
    private var wrong: [[UInt8]] = []

    /// Reads the manifests of a dropped folder and looks for every file that they list.
    static func take(
        of drop: FileName, in folder: borrowing OpenFile, matching pattern: Glob, atMost limit: Int
    ) throws(IOError) -> ManifestReading {
        var reading = ManifestReading(drop: FilePath().appending(drop))
        let opened = try OpenFile.open(drop, in: folder, O_RDONLY | O_DIRECTORY)
        let names = try Folder.names(in: opened).filter { pattern.matches($0) }.sorted()
        reading.first = names.first
        for name in names where reading.fault == nil { try reading.read(name, in: opened, atMost: limit) }
        reading.conclude()
        return reading
    }

    private init(drop: FilePath) { self.drop = drop }

    private mutating func read(
        _ name: FileName, in folder: borrowing OpenFile, atMost limit: Int
    ) throws(IOError) {
        let text: [UInt8]
        do throws(IOError) {
            text = try SmallFile.read(try OpenFile.open(name, in: folder, O_RDONLY | O_NONBLOCK), atMost: limit)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: throw error
            default:
                fault = .unusable(name, "\(error.errno)")
                return
            }
        }
        // RFC 8493: `manifest-sha256.txt` and `tagmanifest-sha256.txt`.
        let isBagIt = name.text.hasSuffix(".txt") && name.text.contains("manifest-")
        let form: DigestList.Form =
            isBagIt ? .bagIt : DigestList.isSFV(name.bytes) ? .sfv : .digestsAndSizes
        let list = DigestList(text, algorithm: DigestList.algorithm(ofListNamed: name.bytes), form: form)
        if let line = list.strangeLine {
            fault = .unusable(name, "line \(line) is no digest and path")
            return
        }
        // It was made before it is written: `sha256sum * > SHA256SUMS` takes its time.
        if list.lines.isEmpty {
            fault = .unusable(name, "it lists nothing")
            return
        }
        for line in list.lines {
            // `a.bin.md5` may hold the digest alone.
            guard let path = line.path.map({ isBagIt ? BagPath.decoded($0) : $0 }) ?? Self.stem(of: name) else {
                fault = .unusable(name, "it lists a digest without a path")
                return
            }
            guard let file = Self.path(path) else {
                fault = .unusable(name, "'\(EscapedText.of(path))' leads out of the folder")
                return
            }
            look(at: file, in: folder, path, line.expected)
        }
    }

    private mutating func look(
        at file: FilePath, in folder: borrowing OpenFile, _ path: [UInt8], _ expected: DigestList.Expected
    ) {
        guard let status = Self.status(of: file, below: folder), FileKind(mode: status.st_mode) == .regular else {
            return missing.append(path)
        }
        switch expected {
        case .size(let size): if size != Int64(status.st_size) { wrong.append(path) }
        case .digest(let digest): self.expected.append(.init(path: drop.pushing(file), digest: digest))
        }
    }

    /// Nil for what is not there, or not to be reached without a symbolic link.
    private static func status(of file: FilePath, below folder: borrowing OpenFile) -> stat? {
        do throws(IOError) {
            guard let name = file.lastName else { return nil }
            let parent = try OpenFile.openFolder(file.removingLastComponent(), below: folder)
            var status = stat()
            let descriptor = parent.descriptor
            let isThere = name.withCString { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
            return isThere ? status : nil
        } catch {
            return nil
        }
    }

    private mutating func conclude() {
        guard fault == nil else { return }
        if first == nil {
            fault = .missing
        } else if let path = missing.first {
            fault = .lacks(missing.count, first: EscapedText.of(path))
        } else if let path = wrong.first {
            fault = .differs(wrong.count, first: EscapedText.of(path))
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
