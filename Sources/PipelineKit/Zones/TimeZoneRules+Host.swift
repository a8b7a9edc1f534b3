import Files
import Glibc
package import SystemPackage

/// The zones that this host knows. Their files are read where they are asked for.
extension TimeZoneRules {
    /// Where they are.
    package static let database: FilePath = "/usr/share/zoneinfo"

    /// One by its name in the database, such as `Europe/Berlin`. The problem names it, and has the remedy.
    package static func named(_ name: String, in folder: FilePath = database) throws(TimeZoneProblem) -> TimeZoneRules {
        let subject = "'\(EscapedText.of(name))'"
        let isPlain = name.utf8.allSatisfy { byte in
            isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "_+-/".utf8.contains(byte)
        }
        guard !name.isEmpty, isPlain, !name.hasPrefix("/"), !name.hasSuffix("/"), name.utf8.count <= 100 else {
            throw TimeZoneProblem("\(subject) is no time zone; write its name, such as Europe/Berlin or UTC")
        }
        let path = folder.appending(name)
        let bytes: [UInt8]
        do throws(IOError) {
            bytes = try read(path)
        } catch {
            // A system for containers may have no database.
            if ["UTC", "Etc/UTC"].contains(name) { return .utc }
            guard [.noSuchFileOrDirectory, .isDirectory, .notDirectory].contains(error.errno) else {
                throw TimeZoneProblem("the time zone \(subject) cannot be read: \(error); choose another")
            }
            guard Folder.kind(of: folder, followingLinks: true) == .folder else {
                throw TimeZoneProblem(
                    "the time zone \(subject) is not known: this host has no '\(folder.text)'; install 'tzdata'")
            }
            let hint = Suggestion.hint(for: name, among: names(in: folder))
            throw TimeZoneProblem(
                "there is no time zone \(subject)"
                    + (hint.isEmpty ? "; write one as 'timedatectl list-timezones' lists them" : hint))
        }
        do throws(TimeZoneProblem) {
            return try TimeZoneRules(tzif: bytes)
        } catch {
            throw TimeZoneProblem(
                "the time zone \(subject) cannot be read: '\(path.text)': \(error.message); install 'tzdata' anew")
        }
    }

    /// That of this host: what TZ says, else `localtime`. One that cannot be read is UTC, as the C library has it.
    /// `variable`: the environment's TZ.
    package static func ofHost(
        variable: String?, localtime: FilePath = "/etc/localtime", in folder: FilePath = database
    ) -> TimeZoneRules {
        guard let variable else { return at(localtime) ?? .utc }
        let zone = String(variable.drop { $0 == ":" })
        if zone.hasPrefix("/") { return at(FilePath(zone)) ?? .utc }
        if let rules = try? named(zone, in: folder) { return rules }
        guard let footer = TimeZoneFooter(zone) else { return .utc }
        return TimeZoneRules(times: [], offsets: [], first: 0, footer: footer)
    }

    private static func at(_ path: FilePath) -> TimeZoneRules? {
        (try? read(path)).flatMap { try? TimeZoneRules(tzif: $0) }
    }

    /// Links are followed: names in the database are linked, and so is /etc/localtime.
    private static func read(_ path: FilePath) throws(IOError) -> [UInt8] {
        try SmallFile.read(try OpenFile.open(path, O_RDONLY | O_NONBLOCK), atMost: largestFile)
    }

    /// Those that the database tells people of.
    private static func names(in folder: FilePath) -> [String] {
        let bytes = (try? SmallFile.read(folder.appending("zone.tab"), atMost: 1 << 20)) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t")
            return line.hasPrefix("#") || parts.count < 3 ? nil : String(parts[2])
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
