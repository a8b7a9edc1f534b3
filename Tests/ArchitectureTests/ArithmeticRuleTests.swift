import Testing

@Suite struct ArithmeticRuleTests {
    private func problems(_ text: String, in path: String = "Sources/PipelineEngine/A.swift") -> [String] {
        HouseRules.arithmetic(SourceFile(path, text: text))
    }

    @Test(arguments: [
        ("modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + 1)", "time"),
        ("let nanoseconds = seconds * 1_000_000_000", "time"),
        ("if time(nil) - status.st_ctim.tv_sec > abandonedAfter {", "time"),
        ("let milliseconds = Int64(time.tv_sec) * 1000", "time"),
        ("let all = start + Int64(status.st_mtim.tv_nsec)", "time"),
        ("let free = UInt64(info.f_bavail) * UInt64(info.f_frsize)", "size"),
        ("let free = unit * info.f_bavail", "size"),
        ("total += status.st_size", "size"),
        ("let end = status.st_size + 1", "size"),
        ("let taken = status.st_blocks << 9", "size"),
        ("size += fingerprint.size", "size"),
        ("bytes += size", "size"),
        ("return bytes + size <= mostBytes", "size"),
        ("let all = files.reduce(0) { $0 + $1.size }", "size"),
        ("held.size += length", "size"),
    ])
    func finds(_ text: String, _ what: String) {
        let found = problems(text)
        #expect(found.count == 1 && found[0].contains("A.swift:1: traps on a \(what)"), "\(found)")
    }

    @Test(arguments: [
        "size = size.addingSaturated(file.size)",
        "let time = FileTime(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)",
        "bytes += Int128(size)",
        "size += bytes.count",
        "if size + bytes.count > most {",
        "while offset + headerSize <= buffer.count {",
        "// size += more",
        "let rest = limit - size",
        "bytes += buffer[..<count]",
        "pages += size(of: page)",
    ])
    func acceptsWhatCannotTrap(_ text: String) {
        #expect(problems(text) == [])
    }

    @Test func clocksOfOurOwnMayCount() {
        let text = "return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)"
        #expect(problems(text, in: "Sources/Files/System/MonotonicTime.swift") == [])
        #expect(problems(text).count == 1)
    }

    @Test func archivesAddInTheHelper() {
        #expect(problems("let end = data + entry.size", in: "Sources/Archive/Zip/A.swift") == [])
        #expect(problems("let end = data + status.st_size", in: "Sources/Archive/Zip/A.swift").count == 1)
    }
}
