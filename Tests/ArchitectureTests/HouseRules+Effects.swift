extension HouseRules {
    /// Who may do to the process what only a program may: all else is in other programs too.
    private static let programs: Set<String> = ["DropmillCommand", "DropmillProgram"]

    /// Files of helpers, which are processes of their own.
    private static let helpers: Set<String> = [
        "Sources/Archive/Helper/UnpackWorker.swift", "Sources/Helpers/FileWorker.swift",
    ]

    /// Where a thread of ours is kept from the signals of the program.
    private static let threads = "Sources/FolderWatch/Watching/EventThread.swift"

    /// What changes the process that it is in, or speaks for it.
    private static let calls = [
        "signal", "sigaction", "pthread_sigmask", "chdir", "fchdir", "umask", "setlocale", "exit", "_exit", "abort",
        "setenv", "unsetenv", "putenv", "setrlimit", "tzset", "print", "puts", "fputs",
    ]

    /// What a library must not do.
    static func effects(_ file: SourceFile) -> [String] {
        guard let target = file.target, !programs.contains(target), !helpers.contains(file.path) else { return [] }
        return file.lines.enumerated().flatMap { index, line in
            let code = codePart(of: line)
            let words = code.split { !($0.isLetter || $0.isNumber || "_(.".contains($0)) }
            return calls.filter { call in words.contains { $0.hasPrefix(call + "(") } }
                .filter { !code.contains("func \($0)(") && !code.contains("self.\($0)(") }
                .filter { $0 != "pthread_sigmask" || file.path != threads }
                .map { "\(file.path):\(index + 1): '\($0)' changes the process that a library is in" }
        }
    }
}
