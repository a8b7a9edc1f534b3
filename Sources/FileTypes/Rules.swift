import CMagic
import Glibc

/// libmagic's rules, loaded; they serve one thread at a time.
struct Rules {
    enum Problem: Error, Equatable {
        /// The rules cannot be read, with libmagic's own words.
        case unloaded(String)
        /// The content would have libmagic go further than it may, with its own words.
        case content(String)
        /// The file cannot be read, with the number of the error.
        case file(Int32)
    }

    /// How far libmagic may go with what strangers made, whatever its own version thinks: bytes that are read, rules
    /// that start over within a file, uses of named rules, and what is looked at of a program.
    private static let limits: [(parameter: Int32, most: Int)] = [
        (MAGIC_PARAM_BYTES_MAX, 7 << 20), (MAGIC_PARAM_INDIR_MAX, 20), (MAGIC_PARAM_NAME_MAX, 50),
        (MAGIC_PARAM_REGEX_MAX, 8192), (MAGIC_PARAM_ELF_NOTES_MAX, 64), (MAGIC_PARAM_ELF_PHNUM_MAX, 256),
        (MAGIC_PARAM_ELF_SHNUM_MAX, 8192),
    ]

    private let cookie: magic_t

    /// Loads the rules of the machine, or those of `$MAGIC` and `~/.magic`; where these are of no use, those that came
    /// with the program.
    static func load() throws(Problem) -> Rules {
        if let problem = MagicLibrary.shared.problem { throw .unloaded(problem) }
        // Both at once: asked for each by itself it would look at the file twice.
        guard let cookie = libmagic.magic_open(MAGIC_MIME | MAGIC_ERROR) else { throw .unloaded("no memory") }
        for (parameter, most) in limits {
            var most = most
            guard libmagic.magic_setparam(cookie, parameter, &most) == 0 else {
                libmagic.magic_close(cookie)
                throw .unloaded("it does not support limit \(parameter)")
            }
        }
        guard libmagic.magic_load(cookie, nil) == 0 else {
            let message = words(cookie) ?? "its rules cannot be read"
            if let beside, libmagic.magic_load(cookie, beside) == 0 { return Rules(cookie: cookie) }
            libmagic.magic_close(cookie)
            throw .unloaded(message)
        }
        return Rules(cookie: cookie)
    }

    /// Where `make tarball` has them: `share` beside the `bin` of the program.
    private static var beside: String? {
        guard let found = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(found) }
        let folders = String(cString: found).split(separator: "/").dropLast(2)
        return "/\((folders + ["share", "misc", "magic.mgc"]).joined(separator: "/"))"
    }

    /// What the file is that a descriptor is open on: `text/plain; charset=us-ascii`. Its offset is moved.
    func type(of descriptor: Int32) throws(Problem) -> String {
        lseek(descriptor, 0, SEEK_SET)
        if let answer = libmagic.magic_descriptor(cookie, descriptor) { return String(cString: answer) }
        let error = libmagic.magic_errno(cookie)
        // What is no system error is libmagic's own; and memory there is as much as any file may need.
        if error == 0 || error == ENOMEM { throw .content(Self.words(cookie) ?? "no reason given") }
        throw .file(error)
    }

    private static func words(_ cookie: magic_t) -> String? { libmagic.magic_error(cookie).map { String(cString: $0) } }
}
