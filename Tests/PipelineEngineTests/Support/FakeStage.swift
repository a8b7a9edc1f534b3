import PipelineKit
import SystemPackage

/// A stage that does what a test says.
struct FakeStage: Stage {
    typealias Body = @Sendable (Payload, StageContext) throws(Failure) -> Payload

    static let descriptor = StageDescriptor(kind: "fake", summary: "Does what a test says", example: "fake")
    let body: Body

    init(_ body: @escaping Body) { self.body = body }

    init(options: StageOptions) throws(OptionProblem) {
        self.init { (payload, _) throws(Failure) in payload }
    }

    func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try body(payload, context)
    }
}

extension StageEntry {
    static func fake(workers: Int = 1, when: Glob? = nil, _ body: @escaping FakeStage.Body) -> StageEntry {
        StageEntry(kind: "fake", stage: FakeStage(body), workers: workers, when: when.map { Condition(name: $0) })
    }

    /// May publish anywhere below a folder.
    static func publishing(below folder: FilePath) throws -> StageEntry {
        let target = PathTemplate(try Template("{name}", use: .path), below: folder)
        return StageEntry(kind: "fake", stage: passing.stage, targets: ["to": target])
    }

    /// Hands on what it gets.
    static var passing: StageEntry { .fake { (payload, _) throws(Failure) in payload } }
}
