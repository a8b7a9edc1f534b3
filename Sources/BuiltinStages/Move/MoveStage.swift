package import PipelineKit

/// Sets where the payload is to be published. It touches no file: the payload is published once all stages have
/// succeeded.
package struct MoveStage: OwnStage {
    private static let to = StageOption<PathTemplate>.folder("to", "the folder to publish the payload in")

    package static let descriptor = StageDescriptor(
        kind: "move",
        summary:
            "Publishes the payload, all or nothing: several files become the folder `to`, a single file goes into it.",
        options: [to.erased],
        effects: [.publishes],
        example: #"move: { to: "../output/{stem}" }"#, remedies: [.publishing: "move: { to: … }"])

    private let to: PathTemplate

    package init(options: StageOptions) throws(OptionProblem) {
        to = try options.value(Self.to)
    }

    package func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try context.checkCancelled()
        var payload = payload
        payload.destination = try to.destination(of: payload, of: context.job, for: "move")
        return payload
    }

    package var isQuick: Bool { true }

    package func pass(_ payload: Payload, of job: Job, holding content: SmallContent) -> Payload? {
        var payload = payload
        do throws(Failure) {
            payload.destination = try to.destination(of: payload, of: .init(of: job, carrying: payload), for: "move")
            return payload
        } catch {
            return nil
        }
    }
}
