package import Files

extension Pipeline {
    /// The most bytes of a file, or of a whole folder, that may be sent in; nil where none may.
    package var largestUpload: ByteSize? { upload.map { rule in min(rule.most, ready.limits.size ?? rule.most) } }

    /// Where what is sent in with this path from the inbox on would be dropped: a file, or a folder of so many `files`.
    /// Throws where it may not be sent in, or where it would be no drop.
    package func place(ofUpload path: [UInt8], size: Int64, files: Int? = nil) throws(UploadRefusal) -> DropPath {
        guard let most = largestUpload else {
            throw UploadRefusal(
                .notAllowed, "the pipeline '\(name)' takes no uploads",
                remedy: "Set 'upload: true' in its file and reload, or drop it into the inbox.")
        }
        let place = try Self.place(of: path)
        try check(place, isFolder: files != nil)
        guard size >= 0 else { throw UploadRefusal(.otherLength, "its size is negative", remedy: "Send its size.") }
        guard files ?? 0 >= 0 else {
            throw UploadRefusal(
                .otherLength, "the number of its files is negative", remedy: "Send how many files are in it.")
        }
        guard size <= most.bytes else {
            let what = files == nil ? "file" : "folder"
            throw UploadRefusal(
                .tooLarge, "it has \(ByteSize(bytes: size).text(besides: most)), and '\(name)' takes \(most) at most",
                remedy: "Send a smaller \(what), or raise 'max_upload' and 'ready.max_size' of the pipeline.")
        }
        if let files { try checkEntries(files) }
        return place
    }

    /// Where in a folder that is sent in a file of it comes to, or with `isFolder` an empty folder.
    package func place(ofPart path: [UInt8], isFolder: Bool) throws(UploadRefusal) -> DropPath {
        let place = try Self.place(of: path)
        for name in place.folder.names + [place.name] {
            guard let reason = IgnoredNames.reason(for: name) else { continue }
            throw Self.refused("'\(name.text)' is never taken: \(reason)", "Leave it out, or give it another name.")
        }
        try check(length: place.folder)
        let depth = place.folder.depth + (isFolder ? 1 : 0)
        guard depth <= ready.limits.depth else {
            throw Self.refused(
                "it would be \(depth) folders deep, and '\(name)' takes \(ready.limits.depth)",
                "Send a shallower folder, or raise 'ready.max_depth' of the pipeline.")
        }
        return place
    }

    /// Throws where a folder has more files and folders than one may have that is sent in.
    package func checkEntries(_ count: Int) throws(UploadRefusal) {
        let most = min(UploadRule.mostEntries, ready.limits.entries)
        guard count > most else { return }
        throw UploadRefusal(
            .tooManyEntries, "it has more than \(most) files and folders", remedy: "Send it in parts, or packed.")
    }

    private static func place(of path: [UInt8]) throws(UploadRefusal) -> DropPath {
        var names: [FileName] = []
        for part in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let name = FileName(part) else {
                throw refused("a part of its path is empty, '.' or '..', or has a NUL", "Give it a plain path.")
            }
            guard part.count <= FileName.longest else {
                throw refused(
                    "a name of \(part.count) bytes is too long", "Give it one of \(FileName.longest) at most.")
            }
            names.append(name)
        }
        guard let last = names.popLast() else { throw refused("it has no name", "Give it one.") }
        return DropPath(last, in: InboxFolder(names))
    }

    private func check(_ place: DropPath, isFolder: Bool) throws(UploadRefusal) {
        // A marker is a file, whatever its drop is.
        guard isFolder == (ready.unit == .folder) || !isFolder && ready.isMarkerBeside(place.name) else {
            throw UploadRefusal(
                .otherUnit, "a drop of '\(name)' is a \(ready.unit.rawValue)",
                remedy: isFolder ? "Send the files of the folder." : "Send it in a folder.")
        }
        try check(place.folder)
        try check(place.name)
    }

    private func check(_ folder: InboxFolder) throws(UploadRefusal) {
        guard folder.depth < match.depth else {
            let levels = match.depth == 1 ? "the inbox alone" : "\(match.depth) levels of folders"
            throw Self.refused(
                "it would be \(folder.depth + 1) levels deep, and '\(name)' searches \(levels)",
                "Send it under a shorter path, or raise 'match.depth' of the pipeline.")
        }
        try check(length: folder)
        var above = InboxFolder.top
        for name in folder.names {
            guard match.enters(name, in: above) else {
                throw Self.refused(
                    "'\(self.name)' does not search folders called '\(name.text)'", "Send it into another folder.")
            }
            above = above.appending(name)
        }
    }

    private func check(length folder: InboxFolder) throws(UploadRefusal) {
        guard folder.bytes.count <= InboxFolder.longest else {
            throw Self.refused(
                "its folder's path has \(folder.bytes.count) bytes", "Give it one of \(InboxFolder.longest) at most.")
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
