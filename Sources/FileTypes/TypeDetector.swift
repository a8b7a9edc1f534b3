import CMagic
import Glibc
import Synchronization

/// What a file is by its content, as libmagic (the library of `file`) tells.
package struct MediaType: Sendable, Hashable {
    /// The media type: `application/pdf`; `inode/x-empty` for an empty file.
    package let type: String
    /// How text is encoded: `us-ascii`, `utf-8`; `binary` for what is none.
    package let encoding: String
}

/// Tells files' types. Reading libmagic's rules takes some milliseconds, and what holds them serves one caller at a
/// time: so there is a store of those that nobody uses just now.
package enum TypeDetector {
    /// Why a type cannot be told.
    package struct Problem: Error, Sendable, Equatable {
        /// libmagic's own words.
        package let message: String
        /// Whether the content is at fault: it would have libmagic go further than it may.
        package let isOfContent: Bool
    }

    /// How far libmagic may go with what strangers made, whatever its own version thinks: bytes that are read, rules
    /// that begin anew within a file, uses of named rules, and what is looked at of a program.
    private static let limits: [(parameter: Int32, most: Int)] = [
        (MAGIC_PARAM_BYTES_MAX, 7 << 20), (MAGIC_PARAM_INDIR_MAX, 20), (MAGIC_PARAM_NAME_MAX, 50),
        (MAGIC_PARAM_REGEX_MAX, 8192), (MAGIC_PARAM_ELF_NOTES_MAX, 64), (MAGIC_PARAM_ELF_PHNUM_MAX, 256),
        (MAGIC_PARAM_ELF_SHNUM_MAX, 8192),
    ]

    private static let store = Mutex<[Rules]>([])

    /// libmagic's rules.
    // @unchecked: used by one thread at a time, the one that took it from the store, which a lock guards.
    private struct Rules: @unchecked Sendable {
        let cookie: magic_t
    }

    /// The type of the file that a descriptor is open on; its offset is moved.
    package static func type(of descriptor: Int32) throws(Problem) -> MediaType {
        let idle = store.withLock { $0.popLast() }
        let rules: Rules
        if let idle { rules = idle } else { rules = try load() }
        defer { store.withLock { $0.append(rules) } }
        let type = try ask(rules, MAGIC_MIME_TYPE, descriptor)
        return MediaType(type: type, encoding: try ask(rules, MAGIC_MIME_ENCODING, descriptor))
    }

    private static func load() throws(Problem) -> Rules {
        guard let cookie = magic_open(MAGIC_MIME_TYPE) else { throw Problem(message: "no memory", isOfContent: false) }
        for (parameter, most) in limits {
            var most = most
            guard magic_setparam(cookie, parameter, &most) == 0 else {
                magic_close(cookie)
                throw Problem(message: "it knows no limit number \(parameter)", isOfContent: false)
            }
        }
        guard magic_load(cookie, nil) == 0 else {
            let message = magic_error(cookie).map { String(cString: $0) } ?? "its rules cannot be read"
            magic_close(cookie)
            throw Problem(message: message, isOfContent: false)
        }
        return Rules(cookie: cookie)
    }

    private static func ask(_ rules: Rules, _ flags: Int32, _ descriptor: Int32) throws(Problem) -> String {
        magic_setflags(rules.cookie, flags | MAGIC_ERROR)
        lseek(descriptor, 0, SEEK_SET)
        guard let answer = magic_descriptor(rules.cookie, descriptor) else {
            let message = magic_error(rules.cookie).map { String(cString: $0) } ?? "no reason given"
            // What is no system error is libmagic's own.
            throw Problem(message: message, isOfContent: magic_errno(rules.cookie) == 0)
        }
        return String(cString: answer)
    }
}
