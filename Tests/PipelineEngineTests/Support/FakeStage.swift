import PipelineKit
import SystemPackage

/// A stage that does what a test says.
struct FakeStage: OwnStage {
    typealias Body = @Sendable (Payload, StageContext) throws(Failure) -> Payload

    static let descriptor = StageDescriptor(kind: "fake", summary: "Does what a test says", example: "fake")
    /// The same by the content alone.
    typealias Pass = @Sendable (Payload, [UInt8]) -> Payload?

    let body: Body
    private let pass: Pass?
    let tellsJob: Bool

    init(_ body: @escaping Body, quickly pass: Pass? = nil, tellsJob: Bool = false) {
        self.body = body
        self.pass = pass
        self.tellsJob = tellsJob
    }

    init(options: StageOptions) throws(OptionProblem) {
        self.init { (payload, _) throws(Failure) in payload }
    }

    func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try body(payload, context)
    }

    var isQuick: Bool { pass != nil }

    func pass(_ payload: Payload, of job: Job, holding content: SmallContent) -> Payload? {
        pass?(payload, Array(content.bytes))
    }
}

extension StageEntry {
    static func fake(workers: Int = 1, when: Glob? = nil, _ body: @escaping FakeStage.Body) -> StageEntry {
        StageEntry(kind: "fake", stage: FakeStage(body), workers: workers, when: when.map { Condition(name: $0) })
    }

    /// Needs only the content of small drops.
    static func quick(_ body: @escaping FakeStage.Body, _ pass: @escaping FakeStage.Pass) -> StageEntry {
        StageEntry(kind: "fake", stage: FakeStage(body, quickly: pass))
    }

    /// May publish anywhere below a folder.
    static func publishing(below folder: FilePath) throws -> StageEntry {
        let target = PathTemplate(try Template("{name}", use: .path), below: folder)
        return StageEntry(kind: "fake", stage: passing.stage, targets: ["to": target])
    }

    /// Hands on what it gets.
    static var passing: StageEntry { .fake { (payload, _) throws(Failure) in payload } }
}
