import PipelineKit

/// Kinds with the shapes of options and effects that matter to pipeline files; the real ones are tested elsewhere.
enum FakeStages {
    static let registry = StageRegistry([Unpack.self, Checksum.self, Move.self])

    struct Unpack: Stage {
        static let strict = StageOption<Bool>.flag("require", "fail what is no archive", default: false)
        static let descriptor = StageDescriptor(
            kind: "unpack", summary: "Makes new files.", options: [strict.erased], effects: [.replacesPayload],
            example: "- unpack", conditions: ["archive"])

        init(options: StageOptions) throws(OptionProblem) { _ = try options.value(Self.strict) }

        func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload { payload }
    }

    struct Checksum: Stage {
        enum Algorithm: String, CaseIterable, Sendable { case sha256, md5 }

        static let algorithm = StageOption<Algorithm>.choice("algorithm", "which digest", default: .sha256)
        static let strict = StageOption<Bool>.flag("strict", "refuse weak digests", default: false)
        static let descriptor = StageDescriptor(
            kind: "checksum", summary: "Hashes.", options: [algorithm.erased, strict.erased], example: "- checksum")

        let algorithm: Algorithm

        init(options: StageOptions) throws(OptionProblem) {
            algorithm = try options.value(Self.algorithm)
            if try options.value(Self.strict), algorithm == .md5 {
                throw options.problem("md5 is weak; use sha256")
            }
        }

        func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload { payload }
    }

    struct Move: Stage {
        static let to = StageOption<PathTemplate>.folder("to", "where to publish")
        static let descriptor = StageDescriptor(
            kind: "move", summary: "Publishes.", options: [to.erased], effects: [.publishes],
            example: "- move: { to: out }", remedies: [.publishing: "move: { to: … }"])

        let to: PathTemplate

        init(options: StageOptions) throws(OptionProblem) { to = try options.value(Self.to) }

        func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload { payload }
    }
}
