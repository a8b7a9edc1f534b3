import Files

/// Files that are left alone, and why; there may be very many of them for the same reason. Pure.
struct Reported {
    private var reasons: [String] = []
    private var numbers: [String: UInt32] = [:]
    private var paths: [DropPath: UInt32] = [:]

    var count: Int { paths.count }

    var all: some Sequence<(path: DropPath, reason: String)> {
        paths.lazy.map { (path: $0.key, reason: reasons[Int($0.value)]) }
    }

    /// Why it is left alone; nil where it is not.
    subscript(path: DropPath) -> String? { paths[path].map { reasons[Int($0)] } }

    /// Adds one; whether that is news.
    mutating func add(_ path: DropPath, _ reason: String) -> Bool {
        let number = numbers[reason] ?? UInt32(reasons.count)
        if Int(number) == reasons.count {
            reasons.append(reason)
            numbers[reason] = number
        }
        return paths.updateValue(number, forKey: path) != number
    }

    mutating func forget(_ path: DropPath) {
        paths[path] = nil
        if paths.isEmpty { self = Reported() }
    }
}
