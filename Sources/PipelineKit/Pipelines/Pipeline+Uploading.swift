package import Files

extension Pipeline {
    /// The most bytes of a file that may be sent in; nil where none may.
    package var largestUpload: ByteSize? { upload.map { rule in min(rule.most, ready.limits.size ?? rule.most) } }

    /// Where a file with this path from the inbox on would be dropped. Throws where one may not be sent in, or where
    /// it would be no drop.
    package func place(ofUpload path: [UInt8], size: Int64) throws(UploadRefusal) -> DropPath {
        guard let most = largestUpload else {
            throw UploadRefusal(
                .notAllowed, "the pipeline '\(name)' takes no uploads",
                remedy: "Set 'upload: true' in its file and reload, or drop it into the inbox.")
        }
        let place = try self.place(of: path)
        guard size >= 0 else { throw UploadRefusal(.otherLength, "its size is negative", remedy: "Send its size.") }
        guard size <= most.bytes else {
            throw UploadRefusal(
                .tooLarge, "it has \(ByteSize(bytes: size)), and '\(name)' takes \(most) at most",
                remedy: "Send a smaller file, or raise 'max_upload' and 'ready.max_size' of the pipeline.")
        }
        return place
    }

    private func place(of path: [UInt8]) throws(UploadRefusal) -> DropPath {
        guard ready.unit == .file else {
            throw Self.refused("a drop of '\(name)' is a folder", "Drop the folder into the inbox.")
        }
        var names: [FileName] = []
        for part in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let name = FileName(part) else {
                throw Self.refused("a part of its path is empty, '.' or '..', or has a NUL", "Give it a plain path.")
            }
            guard part.count <= FileName.longest else {
                throw Self.refused(
                    "a name of \(part.count) bytes is too long", "Give it one of \(FileName.longest) at most.")
            }
            names.append(name)
        }
        guard let last = names.popLast() else { throw Self.refused("it has no name", "Give it one.") }
        let folder = InboxFolder(names)
        try check(folder)
        try check(last)
        return DropPath(last, in: folder)
    }

    private func check(_ folder: InboxFolder) throws(UploadRefusal) {
        guard folder.depth < match.depth else {
            let levels = match.depth == 1 ? "the inbox alone" : "\(match.depth) levels of folders"
            throw Self.refused(
                "it would be \(folder.depth + 1) levels deep, and '\(name)' searches \(levels)",
                "Send it under a shorter path, or raise 'match.depth' of the pipeline.")
        }
        guard folder.bytes.count <= InboxFolder.longest else {
            throw Self.refused(
                "its folder's path has \(folder.bytes.count) bytes", "Give it one of \(InboxFolder.longest) at most.")
        }
        var above = InboxFolder.top
        for name in folder.names {
            guard match.enters(name, in: above) else {
                throw Self.refused(
                    "'\(self.name)' does not search folders called '\(name.text)'", "Send it into another folder.")
            }
            above = above.appending(name)
        }
    }

    private func check(_ last: FileName) throws(UploadRefusal) {
        let verdict = match.verdict(on: last)
        guard verdict != .taken, !ready.isMarkerBeside(last) else { return }
        let remedy = "Give it another name."
        switch verdict {
        case .taken: break
        case .ignored(let reason): throw Self.refused("'\(last.text)' is never taken: \(reason)", remedy)
        case .notIncluded:
            let patterns = match.include.map(\.pattern).joined(separator: ", ")
            throw Self.refused("'\(name)' takes \(patterns), and not '\(last.text)'", remedy)
        case .excluded(let glob):
            throw Self.refused("'\(name)' leaves '\(glob.pattern)' alone, and so '\(last.text)'", remedy)
        }
    }

    private static func refused(_ fact: String, _ remedy: String) -> UploadRefusal {
        UploadRefusal(.nameRefused, fact, remedy: remedy)
    }
}
