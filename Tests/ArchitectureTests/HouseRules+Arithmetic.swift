extension HouseRules {
    /// Who turns seconds into nanoseconds: of the machine's own clocks, or by sums that cannot trap.
    static let clocks: Set<String> = [
        "Sources/Files/Values/Timestamp.swift", "Sources/Files/Values/Duration+Text.swift",
        "Sources/Files/System/MonotonicTime.swift", "Sources/Archive/Helper/UnpackWorker.swift",
        "Sources/Helpers/Clock.swift",
    ]

    /// What a line has to name before it is looked at: expressions take their time.
    private static let words = ["size", "tv_", "st_", "f_b", "000_000"]

    /// Arithmetic that traps on the times and sizes of strangers, as far as a line of text tells. It does not tell what
    /// kind of thing `bytes` is; and what an archive says is added in the helper, which `make fuzz` looks at.
    static func arithmetic(_ file: SourceFile) -> [String] {
        guard file.path.hasPrefix("Sources/") else { return [] }
        return file.lines.enumerated().filter { _, line in words.contains { line.contains($0) } }.flatMap {
            index, line in
            let code = codePart(of: line)
            // There, no two numbers of 64 bits are too large.
            guard !code.contains("Int128") else { return [String]() }
            let place = "\(file.path):\(index + 1)"
            var problems: [String] = []
            if !clocks.contains(file.path), computesTimes(code) {
                problems.append(
                    "\(place): traps on a time that a stranger set; keep its parts apart as 'FileTime' does")
            }
            if computesSpace(code) || !file.path.hasPrefix("Sources/Archive/") && addsSizes(code) {
                problems.append("\(place): traps on a size that a stranger set; use 'addingSaturated' and its like")
            }
            return problems
        }
    }

    private static func computesTimes(_ code: String) -> Bool {
        code.contains(/\* 1_000_000_000|tv_n?sec\)* [-+*]|[-+*] (\w+\()*[\w.]*tv_n?sec/)
    }

    /// What stat(2) and statvfs(3) say, multiplied or added.
    private static func computesSpace(_ code: String) -> Bool {
        code.contains(
            /(st_size|st_blocks|f_bavail|f_bfree|f_blocks|f_frsize)\)* (\+|\*|<<)=?\s/
                .wordBoundaryKind(.simple))
            || code.contains(
                /[+*]=? (\w+\()*[\w.]*(st_size|st_blocks|f_bavail|f_bfree|f_blocks|f_frsize)\b/
                    .wordBoundaryKind(.simple))
    }

    /// Sums of anything called a size, but for what is added of memory (`.count`), which cannot be that much.
    private static func addsSizes(_ code: String) -> Bool {
        code.contains(/\bsize\)* \+=? (?!.*\.count)/.wordBoundaryKind(.simple))
            || code.contains(/\+=? (try )?[\w.$]*\bsize\b(?!\()/.wordBoundaryKind(.simple))
    }
}
