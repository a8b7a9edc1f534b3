import Files

extension Scenario {
    /// A scenario from its text.
    init(_ text: String) throws(ScenarioProblem) {
        var lines = ScenarioLines(text)
        var steps: [Step] = []
        while let (number, line) = lines.next() {
            guard !line.hasPrefix(" ") else {
                throw ScenarioProblem(
                    line: number, message: "an indented line belongs below 'pipeline:' or 'expect tree:'")
            }
            steps.append(Step(line: number, action: try Self.action(line, number, &lines)))
        }
        self.steps = steps
    }

    private static func action(
        _ line: Substring, _ number: Int, _ lines: inout ScenarioLines
    ) throws(ScenarioProblem) -> Action {
        var words = ScenarioWords(line, line: number)
        let action: Action
        switch try words.word() {
        case "pipeline:": action = .pipeline(name: "main", yaml: lines.block().map(\.text))
        case "pipeline":
            let name = try words.word()
            guard name.hasSuffix(":") else { throw words.problem("expected 'pipeline NAME:'") }
            action = .pipeline(name: String(name.dropLast()), yaml: lines.block().map(\.text))
        case "drop":
            if words.take("sample") {
                let sample = try words.word()
                action = .dropSample(sample, as: words.take("as") ? try words.value() : nil)
            } else {
                action = .drop(try words.value(), contents: try contents(&words))
            }
        case "rename-in": action = .renameIn(try words.value(), contents: try contents(&words))
        case "write": action = .write(try words.value(), contents: try contents(&words))
        case "link":
            let name = try words.value()
            try words.expect("->")
            action = .link(name, target: try words.value())
        case "slowly": action = try slowly(&words)
        case "run":
            let verb = try words.word()
            if verb == "daemon" {
                action = .startDaemon
            } else if ["status", "jobs", "show", "retry", "explain", "doctor"].contains(verb) {
                var arguments = [verb]
                while !words.isAtEnd { arguments.append(words.isAtValue ? try words.text() : try words.word()) }
                action = .look(arguments)
            } else {
                guard let verb = Verb(rawValue: verb) else {
                    throw words.problem("run what? once, daemon, check, status, jobs, show, retry, explain or doctor")
                }
                action = .run(verb)
            }
        case "stop": action = .stopDaemon
        case "expect": action = try expectation(&words, &lines)
        case let word: throw words.problem("unknown step '\(word)'")
        }
        try words.end()
        return action
    }

    private static func contents(_ words: inout ScenarioWords) throws(ScenarioProblem) -> [UInt8] {
        try words.expect("=")
        return try words.value()
    }

    /// `slowly "NAME" = 5 pieces "text" every 200ms [reopened]`
    private static func slowly(_ words: inout ScenarioWords) throws(ScenarioProblem) -> Action {
        let name = try words.value()
        try words.expect("=")
        let pieces = try words.number()
        try words.expect("pieces")
        let piece = try words.value()
        try words.expect("every")
        let interval = try words.duration()
        return .slowly(name, pieces: pieces, piece: piece, every: interval, reopened: words.take("reopened"))
    }

    private static func expectation(
        _ words: inout ScenarioWords, _ lines: inout ScenarioLines
    ) throws(ScenarioProblem) -> Action {
        switch try words.word() {
        case "status": return .expectStatus(Int32(clamping: try words.number()))
        case "log":
            let event = try words.word()
            return .expectLog(event: event, text: words.isAtEnd ? "" : try words.text())
        case "no":
            try words.expect("log")
            let event = try words.word()
            return .expectNoLog(event: event, text: words.isAtEnd ? "" : try words.text())
        case "text": return .expectText(try words.text())
        case "file":
            let path = try words.value()
            try words.expect("contains")
            return .expectFile(path, contains: try words.value())
        case "tree:": return .expectTree(try tree(lines.block()))
        case let word: throw words.problem("expect what? status, log, no log, text, file or tree:, not '\(word)'")
        }
    }

    /// Lines indented by two spaces for each folder they lie in.
    private static func tree(_ lines: [(number: Int, text: String)]) throws(ScenarioProblem) -> ExpectedTree {
        var tree = ExpectedTree()
        var folders: [String] = []
        for (number, text) in lines {
            let indent = text.prefix { $0 == " " }.count
            guard indent % 2 == 0, indent / 2 <= folders.count else {
                throw ScenarioProblem(line: number, message: "indent by two spaces below a folder")
            }
            folders.removeLast(folders.count - indent / 2)
            let entry = try treeEntry(text.dropFirst(indent), number, in: folders.joined())
            tree.entries.append(entry)
            if case .exact(let name) = entry.name, name.hasSuffix("/") { folders.append(name) }
        }
        return tree
    }

    private static func treeEntry(
        _ line: Substring, _ number: Int, in folder: String
    ) throws(ScenarioProblem) -> ExpectedTree.Entry {
        var words = ScenarioWords(line, line: number)
        var name: ExpectedTree.Name
        if words.isAtValue {
            name = .exact(EscapedText.of(try words.value()))
        } else if words.take("like") {
            name = .like(try words.text())
        } else {
            // A name with spaces is told from what follows by its quotation marks.
            name = .exact(try words.word())
        }
        if case .exact(let text) = name, words.take("/") { name = .exact(text + "/") }
        var detail = ExpectedTree.Detail.none
        if words.take("=") {
            detail = .contents(try words.value())
        } else if words.take("->") {
            detail = .target(EscapedText.of(try words.value()))
        } else if words.take("sha256") {
            try words.expect("ok")
            detail = .checksums
        }
        try words.end()
        return ExpectedTree.Entry(folder: folder, name: name, detail: detail)
    }
}

/// The lines of a scenario that say something, with their numbers from 1.
private struct ScenarioLines {
    private var lines: ArraySlice<(number: Int, text: Substring)>

    init(_ text: String) {
        lines =
            text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .map { (number: $0.offset + 1, text: $0.element) }
            .filter { line in line.text.contains { $0 != " " } && line.text.first { $0 != " " } != "#" }[...]
    }

    mutating func next() -> (number: Int, text: Substring)? { lines.popFirst() }

    /// The indented lines that follow, without the indent of the first.
    mutating func block() -> [(number: Int, text: String)] {
        let indent = lines.first.map { $0.text.prefix { $0 == " " }.count } ?? 0
        guard indent > 0 else { return [] }
        var block: [(number: Int, text: String)] = []
        while let line = lines.first, line.text.hasPrefix(String(repeating: " ", count: indent)) {
            block.append((line.number, String(line.text.dropFirst(indent))))
            lines = lines.dropFirst()
        }
        return block
    }
}
