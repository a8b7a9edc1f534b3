/// The rules of the house: each takes a file and gives what is wrong with it, as `path:line: what`.
enum HouseRules {
    /// Who may import whom of ours. What is not here is not allowed; the libraries of others are Package.swift's
    /// matter.
    static let arrows: [String: Set<String>] = [
        "Platform": [],
        "Files": ["CLinux", "Platform"],
        "PipelineKit": ["Files", "CLinux"],
        "Helpers": ["CLinux"],
        "Archive": ["CArchive", "CISAL", "CLinux", "Helpers"],
        "Completeness": ["CISAL", "CLinux", "Helpers"],
        "Digests": ["CCrypto", "CISAL", "CXXHash"],
        "FileTypes": ["CLinux", "CMagic", "Helpers"],
        "Programs": ["CLinux"],
        "SQLite": ["CSQLite"],
        "Web": ["CCurl", "CLinux"],
        "FolderWatch": ["CKqueue", "Files", "Platform"],
        "Readiness": ["Files", "FolderWatch", "PipelineKit", "CLinux", "Digests"],
        "Journal": ["Files", "PipelineKit"],
        "BuiltinStages": ["Files", "PipelineKit", "Archive", "Digests", "FileTypes", "Programs", "Web"],
        "PostgresJournal": ["Files", "PipelineKit", "CLinux", "CPostgres", "Journal"],
        "SQLiteJournal": ["Files", "PipelineKit", "CLinux", "CVersion", "Journal", "SQLite"],
        "PipelineEngine": ["Files", "PipelineKit", "CLinux", "FolderWatch", "Readiness", "Journal"],
        "Retention": ["Files", "PipelineKit", "Journal", "Archive"],
        "PipelineConfig": ["Files", "PipelineKit", "CYaml"],
        "Notifications": ["Files", "PipelineKit", "Journal", "Programs", "Web"],
        "Doctor": ["Files", "PipelineKit", "CLinux", "FolderWatch", "Readiness", "PipelineEngine"],
        "Control": ["Files", "PipelineKit", "CLinux", "Journal"],
        "Dashboard": ["Files", "PipelineKit", "CLinux", "CDashboard", "Journal", "Control", "Digests"],
        "Dropmill": [
            "Files", "PipelineKit", "Completeness", "Readiness", "Journal", "SQLiteJournal", "PipelineEngine",
            "PipelineConfig",
        ],
        "DropmillStages": ["BuiltinStages"],
        "DropmillCommand": [
            "Files", "PipelineKit", "CLinux", "CVersion", "FolderWatch", "Readiness", "Journal", "BuiltinStages",
            "PostgresJournal", "SQLiteJournal", "PipelineEngine", "PipelineConfig", "Control", "Doctor", "Dashboard",
            "Dropmill", "Digests", "Notifications", "Retention",
        ],
        "DropmillProgram": ["CStart", "BuiltinStages", "DropmillCommand"],
    ]

    /// Every target of ours: the ends of arrows.
    static let targets: Set<String> = Set(arrows.keys).union(arrows.values.joined())

    /// The most lines of a file, and the most columns of a line.
    static let mostLines = 400, mostColumns = 120

    /// What may lie in the package's folder, besides dot files.
    static let topLevel: Set<String> = [
        "Package.swift", "Package.resolved", "VERSION", "README.md", "CHANGELOG.md", "CONTRIBUTING.md",
        "CODE_OF_CONDUCT.md", "SECURITY.md", "LICENSE", "THIRD-PARTY-NOTICES", "Makefile", "Sources", "Tests",
        "Examples", "pipelines", "samples", "packaging", "Benchmarks",
        "docs",
    ]

    /// All that is wrong with a file.
    static func problems(of file: SourceFile) -> [String] {
        imports(file) + length(file) + names(file) + unsafe(file) + sleeps(file) + arithmetic(file)
            + kinds(file) + effects(file)
    }

    /// Imports that are no arrow of the house.
    static func imports(_ file: SourceFile) -> [String] {
        guard let target = file.target else { return [] }
        guard let allowed = arrows[target] else { return ["\(file.path): '\(target)' is no target of the house"] }
        return file.imports.filter { targets.contains($0.module) && !allowed.contains($0.module) || isLarge($0.module) }
            .map { "\(file.path):\($0.line): '\(target)' must not import '\($0.module)'" }
    }

    /// All of Foundation brings 34 MB of ICU's data along; FoundationEssentials does not.
    private static func isLarge(_ module: String) -> Bool {
        ["Foundation", "FoundationInternationalization", "FoundationNetworking", "FoundationXML"].contains(module)
    }

    /// Types that are not found where their names say; small private ones may lie beside what they are for.
    static func names(_ file: SourceFile) -> [String] {
        guard file.target != nil,
            let name = file.path.split(separator: "/").last?.prefix(while: { $0 != "." && $0 != "+" })
        else { return [] }
        return file.declarations.filter { !$0.isPrivate && $0.name != name }
            .map { "\(file.path):\($0.line): '\($0.name)' belongs in a file of its name" }
    }

    /// Files and lines that are too long.
    static func length(_ file: SourceFile) -> [String] {
        var problems: [String] = []
        let count = file.lines.last == "" ? file.lines.count - 1 : file.lines.count
        if count > mostLines { problems.append("\(file.path): \(count) lines, at most \(mostLines)") }
        for (index, line) in file.lines.enumerated() where line.count > mostColumns {
            problems.append("\(file.path):\(index + 1): \(line.count) columns, at most \(mostColumns)")
        }
        return problems
    }

    /// Ways to trap or to race that need a reason, or have none.
    static func unsafe(_ file: SourceFile) -> [String] {
        var problems: [String] = []
        for (index, line) in file.lines.enumerated() {
            let code = codePart(of: line)
            for trap in ["try" + "!", "as" + "!", ")" + "!", "]" + "!"]
            where code.contains(trap) && !isComparison(code, trap) {
                problems.append("\(file.path):\(index + 1): '\(trap)' traps; handle the other case")
            }
            for word in ["@unchecked " + "Sendable", "nonisolated" + "(unsafe)"] where code.contains(word) {
                let above = index > 0 ? file.lines[index - 1].drop { $0 == " " } : ""
                let names = ["queue", "lock", "mutex", "immutable"].contains { above.lowercased().contains($0) }
                if !above.hasPrefix("//") || !names {
                    problems.append(
                        "\(file.path):\(index + 1): '\(word)' needs a line above that names its queue or lock")
                }
            }
        }
        return problems
    }

    /// Tests wait on conditions (`eventually`), never for a time.
    static func sleeps(_ file: SourceFile) -> [String] {
        guard file.path.hasPrefix("Tests/"), file.path != "Tests/TestTools/Eventually.swift" else { return [] }
        let words = ["Task." + "sleep", ".sleep" + "(", " sleep" + "(", "usleep" + "(", "nano" + "sleep("]
        return file.lines.enumerated().flatMap { index, line in
            words.contains { codePart(of: line).contains($0) }
                ? ["\(file.path):\(index + 1): sleeps; wait for a condition with 'eventually'"] : []
        }
    }

    /// The line without its comment and without what stands in quotation marks.
    static func codePart(of line: Substring) -> String {
        var code = ""
        var inText = false
        var escaped = false
        var last: Character = " "
        for character in line {
            if inText {
                if character == "\"", !escaped { inText = false }
                escaped = character == "\\" && !escaped
                continue
            }
            if character == "\"" {
                inText = true
                continue
            }
            if character == "/", last == "/" {
                code.removeLast()
                break
            }
            code.append(character)
            last = character
        }
        return code
    }

    /// `a != b` without spaces is no unwrapping.
    private static func isComparison(_ code: String, _ trap: String) -> Bool {
        code.contains(trap + "=")
    }
}
