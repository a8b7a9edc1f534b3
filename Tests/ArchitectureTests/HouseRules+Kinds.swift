extension HouseRules {
    /// Who knows stages by their descriptors alone.
    private static let kindless: Set<String> = [
        "Files", "PipelineKit", "PipelineEngine", "FolderWatch", "Readiness", "Journal", "PostgresJournal",
        "SQLiteJournal", "PipelineConfig",
    ]

    /// The kinds that Dropmill brings along, as their descriptors say them.
    static let builtinKinds: Set<String> = {
        let files = (try? House.sources()) ?? []
        return Set(
            files.filter { $0.target == "BuiltinStages" }.flatMap { file in
                file.lines.compactMap { $0.firstMatch(of: /\bkind: "([a-z]+)"/).map { String($0.1) } }
            })
    }()

    /// Kinds that are words of other things too: texts may hold those where they are not quoted.
    private static let words: Set<String> = [
        "bag", "checksum", "copy", "move", "rename", "run", "scan", "select", "verify", "compress",
    ]

    /// Texts that mean a kind: its name alone, quoted, behind the word "stage", or anywhere if it means nothing else.
    static func kinds(_ file: SourceFile) -> [String] {
        guard let target = file.target, kindless.contains(target) else { return [] }
        return file.lines.enumerated().filter { $1.utf8.contains(UInt8(ascii: "\"")) }.flatMap { index, line in
            texts(of: line).compactMap { text in
                builtinKinds.first { means($0, text, line) }.map {
                    "\(file.path):\(index + 1): names the kind '\($0)'; ask the descriptors"
                }
            }
        }
    }

    private static func means(_ kind: String, _ text: String, _ line: Substring) -> Bool {
        // What a call was doing, keys of what an older version wrote, and who lists an inbox.
        let others = ["Error(", ".action", "object[", "Pipeline.Scan", "map.read(\"scan\""]
        if text == kind { return !others.contains { line.contains($0) } }
        let words = text.split { !($0.isLetter || $0.isNumber || "'`_-".contains($0)) }
        for (index, word) in words.enumerated() {
            let isBehindStage = index > 0 && ["stage", "stages"].contains(words[index - 1])
            if word == kind, isBehindStage || !self.words.contains(kind) { return true }
            // `on_conflict: rename` is another's value.
            if word == "'\(kind)'" || word == "`\(kind)`" || word == "'\(kind)" || word == "`\(kind)" { return true }
        }
        return false
    }

    /// What stands in quotation marks in a line.
    private static func texts(of line: Substring) -> [String] {
        var texts: [String] = []
        var begin: Substring.Index?
        var escaped = false
        for index in line.indices {
            if let start = begin {
                if line[index] == "\"", !escaped {
                    texts.append(String(line[start..<index]))
                    begin = nil
                }
                escaped = line[index] == "\\" && !escaped
            } else if line[index] == "\"" {
                begin = line.index(after: index)
            } else if line[index...].hasPrefix("//") {
                break
            }
        }
        return texts
    }
}
