import BuiltinStages
import Control
import Files
import Glibc
import PipelineConfig
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand

/// What a daemon tells of a pipeline's file, whatever has become of it on disk.
@Suite(.timeLimit(.minutes(2))) struct FileLookTests {
    private static let text = """
        inbox: in # ours
        processed: done
        failed: failed
        stages:
          - run:
              command: [echo, "{name}"]
              env: { KEY: s3cr3t } # kept
        """
    private let scratch: ScratchFolder
    private let file: FilePath
    private let reloader: Reloader

    init() throws {
        scratch = try ScratchFolder()
        file = try scratch.write(Self.text, to: "pipelines/a.yaml")
        let (paths, loader) = ([scratch.path("pipelines")], PipelineArguments.loader(.builtin))
        let lookout = Lookout(label: "reading")
        reloader = Reloader(
            paths, settings: .beside, loader: loader, loaded: try PipelineReading(paths, by: loader, lookout),
            ServiceSettings(), lookout, report: { _ in })
    }

    private func told() throws -> FileVerb.File { FileVerb.File(try #require(reloader.file(file))) }

    /// Something else in the file's place.
    private func replace(_ make: (String) -> Int32) throws {
        try Folder.remove(file)
        try #require(make(file.string) == 0)
    }

    private func lines(_ file: FileVerb.File, only place: FileVerb.Line.Place? = nil) -> [String] {
        file.lines.filter { $0.only == place }.map(\.text)
    }

    @Test func asItIsLoaded() throws {
        let told = try told()
        #expect(told.disk == .same && told.changed == nil && told.reason == nil && told.more == nil)
        #expect(Array(told.path) == file.absolute.bytes && told.loaded > 0)
        #expect(
            lines(told)
                == Self.text.replacing("s3cr3t", with: "•••").replacing("# kept", with: "# •••")
                .split(separator: "\n").map(String.init))
        #expect(reloader.file(scratch.path("pipelines/b.yaml")) == nil)
    }

    @Test func whatDiffersOnDisk() throws {
        try scratch.write(
            Self.text.replacing("s3cr3t", with: "0ther").replacing("done", with: "kept"), to: "pipelines/a.yaml")
        let told = try told()
        #expect(told.disk == .changed && told.changed != nil && told.reason == nil)
        let key = "      env: { KEY: ••• } # •••"
        #expect(lines(told, only: .loaded) == ["processed: done", key])
        #expect(lines(told, only: .disk) == ["processed: kept", key])
        #expect(lines(told).count == 5)
    }

    @Test(arguments: ["a: [s3cr3t", "a: !s3cr3t b", "", "a: 1\n--- s3cr3t", "\u{7}s3cr3t"])
    func whatIsNoYAMLIsNotTold(text: String) throws {
        try scratch.write(text, to: "pipelines/a.yaml")
        let told = try told()
        #expect(told.disk == .unreadable && told.reason?.contains("as YAML") == true && told.changed != nil)
        #expect(lines(told).count == 7 && !"\(told)".contains("s3cr3t"))
    }

    @Test(arguments: [
        ("gone", "No such file"), ("fifo", "is no regular file"), ("folder", "folder"), ("link", "No such file"),
        ("open", "is writable by everybody"),
    ])
    func whatIsNoFileIsNotRead(kind: String, reason: String) throws {
        try replace { path in
            switch kind {
            case "fifo": mkfifo(path, 0o600)
            case "folder": mkdir(path, 0o700)
            case "link": symlink("nowhere", path)
            default: 0
            }
        }
        if kind == "open" {
            try scratch.write("a: s3cr3t", to: "pipelines/a.yaml")
            try #require(chmod(file.string, 0o666) == 0)
        }
        let told = try told()
        #expect(told.disk == .gone && told.reason?.contains(reason) == true, "\(told.reason ?? "")")
        #expect(lines(told).count == 7 && !"\(told)".contains("s3cr3t"))
    }

    @Test func manyLinesAreCut() throws {
        try scratch.write(Self.text + "\n" + String(repeating: "#\n", count: 20_000), to: "pipelines/a.yaml")
        let told = try told()
        #expect(told.lines.count == 10_000 && told.more == 7 + 20_001 - 10_000)
        // No longer than an answer may be, either.
        try scratch.write(
            Self.text + "\n# " + String(repeating: "\"", count: 1 << 19) + "\n# "
                + String(repeating: "\\", count: 1 << 18),
            to: "pipelines/a.yaml")
        #expect(ControlLine.bytes(of: try self.told()).count < ControlLine.longestReply)
    }

    @Test(.enabled(if: SilentMount.isPossible, Comment(rawValue: SilentMount.skip)))
    func aDiskThatDoesNotAnswerIsNotWaitedFor() throws {
        let mount = try SilentMount(at: scratch.path("mount"))
        try replace { symlink(mount.path.appending("a.yaml").string, $0) }
        let told = try told()
        #expect(told.disk == .silent && told.reason == "'\(file.text)' does not answer")
        #expect(lines(told).count == 7)
        mount.giveUp()
    }
}
