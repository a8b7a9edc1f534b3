import FileTypes
import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// The processes that ask libmagic: one for many files, and what becomes of a file and of the next where one does not
/// answer.
@Suite(.timeLimit(.minutes(3))) struct TypeHelperTests {
    private let scratch: ScratchFolder
    /// The program under a name of this test's own, by which it finds its processes.
    private let program: String

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write("%PDF-1.7\n", to: "file")
        try scratch.link("dropmill", to: DropmillProcess.binary.string)
        program = scratch.path("dropmill").string
    }

    /// Helpers whose servers leave their numbers.
    private func helpers(
        _ command: [String], patience: Int32 = 10_000, idleTime: Int64 = 60_000
    ) -> TypeHelpers {
        let script = "echo $$ >>'\(scratch.path("servers").string)'; exec \"$@\""
        return TypeHelpers(
            program: "/bin/sh", arguments: ["-c", script, "sh"] + command, patience: patience, idleTime: idleTime)
    }

    private var real: TypeHelpers { helpers([program, "type-worker"]) }

    /// Helpers that are a shell once they are asked.
    private func fakes(_ script: String) -> TypeHelpers {
        helpers([DropmillProcess.built("served").string, "/bin/sh", "-c", script])
    }

    /// What a shell does to take the question and to say that it begins, and to answer. What is said is lost where a
    /// process ends with a question that it did not take.
    private static let begun = #"head -c1 <&3 >/dev/null; printf '\005\0\0\0\0\0\0\0begun' >&3; "#
    private static func answer(_ text: String = "text/plain; charset=us-ascii") -> String {
        let count = String(text.utf8.count, radix: 8)
        return #"printf '\004\0\0\0\0\0\0\0type\\#(count)\0\0\0\0\0\0\0\#(text)' >&3; "#
    }

    private func type(
        _ helpers: TypeHelpers, seconds: Int64 = 60, unless isStopped: () -> Bool = { false }
    ) throws -> MediaType {
        let file = try OpenFile.open(scratch.path("file"), O_RDONLY)
        return try helpers.type(of: file.descriptor, seconds: seconds, unless: isStopped)
    }

    private func failure(_ helpers: TypeHelpers, seconds: Int64 = 60) throws -> TypeFailure {
        do {
            let type = try type(helpers, seconds: seconds)
            Issue.record("it was told: \(type)")
            throw TypeFailure.cancelled
        } catch let failure as TypeFailure {
            return failure
        }
    }

    private func servers() throws -> [pid_t] {
        try scratch.text("servers").split(separator: "\n").compactMap { pid_t($0) }
    }

    private func running() throws -> [pid_t] {
        try ProcessList.children(of: getpid(), startedWith: program, named: "dropmill-helper")
    }

    @Test func oneServesMany() throws {
        let helpers = real
        for _ in 0..<50 { #expect(try type(helpers).type == "application/pdf") }
        try scratch.write("text\n", to: "file")
        #expect(try type(helpers) == type(fakes(Self.begun + Self.answer())))
        #expect(try running().count == 1)
        #expect(try servers().count == 2)
    }

    /// One that is stopped answers nothing. It is killed when its time is over or the work is called off, and the next
    /// file has another.
    @Test func oneThatHangs() throws {
        let helpers = real
        _ = try type(helpers)
        let first = try #require(try running().first)
        try #require(kill(first, SIGSTOP) == 0)
        #expect(try failure(helpers, seconds: 1) == .overTime(seconds: 1))
        #expect(ProcessList.isGone(first))
        #expect(try type(helpers).type == "application/pdf")

        let second = try #require(try running().first)
        try #require(kill(second, SIGSTOP) == 0)
        #expect(throws: TypeFailure.cancelled) { try type(helpers, unless: { true }) }
        #expect(ProcessList.isGone(second))
        #expect(try type(helpers).type == "application/pdf")
    }

    /// The kernel kills one for its memory, say: while nobody asks it, and in the midst of a file. Another answers.
    @Test(arguments: [false, true]) func oneThatIsKilled(isAsked: Bool) throws {
        let helpers = real
        _ = try type(helpers)
        let helper = try #require(try running().first)
        if isAsked {
            try #require(kill(helper, SIGSTOP) == 0)
            // Whether to go on is asked once the question is on its way.
            var isAlive = true
            let answer = try type(helpers) {
                if isAlive { isAlive = kill(helper, SIGKILL) != 0 }
                return false
            }
            #expect(answer.type == "application/pdf")
        } else {
            try #require(kill(helper, SIGKILL) == 0)
            #expect(try type(helpers).type == "application/pdf")
        }
        #expect(ProcessList.isGone(helper))
        #expect(try servers().count == 1, "the server is none the worse")
    }

    /// A file that kills each of them is given up.
    @Test func oneThatIsKilledEachTime() throws {
        let tale = scratch.path("asked").string
        let helpers = fakes("echo >>'\(tale)'; " + Self.begun + "kill -KILL $$")
        #expect(try failure(helpers) == .crashed(signal: SIGKILL, status: 0, log: ""))
        #expect(try scratch.text("asked").count == 3)
    }

    /// A crash may be a guess at the layout of memory; the next one has another, from another server.
    @Test func oneThatCrashes() throws {
        let helpers = fakes(Self.begun + "echo last words >&2; kill -SEGV $$")
        for round in 1...2 {
            #expect(try failure(helpers) == .crashed(signal: SIGSEGV, status: 0, log: "last words\n"))
            #expect(try servers().count == round)
        }
        #expect(try failure(fakes(Self.begun + "exit 3")) == .crashed(signal: 0, status: 3, log: ""))
    }

    @Test(arguments: [
        "printf nonsense >&3; sleep 1000", answer("text/plain"), answer("text/plain; charset=a; charset=b"),
        answer("text/\u{1B}[2J; charset=x"), answer("; charset=x"),
    ])
    func oneThatSaysWhatNoneSays(script: String) throws {
        #expect(try failure(fakes(Self.begun + script)) == .confused)
    }

    @Test func someThatAreGone() throws {
        let flag = scratch.path("gone").string
        let script = "if mkdir '\(flag)1' 2>/dev/null || mkdir '\(flag)2' 2>/dev/null; then exit 1; fi; "
        #expect(try type(fakes(script + Self.begun + Self.answer())).type == "text/plain")
        #expect(scratch.exists("gone2"))
        #expect(try failure(fakes("exit 1")) == .unavailable(.noChildProcess))
        #expect(try failure(helpers(["/nowhere/dropmill"], patience: 500)) == .unavailable(.noChildProcess))
    }

    /// Rules that are not there are the machine's trouble, and looked for again.
    @Test func withoutRules() throws {
        let rules = scratch.path("rules").string
        // The real program, which would otherwise take the machine's.
        let command = ["/usr/bin/env", "MAGIC=\(rules)", program, "type-worker"]
        let helpers = helpers(command)
        guard case .unloaded(let words) = try failure(helpers) else {
            Issue.record("it has no rules")
            return
        }
        #expect(!words.isEmpty)
        try scratch.write("0 string %PDF of ours\n!:mime application/ours\n", to: "rules")
        #expect(try type(helpers).type == "application/ours")
    }

    /// The same for the library.
    @Test func withoutLibmagic() throws {
        try scratch.write("none", to: "libraries/libmagic.so.1")
        let variable = "LD_LIBRARY_PATH=" + scratch.path("libraries").string
        let helpers = helpers(["/usr/bin/env", variable, program, "type-worker"])
        guard case .unloaded(let words) = try failure(helpers) else {
            Issue.record("it has no library")
            return
        }
        #expect(words.contains("libmagic.so.1") && words.contains("(libmagic1)"))
        try Folder.remove(scratch.path("libraries"))
        #expect(try type(helpers).type == "application/pdf")
    }

    @Test func nobodyKeepsWhatNobodyAsks() async throws {
        let helpers = helpers([program, "type-worker"], idleTime: 20)
        _ = try type(helpers)
        #expect(try await eventually { try running().isEmpty })
        #expect(try type(helpers).type == "application/pdf")
    }

    /// What is asked at once is asked of several.
    @Test func severalAtOnce() async throws {
        let helpers = real
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try (0..<20).map { _ in try type(helpers).type }.last ?? "" } }
            for try await type in group { #expect(type == "application/pdf") }
        }
        #expect(try servers().count == 1)
    }

    /// All that a helper calls once it is confined, over whatever lies on this machine: nothing that takes a path.
    @Test(.enabled(if: Tool.find("strace") != nil, Comment(rawValue: Tool.skip("strace"))))
    func itCallsNothingElse() throws {
        let strace = try #require(Tool.find("strace"))
        let trace = scratch.path("trace")
        let helpers = helpers([
            strace.path.string, "-D", "-f", "-qq", "-o", trace.string, program, "type-worker",
        ])
        for folder in ["/usr/bin", "/usr/share", "/etc"] {
            for file in try FileTree.list(FilePath(folder)).files.prefix(3000).enumerated() where file.offset % 30 == 0
            {
                let source = try OpenFile.open(FilePath(folder).pushing(file.element.relative), O_RDONLY | O_NONBLOCK)
                _ = try helpers.type(of: source.descriptor)
            }
        }
        let calls = Set(try #require(TracedCalls.confined(in: scratch.text("trace"))).map(TracedCalls.name))
        let expected: Set = [
            "recvmsg", "sendmsg", "close", "lseek", "read", "pread64", "fstat", "newfstatat", "brk", "mmap", "munmap",
            "mremap", "mprotect", "madvise", "futex", "getrandom", "gettid",
        ]
        #expect(calls.subtracting(expected) == [])
        #expect(calls.isSuperset(of: ["recvmsg", "sendmsg", "read"]))
    }
}
