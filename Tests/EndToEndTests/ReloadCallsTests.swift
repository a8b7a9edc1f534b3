import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// What a reload does to the folders of pipelines that it leaves as they are: nothing, seen from the kernel.
@Suite(
    .timeLimit(.minutes(5)), .enabled(if: Tool.find("strace") != nil, Comment(rawValue: Tool.skip("strace"))))
struct ReloadCallsTests {
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try write("same")
        try write("other")
    }

    private func write(_ name: String, more: String = "") throws {
        let folders = "inbox: \(name)/in\nprocessed: \(name)/done\nfailed: \(name)/failed\n"
        try scratch.write(
            folders + "ready: { quiet: 50ms }\nstages: [move: { to: \(name)/out }]\n\(more)",
            to: "pipelines/\(name).yaml")
    }

    private func reload() throws -> String {
        try Tool(DropmillProcess.binary).run(["reload"], in: scratch.path).text
    }

    @Test func unchangedFoldersAreNotTouched() async throws {
        let strace = try #require(Tool.find("strace"))
        try scratch.makeFolder("pipelines/same/out")
        let trace = scratch.path("trace")
        var daemon = try DropmillProcess(
            ["run"], in: scratch.path, log: scratch.path("log"),
            // `-D`: the daemon is our child, and strace its.
            wrapper: [
                strace.path.string, "-D", "-f", "-q", "-y", "-s", "64", "-e", "trace=%file,%desc,%network", "-o",
                trace.string,
            ])
        try #require(await eventually { scratch.exists(".dropmill-state/control.sock") })
        try scratch.write("x", to: "pipelines/same/in/one")
        #expect(await eventually { scratch.exists("pipelines/same/out/one") })

        func lines() throws -> String { String(decoding: try ScratchFolder.read(trace), as: UTF8.self) }
        // Where the folders are is noted behind the start, those of outputs last.
        #expect(try await eventually { Self.hasNoted("same/out", in: try lines()) })
        for round in 1...Self.rounds {
            #expect(try reload().contains("other: unchanged"))
            try write("other", more: "active: { jobs: \(round) }\n")
            #expect(try reload().contains("other: changed (active)"))
            try write("new-\(round)")
            #expect(try reload().contains("new-\(round): added"))
        }
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0, "\(daemon.transcript)")
        #expect(
            try await eventually {
                try lines().split(separator: "\n").contains {
                    $0.hasPrefix("\(daemon.id) ") && $0.hasSuffix("+++ exited with 0 +++")
                }
            })

        let reloads = Self.reloads(in: try lines())
        #expect(reloads.count == 3 * Self.rounds)
        for kind in 0..<3 {
            // Every few seconds the daemon looks whether its inboxes are there, which may fall into one.
            let same = reloads.enumerated().filter { $0.offset % 3 == kind }.map { reload in
                reload.element.filter { Self.names($0, "same/") }
            }
            let least = same.min { $0.count < $1.count } ?? []
            #expect(least == [], "\(["nothing", "another", "one more"][kind])")
        }
        let changed = reloads.enumerated().filter { $0.offset % 3 == 1 }.map(\.element)
        #expect(changed.allSatisfy { $0.contains { Self.names($0, "other/") } }, "the test must be able to see")
    }

    private static let rounds = 3

    /// Whether the call is on this folder, or on anything in it; what a pipeline file says of it is text.
    private static func names(_ call: Substring, _ folder: String) -> Bool {
        call.contains("/\(folder)") || call.contains("\"\(folder)")
    }

    /// Whether a folder was resolved after the control socket was there.
    private static func hasNoted(_ folder: String, in trace: String) -> Bool {
        trace.split(separator: "\n").drop { !($0.contains("bind(") && $0.contains("control.sock")) }
            .contains { $0.contains("readlink(") && names($0, folder) }
    }

    /// The calls of each reload: from its request to its answer.
    private static func reloads(in trace: String) -> [[Substring]] {
        var reloads: [[Substring]] = []
        var isAsked = false
        for line in trace.split(separator: "\n") {
            if line.contains(#"\"verb\":\"reload\""#), line.contains("recv") {
                reloads.append([])
                isAsked = true
            } else if isAsked, line.contains("send"), line.contains(#"\"changes\":"#) {
                isAsked = false
            } else if isAsked {
                reloads[reloads.count - 1].append(line)
            }
        }
        return reloads
    }
}
