import Helpers
import SystemPackage

extension ArchiveFormat {
    /// A word for the format that a packet carries.
    var wireName: String {
        switch self {
        case .container(let container): "container:" + container.rawValue
        case .compressed(let compression): "compressed:" + compression.rawValue
        }
    }

    init?(wireName: String) {
        let parts = wireName.split(separator: ":").map(String.init)
        guard parts.count == 2 else { return nil }
        if parts[0] == "container", let container = Container(rawValue: parts[1]) {
            self = .container(container)
        } else if parts[0] == "compressed", let compression = Compression(rawValue: parts[1]) {
            self = .compressed(compression)
        } else {
            return nil
        }
    }
}

extension WireWriter {
    mutating func put(_ error: ArchiveError) {
        switch error {
        case .bad(let problem):
            put("bad")
            put(problem.code.rawValue)
            put(problem.entry.map { Array($0.prefix(4096)) })
            put(problem.fact)
            put(problem.remedy)
            put(String(problem.detail.prefix(1000)))
        case .system(let action, let entry, let errno):
            put("system")
            put(action)
            put(entry.map { Array($0.prefix(4096)) })
            put(Int64(errno.rawValue))
        case .stopped: put("stopped")
        }
    }
}

extension WireReader {
    mutating func error() -> ArchiveError? {
        switch text() {
        case "bad":
            guard let code = word(ArchiveError.Code.self), let entry = optionalArray(), let fact = text(),
                let remedy = text(), let detail = text()
            else { return nil }
            return .bad(
                ArchiveError.Problem(code: code, entry: entry, fact: fact, remedy: remedy, detail: detail))
        case "system":
            guard let action = text(), let entry = optionalArray(), let errno = number() else { return nil }
            return .system(action: action, entry: entry, errno: Errno(rawValue: Int32(truncatingIfNeeded: errno)))
        case "stopped": return .stopped
        default: return nil
        }
    }
}
