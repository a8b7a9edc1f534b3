package import SystemPackage

/// The files that a job carries: at first the drop itself; a stage hands on the same or a new payload.
package struct Payload: Sendable, Hashable {
    /// One file, or a folder of files.
    package enum Shape: Sendable, Hashable {
        /// The file of this name in `root`.
        case file(FileName)
        /// All that `root` holds.
        case folder
    }

    /// The folder that holds the payload's files.
    package var root: FilePath
    /// What it is.
    package var shape: Shape
    /// Whether it still is the dropped original itself.
    package var isDrop: Bool
    /// Files to be written beside the payload wherever it ends.
    package var companions: [Companion] = []
    /// Where it is to be published at settlement; nil: not at all (an unchanged drop then goes to processed).
    package var destination: FilePath?
    /// Digests of a single-file payload, in hexadecimal, by algorithm, as far as stages have made them.
    package var digests: [String: String] = [:]

    /// The drop itself.
    package init(dropOf job: Job) {
        root = job.drop.isFolder ? job.original : job.folder
        shape = job.drop.isFolder ? .folder : .file(job.drop.name)
        isDrop = true
    }

    /// A new payload that a stage made: one file in a folder.
    package init(file name: FileName, in root: FilePath) {
        self.root = root
        shape = .file(name)
        isDrop = false
    }

    /// A new payload that a stage made: everything in a folder.
    package init(folder root: FilePath) {
        self.root = root
        shape = .folder
        isDrop = false
    }

    /// The payload's path: the file, or the folder.
    package var path: FilePath {
        switch shape {
        case .file(let name): root.appending(name)
        case .folder: root
        }
    }

    /// The path of one of its files.
    package func path(of file: TreeFile) -> FilePath { root.pushing(file.relative) }

    /// Its regular files, by path bytes.
    package func files() throws(IOError) -> [TreeFile] {
        switch shape {
        case .file(let name): [TreeFile(FilePath().appending(name))]
        case .folder: try FileTree.list(root).files
        }
    }
}

/// A file that a stage makes beside a single-file payload, such as `report.pdf.sha256`. Its text may name the payload,
/// whose name is settled only when it is published (`on_conflict: rename`), so the text is made then.
package struct Companion: Sendable, Hashable {
    /// A part of the text.
    package enum Part: Sendable, Hashable {
        /// Text as it is.
        case text(String)
        /// A line of a GNU checksum file for the payload: digest in hexadecimal, then the payload's name.
        case checksumLine(digest: String)
    }

    /// What is put behind the payload's name: `.sha256`.
    package var suffix: String
    /// The text, in parts.
    package var parts: [Part]

    /// A companion.
    package init(suffix: String, parts: [Part]) {
        self.suffix = suffix
        self.parts = parts
    }

    /// The text for a payload of this name.
    package func contents(for name: FileName) -> [UInt8] {
        parts.flatMap { part in
            switch part {
            case .text(let text): Array(text.utf8)
            case .checksumLine(let digest): ChecksumLine.bytes(digest: digest, path: name.bytes)
            }
        }
    }
}

/// One line as `sha256sum` writes and reads it.
package enum ChecksumLine {
    /// `DIGEST  PATH\n`. A path with a newline, a carriage return or a backslash is escaped and the line begins with a
    /// backslash (GNU coreutils, "md5sum invocation").
    package static func bytes(digest: String, path: [UInt8]) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(digest.utf8.count + path.count + 4)
        let needsEscape = path.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0x5C }
        if needsEscape { line.append(0x5C) }
        line += digest.utf8
        line += [0x20, 0x20]
        guard needsEscape else { return line + path + [0x0A] }
        for byte in path {
            switch byte {
            case 0x0A: line += [0x5C, UInt8(ascii: "n")]
            case 0x0D: line += [0x5C, UInt8(ascii: "r")]
            case 0x5C: line += [0x5C, 0x5C]
            default: line.append(byte)
            }
        }
        return line + [0x0A]
    }
}
