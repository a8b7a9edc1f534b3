import PipelineKit
import SystemPackage
import Testing

private let here = SourcePosition(line: 3, column: 7)

private func node(_ text: String, quoted: Bool = false) -> OptionNode {
    OptionNode(.scalar(text, quoted: quoted), at: here)
}

private let list = OptionNode(.list([node("a"), node("b")]), at: here)
private let nothing = OptionNode(.null, at: here)
private let map = OptionNode(.map([OptionNode.Entry(key: "k", position: here, value: node("v"))]), at: here)

@Suite struct OptionNodeTests {
    private func problem(_ body: () throws -> Void) -> String? {
        let problem = #expect(throws: OptionProblem.self) { try body() }
        #expect(problem?.position == here)
        return problem?.message
    }

    @Test func readsTexts() throws {
        #expect(try node("a b").string() == "a b")
        #expect(try node("5").string() == "5")
        #expect(problem { _ = try list.string() } == "expected a string, found a list")
        #expect(problem { _ = try map.string() } == "expected a string, found a map")
        #expect(problem { _ = try nothing.string() } == "expected a string, found nothing")
    }

    @Test func readsTruthValues() throws {
        for text in ["true", "True", "TRUE"] { #expect(try node(text).bool()) }
        for text in ["false", "False", "FALSE"] { #expect(try !node(text).bool()) }
        #expect(problem { _ = try node("yes").bool() }?.hasSuffix("did you mean 'true'?") == true)
        #expect(problem { _ = try node("off").bool() }?.hasSuffix("did you mean 'false'?") == true)
        #expect(problem { _ = try node("1").bool() } == "expected true or false, found '1'")
        #expect(problem { _ = try node("true", quoted: true).bool() } != nil)
        #expect(problem { _ = try list.bool() } == "expected true or false, found a list")
    }

    @Test func readsWholeNumbers() throws {
        #expect(try node("5").integer(in: 1...5) == 5)
        #expect(problem { _ = try node("0").integer(in: 1...5) } == "expected at least 1, found 0")
        #expect(problem { _ = try node("6").integer(in: 1...5) } == "expected at most 5, found 6")
        for text in ["5.0", "five", "", "99999999999999999999"] {
            #expect(problem { _ = try node(text).integer(in: 1...5) } == "expected a whole number, found '\(text)'")
        }
        #expect(problem { _ = try node("5", quoted: true).integer(in: 1...5) } != nil)
    }

    @Test func readsQuantities() throws {
        #expect(try node("10MiB").size().bytes == 10 << 20)
        #expect(problem { _ = try node("10 apples").size() }?.contains("is not a size") == true)
        #expect(try node("15m").duration() == .seconds(900))
        #expect(problem { _ = try node("15").duration() }?.contains("is not a duration") == true)
    }

    @Test func readsChoices() throws {
        #expect(try node("rename").choice(of: Pipeline.ConflictPolicy.self) == .rename)
        #expect(
            problem { _ = try node("replce").choice(of: Pipeline.ConflictPolicy.self) }
                == "'replce' is not one of rename, replace, fail; did you mean 'replace'?")
        #expect(
            problem { _ = try node("zzzzz").choice(of: Pipeline.ConflictPolicy.self) }
                == "'zzzzz' is not one of rename, replace, fail")
    }

    @Test func readsPatternsAndTemplates() throws {
        #expect(try node("*.{a,b}").glob().pattern == "*.{a,b}")
        #expect(problem { _ = try node("{a").glob() }?.contains("close its braces") == true)
        #expect(try node("out/{stem}").template(for: .path).source == "out/{stem}")
        #expect(problem { _ = try node("{steam}").template(for: .path) }?.contains("did you mean '{stem}'?") == true)
    }

    @Test func oneValueIsAListOfOne() {
        #expect(node("a").members == [node("a")])
        #expect(list.members.count == 2)
        #expect(nothing.members.isEmpty)
        #expect(nothing.isNull && !list.isNull)
    }

    @Test func positionsOrderByLineThenColumn() {
        #expect(SourcePosition(line: 1, column: 9) < SourcePosition(line: 2, column: 1))
        #expect(SourcePosition(line: 2, column: 1) < SourcePosition(line: 2, column: 2))
    }
}

@Suite struct StageOptionsTests {
    private static let to = StageOption<PathTemplate>.folder("to", "the folder")
    private static let strict = StageOption<Bool>.flag("strict", "whether to mind", default: false)
    private static let conflict = StageOption<Pipeline.ConflictPolicy>.choice("conflict", "what then", default: .fail)
    private static let descriptor = StageDescriptor(
        kind: "move", summary: "Moves.", options: [to.erased, strict.erased, conflict.erased], example: "- move")

    private func read(_ entries: [(String, OptionNode)]) -> (options: StageOptions?, problems: [OptionProblem]) {
        StageOptions.read(
            entries.map { OptionNode.Entry(key: $0.0, position: SourcePosition(line: 9, column: 1), value: $0.1) },
            of: Self.descriptor, at: here, in: OptionContext(base: "/srv"))
    }

    @Test func givesValuesAndDefaults() throws {
        let (options, problems) = read([("to", node("out/{stem}")), ("strict", node("true"))])
        #expect(problems.isEmpty)
        let read = try #require(options)
        #expect(try read.value(Self.to).fixedFolder == "/srv/out")
        #expect(try read.value(Self.strict))
        #expect(try read.value(Self.conflict) == .fail)
        #expect(read.isGiven(Self.strict) && !read.isGiven(Self.conflict))
        #expect(read.problem("together").position == here)
    }

    @Test func nothingWrittenMeansTheDefault() throws {
        let (options, _) = read([("to", node("out")), ("strict", nothing)])
        #expect(try !(#require(options).value(Self.strict)))
    }

    @Test func reportsEveryProblem() {
        let (options, problems) = read([("strct", node("true")), ("strict", node("maybe")), ("conflict", list)])
        #expect(options == nil)
        #expect(
            problems.map(\.message) == [
                "stage 'move' has no option 'strct'; did you mean 'strict'?",
                "'strict': expected true or false, found 'maybe'",
                "'conflict': expected a string, found a list",
                "stage 'move' needs the option 'to': the folder",
            ])
        #expect(problems.first?.position == SourcePosition(line: 9, column: 1))
        #expect(problems.last?.position == here)
    }

    @Test func anUnknownKeyLearnsWhatThereIs() {
        let (_, problems) = read([("to", node("out")), ("zzzzzz", node("1"))])
        #expect(
            problems.map(\.message) == [
                "stage 'move' has no option 'zzzzzz'; it has to, strict, conflict, workers, timeout, retry, when"
            ])
    }

    @Test func aRequiredOptionMustHaveAValue() {
        #expect(read([("to", nothing)]).problems.map(\.message) == ["'to': expected a string, found nothing"])
    }

    @Test func describesItself() {
        #expect(Self.to.erased.isRequired && !Self.strict.erased.isRequired)
        #expect(Self.conflict.takes == "rename | replace | fail")
        #expect(Self.strict.fallbackText == "false")
    }
}
