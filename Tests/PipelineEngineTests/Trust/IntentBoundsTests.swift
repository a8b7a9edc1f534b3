import Files
import PipelineKit
import SystemPackage
import Testing

@testable import Journal
@testable import PipelineEngine

@Suite("Bounds of intents") struct IntentBoundsTests {
    private func bounds() throws -> IntentBounds {
        func stage(_ to: String) throws -> StageEntry {
            StageEntry(
                kind: "move", stage: StageEntry.passing.stage,
                targets: ["to": PathTemplate(try Template(to, use: .path), below: "/srv")])
        }
        return IntentBounds(
            of: Pipeline(
                name: "test", source: "test.yaml", inbox: "/srv/in", processed: .folder("/srv/processed"),
                failed: "/srv/failed", stages: [try stage("out/{stem}"), try stage("photos")]))
    }

    private func job() throws -> Job {
        let id = JobIDGenerator().next()
        let drop = Drop(name: try "a".fileName, size: 1, droppedAt: id.time)
        return Job(id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: "/srv/.dropmill/test/active/J")
    }

    private func allows(_ source: String, _ target: String) throws -> Bool {
        let intent = Intent(
            role: .output, source: FilePath(source), target: FilePath(target),
            identity: FileIdentity(device: 1, inode: 1))
        return try bounds().allow(intent, of: try job())
    }

    @Test(
        "Targets lie below the configured folders, or are one that has no placeholder",
        arguments: [
            ("/srv/processed/a", true), ("/srv/failed/x/y/a", true), ("/srv/out/a/b", true), ("/srv/photos", true),
            ("/srv/photos.2", true), ("/srv/photos.sha256", true), ("/srv/photos/a", true), ("/srv/out/..a", true),
            ("/srv/processed", false), ("/srv/out", false), ("/srv/out-evil/a", false), ("/srv/photos-evil", false),
            ("/srv/out/../../etc/cron.d/a", false), ("/srv/out/..", false), ("/srv/out/./a", false),
            ("/etc/passwd", false),
            ("srv/out/a", false), ("out/a", false), ("/", false), ("", false), ("/srv/photos.2/a", false),
            ("/etc/../srv/out/a", false), ("/srv/in/a", false),
        ])
    func targets(path: String, isAllowed: Bool) throws {
        #expect(try allows("/srv/.dropmill/test/active/J/a", path) == isAllowed)
    }

    @Test(
        "Sources lie below the job's own folder",
        arguments: [
            ("/srv/.dropmill/test/active/J/.1-unpack/x/a", true), ("/srv/.dropmill/test/active/J", false),
            ("/srv/.dropmill/test/active/JJ/a", false), ("/srv/.dropmill/test/active/J/../K/a", false),
            ("/srv/.dropmill/test/active/K/a", false), ("/etc/shadow", false),
        ])
    func sources(path: String, isAllowed: Bool) throws {
        #expect(try allows(path, "/srv/processed/a") == isAllowed)
    }

    @Test("Whatever is allowed lies below a folder once its path is put in order, and below none where dots lead up")
    func property() throws {
        let parts = ["..", ".", "a", "out", "srv", "out-evil", "etc"]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5_000 {
            let tail = (0..<Int.random(in: 1...5, using: &generator)).map { _ in parts.randomElement() ?? "a" }
            let path = "/srv/out/" + tail.joined(separator: "/")
            let isOrdered = !tail.contains("..") && !tail.contains(".")
            #expect(try allows("/srv/.dropmill/test/active/J/a", path) == isOrdered, "\(path)")
        }
    }
}
