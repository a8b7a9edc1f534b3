import Glibc
import SystemPackage
import TestSupport
import Testing

/// libarchive, libcurl, libmagic and libpq bring many others along: who needs none of them has none of them in memory.
@Suite(.timeLimit(.minutes(5))) struct LoadedLibrariesTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func write(_ stage: String) throws {
        try scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            ready: { quiet: 20ms }
            stages: [\(stage), move: { to: ../output }]

            """, to: "pipelines/main.yaml")
    }

    /// Helpers and their server have what they need, but the daemon that has them work for it does not.
    @Test(arguments: [
        ("checksum", []), ("unpack", []), ("detect", []), ("compress: { format: zip }", ["libarchive"]),
        ("http: { url: \"http://127.0.0.1:9/{name}\" }", ["libcurl"]),
    ])
    func daemonsHaveWhatTheyNeed(stage: String, expected: [String]) async throws {
        try write(stage)
        if expected != ["libcurl"] { try scratch.write("content", to: "inbox/drop.txt") }
        var daemon = try DropmillProcess(["run", "--log-format", "json"], in: scratch.path, log: scratch.path("log"))
        #expect(
            await eventually {
                expected == ["libcurl"]
                    ? (try? daemon.hasLogged("started")) == true
                    : (try? scratch.tree("output"))?.isEmpty == false
            }, "\(daemon.transcript)")
        let maps = String(decoding: try ScratchFolder.read(FilePath("/proc/\(daemon.id)/maps")), as: UTF8.self)
        #expect(maps.contains("/libcrypto.so"))
        #expect(["libarchive", "libcurl", "libmagic", "libpq"].filter { maps.contains("/\($0).so") } == expected)
        try daemon.end()
    }

    /// What the pipeline needs and the machine does not have is named before anything begins, and so is the remedy.
    @Test(arguments: [
        ("compress", "libarchive.so.13", "libarchive13"),
        ("http: { url: \"https://example.org/{name}\" }", "libcurl.so.4", "libcurl4"),
    ])
    func missingOnesAreNamed(stage: String, library: String, package: String) throws {
        try write(stage)
        // The linker takes the first that it finds.
        try scratch.write("none", to: "libraries/\(library)")
        let variable = "LD_LIBRARY_PATH=" + scratch.path("libraries").string
        var check = try DropmillProcess(
            ["check", "pipelines"], in: scratch.path, log: scratch.path("log"), wrapper: ["/usr/bin/env", variable])
        #expect(try check.wait() != 0)
        let text = try check.text()
        #expect(text.contains("cannot be loaded") && text.contains(library) && text.contains("(\(package))"), "\(text)")
    }
}
