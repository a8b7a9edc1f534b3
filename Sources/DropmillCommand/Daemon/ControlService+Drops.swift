import Control
import Files
import FoundationEssentials
import PipelineEngine
import PipelineKit

extension ControlService {
    static func drops(_ engine: Engine) -> ControlHandler {
        ControlHandler(DropsVerb.self, blocks: true) { @Sendable arguments, _, reply in
            let gauges = engine.gauges
            let question: DropQuestion, left: (pipeline: String, path: DropPath)?
            do throws(ControlProblem) {
                (question, left) = try Self.question(arguments, among: gauges.map(\.name))
            } catch {
                return reply(.failure(error))
            }
            let places = Dictionary(gauges.enumerated().map { ($1.name, $0) }) { first, _ in first }
            let leftPlace = left.flatMap { places[$0.pipeline] }
            engine.reportDrops { @Sendable name in
                guard arguments.pipeline.map({ $0 == name }) ?? true else { return nil }
                var question = question
                if let left, let leftPlace, let place = places[name] {
                    question.leftAfter = place == leftPlace ? .path(left.path) : place < leftPlace ? nil : .beginning
                }
                return question
            } _: { @Sendable found in
                reply(.success(.init(gauges, found, limit: question.limit)))
            }
        }
    }

    private static func question(
        _ arguments: DropsVerb.Arguments, among names: [String]
    ) throws(ControlProblem) -> (DropQuestion, left: (pipeline: String, path: DropPath)?) {
        let limit = arguments.limit ?? DropsVerb.most
        guard limit >= 0 else { throw ControlProblem("'limit' is \(limit), and must be 0 or more") }
        let asked = arguments.pipeline == nil ? names.count : 1
        var question = DropQuestion(limit: min(limit, DropsVerb.most, max(1, DropsVerb.mostOfAll / max(1, asked))))
        if let name = arguments.pipeline, !names.contains(name) {
            throw ControlProblem("no pipeline '\(EscapedText.of(name))' is loaded")
        }
        if let kind = arguments.kind {
            guard let known = DropQuestion.Kind(rawValue: kind) else {
                throw ControlProblem("'kind' is incomplete, complete, held or left")
            }
            question.kind = known
        }
        if let name = arguments.name {
            // Each name that waits is compared with it, while nothing is claimed.
            guard name.utf8.count <= DropsVerb.longestPattern else {
                throw ControlProblem("a pattern of names has at most \(DropsVerb.longestPattern) bytes here")
            }
            guard let pattern = Glob(name) else {
                throw ControlProblem("'\(EscapedText.of(name))' is not a pattern of names")
            }
            question.pattern = pattern
        }
        if let after = arguments.after {
            guard arguments.pipeline != nil, let place = DropKeys.place(after) else {
                throw ControlProblem("'after' must be the 'more' of a page, and 'pipeline' its pipeline")
            }
            question.after = place
        }
        guard let key = arguments.leftAfter else { return (question, nil) }
        guard let left = DropKeys.left(key), names.contains(left.pipeline) else {
            throw ControlProblem("'leftAfter' must be the 'leftMore' of a page")
        }
        return (question, left)
    }
}

extension DropsVerb.Answer {
    fileprivate init(_ gauges: [PipelineGauges], _ found: [String: DropListing], limit: Int) {
        self.init()
        for gauges in gauges {
            guard let listing = found[gauges.name] else { continue }
            pipelines.append(DropsVerb.Pipeline(gauges, listing))
            guard leftMore == nil else { continue }
            let room = limit - left.count
            left += listing.left.prefix(room).map { DropsVerb.Drop($0, of: gauges.name) }
            let isWhole = listing.left.count <= room && listing.leftMore == nil
            if !isWhole, let last = listing.left.prefix(room).last {
                leftMore = DropKeys.text(of: last.path, in: gauges.name)
            } else if !isWhole, let last = left.last {
                leftMore = DropPath(bytes: Array(last.path)).map { DropKeys.text(of: $0, in: last.pipeline) }
            }
        }
    }
}

extension DropsVerb.Pipeline {
    fileprivate init(_ gauges: PipelineGauges, _ listing: DropListing) {
        let name = gauges.name
        self.init(
            name: name, folders: listing.isOfFolders, waiting: listing.waiting, oldest: listing.oldest?.seconds,
            complete: .init(
                drops: listing.complete, bytes: listing.completeBytes,
                oldest: listing.oldestComplete.map { DropsVerb.Drop($0, of: name) }),
            reasons: listing.reasons.map { DropsVerb.Reason(code: $0.key, drops: $0.value) }.sorted {
                ($1.drops, $0.code) < ($0.drops, $1.code)
            }, counted: listing.counted, leftAlone: listing.leftCount,
            drops: listing.drops.map { DropsVerb.Drop($0, of: name) }, more: listing.more.map(DropKeys.text(of:)))
        hold = gauges.hold.map { BoardPipeline.Hold($0) }
        paused = gauges.trouble.map { WaitingVerb.Pause($0.reason) }
    }
}

extension DropsVerb.Drop {
    fileprivate init(_ drop: DropListing.Drop, of pipeline: String) {
        self.init(
            pipeline: pipeline, path: Data(drop.path.bytes), size: drop.size, known: drop.known?.seconds,
            code: drop.code, text: drop.text, complete: drop.isComplete, claimed: drop.isClaimed)
    }
}
