import Control
import Files
import FoundationEssentials
import Journal
import Retention

/// Removal for a person, who asks for one step after another.
extension PruneService {
    /// Where a person's removal is: in which folder, and how far.
    fileprivate struct Place: Codable {
        var pipeline: String
        var place: String
        var cursor: PruneCursor
        /// What was removed there before.
        var files = 0
        var bytes: Int64 = 0

        init(_ folder: KeptFolder, _ cursor: PruneCursor) {
            (pipeline, place, self.cursor) = (folder.pipeline, folder.place.rawValue, cursor)
        }

        mutating func add(_ step: PruneStep) {
            files = files.addingSaturated(step.removed.count)
            bytes = bytes.addingSaturated(step.removed.map(\.bytes).saturatedSum)
            if let next = step.next { cursor = next }
        }

        var text: String? { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } }

        func isOf(_ folder: KeptFolder) -> Bool { pipeline == folder.pipeline && place == folder.place.rawValue }
    }

    func step(
        _ arguments: PruneVerb.Arguments,
        _ reply: @escaping @Sendable (Result<PruneVerb.Answer, ControlProblem>) -> Void
    ) {
        let first: Place?
        do throws(ControlProblem) {
            first = try arguments.cursor.map { (text) throws(ControlProblem) in try Self.place(text) }
        } catch {
            return reply(.failure(error))
        }
        prepare(isFirst: first == nil) { @Sendable [self] problem in
            if let problem { return reply(.failure(problem)) }
            let lanes = lanes(of: arguments.pipeline)
            guard let start = lanes.first else { return reply(.failure(nothing(arguments.pipeline))) }
            guard let lane = first.map({ first in lanes.first { first.isOf($0.folder) } }) ?? start else {
                return reply(.failure(ControlProblem("other rules are in force since this began; begin again")))
            }
            let next = lanes.drop { $0 !== lane }.dropFirst().first
            lane.step(from: first?.cursor ?? PruneCursor(), isDry: arguments.isDry) { @Sendable [self] result in
                reply(
                    result.map { step in
                        var here = first ?? Place(lane.folder, PruneCursor())
                        here.add(step)
                        if step.next == nil, !arguments.isDry { tell(here.files, here.bytes, of: lane.folder) }
                        return PruneVerb.Answer(step, here, next: next.map { Place($0.folder, PruneCursor()) })
                    }.mapError { ControlProblem("\($0.message) \($0.remedy)") })
            }
        }
    }

    private static func place(_ text: String) throws(ControlProblem) -> Place {
        guard let place = try? JSONDecoder().decode(Place.self, from: Data(text.utf8)) else {
            throw ControlProblem("'cursor' is none that was answered; begin again")
        }
        return place
    }

    private func nothing(_ pipeline: String?) -> ControlProblem {
        let subject = pipeline.map { "the pipeline '\(EscapedText.of($0))'" } ?? "no pipeline"
        return ControlProblem(
            pipeline == nil
                ? "no pipeline says what is to be kept; write 'keep' into its file"
                : "\(subject) does not run or does not say what is to be kept; write 'keep' into its file")
    }
}

extension PruneVerb.Answer {
    /// `next`: where the folder that comes after this one begins.
    fileprivate init(_ step: PruneStep, _ here: PruneService.Place, next: PruneService.Place?) {
        self.init()
        removed = step.removed.map { file in
            PruneVerb.Original(
                pipeline: here.pipeline, job: file.job.text, path: file.path.text, bytes: file.bytes,
                since: file.since.nanoseconds, rule: file.rule ?? "")
        }
        (changed, linked, gone) = (step.changed, step.linked, step.gone)
        troubles = step.troubles.map { "\(here.pipeline): \($0)" }
        cursor = step.next == nil ? next?.text : here.text
    }
}

extension ControlService {
    static func prune(_ service: PruneService) -> ControlHandler {
        // One that removes is on record once, not at each step.
        ControlHandler(PruneVerb.self, isRecorded: { !$0.isDry && $0.cursor == nil }) { @Sendable arguments, _, reply in
            service.step(arguments, reply)
        }
    }
}
