import Completeness
import Files
import FolderWatch
import Glibc
import SystemPackage
import TestSupport
import Testing

/// The processes that look at strangers' files: what they say, and what comes of one that does not.
@Suite("Helpers that look at formats", .timeLimit(.minutes(10))) struct FormatHelperTests {
    private let scratch: ScratchFolder
    /// The program under a name of this test's own, by which it finds its processes.
    private let program: String

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write("%PDF-1.7\n", to: "file")
        try scratch.link("dropmill", to: DropmillProcess.binary.string)
        program = scratch.path("dropmill").string
    }

    private var real: FormatHelpers { FormatHelpers(program: FilePath(program), arguments: ["format-worker"]) }

    /// Helpers that are a shell once they are asked.
    private func fakes(_ script: String) -> FormatHelpers {
        let begun = #"head -c1 <&3 >/dev/null; printf '\005\0\0\0\0\0\0\0begun' >&3; "#
        return FormatHelpers(
            program: DropmillProcess.built("served"), arguments: ["/bin/sh", "-c", begun + script])
    }

    private func verdict(
        _ helpers: FormatHelpers, seconds: Int64 = 60, unless isStopped: () -> Bool = { false }
    ) throws -> Verdict {
        let file = try OpenFile.open(scratch.path("file"), O_RDONLY)
        return try helpers.verdict(on: file.descriptor, seconds: seconds, unless: isStopped)
    }

    private func failure(_ helpers: FormatHelpers, seconds: Int64 = 60) throws -> String {
        do {
            let verdict = try verdict(helpers, seconds: seconds)
            Issue.record("it was told: \(verdict)")
            return ""
        } catch let failure as FormatFailure {
            return failure.text
        }
    }

    @Test("One looks at many files, and says what each lacks")
    func looks() throws {
        let helpers = real
        #expect(try verdict(helpers).lack == "a PDF without its %%EOF")
        try scratch.write("[1, 2", to: "file")
        #expect(try verdict(helpers).lack == "a JSON document without its closing bracket")
        try scratch.write("[1, 2]", to: "file")
        #expect(try verdict(helpers) == .whole)
        try scratch.write("text", to: "file")
        #expect(try verdict(helpers) == .unknown)
        let running = try ProcessList.children(of: getpid(), startedWith: program, named: "dropmill-helper")
        #expect(running.count == 1)
    }

    @Test("One that crashes, hangs or says nonsense is no answer")
    func fails() throws {
        #expect(try failure(fakes("kill -SEGV $$")).contains("signal 11"))
        #expect(try failure(fakes("exit 3")).contains("exited early"))
        #expect(try failure(fakes("sleep 1000"), seconds: 1) == "checking it took longer than 1 s")
        #expect(try failure(fakes("printf nonsense >&3; sleep 1000")).contains("invalid answer"))
        #expect(throws: FormatFailure.self) { try verdict(fakes("sleep 1000"), unless: { true }) }
        #expect(
            try failure(FormatHelpers(program: "/nowhere", arguments: [], patience: 500)).contains("cannot be started"))
    }

    @Test("It calls nothing that takes a path", .enabled(if: Tool.find("strace") != nil, "needs strace"))
    func isConfined() throws {
        let strace = try #require(Tool.find("strace"))
        let trace = scratch.path("trace")
        let helpers = FormatHelpers(
            program: strace.path,
            arguments: ["-D", "-f", "-qq", "-o", trace.string, program, "format-worker"])
        for sample in Sample.all {
            guard let bytes = try sample.make(in: scratch, Sample.sizes.small) else { continue }
            try scratch.write(bytes, to: scratch.path("file"))
            #expect(try verdict(helpers) == .whole)
            try scratch.write(Array(bytes.dropLast(bytes.count / 3)), to: scratch.path("file"))
            #expect(try verdict(helpers).lack != nil || sample.seams == nil, "\(sample.name)")
        }
        // The C library asks how the kernel shares out memory, and is refused.
        let lines = try #require(TracedCalls.confined(in: scratch.text("trace"))).filter {
            !($0.hasPrefix("openat(") && $0.contains("/proc/sys/vm/overcommit_memory") && $0.contains("EACCES"))
        }
        let calls = Set(lines.map(TracedCalls.name))
        let expected: Set = [
            "recvmsg", "sendmsg", "close", "lseek", "pread64", "brk", "mmap", "munmap", "mremap", "mprotect", "madvise",
            "futex", "getrandom", "gettid",
        ]
        #expect(calls.subtracting(expected) == [])
        #expect(calls.isSuperset(of: ["recvmsg", "sendmsg", "pread64"]))
    }
}
