import Files
import Testing

@Suite struct ScenarioParserTests {
    private func actions(_ text: String) throws -> [Scenario.Action] { try Scenario(text).steps.map(\.action) }

    @Test(
        arguments: [
            ("drop sample photos.zip", .dropSample("photos.zip", as: nil)),
            ("drop sample photos.zip as \"p\\n.zip\"", .dropSample("photos.zip", as: Array("p\n.zip".utf8))),
            ("drop \"V\\xEDc\" = \"a\\\"b\\\\\"", .drop([0x56, 0xED, 0x63], contents: Array("a\"b\\".utf8))),
            ("drop \"x\" * 3 + \".t\" = \"\"", .drop(Array("xxx.t".utf8), contents: [])),
            ("rename-in \"a\" = \"b\"", .renameIn([0x61], contents: [0x62])),
            ("write \"output/a\" = \"b\"", .write(Array("output/a".utf8), contents: [0x62])),
            ("link \"a\" -> \"/etc\"", .link([0x61], target: Array("/etc".utf8))),
            (
                "slowly \"a\" = 5 pieces \"b\" every 200ms",
                .slowly([0x61], pieces: 5, piece: [0x62], every: .milliseconds(200), reopened: false)
            ),
            (
                "slowly \"a\" = 2 pieces \"b\" every 1s reopened",
                .slowly([0x61], pieces: 2, piece: [0x62], every: .seconds(1), reopened: true)
            ),
            ("run once", .run(.once)),
            ("run check", .run(.check)),
            (#"run jobs --state failed "a b""#, .look(["jobs", "--state", "failed", "a b"])),
            ("run daemon", .startDaemon),
            ("stop", .stopDaemon),
            ("expect status 75", .expectStatus(75)),
            ("expect log processed \"a.txt\"", .expectLog(event: "processed", text: "a.txt")),
            ("expect no log failed", .expectNoLog(event: "failed", text: "")),
            ("expect text \"error: \"", .expectText("error: ")),
            ("expect file \"failed/a\" contains \"b\"", .expectFile(Array("failed/a".utf8), contains: [0x62])),
        ] as [(String, Scenario.Action)])
    func readsSteps(_ line: String, _ expected: Scenario.Action) throws {
        #expect(try actions("# what it shows\n\n\(line)\n") == [expected])
    }

    @Test func readsPipelines() throws {
        let text = """
            pipeline:
              stages:
                - unpack
            pipeline other:
              stages: []
            """
        #expect(
            try actions(text) == [
                .pipeline(name: "main", yaml: ["stages:", "  - unpack"]),
                .pipeline(name: "other", yaml: ["stages: []"]),
            ])
    }

    @Test func readsTrees() throws {
        let text = """
            expect tree:
              inbox/
              output/
                photos/
                  SHA256SUMS sha256 ok
                  "two words.txt" = "hello\\n"
                link -> "/etc"
                like "x*.sha256" sha256 ok
            stop
            """
        let parsed = try actions(text)
        guard case .expectTree(let tree) = parsed.first else {
            Issue.record("no tree")
            return
        }
        #expect(
            tree.entries == [
                .init(folder: "", name: .exact("inbox/"), detail: .none),
                .init(folder: "", name: .exact("output/"), detail: .none),
                .init(folder: "output/", name: .exact("photos/"), detail: .none),
                .init(folder: "output/photos/", name: .exact("SHA256SUMS"), detail: .checksums),
                .init(
                    folder: "output/photos/", name: .exact("two words.txt"), detail: .contents(Array("hello\n".utf8))),
                .init(folder: "output/", name: .exact("link"), detail: .target("/etc")),
                .init(folder: "output/", name: .like("x*.sha256"), detail: .checksums),
            ])
        #expect(parsed.last == .stopDaemon)
        #expect(
            tree.differences(from: [
                "inbox/", "output/", "output/photos/", "output/photos/SHA256SUMS", "output/more", "output/x1.sha256",
                "output/link",
            ]) == ["missing: output/photos/two words.txt", "unexpected: output/more"])
    }

    @Test(arguments: [
        ("dorp \"a\" = \"b\"", "line 1: unknown step 'dorp'"),
        ("\n  drop \"a\" = \"b\"", "line 2: an indented line"),
        ("drop \"a\"", "line 1: expected '='"),
        ("drop \"a\" = \"b", "a quotation mark is missing"),
        ("drop \"a\\q\" = \"b\"", "an unknown escape"),
        ("drop \"\\xG1\" = \"b\"", "two hexadecimal digits"),
        ("run twice", "run what?"),
        ("expect luck", "expect what?"),
        ("stop now", "'now' is too much"),
        ("expect status many", "is no number"),
        ("expect tree:\n  a/\n      b", "line 3: indent"),
        ("slowly \"a\" = 5 pieces \"b\" every 200", "is no duration"),
    ])
    func saysWhatIsWrong(_ text: String, _ expected: String) {
        let problem = #expect(throws: ScenarioProblem.self) { try Scenario(text) }
        #expect(problem?.description.contains(expected) == true, "\(problem.map { "\($0)" } ?? "")")
    }

    @Test func unescapesWhatIsShown() throws {
        let bytes: [UInt8] = Array("a\"b\\c\nd".utf8) + [0xED]
        #expect(try ScenarioWords.unescape(EscapedText.of(bytes)) == bytes)
    }
}
