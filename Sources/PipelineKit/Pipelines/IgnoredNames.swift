package import Files

/// Names that are never drops: those that programs give to files they are not done with. They are drops once they are
/// renamed. The list is data; `docs/readiness.md` shows it, and `match.exclude` adds to it.
package enum IgnoredNames {
    /// One kind of name.
    package struct Rule: Sendable {
        /// A whole name, or one with a `*` at its beginning, its end or within. Endings match in any case.
        package let pattern: String
        /// What such a file is, for people: what follows `its name marks it as`.
        package let what: String
        /// Which programs name files so.
        package let senders: String

        private let prefix: [UInt8]
        /// Behind the star, in lower case; nil without a star.
        private let suffix: [UInt8]?

        fileprivate init(_ pattern: String, _ what: String, by senders: String) {
            self.pattern = pattern
            self.what = what
            self.senders = senders
            let bytes = Array(pattern.utf8)
            let star = bytes.firstIndex(of: UInt8(ascii: "*"))
            prefix = star.map { Array(bytes[..<$0]) } ?? bytes
            suffix = star.map { bytes[($0 + 1)...].map(IgnoredNames.lowercased) }
        }

        fileprivate func matches(_ name: [UInt8]) -> Bool {
            guard let suffix else { return name == prefix }
            // A star stands for something: an ending alone is a name like any other.
            return name.count > prefix.count + suffix.count && name.starts(with: prefix)
                && name.suffix(suffix.count).lazy.map(IgnoredNames.lowercased).elementsEqual(suffix)
        }
    }

    /// The rules, the most usual ones first.
    package static let rules: [Rule] = [
        Rule(
            ".*", "a hidden file",
            by: "rsync (`.NAME.XXXXXX`, `.~tmp~`), Syncthing (`.syncthing.NAME.tmp`), ownCloud and Nextcloud "
                + "(`.NAME.~1a2b`), lftp (`.in.NAME.`), GNOME (`.goutputstream-XXXXXX`), macOS (`._NAME`), "
                + "Samba (`.smbdeleteXXXX`), NFS (`.nfsXXXX`), FUSE (`.fuse_hiddenXXXX`), vim, LibreOffice "
                + "(`.~lock.NAME#`)"),
        Rule("~*", "a program's working file", by: "Microsoft Office (`~$NAME`), Syncthing on Windows"),
        Rule("*.tmp", "a temporary file", by: "Samba clients, Office, Nextcloud, many uploaders"),
        Rule("*.temp", "a temporary file", by: "many uploaders"),
        Rule(
            "*.part", "an unfinished transfer", by: "Firefox, ownCloud and Nextcloud servers, KDE"),
        Rule("*.partial", "an unfinished transfer", by: "Internet Explorer, Edge, sync tools"),
        Rule("*.filepart", "an unfinished transfer", by: "WinSCP, by SFTP and SCP"),
        Rule("*.crdownload", "an unfinished download", by: "Chrome, Edge, Chromium"),
        Rule("*.download", "an unfinished download", by: "Safari"),
        Rule("*.opdownload", "an unfinished download", by: "Opera"),
        Rule("*.aria2", "a download's control file", by: "aria2"),
        Rule("*.!qb", "an unfinished download", by: "qBittorrent"),
        Rule("*.!ut", "an unfinished download", by: "uTorrent"),
        Rule("*.!sync", "an unfinished transfer", by: "Resilio Sync"),
        Rule("*.uploading", "an unfinished upload", by: "many uploaders"),
        Rule("*.inprogress", "an unfinished transfer", by: "Camel routes, many uploaders"),
        Rule("*.writing", "an unfinished transfer", by: "Spring Integration"),
        Rule("*.camellock", "a lock file", by: "Camel"),
        Rule("*.swp", "an editor's swap file", by: "vim"),
        Rule("*.swx", "an editor's swap file", by: "vim"),
        Rule("*~", "an editor's backup", by: "Emacs, vim, gedit, Kate"),
        Rule("#*#", "an editor's auto-save file", by: "Emacs"),
        Rule("Thumbs.db", "a desktop's metadata", by: "Windows Explorer"),
        Rule("desktop.ini", "a desktop's metadata", by: "Windows Explorer"),
    ]

    /// Why no name that the pattern matches is ever taken, or nil where one may be. Only what the pattern's beginning
    /// or end spells out is seen: a wildcard at that place is no dot and no ending.
    package static func reason(forAll glob: Glob) -> String? {
        var found: String?
        for alternative in glob.alternatives {
            guard let name = FileName(alternative), let reason = reason(for: name) else { return nil }
            found = reason
        }
        return found
    }

    /// Why the name is never taken, or nil where it may be.
    package static func reason(for name: FileName) -> String? {
        let bytes = name.bytes
        return rules.first { $0.matches(bytes) }.map { "its name marks it as \($0.what)" }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}
