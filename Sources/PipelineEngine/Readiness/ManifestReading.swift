import Digests
import Glibc
import PipelineKit
import SystemPackage

/// What the manifests at the top of a dropped folder ask for, as far as it can be told without reading the files.
struct ManifestReading {
    /// What is wrong, if anything.
    private(set) var fault: Waiting.ManifestFault?
    /// The digests that are to be compared.
    private(set) var expected: [DigestCheck<DropPath>.Expectation] = []
    /// The first manifest.
    private(set) var first: FileName?

    private let folder: FilePath
    private var missing: [[UInt8]] = []
    private var wrong: [[UInt8]] = []

    /// Reads the manifests and looks for every file that they list.
    static func take(
        of folder: FilePath, matching pattern: Glob, atMost limit: Int
    ) throws(IOError) -> ManifestReading {
        var reading = ManifestReading(folder: folder)
        let names = try Folder.names(in: folder).filter { pattern.matches($0) }.sorted()
        reading.first = names.first
        for name in names where reading.fault == nil { try reading.read(name, atMost: limit) }
        reading.conclude()
        return reading
    }

    private init(folder: FilePath) { self.folder = folder }

    private mutating func read(_ name: FileName, atMost limit: Int) throws(IOError) {
        let text: [UInt8]
        do throws(IOError) {
            text = try SmallFile.read(folder.appending(name), atMost: limit)
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
        let list = ChecksumList(text, isBagIt: isBagIt)
        if let line = list.strangeLine {
            fault = .unusable(name, "line \(line) is no digest and path")
            return
        }
        for line in list.lines {
            // `a.bin.md5` may hold the digest alone.
            guard let path = line.path ?? Self.stem(of: name) else {
                fault = .unusable(name, "it lists a digest without a path")
                return
            }
            guard let file = Self.path(path, in: folder) else {
                fault = .unusable(name, "'\(EscapedText.of(path))' leads out of the folder")
                return
            }
            look(at: file, path, line.expected)
        }
    }

    private mutating func look(at file: FilePath, _ path: [UInt8], _ expected: ChecksumList.Expected) {
        var status = stat()
        guard file.withPlatformString({ lstat($0, &status) }) == 0, FileKind(mode: status.st_mode) == .regular else {
            return missing.append(path)
        }
        switch expected {
        case .size(let size): if size != Int64(status.st_size) { wrong.append(path) }
        case .digest(let algorithm, let hex):
            self.expected.append(.init(path: file, algorithm: algorithm, hex: hex))
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

    /// The place of a listed file; nil for one that would be outside.
    private static func path(_ bytes: [UInt8], in folder: FilePath) -> FilePath? {
        guard bytes.first != UInt8(ascii: "/"), !bytes.contains(0) else { return nil }
        var path = folder
        for part in bytes.split(separator: UInt8(ascii: "/")) where part != [UInt8(ascii: ".")] {
            guard let name = FileName(part) else { return nil }
            path = path.appending(name)
        }
        return path == folder ? nil : path
    }
}
