import Control
import Files
import FoundationEssentials
import Journal
import Retention

/// Removal for a person, who asks for one step after another.
extension PruneService {
    /// Where a person's removal is: in which folder, and how far.
    private struct Place: Codable {
        var pipeline: String
        var place: String
        var cursor: PruneCursor

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
            lane.step(from: first?.cursor ?? PruneCursor(), isDry: arguments.isDry) { @Sendable result in
                reply(
                    result.map { PruneVerb.Answer($0, of: lane.folder, next: next?.folder) }
                        .mapError { ControlProblem("\($0.message) \($0.remedy)") })
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

    fileprivate static func text(_ folder: KeptFolder, _ cursor: PruneCursor) -> String? {
        let place = Place(pipeline: folder.pipeline, place: folder.place.rawValue, cursor: cursor)
        return (try? JSONEncoder().encode(place)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension PruneVerb.Answer {
    /// `next`: the folder that comes after this one.
    fileprivate init(_ step: PruneStep, of folder: KeptFolder, next: KeptFolder?) {
        self.init()
        removed = step.removed.map { file in
            PruneVerb.Original(
                pipeline: folder.pipeline, job: file.job.text, path: file.path.text, bytes: file.bytes,
                since: file.since.nanoseconds, rule: file.rule ?? "")
        }
        (changed, linked, gone) = (step.changed, step.linked, step.gone)
        troubles = step.troubles.map { "\(folder.pipeline): \($0)" }
        cursor =
            step.next.map { PruneService.text(folder, $0) } ?? next.map { PruneService.text($0, PruneCursor()) } ?? nil
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
