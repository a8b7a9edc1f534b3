import Files
import SystemPackage
import TestSupport
import Testing

/// What a mill does to the process that it is in, seen in one that sets up nothing (`Tests/embedder`).
@Suite struct EmbedderTests {
    private let scratch: ScratchFolder
    private let archive: FilePath

    init() throws {
        scratch = try ScratchFolder()
        var zip = ZipBuilder()
        zip.add("letters/a", content: "hello")
        zip.add("letters/b", content: String(repeating: "b", count: 4000))
        archive = try scratch.write(zip.finished(), to: scratch.path("a.zip"))
    }

    private func run(_ mode: String) throws -> Tool.Output {
        try Tool(DropmillProcess.built("embedder")).run([mode, scratch.path.string, archive.string])
    }

    /// A broken lease raises a signal, which must not end a process that knows nothing of leases.
    @Test func outlivesBrokenLeases() throws {
        let output = try run("lease")
        #expect(output.status == 0 && output.text == "alive\n", "\(output)")
    }

    @Test func outlivesDyingHelpers() throws {
        let output = try run("dying")
        #expect(output.status == 0 && output.text == "alive\n", "\(output)")
    }

    @Test func givesEverythingBack() throws {
        let output = try run("cycles")
        #expect(output.status == 0 && output.text == "as before\n", "\(output)")
    }
}
