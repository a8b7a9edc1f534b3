import BuiltinStages
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineConfig

/// No problem of a file quotes a secret of it, wherever that stands and however the file is damaged.
@Suite struct SecretProblemTests {
    private static let marker = "Zq7Xw9Kj2v"

    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write("inbox: in\nprocessed: done\nfailed: failed\nstages: [checksum]\n", to: "pipelines/a.yaml")
        try scratch.write(Self.marker, to: "open")
        chmod(scratch.path("open").string, 0o644)
    }

    /// What is wrong with a pipeline of these stages, with settings that have this, or with either as it stands.
    private func problems(_ text: String, settings: Bool) -> String {
        let file = scratch.path(settings ? "pipelines/dropmill.yaml" : "pipelines/a.yaml")
        let loader = PipelineLoader(registry: .builtin, environment: [:], cores: 2)
        var files = PipelineFiles()
        let read = PipelineFiles.File(path: file, text: Array(text.utf8), changed: FileTime(timespec()))
        if settings { files.settings = read } else { files.all = [read] }
        do throws(ConfigProblems) {
            _ = try loader.load(files)
            return ""
        } catch {
            return "\(error)"
        }
    }

    private static let head = "inbox: in\nprocessed: done\nfailed: failed\n"

    @Test(arguments: [
        #"http: { url: "https://h.example/x", headers: { "Authorization: Bearer MARK" } }"#,
        #"http: { url: "https://h.example/x", headers: { "MARK", "MARK" } }"#,
        #"http: { url: "https://h.example/x", headers: { "X-Key: MARK": 1, "X-Key: MARK": 2 } }"#,
        #"http: { url: "https://h.example/x", headers: "Authorization: Bearer MARK" }"#,
        #"http: { url: "https://h.example/x", "Authorization: Bearer MARK": 1 }"#,
        #"http: { url: "https://h.example/x", "MARK" }"#,
        #"http: "https://u:MARK@h.example/x""#, #"http: ["https://u:MARK@h.example/x"]"#, "http: MARK",
        #"http: { url: "https://u:my MARK@h.example/x" }"#, #"http: { url: "https://u:MARK word@h.example/x" }"#,
        #"http: { url: "https://u:MARK/a@h.example/x" }"#, #"http: { url: "https://u:a#MARK@h.example/x" }"#,
        #"http: { url: "https://u:a?MARK@h.example/x" }"#, #"http: { url: "u:MARK@h.example/x" }"#,
        #"http: { url: "ftp://u:p@h.example/MARK" }"#, #"http: { url: "https://u:p@h:44x3/MARK" }"#,
        #"http: { url: "https://u:MARK" }"#, #"http: { url: "https:/u:MARK@/" }"#, #"http: { url: "MARK" }"#,
        #"http: { url: "https://u:MARK@{name}/x" }"#, #"http: { url: "ftp://u:MARK@h/x" }"#,
        #"http: { url: "https://h.example/?t=MARK{" }"#, #"http: { url: "https://u:{MARK@h}.example" }"#,
        #"http: { url: "https://h.example/?t=MARK", method: "https://u:MARK@h/" }"#,
        #"http: { url: "https://h.example/", connect_timeout: "Bearer MARK" }"#,
        #"http: { url: "https://h.example/", insecure: "Authorization: MARK" }"#,
        #"run: { command: x, env: { "TOKEN=MARK" } }"#, #"run: { command: x, env: "TOKEN=MARK" }"#,
        #"run: { command: x, env: { "TOKEN=MARK": 1 } }"#, #"run: { command: x, env: ["TOKEN=MARK"] }"#,
        #"run: { command: x, env: { TOKEN: [MARK] } }"#, #"run: { command: x, "TOKEN=MARK": 1 }"#,
        #"run: { command: "curl -H 'Authorization: Bearer MARK' https://u:MARK@h" }"#,
        #"run: { command: "TOKEN=MARK curl" }"#, #"run: "TOKEN=MARK curl""#, #"run: "curl https://h/?t=MARK""#,
        #""TOKEN=MARK""#, #""Authorization: Bearer MARK""#, #""https://u:MARK@h/x""#, #"{ "TOKEN=MARK": 1 }"#,
        #"{ run: { command: x }, "TOKEN=MARK": 1 }"#, #"{ "Authorization: MARK": 1, http: 2 }"#,
        #"move: { to: "https://u:MARK@h/{nmae}" }"#, #"move: "https://u:MARK@h/x""#,
        #"move: { to: x, when: { larger: "https://u:MARK@h/x" } }"#, #"move: { to: x, workers: "TOKEN=MARK" }"#,
        #"http: { url: "https://h/", headers: { Authorization: "Bearer ${T-MARK}${MARK-x}" } }"#,
        #"http: { url: "https://h/", headers: { Authorization: "Bearer ${env:MARK }" } }"#,
        #"http: { url: "https://h/", headers: { Authorization: "${file:open}" } }"#,
        #"http: { url: &a "https://u:MARK@h/x", headers: *a }"#, #"http: &b { url: "https://u:MARK@h/x", ca: *b }"#,
        #"http: { url: !x "https://u:MARK@h/x" }"#, #"http: { url: "https://u:MARK@h/x }"#,
        #"http: { url: https://u:MARK@h/x, headers: { A: "Bearer MARK } }"#, #"http: { url: *MARK }"#,
    ])
    func stages(written: String) {
        let text = written.replacing("MARK", with: Self.marker)
        for head in ["\(Self.head)stages: [checksum]\non_failure:\n", "\(Self.head)stages:\n"] {
            for stage in ["  - \(text)\n", "  \(text)\n"] {
                let problems = problems(head + stage, settings: false)
                #expect(!problems.contains(Self.marker), "\(text): \(problems)")
            }
        }
        #expect(!problems(text, settings: false).contains(Self.marker))
    }

    /// Where a secret is to come from is no secret, and a person has to know it.
    @Test(arguments: [
        #"http: { url: "https://h/", headers: { Authorization: "Bearer ${file:/no/dropmill/secret/of token}" } }"#,
        #"http: { url: "https://u:${file:/no/dropmill/secret/of token}@h/" }"#,
        #"run: { command: x, env: { CONF: /no/dropmill, KIND: file, T: "${file:/no/dropmill/secret/of token}" } }"#,
    ])
    func references(stage: String) {
        let problems = problems("\(Self.head)stages:\n  - \(stage)\n", settings: false)
        #expect(problems.contains("the secret file '/no/dropmill/secret/of token'"), "\(problems)")
        let settings = "notify: { on: failed, to: { webhook: 'https://h/', headers: { A: 'Bearer ${env:NOPE}' } } }"
        #expect(self.problems(settings, settings: true).contains("variable 'NOPE' is not set"))
    }

    @Test(arguments: [
        #"https://hooks.example/MARK"#, #"{ on: failed, to: "https://hooks.example/MARK" }"#,
        #"{ on: failed, to: { webhook: "hooks.example/MARK" } }"#, #"{ ping: "https://hc.example/MARK" }"#,
        #"{ ping: { url: "hc.example/MARK" } }"#, #"{ ping: { url: "https://u:a MARK@h/" } }"#,
        #"{ on: failed, to: { webhook: "https://h/", headers: { "Authorization: Bearer MARK" } } }"#,
        #"{ on: failed, to: { webhook: "https://h/", headers: { "Authorization: Bearer MARK": 1 } } }"#,
        #"{ on: failed, to: { webhook: "https://h/", headers: "Authorization: Bearer MARK" } }"#,
        #"{ on: failed, to: { webhook: "https://h/", headers: { A: "${file:open}", A: MARK } } }"#,
        #"{ on: failed, to: { webhook: "https://h/", "https://u:MARK@h/" } }"#,
        #"{ on: "TOKEN=MARK", to: { run: x } }"#, #"{ on: { "TOKEN=MARK": 1 }, to: { run: x } }"#,
        #"{ on: failed, to: { mail: "https://u:MARK@h/" } }"#, #"{ on: failed, to: { mail: "Bearer MARK" } }"#,
        #"{ on: failed, to: { run: "curl -H 'Authorization: Bearer MARK'" } }"#,
        #"{ on: failed, to: { run: x }, digest: "TOKEN=MARK" }"#, #"{ on: failed, "Bearer MARK" }"#,
        #"{ on: failed, to: { ntfy: "https://u:MARK@h:x/" } }"#, #"{ on: failed, to: { ntfy: "https://u:MARK" } }"#,
    ])
    func notifications(written: String) {
        for text in ["notify: \(written)\n", "notify: [\(written)]\n", "'\(written)': 1\n"] {
            let problems = problems(text.replacing("MARK", with: Self.marker), settings: true)
            #expect(!problems.contains(Self.marker), "\(text): \(problems)")
        }
    }

    /// Whole files, with each of their signs left out, doubled, or something strange in its place.
    @Test(.timeLimit(.minutes(2))) func damaged() {
        let pipeline = """
            \(Self.head)stages:
              - http: { url: "https://u:MARK@h.example/?t=MARK", headers: { Authorization: "Bearer MARK" } }
              - run:
                  command: [curl, -H, "X-Token: MARK", "https://u:MARK@h.example/"]
                  env: { TOKEN: MARK, "B": 'MARK' }
            """
        let settings = """
            notify:
              - on: [failed]
                to: { webhook: "https://u:MARK@h.example/", headers: { Authorization: "Bearer MARK" } }
              - ping: { url: "https://hc.example/?k=MARK" }
            """
        var count = 0
        for (written, isSettings) in [(pipeline, false), (settings, true)] {
            let pieces = written.components(by: "MARK")
            for (part, piece) in pieces.enumerated() {
                for (place, index) in piece.indices.enumerated() {
                    let strays = ["", ":", ": ", " ", "\n", "\"", "'", "{", "}", "[", "*", "&", "|", "=", "\t", "#"]
                    // Each is put into a fifth of the places, and all of them into those around the signs of YAML.
                    let isSign = !piece[index].isLetter && !piece[index].isWhitespace
                    for (number, stray) in strays.enumerated() where isSign || (place + number) % 5 == 0 {
                        var damaged = pieces
                        damaged[part].replaceSubrange(index...index, with: stray)
                        let text = damaged.joined(separator: Self.marker)
                        let problems = problems(text, settings: isSettings)
                        count += problems.isEmpty ? 0 : 1
                        if problems.contains(Self.marker) { Issue.record("\(text)\n\(problems)") }
                    }
                }
            }
        }
        #expect(count > 1500, "most of them are refused")
    }

    @Test(arguments: [
        ("chekcsum", "unknown stage 'chekcsum'; did you mean 'checksum'?"),
        ("htpp: { url: \"https://u:MARK@h/\" }", "unknown stage 'htpp'; did you mean 'http'?"),
        ("http: { ulr: \"https://u:MARK@h/\" }", "stage 'http' has no option 'ulr'; did you mean 'url'?"),
        ("\"TOKEN=MARK\"", "unknown stage 'TOKEN=•••'"),
        ("http: \"https://u:MARK@h/\"", "stage 'http' takes a map of url"),
        ("move: { to: \"{nmae}\" }", "'to': unknown placeholder '{nmae}'; did you mean '{name}'?"),
    ])
    func slipsStayReadable(stage: String, said: String) {
        let problems = problems(
            "\(Self.head)stages:\n  - \(stage.replacing("MARK", with: Self.marker))\n", settings: false)
        #expect(problems.contains(said) && !problems.contains(Self.marker), "\(problems)")
    }
}

extension String {
    fileprivate func components(by separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
