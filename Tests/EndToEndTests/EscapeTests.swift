import Glibc
import SystemPackage
import TestSupport
import Testing

/// Hostile archives go through the real program, whose whole root is an overlay: every write of any process, wherever
/// it goes, is seen in its upper layer.
@Suite(.enabled(if: OverlayRoot.isPossible, "needs root and overlayfs")) struct EscapeTests {
    @Test func nothingIsWrittenElsewhere() throws {
        let scratch = try ScratchFolder()
        let victim = try scratch.write("as it was", to: "victim")
        for folder in ["site/inbox", "site/pipelines"] { try scratch.makeFolder(folder) }
        let archives = HostileArchives.all(victim: victim.string)
        for (name, bytes) in archives { try scratch.write(bytes, to: scratch.path("site/inbox/\(name)")) }
        var good = ZipBuilder()
        good.add("folder/file", content: "good")
        try scratch.write(good.finished, to: scratch.path("site/inbox/really-good.zip"))
        let site = scratch.path("site").string
        let pipeline = """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            ready: { quiet: 50ms }
            retry: { attempts: 1 }
            stages:
              - unpack
              - move: { to: "../output/{stem}" }

            """
        try scratch.write(pipeline, to: "site/pipelines/main.yaml")
        let run = try OverlayRoot.run(
            [DropmillProcess.binary.string, "run", "--once", "--state", "\(site)/state", "\(site)/pipelines"],
            in: scratch)
        #expect(run.status == 1, "\(run.text)")

        let seen = try scratch.text("seen").split(separator: "\n").map(String.init)
        let below = ".\(site)"
        // The folders on the way there are copied up with it.
        let outside = seen.filter { line in
            let path = String(line.dropFirst(2))
            return !path.hasPrefix(below + "/") && !(below + "/").hasPrefix(path == "." ? "." : path + "/")
        }
        #expect(outside == [])
        #expect(!seen.contains { $0.contains("escaped") })
        // Whiteouts and devices are `c`, named pipes `p`, sockets `s`: only the inbox's files, which were moved.
        let odd = seen.filter { !["d", "f", "c"].contains($0.prefix(1)) }
        #expect(odd == [])
        let published = seen.filter { $0.hasPrefix("f \(below)/output/") }
        #expect(published == ["f \(below)/output/really-good/folder/file"])
        let failed = seen.count { $0.hasPrefix("f \(below)/failed/") && !$0.hasSuffix(".error.json") }
        #expect(failed == archives.count, "\(run.text)")
        #expect(try scratch.text("victim") == "as it was")
    }
}

/// An overlay as the root of a program, in a mount namespace of its own.
private enum OverlayRoot {
    /// Whether an overlay of the root can be mounted, in a mount namespace of its own.
    static let isPossible: Bool = {
        guard geteuid() == 0, Tool.find("unshare") != nil else { return false }
        do {
            let scratch = try ScratchFolder()
            return try run(["/bin/true"], in: scratch).status == 0
        } catch {
            return false
        }
    }()

    /// Runs a program with an overlay as its root. The names of all that it wrote are in `seen` afterwards.
    static func run(_ command: [String], in scratch: ScratchFolder) throws -> Tool.Output {
        let script = """
            set -e
            layer=$1; seen=$2; shift 2
            mkdir -p "$layer"
            mount -t tmpfs layer "$layer"
            mkdir "$layer/up" "$layer/work" "$layer/root"
            mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/up,workdir=$layer/work" "$layer/root"
            for place in /proc /dev; do mount --rbind $place "$layer/root$place"; done
            status=0
            chroot "$layer/root" "$@" || status=$?
            (cd "$layer/up" && find . -printf '%y %p\\n') >"$seen"
            exit $status
            """
        let layer = scratch.path("layer").string
        let words = ["-m", "/bin/sh", "-c", script, "sh", layer, scratch.path("seen").string]
        return try Tool(#require(Tool.find("unshare")).path).run(words + command)
    }
}
